public import Foundation
import SalesforceSDKCommon

/// One login through the browser: creates the address of the login page and checks the redirect (CO-26 to
/// CO-30).
///
/// A value. Its verifier is used only in the code exchange, and is not a part of any description.
public struct AuthorizationSession: Sendable {
  /// The reaction to a URL that the browser requested.
  public enum Verdict: Sendable {
    /// It is the redirect of this login, with the code to redeem, still encoded.
    case code(String)
    /// It is the redirect of this login, with the tokens themselves.
    case tokens(RedirectTokens)
    /// It is the redirect of this login, and tells why there is no code.
    case refused(OAuthError)
    /// It does not belong to this login: wrong path, or `state` missing or wrong. Ignore it.
    case foreign(OAuthError)
  }

  /// The connected app of the login.
  public let app: ConnectedApp
  /// Where the user logs in.
  public let server: LoginServer
  /// How the tokens come home.
  public let flow: AuthorizationFlow
  /// Binds the redirect to this login; 256 random bits. For a login that began elsewhere, it is the state of
  /// that login and may be empty.
  public let state: String

  let pkce: PKCE
  let deviceId: String?
  let loginHint: String?
  let brand: String?
  let sharesBrowserSession: Bool
  /// Leads from the authorization page to the one that is shown instead.
  var entrance: (@Sendable (URL) async throws -> URL)?

  /// Begins a login.
  ///
  /// - Parameter flow: Default: the web-server flow.
  /// - Parameter deviceId: The installation's id; omitted if `nil` or empty.
  /// - Parameter loginHint: The user name to offer.
  /// - Parameter brand: A branded login page (CO-48).
  /// - Parameter sharesBrowserSession: Whether a session that the browser already has may be used
  ///   without asking for the password. Default: false.
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

  /// The page to show: the authorization page, or one with a session that leads there.
  ///
  /// - Parameter redirectURI: Where the redirect is awaited, if that is not the one of the app:
  ///   a listener on a free port knows it only now.
  /// - Throws: What asking the server for that session throws: ``OAuthError``, ``TransportError``.
  public func loginPage(redirectURI: String? = nil) async throws -> URL {
    let page = authorizationURL(redirectURI: redirectURI)
    guard let entrance else { return page }
    return try await entrance(page)
  }

  /// The address of the authorization page. ``loginPage(redirectURI:)`` is what a presenter shows.
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

  /// Judges an address that was called.
  ///
  /// - Parameter address: Whole, as it was called.
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
    guard value("state") ?? "" == state else {
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
    // The code goes on as it came, encoded.
    let raw = payload.split(separator: "&").first { $0.hasPrefix("code=") }?.dropFirst(5)
    guard let raw, !raw.isEmpty else {
      return .refused(OAuthError(.malformedResponse, "The redirect holds neither code nor error."))
    }
    return .code(String(raw))
  }

  /// What the redirect says: of the user-agent flow behind its `#` or, without that, behind its `?`.
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

  /// Whether `address` is `redirectURI` with a query or fragment behind it, without regard to case.
  static func isRedirect(_ address: String, to redirectURI: String) -> Bool {
    func bare(_ text: String) -> String {
      String(text.prefix { $0 != "?" && $0 != "#" }).lowercased().trimmingSlashes(atEnd: true)
    }
    return !redirectURI.isEmpty && bare(address) == bare(redirectURI)
  }
}

/// Server and state, never the verifier.
extension AuthorizationSession: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  public var description: String { "login at \(server)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["server": server]) }
}
