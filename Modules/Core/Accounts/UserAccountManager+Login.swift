import Foundation
import SalesforceSDKCommon

extension UserAccountManager {
  /// Logs a user in through the browser, by default with the web-server flow and PKCE.
  ///
  /// On return the account is on disk. An existing account gets new tokens and keeps all data; the former
  /// refresh token is revoked on the server. A login at a server that the account does not know never
  /// replaces the account: it throws `foreignServer`, unless ``confirmMove(of:to:)`` was called.
  ///
  /// - Parameter server: A login server, an org's own domain, or a page that finds the org
  ///   (``LoginServer/welcome``), for which the presenter must be a ``DiscoveryPresenter``.
  /// - Parameter presenter: Shows the login page.
  /// - Throws: ``OAuthError`` for what the server, the user or the presenter refused; its
  ///   ``OAuthError/Code/effect`` says what to do next. ``TransportError`` if the server was not
  ///   reached; ``AccountError`` `illegalState` while another login is at work, `foreignServer`,
  ///   `writeFailed`.
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

  /// Cancels the login in progress, as cancelling its task does, and closes everything that it opened.
  ///
  /// - Returns: Whether there was one.
  @discardableResult
  public func cancelLogin() -> Bool {
    guard let login else { return false }
    login.cancel()
    return true
  }

  /// The progress of logins from now on. Each call returns a separate stream, which buffers all events until
  /// they are read, and ends with ``close()``.
  public func loginEvents() -> some AsyncSequence<LoginEvent, Never> & Sendable {
    loginSource.stream()
  }

