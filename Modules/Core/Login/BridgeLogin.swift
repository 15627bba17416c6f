public import Foundation
import SalesforceSDKCommon

/// A login that began on another screen, whose address was scanned (CO-49).
///
/// The address leads to a page with a session; the login ends with a redirect like any other.
public struct BridgeLogin: Sendable {
  /// The page to show.
  public let page: URL
  /// The consumer key of the app for which the login was begun.
  public let clientId: String

  let verifier: String?
  let state: String

  /// Parses a scanned address.
  ///
  /// - Parameter path: The path of such addresses. Default: `/login/qr`.
  /// - Parameter parameter: The parameter with the login. Default: `bridgeJson`.
  /// - Parameter hosts: Hosts that the login may lead to, in addition to those of the platform.
  ///   Default: none.
  /// - Throws: ``OAuthError`` `malformedResponse` if it is not such an address, leads to another
  ///   host, or has neither a verifier nor a state that would bind its redirect to it.
  public init(
    scanned address: String, path: String = "/login/qr", parameter: String = "bridgeJson",
    hosts: Set<String> = []
  ) throws(OAuthError) {
    guard let url = URL(string: address), url.path(percentEncoded: false).hasSuffix(path),
      let text = QueryParameters(ofAddress: address).dictionary[parameter],
      let json = try? JSONSlice(parsing: text),
      let bridge = json["frontdoor_bridge_url"]?.string, let page = URL(string: bridge),
      page.isAllowedForTransport
    else { throw Self.malformed("The scanned address holds no login") }
    let host = page.host()?.lowercased() ?? ""
    guard RedirectRule.isPlatform(page) || hosts.contains(where: { $0.lowercased() == host }) else {
      throw Self.malformed("The scanned login leads to \(page.site), which is not trusted")
    }
    let start = QueryParameters(ofAddress: bridge).dictionary["startURL"] ?? ""
    let request = QueryParameters(ofAddress: start).dictionary
    guard let clientId = request["client_id"], !clientId.isEmpty else {
      throw Self.malformed("The scanned login names no app")
    }
    self.page = page
    self.clientId = clientId
    verifier = json["pkce_code_verifier"]?.string.flatMap { $0.isEmpty ? nil : $0 }
    state = request["state"] ?? ""
    guard verifier != nil || !state.isEmpty else {
      throw Self.malformed("The scanned login has neither verifier nor state")
    }
  }

  private static func malformed(_ message: String) -> OAuthError {
    OAuthError(.malformedResponse, "\(message). Scan it again, or log in in another way.")
  }
}

/// The description contains the page without its parameters.
extension BridgeLogin: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "scanned login at \(page.host() ?? "")" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["clientId": clientId]) }
}

extension LoginMethod {
  /// Continues a login whose address was scanned. The scanned address can be used only once.
  ///
  /// - Throws: ``OAuthError`` `invalidClientId` if it was begun for another app, `invalidRequest` if its page is on
  ///   no server.
  public static func scanned(
    _ bridge: BridgeLogin, app: ConnectedApp, presenter: any LoginPresenter
  ) throws(OAuthError) -> LoginMethod {
    guard bridge.clientId == app.clientId else {
      throw OAuthError(
        .invalidClientId,
        "The scanned login was begun for app \(bridge.clientId), not for this one."
      )
    }
    let server = try LoginServer(bridge.page.site)
    let flow: AuthorizationFlow = bridge.verifier == nil ? .userAgent : .webServer
    let type: LoginType = flow == .userAgent ? .userAgent : .webServer
    return LoginMethod(type, to: server) { accounts in
      accounts.show(.scannedLogin)
      return { accounts, makesCurrent in
        var attempt = AuthorizationSession(
          app: app, server: server, flow: flow, deviceId: accounts.oauth.deviceId, loginHint: nil,
          brand: nil, sharesBrowserSession: true,
          pkce: bridge.verifier.map { PKCE(verifier: $0) } ?? PKCE(), state: bridge.state)
        attempt.entrance = { _ in bridge.page }
        return try await accounts.complete(
          attempt, presenter, type: type, makesCurrent: makesCurrent)
      }
    }
  }
}
