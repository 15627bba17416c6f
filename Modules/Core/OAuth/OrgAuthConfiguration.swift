public import Foundation
import SalesforceSDKCommon

/// The login configuration of an org (CO-43), at `/.well-known/auth-configuration` of its own domain.
public struct OrgAuthConfiguration: Sendable, Equatable {
  /// Whether the org requires a login in the system's browser. This SDK always uses it.
  public let usesSystemBrowser: Bool
  /// Whether the login may use an existing session of the browser.
  public let sharesBrowserSession: Bool
  /// The start URLs of single sign-on with SAML and with other providers; `nil` if the org has none.
  public let singleSignOnURLs: [URL]?
  /// The org's own login page, if it has one.
  public let loginPageURL: URL?

  /// Parses the document, including the members for both mobile systems.
  ///
  /// - Throws: ``OAuthError`` `malformedResponse` if it is not a JSON object.
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

  /// Whether a server can have such a document: servers that many orgs share have none.
  static func isKept(by server: LoginServer) -> Bool {
    server != .production && server != .sandbox && !server.isDiscovery
      && server.url.host() != LoginServer.welcome.url.host()
  }
}
