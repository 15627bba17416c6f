public import Foundation
import SalesforceSDKCommon

/// One login through the browser: creates the address of the login page and checks the redirect (CO-26 to
/// CO-30).
///
/// A value. Only the code exchange uses its verifier, which no description contains.
public struct AuthorizationSession: Sendable {
  /// The result of checking a URL that the browser requested.
  public enum Verdict: Sendable {
    /// The URL is the redirect of this login, with the code to redeem, still encoded.
    case code(String)
    /// The URL is the redirect of this login, with the tokens.
    case tokens(RedirectTokens)
    /// The URL is the redirect of this login, with the reason why there is no code.
    case refused(OAuthError)
    /// The URL does not belong to this login: wrong path, or `state` missing or wrong. Ignore it.
    case foreign(OAuthError)
  }

  /// The connected app of the login.
  public let app: ConnectedApp
  /// The login server.
  public let server: LoginServer
  /// The OAuth flow, which decides how the tokens are returned.
  public let flow: AuthorizationFlow
  /// A value of 256 random bits that binds the redirect to this login. For a login that began
  /// elsewhere, it is the state of that login and may be empty.
  public let state: String

  let pkce: PKCE
  let deviceId: String?
  let loginHint: String?
  let brand: String?
  let sharesBrowserSession: Bool
  /// A function from the authorization page to the page that is shown instead.
  var entrance: (@Sendable (URL) async throws -> URL)?

  /// Creates a login session.
  ///
  /// - Parameter flow: Default: the web-server flow.
  /// - Parameter deviceId: The installation's id; omitted if `nil` or empty.
  /// - Parameter loginHint: The user name to offer.
  /// - Parameter brand: A branded login page (CO-48).
  /// - Parameter sharesBrowserSession: Whether an existing session of the browser may be used
  ///   without the password. Default: false.
  public init(
    app: ConnectedApp, server: LoginServer, flow: AuthorizationFlow = .webServer,
    deviceId: String? = nil, loginHint: String? = nil, brand: String? = nil,
    sharesBrowserSession: Bool = false
  ) {
    self.init(
      app: app, server: server, flow: flow, deviceId: deviceId, loginHint: loginHint, brand: brand,
      sharesBrowserSession: sharesBrowserSession, pkce: PKCE())
  }

  init(
    app: ConnectedApp, server: LoginServer, flow: AuthorizationFlow, deviceId: String?,
    loginHint: String?, brand: String?, sharesBrowserSession: Bool, pkce: PKCE,
    state: String = Base64URL.encode(RandomBytes.make(32))
  ) {
    self.app = app
    self.server = server
    self.flow = flow
    self.deviceId = deviceId
    self.loginHint = loginHint
    self.brand = brand
    self.sharesBrowserSession = sharesBrowserSession
    self.pkce = pkce
    self.state = state
  }

  /// Returns the page to show: the authorization page, or a page with a session that leads to it.
  ///
  /// - Parameter redirectURI: The redirect URI, if it differs from the app's: a listener on a free
  ///   port knows it only now.
  /// - Throws: The errors of requesting that session: ``OAuthError``, ``TransportError``.
  public func loginPage(redirectURI: String? = nil) async throws -> URL {
    let page = authorizationURL(redirectURI: redirectURI)
    guard let entrance else { return page }
    return try await entrance(page)
  }

  /// Returns the address of the authorization page. Presenters show ``loginPage(redirectURI:)``.
  public func authorizationURL(redirectURI: String? = nil) -> URL {
    var items = [
      (name: "response_type", value: responseType), ("client_id", app.clientId),
      ("redirect_uri", redirectURI ?? app.redirectURI), ("display", "touch"), ("state", state),
    ]
    if flow == .webServer {
      items += [("code_challenge", pkce.challenge), ("code_challenge_method", "S256")]
    }
    if let deviceId, !deviceId.isEmpty { items.append(("device_id", deviceId)) }
    if let scope = app.scopeParameter { items.append(("scope", scope)) }
    if let loginHint, !loginHint.isEmpty { items.append(("login_hint", loginHint)) }
    if !sharesBrowserSession { items.append(("prompt", "login")) }
    let brand = (brand ?? "").trimmed.trimmingSlashes(atEnd: true).trimmingSlashes(atEnd: false)
    let branch =
      brand.isEmpty
      ? "" : "/" + brand.split(separator: "/").map(PercentEncoding.encode).joined(separator: "/")
    return server.url.appending(
      rawPath: OAuthPath.authorize + branch, query: PercentEncoding.form(items))
  }

  private var responseType: String {
    if flow == .webServer { return "code" }
    return app.usesHybridGrants ? "hybrid_token" : "token"
  }

  /// Checks an address that the browser requested.
  ///
  /// - Parameter address: The whole address.
  /// - Parameter redirectURI: The redirect URI that was passed to ``loginPage(redirectURI:)``.
  public func verdict(on address: String, redirectURI: String? = nil) -> Verdict {
    guard Self.isRedirect(address, to: redirectURI ?? app.redirectURI) else {
      return .foreign(
        OAuthError(.stateMismatch, "The address called is not the redirect of this login."))
    }
    guard let payload = payload(of: address) else {
      return .foreign(OAuthError(.malformedResponse, "Redirect response has no payload."))
    }
    let pairs = PercentEncoding.pairs(ofForm: payload)
    func value(_ name: String) -> String? { pairs.first { $0.name == name }?.value }
    guard (value("state") ?? "").isEqual(toSecret: state) else {
      return .foreign(
        OAuthError(.stateMismatch, "The redirect belongs to another login: its state differs."))
    }
    if let error = value("error") {
      return .refused(
        OAuthError(
          serverError: error, description: value("error_description"),
          during: error == "invalid_client_id" ? "the login of client \(app.clientId)" : "the login"
        ))
    }
    if flow == .userAgent { return tokens(in: pairs) }
    // The code is passed on as received, encoded.
    let raw = payload.split(separator: "&").first { $0.hasPrefix("code=") }?.dropFirst(5)
    guard let raw, !raw.isEmpty else {
      return .refused(OAuthError(.malformedResponse, "The redirect holds neither code nor error."))
    }
    return .code(String(raw))
  }

  /// Returns the parameters of the redirect: in the user-agent flow after its `#`, or after its `?`
  /// if it has no `#`.
  private func payload(of address: String) -> Substring? {
    let halves = address.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    if flow == .userAgent, halves.count > 1, !halves[1].isEmpty { return halves[1] }
    let query = halves[0].split(separator: "?", maxSplits: 1).dropFirst().first
    return query.flatMap { $0.isEmpty ? nil : $0 }
  }

  private func tokens(in pairs: [(name: String, value: String)]) -> Verdict {
    do throws(OAuthError) {
      return .tokens(
        RedirectTokens(response: try TokenResponse(members: pairs, during: "the login")))
    } catch {
      return .refused(error)
    }
  }

  /// Whether `address` is `redirectURI` followed by a query or fragment, in any case.
  static func isRedirect(_ address: String, to redirectURI: String) -> Bool {
    func bare(_ text: String) -> String {
      String(text.prefix { $0 != "?" && $0 != "#" }).lowercased().trimmingSlashes(atEnd: true)
    }
    return !redirectURI.isEmpty && bare(address) == bare(redirectURI)
  }
}

/// The description contains server and state, never the verifier.
extension AuthorizationSession: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  public var description: String { "login at \(server)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["server": server]) }
}
