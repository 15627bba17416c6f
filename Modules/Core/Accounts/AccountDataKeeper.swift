import SalesforceSDKCommon
import Synchronization

/// Something that keeps data of accounts on this device, and registers itself with their manager when it is
/// made: the stores of records, the key-value stores, the settings.
///
/// A logout counts, closes and erases what all of them keep, so that no program has to remember it.
package protocol AccountDataKeeper: Sendable {
  /// The kind of data and the name of its folder, such as `SmartStore:stores`: the same in every process,
  /// and wherever the folder of the program lies.
  var keeperName: String { get }
  /// Tells keepers apart; one that registers takes the place of another with the same id.
  var keeperId: String { get }

  /// The number of entries of an account that the server does not have.
  ///
  /// - Throws: If they cannot be counted.
  func unsyncedRecords(of account: UserAccount) async throws -> Int

  /// Closes the data of an account to everything else, here and in other processes, until
  /// ``release(_:)``, and counts again what the server does not have: nothing can be added after that.
  ///
  /// - Throws: If some of it cannot be closed or counted, after all the rest was.
  func hold(_ account: UserAccount) async throws -> Int

  /// Lets data be used that was held, if it is still there.
  func release(_ account: UserAccount) async

  /// Erases the data of an account, even if it is damaged.
  ///
  /// - Throws: If some of it cannot be erased, after all the rest was.
  func erase(_ account: UserAccount) async throws
}

extension AccountDataKeeper {
  package func unsyncedRecords(of account: UserAccount) async throws -> Int { 0 }
  package func hold(_ account: UserAccount) async throws -> Int { 0 }
  package func release(_ account: UserAccount) async {}
}

extension UserAccountManager {
  /// Makes `keeper` part of every logout from now on. The manager keeps it alive.
  package nonisolated func register(_ keeper: some AccountDataKeeper) {
    let id = keeper.keeperId
    keepers.withLock { keepers in
      keepers.removeAll { $0.id == id }
      keepers.append((id, keeper))
    }
  }

  /// Whether data may be kept for an account now: it is here and is not being logged out.
  package nonisolated func mayKeepData(of identity: UserAccountIdentity) -> Bool {
    roster.withLock { states in states[identity].map { $0 != .loggingOut } ?? false }
  }

  /// Whether the account is here with a session.
  nonisolated func isLoggedIn(_ identity: UserAccountIdentity) -> Bool {
    roster.withLock { $0[identity] == .loggedIn }
  }

  /// Notes in the account that a keeper has data of it, so that a later logout in a process without this
  /// keeper is refused. Costs one write of the account file for each keeper and account.
  ///
  /// - Returns: Whether data may be kept for the account.
  package func startKeepingData(
    _ keeperName: String, of identity: UserAccountIdentity
  ) async throws -> Bool {
    await finishInterruptedLogouts()
    guard mayKeepData(of: identity) else { return false }
    if held[identity]?.dataKeepers.contains(keeperName) == false {
      do {
        try await change(identity, announces: false) { $0.dataKeepers.insert(keeperName) }
      } catch let error as AccountError where error.code != .unknownAccount {
        // A full disk must not keep a store from being read.
        CoreLogger.log.warning(
          "It could not be noted that there is data of account \(identity).", error: error)
      }
    }
    return mayKeepData(of: identity)
  }

  var allKeepers: [any AccountDataKeeper] { keepers.withLock { $0.map(\.keeper) } }

  /// Refuses to log an account out whose data is kept by something that this process has not made.
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
