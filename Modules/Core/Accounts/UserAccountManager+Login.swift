import Foundation
import SalesforceSDKCommon

extension UserAccountManager {
  /// Logs a user in through the browser; with the usual options by the web-server flow and PKCE.
  ///
  /// On return the account is on disk. A user who is already here gets new tokens and keeps all
  /// data; the former refresh token is ended on the server.
  ///
  /// - Parameter server: A login server, an org's own domain, or a page that finds the org
  ///   (``LoginServer/welcome``), for which the presenter must be a ``DiscoveryPresenter``.
  /// - Parameter presenter: Shows the login page.
  /// - Throws: ``OAuthError`` for what the server, the user or the presenter refused; its
  ///   ``OAuthError/Code/effect`` says what to do next. ``TransportError`` if the server was not
  ///   reached; ``AccountError`` `illegalState` while another login is at work, `writeFailed`.
  ///   `CancellationError`, also after ``cancelLogin()``. After an error everything is as before; if
  ///   the disk refuses that too, which is logged, an account may be found after the next start.
  @discardableResult
  public func logIn(
    to server: LoginServer = .production, app: ConnectedApp, presenter: any LoginPresenter,
    options: LoginOptions = LoginOptions()
  ) async throws -> UserAccount {
    let type: LoginType = options.flow == .userAgent ? .userAgent : .webServer
    return try await asLogin(type, at: server) {
      try await self.logInThroughBrowser(server, app, presenter, options, type)
    }
  }

  /// Logs a user in through the browser, with the app that `apps` names for the server (CO-4).
  ///
  /// - Throws: As with one app; what the choice of an app throws.
  @discardableResult
  public func logIn(
    to server: LoginServer = .production, apps: ConnectedAppSelector,
    presenter: any LoginPresenter, options: LoginOptions = LoginOptions()
  ) async throws -> UserAccount {
    let app = try await apps.app(for: server)
    let account = try await logIn(to: server, app: app, presenter: presenter, options: options)
    apps.didLogIn(with: app)
    return account
  }

  /// Ends the login that is at work, as cancelling its task does: what was opened for it is closed.
  ///
  /// - Returns: Whether there was one.
  @discardableResult
  public func cancelLogin() -> Bool {
    guard let login else { return false }
    login.cancel()
    return true
  }

  /// What becomes of logins from now on. Each call gives a stream of its own, which keeps all events
  /// until they are read, and ends with ``close()``.
  public func loginEvents() -> some AsyncSequence<LoginEvent, Never> & Sendable {
    loginSource.stream()
  }

