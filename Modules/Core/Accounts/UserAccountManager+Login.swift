import Foundation
import SalesforceSDKCommon

extension UserAccountManager {
  /// Logs a user in through the browser, with the web-server flow and PKCE.
  ///
  /// On return the account is on disk. A user who is already here gets new tokens and keeps all
  /// data; the former refresh token is ended on the server.
  ///
  /// - Parameter presenter: Shows the login page.
  /// - Parameter loginHint: The user name to offer.
  /// - Parameter makesCurrent: Whether the account becomes the current user. Default: true.
  /// - Throws: ``OAuthError`` for what the server, the user or the presenter refused;
  ///   ``TransportError`` if the server was not reached; ``AccountError`` `illegalState` while
  ///   another login is at work, `writeFailed`. After an error everything is as before; if the disk
  ///   refuses that too, which is logged, an account may be found after the next start.
  @discardableResult
  public func logIn(
    to server: LoginServer = .production, app: ConnectedApp, presenter: any LoginPresenter,
    loginHint: String? = nil, makesCurrent: Bool = true
  ) async throws -> UserAccount {
    guard !isLoggingIn else {
      throw AccountError(.illegalState, "a login is already at work; finish or cancel it first")
    }
    isLoggingIn = true
    defer { isLoggingIn = false }
    let attempt = AuthorizationAttempt(
      app: app, server: server, deviceId: service.deviceId, loginHint: loginHint)
    let redirect = try await presenter.redirect(of: attempt)
    let code: String
    switch attempt.verdict(on: redirect.address, redirectURI: redirect.redirectURI) {
    case .code(let text): code = text
    case .refused(let error), .foreign(let error): throw error
    }
    let response = try await service.redeem(
      code: code, attempt: attempt, redirectURI: redirect.redirectURI)
    let credentials = OAuthCredentials(
      clientId: app.clientId, redirectURI: redirect.redirectURI, loginServer: server,
      usesHybridGrants: app.usesHybridGrants
    ).merging(response)
    guard credentials.instanceURL != nil else {
      throw OAuthError(.malformedResponse, "the token response names no instance")
    }
    let (identity, profile) = try await service.identity(of: credentials)
    return try await enter(
      UserAccount(identity: identity, credentials: credentials, profile: profile),
      makesCurrent: makesCurrent)
  }

  /// Makes an account from tokens that were got elsewhere; the server says whose they are.
  ///
  /// - Parameter refreshToken: Without one the session lasts as long as the access token.
  /// - Parameter instance: The server that holds the org's data.
  /// - Parameter app: The connected app that issued the tokens; needed to refresh them.
  /// - Parameter makesCurrent: Whether the account becomes the current user. Default: true.
  /// - Throws: ``OAuthError`` `accessDenied` if the server refuses the token; ``TransportError`` if
  ///   it was not reached; ``AccountError`` `writeFailed`.
  @discardableResult
  public func logIn(
    accessToken: String, refreshToken: String? = nil, instance: LoginServer,
    app: ConnectedApp = ConnectedApp(clientId: "", redirectURI: ""), makesCurrent: Bool = true
  ) async throws -> UserAccount {
    var credentials = OAuthCredentials(
      clientId: app.clientId, redirectURI: app.redirectURI, loginServer: instance,
      usesHybridGrants: app.usesHybridGrants, accessToken: accessToken,
      refreshToken: refreshToken, instanceURL: instance.url)
    let (identity, identityURL, profile) = try await service.userInfo(of: credentials)
    credentials.identityURL = identityURL
    return try await enter(
      UserAccount(identity: identity, credentials: credentials, profile: profile),
      makesCurrent: makesCurrent)
  }

  /// Keeps the account of a finished login.
  private func enter(_ account: UserAccount, makesCurrent: Bool) async throws -> UserAccount {
    let identity = account.identity
    if held[identity]?.loginState == .loggingOut {
      throw AccountError(.illegalState, "\(account) is being logged out; log in after that")
    }
    // A refresh of the former tokens is of no use any more.
    await refreshes[identity]?.cancel()
    let former = held[identity]
    let formerChange = unsaved[identity]
    let persister = persister
    try await persister.withExclusiveAccess(to: identity) {
      do throws(AccountError) {
        try await self.save(account)
      } catch {
        await self.restore(former, formerChange, insteadOf: identity)
        throw error
      }
      guard makesCurrent else { return }
      do throws(AccountError) {
        try await persister.setCurrent(identity)
      } catch {
        await self.takeBack(account, former)
        throw error
      }
    }
    eventSource.send(.didLogIn, account)
    if makesCurrent { didSetCurrent(identity) }
    if let former, former.credentials.refreshToken != account.credentials.refreshToken {
      _ = await revoke(former.credentials, reason: .refreshTokenRotated)
    }
    return account
  }

  /// Undoes a login that could not be kept.
  private func restore(
    _ former: UserAccount?, _ change: Int?, insteadOf identity: UserAccountIdentity
  ) {
    held[identity] = former
    unsaved[identity] = change
  }

  /// Undoes a login that was kept but could not become the current user.
  private func takeBack(_ account: UserAccount, _ former: UserAccount?) async {
    do throws(AccountError) {
      if let former {
        try await save(former)
      } else {
        drop(account.identity)
        try await persister.delete(account)
      }
    } catch {
      CoreLogger.log.error("the login of \(account) could not be taken back", error: error)
    }
  }
}