  /// Runs `body` as the one login at work, and tells what becomes of it.
  func asLogin(
    _ type: LoginType, at server: LoginServer,
    _ body: @escaping @Sendable () async throws -> UserAccount
  ) async throws -> UserAccount {
    guard login == nil else {
      throw AccountError(.illegalState, "A login is already at work. Finish or cancel it first.")
    }
    try options.managed?.current.check(type, at: server)
    let task = Task {
      try await Telemetry.measure(.login) { recording in
        recording?.setDimension("type", "\(type)")
        return try await body()
      }
    }
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
          "\(server) finds the login server in a page that this presenter cannot show. Give the "
            + "org's own address.")
      }
      let found = try await presenter.discover(
        MyDomainDiscovery(server: server, clientId: app.clientId))
      (server, loginHint) = (found.server, found.loginHint)
    }
    var shares = options.sharesBrowserSession
    if shares == nil { shares = try await service.configuration(of: server)?.sharesBrowserSession }
    let attempt = AuthorizationSession(
      app: app, server: server, flow: options.flow, deviceId: oauth.deviceId,
      loginHint: loginHint, brand: options.brand, sharesBrowserSession: shares ?? false)
    return try await complete(
      attempt, presenter, type: type, makesCurrent: options.makesCurrent)
  }

  /// Shows the page of an attempt, and keeps the account that comes of it.
  ///
  /// - Parameter expected: Who has to log in; `nil` for anybody.
  func complete(
    _ attempt: AuthorizationSession, _ presenter: any LoginPresenter, type: LoginType,
    makesCurrent: Bool, expected: UserAccountIdentity? = nil
  ) async throws -> UserAccount {
    loginSource.send(LoginEvent(kind: .willShowPage, server: attempt.server, type: type))
    let redirect = try await presenter.redirect(of: attempt)
    let response: TokenResponse
    switch attempt.verdict(on: redirect.address, redirectURI: redirect.redirectURI) {
    case .code(let code):
      let service = try service
      response = try await granted {
        try await service.redeem(
          code: code, attempt: attempt, redirectURI: redirect.redirectURI)
      }
    case .tokens(let tokens): response = tokens.response
    case .refused(let error), .foreign(let error): throw error
    }
    var app = attempt.app
    app.redirectURI = redirect.redirectURI
    return try await keep(
      response, app: app, server: attempt.server, makesCurrent: makesCurrent, expected: expected)
  }

  /// Makes a call whose response may hold tokens. A login that is cancelled during the call still waits
  /// for them, to revoke them.
  func granted(
    _ call: @escaping @Sendable () async throws -> TokenResponse
  ) async throws -> TokenResponse {
    try await CoalescedTask(call).value(grace: options.exchangeTimeLimit, by: clock)
  }

  /// Keeps the account that tokens belong to, in the order of CO-79. If it cannot be kept, the tokens are
  /// ended.
  ///
  /// - Parameter choosesServer: Whether the login server of a new current user becomes the chosen one.
  func keep(
    _ response: TokenResponse, app: ConnectedApp, server: LoginServer, makesCurrent: Bool,
    choosesServer: Bool = true, grant: ServerGrant? = nil, expected: UserAccountIdentity? = nil
  ) async throws -> UserAccount {
    var credentials = OAuthCredentials(
      clientId: app.clientId, redirectURI: app.redirectURI, loginServer: server,
      usesHybridGrants: app.usesHybridGrants
    ).merging(response, keeping: options.additionalTokenFields)
    do {
      let account = try await account(
        &credentials, isRenewed: grant != nil, expected: expected)
      let entered = try await enter(
        account, makesCurrent: makesCurrent, choosesServer: choosesServer)
      grants[account.identity] = grant
      return entered
    } catch {
      await giveBack(credentials)
      throw error
    }
  }

  /// The account that tokens belong to, if its user may be kept here.
  func account(
    _ credentials: inout OAuthCredentials, isRenewed: Bool, expected: UserAccountIdentity?
  ) async throws -> UserAccount {
    try Task.checkCancellation()
    guard credentials.instanceURL != nil else {
      throw OAuthError(.malformedResponse, "The token response names no instance.")
    }
    if credentials.refreshToken == nil, !isRenewed {
      CoreLogger.log.warning(
        "the login at \(credentials.loginServer) brought no refresh token; the session ends with its "
          + "access token")
    }
    if options.refusesIntegrationUsers, try await service.isIntegrationUser(credentials) {
      throw OAuthError(
        .accessDenied, "The user is for integrations alone. Log in as another user.")
    }
    let (identity, profile) = try await identify(&credentials)
    if let expected, identity != expected {
      throw OAuthError(
        .accessDenied, "Account \(identity) logged in instead of \(expected). Start again.")
    }
    let isManaged = (try options.managed?.current.isManaged ?? false) || options.isManagedApp
    guard isManaged || !profile.mustBeManaged else {
      throw OAuthError(
        .managedAppRequired,
        "The org lets this user log in on managed devices alone. Manage the device.")
    }
    let policy = LockPolicy(profile)
    if policy != nil { try await checkScreenLock() }
    return UserAccount(
      identity: identity, credentials: credentials, profile: profile, lockPolicy: policy)
  }

  /// Refuses a user whose org demands a lock that nothing here enforces.
  private func checkScreenLock() async throws(OAuthError) {
    if options.enforcesScreenLockItself { return }
    guard let lock = options.screenLock, await lock.canLock else {
      throw OAuthError(
        .screenLockRequired,
        "The org demands that the app locks itself, and nothing here can unlock it. Give the accounts a ScreenLockManager with a "
          + "DeviceAuthenticator.")
    }
  }

  /// The identity as the account here spells it.
  ///
  /// Ids are equal in whatever case of their 18 characters, but files and locks are not: with the spelling of a
  /// server, nothing would compare its servers with those of the account.
  private func spelling(of named: UserAccountIdentity) async -> UserAccountIdentity {
    if let index = held.index(forKey: named) { return held[index].key }
    let isUsual = [named.organizationId, named.userId].allSatisfy { id in
      SalesforceId(id).map { $0.text == SalesforceId.longForm(of: id) } ?? true
    }
    // Another process may have made the account since the start. Usual ids lead to its file.
    if isUsual { return named }
    let stored = try? await persister.fetchAll().accounts
    return stored?.first { $0.identity == named }?.identity ?? named
  }

  /// Ends the refresh token of a login that came to nothing: servers keep few for a user and an app, and
  /// drop those of other devices for it.
  private func giveBack(_ credentials: OAuthCredentials) async {
    let token = credentials.revocableToken
    // The server may have given the one of an account that stays.
    guard !held.values.contains(where: { $0.credentials.revocableToken == token }) else { return }
    // At the server that gave the token: what else the refused response named has no claim to it.
    var given = credentials
    given.communityId = nil
    given.communityURL = nil
    // In a task of its own: that of the login may be cancelled.
    _ = await Task { [given] in await revoke(given, reason: .unexpected) }.value
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
        (error as? OAuthError)?.code != .identityMismatch,
        let url = credentials.identityURL,
        let identity = UserAccountIdentity(identityURL: url.absoluteString)
      else { throw error }
      CoreLogger.log.warning("account \(identity) is kept without its profile", error: error)
      return (identity, UserProfile(username: ""))
    }
  }

  /// Keeps the account of a finished login.
  func enter(
    _ entering: UserAccount, makesCurrent: Bool, choosesServer: Bool = true
  ) async throws -> UserAccount {
    let identity = await spelling(of: entering.identity)
    let entering = UserAccount(
      identity: identity, credentials: entering.credentials, profile: entering.profile,
      lockPolicy: entering.lockPolicy)
    let wasLocked = options.screenLock?.isLocked ?? false
    if isLogoutInterrupted(identity) { try await logOut(identity) }
    // One that waits for its turn is of no use any more. One that asks the server is let finish: if this
    // login cannot be kept, the former session goes on.
    await refreshes[identity]?.cancel()
    let (account, former) = try await persister.withExclusiveAccess(to: identity) {
      try await self.replaceAccount(by: entering, makesCurrent)
    }
    grants[identity] = nil
    didMove(account)
    await options.screenLock?.didLogIn(
      identity, users: lockPolicies, mayReset: wasLocked && former != nil)
    eventSource.send(.didLogIn, account, changes: AccountChanges(from: former, to: account))
    if makesCurrent {
      willSetCurrent(identity)
      didSetCurrent(identity, choosesServer: choosesServer)
    }
    // The access token of a former session without a refresh token may be the one that was entered again.
    if let former, former.credentials.refreshToken?.isEmpty == false,
      former.credentials.refreshToken != account.credentials.refreshToken
    {
      _ = await revoke(former.credentials, reason: .refreshTokenRotated)
    }
    await reportLogin(of: account)
    return account
  }

  /// Writes the account of a finished login in place of the former one, which another process may have
  /// changed. To be called with exclusive access to the account.
  private func replaceAccount(
    by entering: UserAccount, _ makesCurrent: Bool
  ) async throws(AccountError) -> (account: UserAccount, former: UserAccount?) {
    let identity = entering.identity
    let former = await newest(identity)
    let known = held[identity]
    let knownChange = unsaved[identity]
    guard known?.loginState != .loggingOut, former?.loginState != .loggingOut else {
      throw AccountError(.illegalState, "\(entering) is being logged out. Log in after that.")
    }
    if let former { try checkServers(of: entering, replacing: former) }
    var account = entering
    account.customData = former?.customData ?? [:]
    account.dataKeepers = former?.dataKeepers ?? []
    do throws(AccountError) {
      try await save(account)
    } catch {
      if held[identity] == account { restore(known, knownChange, insteadOf: identity) }
      throw error
    }
    guard makesCurrent else { return (account, former) }
    do throws(AccountError) {
      try await persister.updateCurrent { _ in identity }
    } catch {
      await takeBack(account, former)
      throw error
    }
    return (account, former)
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
