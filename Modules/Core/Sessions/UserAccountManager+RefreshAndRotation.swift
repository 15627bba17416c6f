import SalesforceSDKCommon

extension UserAccountManager {
  /// Gets a new access token for an account, even if the old one is still valid.
  ///
  /// - Throws: ``OAuthError`` `invalidCredentials` without a refresh token; `invalidGrant` if the
  ///   server refuses it, which also ends the session; `refreshFailed` or `timedOut` if the server
  ///   was not reached. ``AccountError``.
  @discardableResult
  public func refresh(_ identity: UserAccountIdentity) async throws -> UserAccount {
    let account = try active(identity)
    return try await refreshedSession(of: identity, replacing: account.credentials.accessToken)
  }

  /// The account with another access token than `stale`: one that came since, or a new one.
  ///
  /// One refresh runs at a time for an account. All callers await the same one, get the same
  /// outcome, and may be cancelled without disturbing it.
  func refreshedSession(
    of identity: UserAccountIdentity, replacing stale: String?
  ) async throws -> UserAccount {
    while true {
      let account = try active(identity)
      if let token = account.credentials.accessToken, token != stale { return account }
      let flight = machine.refresh(of: identity) ?? startRefresh(of: identity, replacing: stale)
      do {
        return try await flight.value()
      } catch is CancellationError where flight.isGivenUp && !Task.isCancelled {
        // A login, a logout or a close gave the refresh up, not the caller: what holds now decides.
      } catch let demand as LogoutDemand {
        await logOut(identity, after: demand)
        throw demand.cause
      }
    }
  }

  private func startRefresh(
    of identity: UserAccountIdentity, replacing stale: String?
  ) -> CoalescedTask<UserAccount> {
    let number = machine.nextRefresh()
    let flight = CoalescedTask<UserAccount> {
      let server = await self.machine.account(identity)?.credentials.loginServer ?? .production
      return try await self.handlingErrors(at: server, account: identity) {
        try await self.runRefresh(of: identity, replacing: stale)
      }
    } whenDone: {
      await self.refreshEnded(identity, number)
    }
    machine.didStartRefresh(of: identity, number: number, flight)
    return flight
  }

  /// The number of requests that wait for a refresh of that account.
  func waitingForRefresh(of identity: UserAccountIdentity) -> Int {
    machine.refresh(of: identity)?.waiterCount ?? 0
  }

  private func refreshEnded(_ identity: UserAccountIdentity, _ number: Int) {
    machine.didEndRefresh(of: identity, number: number)
  }

  /// One refresh, while no other process refreshes the same account.
  private func runRefresh(
    of identity: UserAccountIdentity, replacing stale: String?
  ) async throws -> UserAccount {
    try await persister.withExclusiveAccess(to: identity) {
      try await self.saveUnsaved(identity)
      return try await self.refreshStored(identity, replacing: stale)
    }
  }

  private func refreshStored(
    _ identity: UserAccountIdentity, replacing stale: String?
  ) async throws -> UserAccount {
    // Another process may have refreshed, logged in again or logged out while we waited.
    guard let stored = try await takeOver(identity), hasSession(stored) else {
      throw AccountError(.notLoggedIn, "Account \(identity) has no session any more. Log in.")
    }
    if let token = stored.credentials.accessToken, token != stale { return stored }
    // What the server grants is kept even if the caller cancels the refresh: it may have invalidated the
    // former token.
    return try await CoalescedTask { try await self.exchangeRefreshToken(of: stored) }
      .value(grace: options.exchangeTimeLimit, by: clock)
  }

  private func exchangeRefreshToken(of stored: UserAccount) async throws -> UserAccount {
    let account = try await Telemetry.measure(.refresh) { _ in
      try await self.exchangedRefreshToken(of: stored)
    }
    await analytics?.didRefreshToken(of: account)
    return account
  }

  private func exchangedRefreshToken(of stored: UserAccount) async throws -> UserAccount {
    let response: TokenResponse
    do {
      response = try await newTokens(of: stored)
    } catch let error as OAuthError where error.code == .invalidGrant {
      await endSession(of: stored)
      throw error
    }
    // No caller waits for it any more, and another task may be changing the account.
    try Task.checkCancellation()
    let account = try account(stored, after: response)
    machine[stored.identity].openIDToken = response.values["id_token"]
    try await save(account)
    didMove(account)
    CoreLogger.log.info("The token of \(account) was refreshed.")
    eventSource.send(
      .didRefreshToken, account, changes: AccountChanges(from: stored, to: account))
    if account.credentials.apiURL != stored.credentials.apiURL {
      eventSource.send(.didChangeInstance, account)
    }
    return account
  }

  /// New tokens by the refresh token or, without one, by the program's own grant.
  private func newTokens(of stored: UserAccount) async throws -> TokenResponse {
    if stored.credentials.refreshToken?.isEmpty ?? true, let grant = machine[stored.identity].grant
    {
      return try await service.renewedTokens(by: grant, at: stored.credentials.loginServer)
    }
    return try await service.refresh(stored.credentials)
  }

  /// Records that the server refused the refresh token. Tokens and data are kept.
  private func endSession(of stored: UserAccount) async {
    guard options.endsSessionWhenRefreshIsRefused,
      let account = machine.endedSession(of: stored)
    else { return }
    CoreLogger.log.warning("the server refused the refresh token of \(account); it must log in")
    do {
      try await save(account)
    } catch {
      // The next start asks the server once more and learns the same.
      CoreLogger.log.warning("the end of the session of \(account) was not kept", error: error)
    }
    eventSource.send(.sessionDidEnd(.refreshTokenExpired), account)
  }
}
