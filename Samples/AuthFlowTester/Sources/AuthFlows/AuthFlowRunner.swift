import Foundation
public import SalesforceSDKCore

/// Runs logins, each with accounts of its own that are in memory, and tries what a session is for.
public struct AuthFlowRunner: Sendable {
  private let settings: AuthSettings
  private let transport = URLSessionTransport()

  public init(_ settings: AuthSettings) { self.settings = settings }

  /// Logs in, sends a request, refreshes the token, sends a request with a revoked token, migrates the session to
  /// the other app, and logs out.
  public func run(_ flow: AuthFlow) async throws -> AuthReport {
    var report = AuthReport(flow: flow)
    if let reason = missing(for: flow) {
      report.steps.append(("login", .skipped(reason)))
      return report
    }
    let accounts = try await UserAccountManager(
      persister: InMemoryAccountPersister(), transport: transport)
    do {
      let account = try await logIn(flow, accounts)
      report.steps.append(("login", .passed))
      report.facts = AuthReport.Facts(account)
      try await use(account, accounts, &report)
    } catch let error as CancellationError {
      throw error
    } catch {
      report.steps.append(
        (report.facts == nil ? "login" : "session", .failed(Self.text(of: error))))
    }
    await accounts.close()
    return report
  }

  // MARK: Login

  private func missing(for flow: AuthFlow) -> String? {
    switch flow {
    case .clientCredentials where settings.clientSecret == nil: "no secret of the connected app"
    case .jwt where settings.signingKey == nil || settings.username == nil,
      .jwtSession where settings.signingKey == nil || settings.username == nil:
      "no signing key and user"
    case .tokens where settings.tokens == nil: "no tokens"
    case .password where settings.password == nil || settings.username == nil:
      "no user and password of an Experience Cloud site"
    default: nil
    }
  }

  private func logIn(_ flow: AuthFlow, _ accounts: UserAccountManager) async throws -> UserAccount {
    try await accounts.logIn(method(of: flow))
  }

  private func method(of flow: AuthFlow) throws -> LoginMethod {
    let server = settings.server
    var app = settings.app
    app.usesHybridGrants = flow == .hybrid
    switch flow {
    case .webServer, .hybrid, .pasted:
      return .browser(to: server, app: app, presenter: settings.presenter(flow))
    case .userAgent:
      return .browser(
        to: server, app: app, presenter: settings.presenter(flow),
        options: LoginOptions(flow: .userAgent))
    case .device:
      return .device(to: server, app: app, showing: settings.showDeviceCode)
    case .jwt:
      return .grant(try assertion(), to: server)
    case .jwtSession:
      return .grant(try assertion(), to: server, app: app, presenter: settings.presenter(flow))
    case .clientCredentials:
      let grant = ServerGrant.clientCredentials(
        clientId: app.clientId, clientSecret: settings.clientSecret ?? "")
      return .grant(grant, to: server)
    case .tokens:
      guard let tokens = settings.tokens else { throw CancellationError() }
      return .tokens(
        accessToken: tokens.access, refreshToken: tokens.refresh, instance: tokens.instance,
        app: app)
    case .password:
      return .password(
        username: settings.username ?? "", password: settings.password ?? "", to: server, app: app)
    }
  }

  private func assertion() throws -> ServerGrant {
    .jwtBearer(
      clientId: settings.app.clientId, username: settings.username ?? "",
      key: try JWTSigningKey(pem: settings.signingKey ?? ""))
  }

  // MARK: Session

  private func use(
    _ account: UserAccount, _ accounts: UserAccountManager, _ report: inout AuthReport
  ) async throws {
    let identity = account.identity
    let client = RestClient(account: account, accounts: accounts, transport: transport)
    await report.step("request") { _ = try await client.send(.limits()) }
    // A redirect to a web page gets no refresh token, and has no assertion or secret to renew itself.
    guard account.credentials.refreshToken != nil || report.flow != .userAgent else {
      for step in ["refresh", "revoked token", "migration"] {
        report.steps.append((step, .skipped("no refresh token")))
      }
      return await report.step("logout") {
        _ = try await accounts.logOut(identity, reason: .userLogout)
      }
    }
    await report.step("refresh") {
      let before = await accounts.account(for: identity)?.credentials.accessToken
      let after = try await accounts.refresh(identity).credentials.accessToken
      guard after != nil, after != before else { throw AuthFlowError.sameToken }
    }
    await report.step("revoked token") {
      guard let token = await accounts.account(for: identity)?.credentials.accessToken else {
        throw AuthFlowError.sameToken
      }
      _ = try await client.send(.revocation(of: token))
      _ = try await client.send(.limits())
      guard await accounts.account(for: identity)?.credentials.accessToken != token else {
        throw AuthFlowError.sameToken
      }
    }
    if let other = settings.otherApp, account.credentials.refreshToken != nil {
      await report.step("migration") {
        let moved = try await accounts.migrate(
          identity, to: other, presenter: settings.presenter(.jwtSession))
        guard moved.credentials.clientId == other.clientId else { throw AuthFlowError.sameApp }
        _ = try await client.send(.limits())
      }
    } else {
      report.steps.append(
        ("migration", .skipped(settings.otherApp == nil ? "no other app" : "no refresh token")))
    }
    await report.step("logout") {
      _ = try await accounts.logOut(identity, reason: .userLogout)
      guard await accounts.accounts.isEmpty else { throw AuthFlowError.stillThere }
    }
  }

  fileprivate static func text(of error: any Error) -> String {
    switch error {
    case let error as OAuthError: error.message
    case let error as RestError: error.message
    case let error as AccountError: error.message
    case let error as TransportError: error.message
    default: "\(error)"
    }
  }
}

/// What a step found wrong although no call failed.
enum AuthFlowError: Error, CustomStringConvertible {
  case sameToken, sameApp, stillThere

  var description: String {
    switch self {
    case .sameToken: "The access token is the same as before."
    case .sameApp: "The account still belongs to the first app."
    case .stillThere: "The account is still there after the logout."
    }
  }
}

extension AuthReport {
  /// Runs a step that must not end the others.
  fileprivate mutating func step(_ name: String, _ body: () async throws -> Void) async {
    do {
      try await body()
      steps.append((name, .passed))
    } catch {
      steps.append((name, .failed(AuthFlowRunner.text(of: error))))
    }
  }
}

extension RestRequest {
  /// Revokes an access token, as an administrator or an expiry does.
  fileprivate static func revocation(of token: String) -> RestRequest {
    var request = RestRequest(
      method: .post, path: "/services/oauth2/revoke", requiresAuthentication: false)
    request.headers[.contentType] = "application/x-www-form-urlencoded"
    let allowed = CharacterSet.alphanumerics
    request.body = Array(
      "token=\(token.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")".utf8)
    return request
  }
}
