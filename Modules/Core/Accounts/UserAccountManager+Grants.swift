import Foundation
import SalesforceSDKCommon

/// Logins without a page: with tokens from elsewhere, the program's own credentials, or a code that a user
/// enters on another device.
extension UserAccountManager {
  /// Creates an account from tokens of another source. The server names the user of the tokens, and what the org
  /// demands of the app, as in every login.
  ///
  /// - Parameter refreshToken: Without one the session lasts as long as the access token.
  /// - Parameter instance: The server that holds the org's data.
  /// - Parameter app: The connected app that issued the tokens; needed to refresh them.
  /// - Parameter makesCurrent: Whether the account becomes the current user. Default: true.
  /// - Throws: ``OAuthError`` `accessDenied` if the server refuses the token, `managedAppRequired` or
  ///   `screenLockRequired` if the org demands what the app does not do; ``TransportError`` if it was not reached;
  ///   ``AccountError`` `illegalState` while another login is at work, `writeFailed`.
  @discardableResult
  public func logIn(
    accessToken: String, refreshToken: String? = nil, instance: LoginServer,
    app: ConnectedApp = ConnectedApp(clientId: "", redirectURI: ""), makesCurrent: Bool = true
  ) async throws -> UserAccount {
    let credentials = OAuthCredentials(
      clientId: app.clientId, redirectURI: app.redirectURI, loginServer: instance,
      usesHybridGrants: app.usesHybridGrants, accessToken: accessToken,
      refreshToken: refreshToken, instanceURL: instance.url)
    return try await asLogin(.unknown, at: instance) {
      let (identity, identityURL, profile) = try await self.service.userInfo(of: credentials)
      var credentials = credentials
      credentials.identityURL = identityURL
      // The userinfo endpoint says nothing of what the org demands of the app; the identity service does.
      let account =
        identityURL == nil
        ? UserAccount(identity: identity, credentials: credentials, profile: profile)
        : try await self.account(&credentials, isRenewed: true, expected: identity)
      return try await self.enter(account, makesCurrent: makesCurrent)
    }
  }

  /// Logs in with the program's own credentials, such as a signed assertion (CO-34, BX-6).
  ///
  /// The session has no refresh token; while this manager exists, it renews the session with these
  /// credentials. After a restart, the account has its last access token; pass the credentials again with
  /// ``renew(_:with:)``.
  ///
  /// - Parameter server: The login server; for client credentials the org's own domain.
  /// - Throws: ``OAuthError`` for what the server refused; ``TransportError`` if it was not reached;
  ///   ``AccountError`` `illegalState` while another login is at work, `writeFailed`; what making the
  ///   assertion throws.
  @discardableResult
  public func logIn(
    with grant: ServerGrant, to server: LoginServer = .production, makesCurrent: Bool = true
  ) async throws -> UserAccount {
    try await asLogin(grant.loginType, at: server) {
      let response = try await self.service.tokens(by: grant, at: server)
      return try await self.keep(
        response,
        app: ConnectedApp(clientId: grant.clientId, redirectURI: "", usesHybridGrants: false),
        server: server, makesCurrent: makesCurrent, grant: grant)
    }
  }

  /// Renews the sessions of an account without a refresh token with `grant` from now on; `nil` ends that.
  /// Credentials are never written to disk.
  ///
  /// - Throws: ``AccountError`` `unknownAccount`.
  public func renew(
    _ identity: UserAccountIdentity, with grant: ServerGrant?
  ) throws(AccountError) {
    guard held[identity] != nil else {
      throw AccountError(.unknownAccount, "There is no account \(identity). Log in.")
    }
    grants[identity] = grant
  }

  /// Logs a user in on a device without browser and keyboard: the user enters a shown code on another device.
  ///
  /// - Parameter show: Shows the code and the address to the user; called once.
  /// - Throws: ``OAuthError`` `accessDenied` if the user refused, `timedOut` if the code expired before it
  ///   was entered; others as a login through the browser.
  @discardableResult
  public func logIn(
    to server: LoginServer = .production, app: ConnectedApp, makesCurrent: Bool = true,
    showing show: @escaping @Sendable (DeviceCode) async throws -> Void
  ) async throws -> UserAccount {
    try await asLogin(.unknown, at: server) {
      let code = try await self.service.deviceCode(for: app, at: server)
      try await show(code)
      let response = try await self.tokens(for: code, app, server)
      return try await self.keep(response, app: app, server: server, makesCurrent: makesCurrent)
    }
  }

  /// Asks as often as the server allows until the code was entered.
  private func tokens(
    for code: DeviceCode, _ app: ConnectedApp, _ server: LoginServer
  ) async throws -> TokenResponse {
    var pause = code.interval
    var waited: Duration = .zero
    while waited < code.lifetime {
      try await clock.sleep(for: pause)
      waited += pause
      do {
        let service = try service
        return try await granted { try await service.tokens(for: code, of: app, at: server) }
      } catch let error as OAuthError where error.serverError == "authorization_pending" {
        continue
      } catch let error as OAuthError where error.serverError == "slow_down" {
        pause += code.interval
      } catch let error as TransportError where error.code.isRetryable {
        // The person may still be typing while the network comes and goes.
        CoreLogger.log.info("the login server was not reached", error: error)
      } catch let error as OAuthError where error.code.isRetryable {
        // Or while the server is slow, busy or down for a moment.
        CoreLogger.log.info("the login server does not respond now", error: error)
      }
    }
    throw OAuthError(
      .timedOut, "The code was not entered within \(code.lifetime). Start the login again.")
  }
}
