import Foundation
import SalesforceSDKCommon

/// The end of a login: its tokens are stored as an account, or revoked.
extension UserAccountManager {
  /// Makes a call whose response may contain tokens. A login that is cancelled during the call
  /// still waits for the tokens, to revoke them.
  func granted(
    _ call: @escaping @Sendable () async throws -> TokenResponse
  ) async throws -> TokenResponse {
    try await CoalescedTask(call).value(grace: options.exchangeTimeLimit, by: clock)
  }

  /// Stores the account of the tokens, in the order of CO-79. If that fails, the tokens are
  /// revoked.
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
      machine[account.identity].grant = grant
      return entered
    } catch {
      await giveBack(credentials)
      throw error
    }
  }

  /// Returns the account of the tokens, if its user is allowed on this device.
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
    let (identity, profile) = try await identify(&credentials, isRenewed: isRenewed)
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

  /// Refuses a user whose org requires a screen lock that this app does not have.
  private func checkScreenLock() async throws(OAuthError) {
    if options.enforcesScreenLockItself { return }
    guard let lock = options.screenLock, await lock.canLock else {
      throw OAuthError(
        .screenLockRequired,
        "The org demands that the app locks itself, and nothing here can unlock it. Give the accounts a ScreenLockManager with a "
          + "DeviceAuthenticator.")
    }
  }

  /// Returns the identity as the existing account spells it.
  ///
  /// Ids are equal in whatever case of their 18 characters, but files and locks are not: with the spelling of a
  /// server, nothing would compare its servers with those of the account. The account of an earlier version
  /// keeps its ids, whatever they look like.
  ///
  /// - Throws: ``OAuthError`` `malformedResponse` for a new account whose ids are not those of a user and an org.
  private func spelling(
    of named: UserAccountIdentity, at server: LoginServer
  ) async throws(OAuthError) -> UserAccountIdentity {
    if let known = machine.spelling(of: named) { return known }
    let usual = named.platformForm
    // Another process may have made the account since the start. Usual ids lead to its file.
    if let usual, usual.description == named.description { return usual }
    let stored = try? await persister.fetchAll().accounts
    if let known = stored?.first(where: { $0.identity == named }) { return known.identity }
    guard let usual else {
      throw OAuthError(
        .malformedResponse,
        "The login at \(server) names ids that no user and no org can have. Check the server's address."
      )
    }
    return usual
  }

  /// Requests the user of the tokens. If the server refuses the token, it is refreshed once
  /// (CO-70).
  ///
  /// - Parameter isRenewed: Whether the session is a program's own. Its scopes are those of the connected app, often
  ///   `api` alone, which do not permit the request; its user is then known by its ids only.
  private func identify(
    _ credentials: inout OAuthCredentials, isRenewed: Bool
  ) async throws -> (UserAccountIdentity, UserProfile) {
    if isRenewed, !Scope.allowsIdentity(credentials.scopes), let url = credentials.identityURL,
      let identity = UserAccountIdentity(identityURL: url.absoluteString)
    {
      let scopes = credentials.scopes.joined(separator: " ")
      CoreLogger.log.info("\(identity) has no profile: the granted scopes are \(scopes)")
      return (identity, UserProfile(username: ""))
    }
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

  /// Stores the account of a finished login.
  func enter(
    _ entering: UserAccount, makesCurrent: Bool, choosesServer: Bool = true
  ) async throws -> UserAccount {
    let identity = try await spelling(
      of: entering.identity, at: entering.credentials.loginServer)
    let entering = UserAccount(
      identity: identity, credentials: entering.credentials, profile: entering.profile,
      lockPolicy: entering.lockPolicy)
    let wasLocked = options.screenLock?.isLocked ?? false
    if machine.isLogoutInterrupted(identity) { try await logOut(identity) }
    // A refresh that waits for the account is cancelled. One that has sent its request is awaited:
    // if this login cannot be stored, the former session continues.
    await machine.refresh(of: identity)?.cancel()
    options.screenLock?.willLogIn(hasPolicy: entering.lockPolicy != nil || !lockPolicies.isEmpty)
    let (account, former) = try await persister.withExclusiveAccess(to: identity) {
      try await self.replaceAccount(by: entering, makesCurrent)
    }
    machine[identity].grant = nil
    show(.userAuthentication)
    didMove(account)
    await options.screenLock?.didLogIn(
      identity, users: lockPolicies, mayReset: wasLocked && former != nil)
    eventSource.send(.didLogIn, account, changes: AccountChanges(from: former, to: account))
    if makesCurrent {
      willSetCurrent(identity)
      didSetCurrent(identity, choosesServer: choosesServer)
    }
    // If the former session has no refresh token, its access token may be the one of this login.
    if let former, former.credentials.refreshToken?.isEmpty == false,
      former.credentials.refreshToken != account.credentials.refreshToken
    {
      _ = await revoke(former.credentials, reason: .refreshTokenRotated)
    }
    await reportLogin(of: account)
    return account
  }

  /// Writes the account of a finished login over the former one, which another process may have
  /// changed. Must be called with exclusive access to the account.
  private func replaceAccount(
    by entering: UserAccount, _ makesCurrent: Bool
  ) async throws(AccountError) -> (account: UserAccount, former: UserAccount?) {
    let identity = entering.identity
    let former = await newest(identity)
    let known = machine.account(identity)
    let knownChange = machine.unsavedChange(of: identity)
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
      if machine.account(identity) == account {
        machine.restore(known, knownChange, insteadOf: identity)
      }
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

  /// Undoes a login that was stored but could not become the current user.
  private func takeBack(_ account: UserAccount, _ former: UserAccount?) async {
    do throws(AccountError) {
      if let former {
        try await save(former)
      } else {
        machine.remove(account.identity)
        try await persister.delete(account)
      }
    } catch {
      CoreLogger.log.error("the login of \(account) could not be taken back", error: error)
    }
  }
}
