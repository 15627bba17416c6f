import SalesforceSDKCommon

extension UserAccountManager {
  /// Adds an observer to every logout from now on, after the observers that were added before.
  ///
  /// Stores, key-value stores and settings that were created with this manager need no observer. Use one for
  /// data that the program keeps elsewhere.
  public func addLogoutObserver(_ observer: any LogoutObserver) {
    observers.append(observer)
  }

  /// Counts the unsynced entries of an account, in all its stores and with all observers.
  ///
  /// - Throws: The error of a store or an observer that cannot count; ``AccountError``
  ///   `unsyncedRecords` if the account has data of a keeper that this process has not created.
  public func unsyncedRecords(of identity: UserAccountIdentity) async throws -> Int {
    guard let account = machine.account(identity) else { return 0 }
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

  /// Logs an account out: removes its stores, key-value stores, settings, tokens and its file, and
  /// revokes its refresh token on the server. It works without a network.
  ///
  /// If the account has unsynced entries, or they cannot be counted, the call throws and changes
  /// nothing, unless `force` is true. Entries are counted twice, the second time with the stores
  /// closed. An entry that is written between the two counts also makes the call throw, and then
  /// the stores have to be opened again. Other accounts do not change. If the account was the
  /// current user, there is none afterwards.
  ///
  /// Cancelling the task stops the logout only during the first count; after that, the logout
  /// continues to its end. If the process ends during the logout, the account has no session, and
  /// ``finishInterruptedLogouts()`` finishes the logout.
  ///
  /// - Parameter force: Whether to log out even if unsynced entries are lost, or cannot be counted.
  ///   Default: false.
  /// - Throws: ``AccountError`` `unsyncedRecords`, `unknownAccount`, `illegalState` while another
  ///   logout of it is in progress; `writeFailed` if the account's file could not be changed or
  ///   removed, `busy` if another process uses the account for long or, even if `force` is true, has a store of it
  ///   open; the message names the process where the system says it. If the data is already erased
  ///   then, the account still exists without a session, and can be logged out again.
  @discardableResult
  public func logOut(
    _ identity: UserAccountIdentity, reason: LogoutReason = .unknown, force: Bool = false
  ) async throws -> LogoutReport {
    guard let account = machine.account(identity) else { throw nothingToLogOut(identity) }
    let isInterrupted = machine.isLogoutInterrupted(identity)
    var unsynced: Int?
    if isInterrupted {
      // The logout was decided earlier; the remaining data cannot be counted.
      if !force { try checkKeepers(of: account) }
    } else {
      unsynced = try await checkUnsynced(identity, force: force)
    }
    // The state is read again, because it may have changed during the count.
    let leaving: UserAccount
    let former: UserAccount.LoginState
    switch machine.beginLogout(of: identity, resumes: isInterrupted) {
    case .begun(let account, let state): (leaving, former) = (account, state)
    case .unknown: throw nothingToLogOut(identity)
    case .inProgress(let account):
      throw AccountError(.illegalState, "\(account) is being logged out already.")
    }
    // In a separate task: cancelling the caller must not leave part of the data.
    return try await Task { [unsynced] in
      defer { machine.endLogout(of: identity) }
      let lost: Int?
      do {
        lost = try await prepare(leaving, unsynced: unsynced, force: force || isInterrupted)
      } catch {
        await release(leaving)
        machine.setLoginState(former, of: identity)
        throw error
      }
      do {
        let report = try await erase(
          leaving, reason: reason, unsynced: lost, mustEraseAll: isInterrupted && !force)
        await release(leaving)
        return report
      } catch {
        await release(leaving)
        throw error
      }
    }.value
  }

  /// Finishes logouts that were interrupted by the end of their process.
  ///
  /// Opening a store of an account does the same; a program that opens no store calls this after it has
  /// created its managers. Until then such an account is in ``accounts`` with the state
  /// ``UserAccount/LoginState/loggingOut``; it has no session and no store, and a login of the same user
  /// finishes its logout first. A logout that cannot be finished is logged and tried again next time.
  public func finishInterruptedLogouts() async {
    for identity in machine.accounts.keys where machine.isLogoutInterrupted(identity) {
      do {
        try await logOut(identity)
      } catch {
        CoreLogger.log.error(
          "The interrupted logout of account \(identity) could not be finished.", error: error)
      }
    }
  }

  private func nothingToLogOut(_ identity: UserAccountIdentity) -> AccountError {
    AccountError(.unknownAccount, "There is no account \(identity) to log out.")
  }

  /// Closes the data of an account, counts again, and records on disk that the logout is decided.
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
      } catch let error as AccountError where error.code == .busy {
        // Erasing the key would leave a store that nothing opens and no message explains.
        throw error
      } catch {
        guard force else { throw uncountable(account.identity, error) }
        isCounted = false
      }
    }
    guard total == 0 || force else { throw unsyncedError(account.identity, total) }
    // This task has exclusive access to the account. Tokens that the refresh still returns are
    // revoked too.
    await machine.refresh(of: account.identity)?.cancel()
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

  /// Records on disk that the account is being logged out: if the process ends, the account has no
  /// session. Must be called with exclusive access to the account.
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
  /// - Parameter mustEraseAll: Whether the account remains on disk if some of its data cannot be
  ///   erased. Otherwise the report contains the failures.
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
      machine.setLoginState(.notLoggedIn, of: identity)
      throw error
    }
    account.loginState = .notLoggedIn
    let isRevoked = await revoke(account.credentials, reason: reason)
    let communityId = account.credentials.communityId
    account.credentials.removeSession()
    // Observers find the user's data by it.
    account.credentials.communityId = communityId
    eventSource.send(.didLogOut(reason), account)
    if accounts(inOrganization: identity.organizationId).isEmpty {
      eventSource.send(.didLogOutOrganization, account)
    }
    return LogoutReport(
      account: account, unsyncedRecords: unsynced, failures: failures, isRevoked: isRevoked)
  }

  /// Removes the current value of an account from disk and memory: another process may have
  /// received other tokens for it, or logged the user in again. Must be called with exclusive
  /// access to the account.
  ///
  /// - Returns: The removed account.
  private func remove(_ leaving: UserAccount) async throws(AccountError) -> UserAccount {
    let identity = leaving.identity
    let last = await newest(identity) ?? leaving
    // Another account may be the current user on disk now.
    let current = try await persister.updateCurrent { $0 == identity ? nil : $0 }
    if self.current?.identity == identity { didSetCurrent(current) }
    try await persister.delete(last)
    machine.remove(identity)
    return last
  }

  /// Logs all accounts out, the current user last.
  ///
  /// - Parameter force: As for one account. Without it, the call changes nothing if any account has
  ///   unsynced entries.
  /// - Throws: As for one account; the accounts before it are then logged out.
  @discardableResult
  public func logOutAll(
    reason: LogoutReason = .unknown, force: Bool = false
  ) async throws -> [LogoutReport] {
    let last = current?.identity
    let order = accounts.map(\.identity).filter { $0 != last } + [last].compactMap(\.self)
    for identity in order where machine.account(identity)?.loginState != .loggingOut {
      _ = try await checkUnsynced(identity, force: force)
    }
    var reports: [LogoutReport] = []
    for identity in order where machine.account(identity) != nil && !machine.isLeaving(identity) {
      reports.append(try await logOut(identity, reason: reason, force: force))
    }
    return reports
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
    // This error is more precise.
    if let error = error as? AccountError, [.unsyncedRecords, .busy].contains(error.code) {
      return error
    }
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

  /// Makes the observers and keepers erase an account's data, each within its time limit.
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

  /// Runs work that erases data, and returns its failure.
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
}
