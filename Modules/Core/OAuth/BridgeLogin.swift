public import Foundation
import SalesforceSDKCommon

/// A login that began on another screen, whose address was scanned (CO-49).
///
/// The address leads to a page with a session; its end is a redirect like that of any login.
public struct BridgeLogin: Sendable {
  /// The page to show.
  public let page: URL
  /// The consumer key that the login was begun for.
  public let clientId: String

  let verifier: String?
  let state: String

  /// Reads a scanned address.
  ///
  /// - Parameter path: The path that such an address has. Default: `/login/qr`.
  /// - Parameter parameter: The parameter that holds the login. Default: `bridgeJson`.
  /// - Parameter hosts: The hosts that the login may lead to in addition to those of the platform. Default:
  ///   none.
  /// - Throws: ``OAuthError`` `malformedResponse` if it is none, leads to another host, or holds
  ///   nothing that would bind its redirect to it: neither a verifier nor a state.
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

/// Where it leads, without what it holds.
extension BridgeLogin: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "scanned login at \(page.host() ?? "")" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["clientId": clientId]) }
}

extension UserAccountManager {
  /// Continues a login whose address was scanned. The scanned address can be used only once.
  ///
  /// - Throws: ``OAuthError`` `invalidClientId` if it was begun for another app; as
  ///   ``logIn(to:app:presenter:options:)``.
  @discardableResult
  public func logIn(
    scanned bridge: BridgeLogin, app: ConnectedApp, presenter: any LoginPresenter,
    makesCurrent: Bool = true
  ) async throws -> UserAccount {
    guard bridge.clientId == app.clientId else {
      throw OAuthError(
        .invalidClientId,
        "The scanned login was begun for app \(bridge.clientId), not for this one."
      )
    }
    let server = try LoginServer(bridge.page.site)
    let flow: AuthorizationFlow = bridge.verifier == nil ? .userAgent : .webServer
    let deviceId = oauth.deviceId
    return try await asLogin(flow == .userAgent ? .userAgent : .webServer, at: server) {
      var attempt = AuthorizationSession(
        app: app, server: server, flow: flow, deviceId: deviceId, loginHint: nil, brand: nil,
        sharesBrowserSession: true, pkce: bridge.verifier.map { PKCE(verifier: $0) } ?? PKCE(),
        state: bridge.state)
      attempt.entrance = { _ in bridge.page }
      return try await self.complete(
        attempt, presenter, type: flow == .userAgent ? .userAgent : .webServer,
        makesCurrent: makesCurrent)
    }
  }
}
