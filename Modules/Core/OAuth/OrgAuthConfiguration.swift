public import Foundation
import SalesforceSDKCommon

/// The login configuration of an org (CO-43), at `/.well-known/auth-configuration` of its own domain.
public struct OrgAuthConfiguration: Sendable, Equatable {
  /// Whether the login is to happen in the system's browser. Here it always does.
  public let usesSystemBrowser: Bool
  /// Whether the login may use a session that the browser already has.
  public let sharesBrowserSession: Bool
  /// Where single sign-on by SAML and by other providers begins; `nil` if the org has none.
  public let singleSignOnURLs: [URL]?
  /// The org's login page, where it has one of its own.
  public let loginPageURL: URL?

  /// Reads the document. Members of either mobile system count.
  ///
  /// - Throws: ``OAuthError`` `malformedResponse` if it is no JSON object.
  public init(parsing document: [UInt8]) throws(OAuthError) {
    guard let json = try? JSONSlice(parsing: document), json.kind == .object else {
      throw OAuthError(
        .malformedResponse, "The org's authentication configuration is not a JSON object.")
    }
    let mobile = json["MobileSDK"]
    func flag(_ names: String...) -> Bool { names.contains { mobile?[$0]?.bool == true } }
    usesSystemBrowser = flag(
      "UseiOSNativeBrowserForAuthentication", "UseAndroidNativeBrowserForAuthentication")
    sharesBrowserSession = flag("shareBrowserSessionIOS", "shareBrowserSessionAndroid")
    let providers = [json["SamlProviders"], json["AuthProviders"]].compactMap(\.self)
    let urls = providers.flatMap { Array($0.elements) }
      .compactMap { $0["SsoUrl"]?.string.flatMap { URL(string: $0) } }
    singleSignOnURLs = urls.isEmpty ? nil : urls
    loginPageURL = json["LoginPage"]?["LoginPageUrl"]?.string.flatMap { URL(string: $0) }
  }

  /// Whether a server can have such a document: those that many orgs share have none.
  static func isKept(by server: LoginServer) -> Bool {
    server != .production && server != .sandbox && !server.isDiscovery
      && server.url.host() != LoginServer.welcome.url.host()
  }
}
