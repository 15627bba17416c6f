import SalesforceSDKCommon

/// Accounts on disk and in memory: each change is on disk before it takes effect, and another process may have written
/// since.
extension UserAccountManager {
  /// Stores an account, on disk first.
  ///
  /// If the disk fails, the account is still kept in memory, because tokens that the server has
  /// already exchanged must not be lost. It is written before its next use. Must be called with
  /// exclusive access to the account.
  func save(_ account: UserAccount) async throws(AccountError) {
    machine.willSave(account)
    try await write(account)
  }

  /// Writes an account that could not be written earlier, unless another process has logged in or
  /// out since. Must be called with exclusive access to the account.
  func saveUnsaved(_ identity: UserAccountIdentity) async throws(AccountError) {
    let stored = try await persister.fetch(identity)
    switch machine.settleUnsaved(identity, stored: stored) {
    case .settled: break
    case .write(let account): try await write(account)
    case .removed(let account):
      // The process that logged the user out knew an older token.
      _ = await revoke(account.credentials, reason: .refreshTokenRotated)
    }
  }

  /// Returns the account with the newest known tokens: from disk, or from memory if a newer value
  /// is not written yet or the disk cannot be read. `nil` if it was removed from disk or from
  /// memory. Must be called with exclusive access to the account.
  func newest(_ identity: UserAccountIdentity) async -> UserAccount? {
    do throws(AccountError) {
      let stored = try await persister.fetch(identity)
      return machine.newest(identity, stored: stored)
    } catch {
      CoreLogger.log.warning("account \(identity) on disk cannot be read", error: error)
      return machine.account(identity)
    }
  }

  /// Loads the account from disk into memory, unless memory has a newer value that is not written
  /// yet. Returns `nil` if it was removed from disk or from memory. Must be called with exclusive
  /// access to the account.
  func takeOver(_ identity: UserAccountIdentity) async throws(AccountError) -> UserAccount? {
    while let before = machine.account(identity) {
      let stored = try await persister.fetch(identity)
      switch machine.takeOver(identity, stored: stored, since: before) {
      case .changed: continue
      case .account(let account): return account
      case .removed: return nil
      }
    }
    return nil
  }

  /// Writes the newest value of an account.
  private func write(_ account: UserAccount) async throws(AccountError) {
    let change = machine.unsavedChange(of: account.identity)
    try await persister.save(account)
    machine.didSave(account.identity, change: change)
  }
}
