public import Foundation
import SalesforceSDKCommon

/// Pages that open with a session that is there already.
extension UserAccountManager {
  /// A one-time URL that opens `target` in a browser with the account's session (CO-42).
  ///
  /// - Parameter target: A path of the org, or an absolute URL in it.
  /// - Throws: ``OAuthError`` `malformedResponse`, what the server refused, or what a refresh throws;
  ///   ``TransportError`` if it was not reached; ``AccountError`` `unknownAccount`, `notLoggedIn`,
  ///   `closed`.
  public func oneTimeLoginURL(
    to target: String, for identity: UserAccountIdentity
  ) async throws -> URL {
    try await withFreshSession(of: identity) { account in
      try await self.service.oneTimeLoginURL(to: target, with: account.credentials)
    }
  }

  /// Runs `body` with the account's tokens, and once more with new ones if they are refused.
  func withFreshSession<Result: Sendable>(
    of identity: UserAccountIdentity, _ body: (UserAccount) async throws -> Result
  ) async throws -> Result {
    let account = try await session(of: identity)
    do {
      return try await body(account)
    } catch let error as OAuthError where error.code == .accessDenied {
      return try await body(
        try await refreshedSession(of: identity, replacing: account.credentials.accessToken))
    }
  }

  /// Logs in with an assertion and obtains a session with a refresh token: the assertion's token opens the
  /// authorization page, where the user is already logged in (CO-34).
  ///
  /// - Parameter grant: Used once.
  /// - Throws: As ``logIn(to:app:presenter:options:)``.
  @discardableResult
  public func logIn(
    with grant: ServerGrant, to server: LoginServer = .production, app: ConnectedApp,
    presenter: any LoginPresenter, makesCurrent: Bool = true
  ) async throws -> UserAccount {
    try await asLogin(.jwtTokenExchange, at: server) {
      let response = try await self.service.tokens(by: grant, at: server)
      let bridge = OAuthCredentials(
        clientId: app.clientId, redirectURI: app.redirectURI, loginServer: server
      ).merging(response)
      let attempt = await self.attempt(
        app: app, server: server, openedWith: bridge)
      return try await self.complete(
        attempt, presenter, type: .jwtTokenExchange, makesCurrent: makesCurrent)
    }
  }

  /// Moves an account to another connected app: the same user, new tokens, the same data. The former refresh
  /// token is revoked. Other accounts and the current user do not change (CO-52).
  ///
  /// - Throws: As ``logIn(to:app:presenter:options:)``; `accessDenied` if another user logged in.
  ///   After an error the account is as it was.
  @discardableResult
  public func migrate(
    _ identity: UserAccountIdentity, to app: ConnectedApp, presenter: any LoginPresenter
  ) async throws -> UserAccount {
    // One refresh ahead of the page is cheaper than a page that opens to a login form.
    let account = try await session(of: identity)
    let server = account.credentials.loginServer
    return try await asLogin(.refreshTokenMigration, at: server) {
      let attempt = await self.attempt(app: app, server: server, openedWith: account.credentials)
      return try await self.complete(
        attempt, presenter, type: .refreshTokenMigration, makesCurrent: false, expected: identity)
    }
  }

  /// An attempt whose page opens with the session of `credentials`.
  private func attempt(
    app: ConnectedApp, server: LoginServer, openedWith credentials: OAuthCredentials
  ) -> AuthorizationSession {
    let service = oauth
    // With `prompt=login` the session would not count.
    var attempt = AuthorizationSession(
      app: app, server: server, deviceId: service.deviceId, sharesBrowserSession: true)
    attempt.entrance = { page in
      let query = page.query(percentEncoded: true).map { "?\($0)" } ?? ""
      return try await service.oneTimeLoginURL(
        to: page.path(percentEncoded: true) + query, with: credentials)
    }
    return attempt
  }
}