  /// Runs `body` as the one login at work, and tells what becomes of it.
  func asLogin(
    _ type: LoginType, at server: LoginServer,
    _ body: @escaping @Sendable () async throws -> UserAccount
  ) async throws -> UserAccount {
    guard login == nil else {
      throw AccountError(.illegalState, "a login is already at work; finish or cancel it first")
    }
    let task = Task { try await body() }
    login = task
    defer { login = nil }
    loginSource.send(LoginEvent(kind: .willLogIn, server: server, type: type))
    do {
      let account = try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        task.cancel()
      }
      loginSource.send(LoginEvent(kind: .didLogIn(account), server: server, type: type))
      return account
    } catch {
      let isCancelled = error is CancellationError || (error as? OAuthError)?.code == .cancelled
      loginSource.send(
        LoginEvent(
          kind: isCancelled ? .didCancel : .didFail(error), server: server, type: type))
      throw error
    }
  }

  private func logInThroughBrowser(
    _ server: LoginServer, _ app: ConnectedApp, _ presenter: any LoginPresenter,
    _ options: LoginOptions, _ type: LoginType
  ) async throws -> UserAccount {
    var server = server
    var loginHint = options.loginHint
    if server.isDiscovery {
      guard let presenter = presenter as? any DiscoveryPresenter else {
        throw OAuthError(
          .invalidRequest,
          "\(server) finds the login server in a page that this presenter cannot show; give the "
            + "org's own address")
      }
      let found = try await presenter.discover(
        MyDomainDiscovery(server: server, clientId: app.clientId))
      (server, loginHint) = (found.server, found.loginHint)
    }
    var shares = options.sharesBrowserSession
    if shares == nil { shares = try await service.configuration(of: server)?.sharesBrowserSession }
    let attempt = AuthorizationAttempt(
      app: app, server: server, flow: options.flow, deviceId: service.deviceId,
      loginHint: loginHint, brand: options.brand, sharesBrowserSession: shares ?? false)
    return try await complete(
      attempt, presenter, type: type, makesCurrent: options.makesCurrent)
  }

  /// Shows the page of an attempt, and keeps the account that comes of it.
  ///
  /// - Parameter expected: Who has to log in; `nil` for anybody.
  func complete(
    _ attempt: AuthorizationAttempt, _ presenter: any LoginPresenter, type: LoginType,
    makesCurrent: Bool, expected: UserAccountIdentity? = nil
  ) async throws -> UserAccount {
    loginSource.send(LoginEvent(kind: .willShowPage, server: attempt.server, type: type))
    let redirect = try await presenter.redirect(of: attempt)
    let response: TokenResponse
    switch attempt.verdict(on: redirect.address, redirectURI: redirect.redirectURI) {
    case .code(let code):
      response = try await service.redeem(
        code: code, attempt: attempt, redirectURI: redirect.redirectURI)
    case .tokens(let tokens): response = tokens.response
    case .refused(let error), .foreign(let error): throw error
    }
    var app = attempt.app
    app.redirectURI = redirect.redirectURI
    return try await keep(
      response, app: app, server: attempt.server, makesCurrent: makesCurrent, expected: expected)
  }

  /// Keeps the account that tokens belong to, in the order of CO-79.
  func keep(
    _ response: TokenResponse, app: ConnectedApp, server: LoginServer, makesCurrent: Bool,
    grant: ServerGrant? = nil, expected: UserAccountIdentity? = nil
  ) async throws -> UserAccount {
    var credentials = OAuthCredentials(
      clientId: app.clientId, redirectURI: app.redirectURI, loginServer: server,
      usesHybridGrants: app.usesHybridGrants
    ).merging(response, keeping: options.additionalTokenFields)
    guard credentials.instanceURL != nil else {
      throw OAuthError(.malformedResponse, "the token response names no instance")
    }
    if credentials.refreshToken == nil, grant == nil {
      CoreLogger.log.warning(
        "the login at \(server) brought no refresh token; the session ends with its access token")
    }
    if options.refusesIntegrationUsers, try await service.isIntegrationUser(credentials) {
      throw OAuthError(
        .accessDenied, "the user is for integrations alone; log in as another user")
    }
    let (identity, profile) = try await identify(&credentials)
    if let expected, identity != expected {
      throw OAuthError(
        .accessDenied, "account \(identity) logged in instead of \(expected); start again")
    }
    guard options.isManagedApp || !profile.mustBeManaged else {
      throw OAuthError(
        .managedAppRequired,
        "the org lets this user log in on managed devices alone; manage the device")
    }
    let account = try await enter(
      UserAccount(identity: identity, credentials: credentials, profile: profile),
      makesCurrent: makesCurrent)
    grants[identity] = grant
    return account
  }

  /// Asks who the user is. A token that is refused is refreshed once (CO-70).
  private func identify(
    _ credentials: inout OAuthCredentials
  ) async throws -> (UserAccountIdentity, UserProfile) {
    do {
      do {
        return try await service.identity(of: credentials)
      } catch let error as OAuthError
        where error.code == .accessDenied && credentials.refreshToken?.isEmpty == false
      {
        credentials = credentials.merging(
          try await service.refresh(credentials), keeping: options.additionalTokenFields)
        return try await service.identity(of: credentials)
      }
    } catch {
      guard options.keepsLoginWithoutProfile, !(error is CancellationError),
        let url = credentials.identityURL,
        let identity = UserAccountIdentity(identityURL: url.absoluteString)
      else { throw error }
      CoreLogger.log.warning("account \(identity) is kept without its profile", error: error)
      return (identity, UserProfile(username: ""))
    }
  }

  /// Keeps the account of a finished login.
  func enter(_ entering: UserAccount, makesCurrent: Bool) async throws -> UserAccount {
    let identity = entering.identity
    if held[identity]?.loginState == .loggingOut {
      throw AccountError(.illegalState, "\(entering) is being logged out; log in after that")
    }
    // A refresh of the former tokens is of no use any more.
    await refreshes[identity]?.cancel()
    let former = held[identity]
    let formerChange = unsaved[identity]
    let persister = persister
    var account = entering
    account.customData = former?.customData ?? [:]
    try await persister.withExclusiveAccess(to: identity) { [account] in
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
    grants[identity] = nil
    eventSource.send(.didLogIn, account, changes: AccountChanges(from: former, to: account))
    if makesCurrent { didSetCurrent(identity) }
    if let former, former.credentials.refreshToken != account.credentials.refreshToken {
      _ = await revoke(former.credentials, reason: .refreshTokenRotated)
    }
    return account
  }

  /// Undoes a change that could not be kept.
  func restore(
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
