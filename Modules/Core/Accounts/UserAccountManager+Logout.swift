import SalesforceSDKCommon

extension UserAccountManager {
  /// Adds an observer to every logout from now on, after the observers that were added before.
  ///
  /// Stores, key-value stores and settings that were created with this manager need no observer. Use one for
  /// data that the program keeps elsewhere.
  public func addLogoutObserver(_ observer: any LogoutObserver) {
    observers.append(observer)
  }

  /// The number of entries of an account that the server does not have, in all its stores and with all
  /// observers.
  ///
  /// - Throws: The error of a store or an observer that cannot count; ``AccountError`` `unsyncedRecords` if
  ///   the account has data whose manager this process has not created.
  public func unsyncedRecords(of identity: UserAccountIdentity) async throws -> Int {
    guard let account = held[identity] else { return 0 }
    try checkKeepers(of: account)
    var total = 0
    for keeper in allKeepers {
      total += try await limited(to: options.observerTimeLimit, "counting unsynced records") {
        try await keeper.unsyncedRecords(of: account)
      }
    }
    for observer in observers {
      total += try await limited(to: options.observerTimeLimit, "counting unsynced records") {
        try await observer.unsyncedRecords(of: account)
      }
    }
    return total
  }

  /// Logs an account out: its stores, key-value stores, settings, tokens and its file are removed, and the
  /// server ends its refresh token. It works without a network.
  ///
  /// If the account has unsynced entries, or they cannot be counted, the call throws and changes nothing,
  /// unless `force` is true. Entries are counted twice, the second time with the stores closed: an entry that
  /// is written while the logout decides refuses it, too, and then the stores have to be opened again. The
  /// other accounts are untouched; if it was the current user, there is none afterwards.
  ///
  /// Cancelling the task ends the logout only during the first counting; after that, the logout continues to
  /// its end. If the process ends on the way, the account has no session any more, and the logout is finished
  /// by ``finishInterruptedLogouts()``.
  ///
  /// - Parameter force: Log out although unsynced entries are lost, or cannot be counted.
  ///   Default: false.
  /// - Throws: ``AccountError`` `unsyncedRecords`, `unknownAccount`, `illegalState` while a logout
  ///   of it is at work; `writeFailed` if the account's file could not be changed or removed, `busy` if
  ///   another process works on the account for long. If the data is erased by then, the account is still
  ///   there, not logged in, and can be logged out again.
  @discardableResult
  public func logOut(
    _ identity: UserAccountIdentity, reason: LogoutReason = .unknown, force: Bool = false
  ) async throws -> LogoutReport {
    guard let account = held[identity] else {
      throw AccountError(.unknownAccount, "There is no account \(identity) to log out.")
    }
    let isInterrupted = isLogoutInterrupted(identity)
    var unsynced: Int?
    if isInterrupted {
      // It was decided before; what is left cannot be counted.
      if !force { try checkKeepers(of: account) }
    } else {
      unsynced = try await checkUnsynced(identity, force: force)
    }
    // The state is read again: others may have acted during the counting.
    guard var account = held[identity] else {
      throw AccountError(.unknownAccount, "There is no account \(identity) to log out.")
    }
    guard isInterrupted || account.loginState.allows(.loggingOut) else {
      throw AccountError(.illegalState, "\(account) is being logged out already.")
    }
    let former = account.loginState
    leaving.insert(identity)
    account.loginState = .loggingOut
    held[identity] = account
    // In a task of its own: a caller that is cancelled must not leave half of the data behind.
    return try await Task { [account, unsynced] in
      defer { leaving.remove(identity) }
      let lost: Int?
      do {
        lost = try await prepare(account, unsynced: unsynced, force: force || isInterrupted)
      } catch {
        await release(account)
        held[identity]?.loginState = former
        throw error
      }
      do {
        let report = try await erase(
          account, reason: reason, unsynced: lost, mustEraseAll: isInterrupted && !force)
        await release(account)
        return report
      } catch {
        await release(account)
        throw error
      }
    }.value
  }

  /// Completes logouts that were interrupted by the end of their process.
  ///
  /// Opening a store of an account does the same; a program that opens no store calls this after it has
  /// created its managers. Until then such an account is in ``accounts`` with the state
  /// ``UserAccount/LoginState/loggingOut``; it has no session and no store, and a login of the same user
  /// finishes its logout first. A logout that cannot be finished is logged and tried again next time.
  public func finishInterruptedLogouts() async {
    for identity in held.keys where isLogoutInterrupted(identity) {
      do {
        try await logOut(identity)
      } catch {
        CoreLogger.log.error(
          "The interrupted logout of account \(identity) could not be finished.", error: error)
      }
    }
  }

  /// Whether a logout of the account was at work when its process ended.
  func isLogoutInterrupted(_ identity: UserAccountIdentity) -> Bool {
    held[identity]?.loginState == .loggingOut && !leaving.contains(identity)
  }

