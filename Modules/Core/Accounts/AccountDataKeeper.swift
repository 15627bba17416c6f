import SalesforceSDKCommon
import Synchronization

/// A keeper of account data on this device: the stores of records, the key-value stores, the
/// settings. It registers itself with the account manager when it is created.
///
/// A logout counts, closes and erases the data of all keepers, so that no program has to do it.
package protocol AccountDataKeeper: Sendable {
  /// The kind of data and the name of its folder, such as `SmartStore:stores`. It is the same in
  /// every process, and does not depend on the location of the program's folder.
  var keeperName: String { get }
  /// The keeper's id. A keeper replaces an earlier one with the same id.
  var keeperId: String { get }

  /// Counts the unsynced entries of an account.
  ///
  /// - Throws: If they cannot be counted.
  func unsyncedRecords(of account: UserAccount) async throws -> Int

  /// Closes the data of an account to all other use, in this process and others, until
  /// ``release(_:)``, and counts the unsynced entries again, because no entry can be added after
  /// that.
  ///
  /// - Throws: If some data cannot be closed or counted, after the rest was; ``AccountError`` `busy` if another process
  ///   has it open: a logout would leave it there without its key.
  func hold(_ account: UserAccount) async throws -> Int

  /// Makes data that was closed by ``hold(_:)`` available again, if it still exists.
  func release(_ account: UserAccount) async

  /// Erases the data of an account, even if it is damaged.
  ///
  /// - Throws: If some data cannot be erased, after the rest was.
  func erase(_ account: UserAccount) async throws
}

extension AccountDataKeeper {
  package func unsyncedRecords(of account: UserAccount) async throws -> Int { 0 }
  package func hold(_ account: UserAccount) async throws -> Int { 0 }
  package func release(_ account: UserAccount) async {}
}

extension UserAccountManager {
  /// Adds `keeper` to all later logouts. The manager retains it.
  package nonisolated func register(_ keeper: some AccountDataKeeper) {
    let id = keeper.keeperId
    keepers.withLock { keepers in
      keepers.removeAll { $0.id == id }
      keepers.append((id, keeper))
    }
  }

  /// Whether data may be stored for an account now: the account exists and is not being logged out.
  package nonisolated func mayKeepData(of identity: UserAccountIdentity) -> Bool {
    roster.withLock { states in states[identity].map { $0 != .loggingOut } ?? false }
  }

  /// Whether the account exists and has a session.
  nonisolated func isLoggedIn(_ identity: UserAccountIdentity) -> Bool {
    roster.withLock { $0[identity] == .loggedIn }
  }

  /// Records in the account that a keeper has data of it, so that a later logout in a process
  /// without this keeper is refused. It costs one write of the account file for each keeper and
  /// account.
  ///
  /// - Returns: Whether data may be stored for the account.
  package func startKeepingData(
    _ keeperName: String, of identity: UserAccountIdentity
  ) async throws -> Bool {
    await finishInterruptedLogouts()
    guard mayKeepData(of: identity) else { return false }
    if machine.account(identity)?.dataKeepers.contains(keeperName) == false {
      do {
        try await change(identity, announces: false) { $0.dataKeepers.insert(keeperName) }
      } catch let error as AccountError where error.code != .unknownAccount {
        // A full disk must not prevent reading a store.
        CoreLogger.log.warning(
          "It could not be noted that there is data of account \(identity).", error: error)
      }
    }
    return mayKeepData(of: identity)
  }

  var allKeepers: [any AccountDataKeeper] { keepers.withLock { $0.map(\.keeper) } }

  /// Refuses to log out an account with data of a keeper that this process has not created.
  func checkKeepers(of account: UserAccount) throws(AccountError) {
    let missing = account.dataKeepers.subtracting(allKeepers.map(\.keeperName)).sorted()
    guard missing.isEmpty else {
      throw AccountError(
        .unsyncedRecords,
        "Cannot log out \(account): this program has not made the managers of its data "
          + "(\(missing.joined(separator: ", "))). Make them with these accounts first, or force the "
          + "logout and leave that data behind.")
    }
  }
}
