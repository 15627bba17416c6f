import SalesforceSDKCommon

extension UserAccountManager {
  /// Takes part in every logout from now on, after the observers added before.
  public func addLogoutObserver(_ observer: any LogoutObserver) {
    observers.append(observer)
  }

  /// How many records of an account exist only here, over all observers.
  ///
  /// - Throws: What an observer throws that cannot count.
  public func unsyncedRecords(of identity: UserAccountIdentity) async throws -> Int {
    guard let account = held[identity] else { return 0 }
    var total = 0
    for observer in observers {
      total += try await limited(to: options.observerTimeLimit, "counting unsynced records") {
        try await observer.unsyncedRecords(of: account)
      }
    }
    return total
  }

  /// Logs an account out: its observers erase its data, its tokens and its file are removed, and
  /// the server is told to end its refresh token. It works without a network.
  ///
  /// If records of the account exist only here, nothing happens at all, unless `force` is given.
  /// The other accounts are untouched; if it was the current user, there is none afterwards.
  ///
  /// Cancelling the task ends the counting; once the observers erase, the logout goes on to its end.
  ///
  /// - Parameter force: Log out although unsynced records are lost, or cannot be counted.
  ///   Default: false.
  /// - Throws: ``AccountError`` `unsyncedRecords`, `unknownAccount`, `illegalState` while a logout
  ///   of it is at work; `writeFailed` if the account's file could not be removed, `busy` if another
  ///   process works on the account for long. After the last two the account is still there, not logged
  ///   in, and can be logged out again.
  @discardableResult
  public func logOut(
    _ identity: UserAccountIdentity, reason: LogoutReason = .unknown, force: Bool = false
  ) async throws -> LogoutReport {
    guard held[identity] != nil else {
      throw AccountError(.unknownAccount, "there is no account \(identity) to log out")
    }
    let unsynced = try await checkUnsynced(identity, force: force)
    // The state is read again: others may have acted while the observers counted.
    guard var account = held[identity] else {
      throw AccountError(.unknownAccount, "there is no account \(identity) to log out")
    }
    guard account.loginState.allows(.loggingOut) else {
      throw AccountError(.illegalState, "\(account) is being logged out already")
    }
    account.loginState = .loggingOut
    held[identity] = account
    // In a task of its own: a caller that is cancelled must not leave half of the data behind.
    return try await Task { [account] in
      try await erase(account, reason: reason, unsynced: unsynced)
    }.value
  }

  /// Erases an account whose logout was decided.
  private func erase(
    _ leaving: UserAccount, reason: LogoutReason, unsynced: Int?
  ) async throws -> LogoutReport {
    let identity = leaving.identity
    // Tokens that it still brings are ended with the rest.
    await refreshes[identity]?.cancel()
    eventSource.send(.willLogOut(reason), leaving)
    let failures = await tellObservers(leaving, reason)
    var account: UserAccount
    do {
      account = try await persister.withExclusiveAccess(to: identity) {
        try await self.remove(leaving)
      }
    } catch {
      held[identity]?.loginState = .notLoggedIn
      throw error
    }
    account.loginState = .notLoggedIn
    let isRevoked = await revoke(account.credentials, reason: reason)
    let communityId = account.credentials.communityId
    account.credentials.removeSession()
    // Observers tell the user's data by it.
    account.credentials.communityId = communityId
    eventSource.send(.didLogOut(reason), account)
    if accounts(inOrganization: identity.organizationId).isEmpty {
      eventSource.send(.didLogOutOrganization, account)
    }
    return LogoutReport(
      account: account, unsyncedRecords: unsynced, failures: failures, isRevoked: isRevoked)
  }

  /// Removes an account from disk and memory, as it is now: another process may have got other tokens
  /// for it, or logged the user in anew. To be called with exclusive access to the account.
  ///
  /// - Returns: What was removed.
  private func remove(_ leaving: UserAccount) async throws(AccountError) -> UserAccount {
    let identity = leaving.identity
    let last = await newest(identity) ?? leaving
    // On disk somebody else may be the current user by now.
    let current = try await persister.updateCurrent { $0 == identity ? nil : $0 }
    if self.current?.identity == identity { didSetCurrent(current) }
    try await persister.delete(last)
    drop(identity)
    return last
  }

  /// Logs all accounts out, the current user last.
  ///
  /// - Parameter force: As for one. Without it nothing happens if any account has unsynced records.
  /// - Throws: As for one account; the accounts before it are logged out then.
  @discardableResult
  public func logOutAll(
    reason: LogoutReason = .unknown, force: Bool = false
  ) async throws -> [LogoutReport] {
    let last = current?.identity
    let order = accounts.map(\.identity).filter { $0 != last } + [last].compactMap(\.self)
    for identity in order where held[identity]?.loginState != .loggingOut {
      _ = try await checkUnsynced(identity, force: force)
    }
    var reports: [LogoutReport] = []
    for identity in order where held[identity]?.loginState.allows(.loggingOut) == true {
      reports.append(try await logOut(identity, reason: reason, force: force))
    }
    return reports
  }

  /// Ends a session on the server; the outcome changes nothing here.
  func revoke(_ credentials: OAuthCredentials, reason: LogoutReason) async -> Bool? {
    guard credentials.revocableToken != nil else { return nil }
    let oauth = oauth
    do {
      return try await limited(to: options.revocationTimeLimit, "revoking the refresh token") {
        try await oauth.revoke(credentials, reason: reason)
      }
    } catch {
      CoreLogger.log.warning("the server was not told to end a refresh token", error: error)
      return false
    }
  }

  private func checkUnsynced(_ identity: UserAccountIdentity, force: Bool) async throws -> Int? {
    let count: Int
    do {
      count = try await unsyncedRecords(of: identity)
    } catch is CancellationError {
      throw CancellationError()
    } catch {
      if force { return nil }
      throw AccountError(
        .unsyncedRecords,
        "the unsynced records of account \(identity) cannot be counted, so it is not logged out; "
          + "mend that, or insist and lose them", cause: error)
    }
    guard count == 0 || force else {
      throw AccountError(
        .unsyncedRecords,
        "account \(identity) has \(count) unsynced records; sync them up, or insist and lose them",
        unsyncedRecords: count)
    }
    return count
  }

  private func tellObservers(
    _ account: UserAccount, _ reason: LogoutReason
  ) async -> [any Error] {
    var failures: [any Error] = []
    for observer in observers {
      do {
        try await limited(to: options.observerTimeLimit, "erasing an account's data") {
          try await observer.willLogOut(account, reason: reason)
        }
      } catch {
        CoreLogger.log.error("not all data of \(account) could be erased", error: error)
        failures.append(error)
      }
    }
    return failures
  }

  /// Runs work of others for a bounded time. Work that does not end is cancelled and left behind.
  private func limited<Result: Sendable>(
    to limit: Duration, _ what: String, _ work: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    guard let result = try await SharedFlight(work).value(within: limit, by: clock) else {
      throw AccountError(.observerTimedOut, "\(what) took longer than \(limit)")
    }
    return result
  }
}