  /// Closes the data of an account, counts once more, and notes on disk that its logout is decided.
  ///
  /// - Returns: The number of entries that will be lost; `nil` if they could not be counted.
  private func prepare(
    _ account: UserAccount, unsynced: Int?, force: Bool
  ) async throws -> Int? {
    var total = 0
    var isCounted = unsynced != nil
    for keeper in allKeepers {
      do {
        total += try await limited(to: options.observerTimeLimit, "closing an account's data") {
          try await keeper.hold(account)
        }
      } catch {
        guard force else { throw uncountable(account.identity, error) }
        isCounted = false
      }
    }
    guard total == 0 || force else { throw unsyncedError(account.identity, total) }
    // It has the account to itself. Tokens that it still brings are ended with the rest.
    await refreshes[account.identity]?.cancel()
    do {
      try await persister.withExclusiveAccess(to: account.identity) {
        try await self.noteLogout(account)
      }
    } catch {
      // A full disk does not prevent a forced logout.
      guard force else { throw error }
      CoreLogger.log.warning("The logout of \(account) could not be noted.", error: error)
    }
    return isCounted ? unsynced.map { max($0, total) } : nil
  }

  /// Records on disk that the account is being logged out: if the process ends, the account has no session
  /// after that. To be called with exclusive access to the account.
  private func noteLogout(_ leaving: UserAccount) async throws(AccountError) {
    // Another process may have logged it out.
    guard var account = await newest(leaving.identity) else { return }
    account.loginState = .loggingOut
    try await persister.save(account)
  }

  private func release(_ account: UserAccount) async {
    for keeper in allKeepers { await keeper.release(account) }
  }

  /// Erases an account whose logout was decided.
  ///
  /// - Parameter mustEraseAll: Whether the account stays, as it is on disk, if not all of its data can be
  ///   erased. Otherwise the report has the failures.
  private func erase(
    _ leaving: UserAccount, reason: LogoutReason, unsynced: Int?, mustEraseAll: Bool
  ) async throws -> LogoutReport {
    let identity = leaving.identity
    eventSource.send(.willLogOut(reason), leaving)
    let failures = await eraseData(of: leaving, reason)
    if mustEraseAll, let failure = failures.first {
      throw AccountError(
        .writeFailed,
        "Cannot finish the logout of \(leaving): not all of its data could be erased. Close its "
          + "stores in other processes and try again, or force the logout.", cause: failure)
    }
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
  /// for it, or logged the user in again. To be called with exclusive access to the account.
  ///
  /// - Returns: What was removed.
  private func remove(_ leaving: UserAccount) async throws(AccountError) -> UserAccount {
    let identity = leaving.identity
    let last = await newest(identity) ?? leaving
    // On disk another account may be the current user by now.
    let current = try await persister.updateCurrent { $0 == identity ? nil : $0 }
    if self.current?.identity == identity { didSetCurrent(current) }
    try await persister.delete(last)
    drop(identity)
    return last
  }

  /// Logs all accounts out, the current user last.
  ///
  /// - Parameter force: As for one account. Without it, the call changes nothing if any account has unsynced
  ///   entries.
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
    for identity in order where held[identity] != nil && !leaving.contains(identity) {
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
      throw uncountable(identity, error)
    }
    guard count == 0 || force else { throw unsyncedError(identity, count) }
    return count
  }

  private func uncountable(_ identity: UserAccountIdentity, _ error: any Error) -> any Error {
    // This one says it better.
    if let error = error as? AccountError, error.code == .unsyncedRecords { return error }
    return AccountError(
      .unsyncedRecords,
      "Cannot log out account \(identity): its unsynced records cannot be counted (\(error)). Remove "
        + "the cause, or force the logout and lose them.", cause: error)
  }

  private func unsyncedError(_ identity: UserAccountIdentity, _ count: Int) -> AccountError {
    AccountError(
      .unsyncedRecords,
      "Cannot log out account \(identity): it has \(count) unsynced records. Sync them up, or force "
        + "the logout and lose them.", unsyncedRecords: count)
  }

  /// Has the observers and keepers erase an account's data, each within its time.
  private func eraseData(of account: UserAccount, _ reason: LogoutReason) async -> [any Error] {
    var failures: [any Error] = []
    do throws(AccountError) {
      try checkKeepers(of: account)
    } catch {
      failures.append(error)
    }
    for observer in observers {
      failures += await failure {
        try await Self.$endingAccount.withValue(account.identity) {
          try await observer.willLogOut(account, reason: reason)
        }
      }
    }
    for keeper in allKeepers {
      failures += await failure { try await keeper.erase(account) }
    }
    return failures
  }

  /// Runs work that erases data, and returns why it failed.
  private func failure(
    _ work: @escaping @Sendable () async throws -> Void
  ) async -> [any Error] {
    do {
      try await limited(to: options.observerTimeLimit, "erasing an account's data", work)
      return []
    } catch {
      CoreLogger.log.error("Not all data of an account could be erased.", error: error)
      return [error]
    }
  }

  /// Runs work of others for a bounded time. Work that does not end is cancelled and left behind.
  private func limited<Result: Sendable>(
    to limit: Duration, _ what: String, _ work: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    guard let result = try await CoalescedTask(work).value(within: limit, by: clock) else {
      throw AccountError(.observerTimedOut, "\(what) took longer than \(limit).")
    }
    return result
  }
}
