import Foundation
import SalesforceSDKCommon
package import SalesforceSDKCore

/// Counts and removes the stores of an account, in all its communities, when the account is logged
/// out.
extension SmartStoreManager: AccountDataKeeper {
  static func keeperName(of root: URL) -> String { "SmartStore:\(root.lastPathComponent)" }

  package nonisolated var keeperName: String {
    Self.keeperName(of: root) + (isReadOnly ? " (read-only)" : "")
  }

  package nonisolated var keeperId: String { "\(keeperName) \(ObjectIdentifier(self))" }

  private nonisolated var isReadOnly: Bool { options.isReadOnly }

  /// Returns the number of unsynced entries in all stores of the account, open or closed.
  ///
  /// - Throws: ``SmartStoreError`` of the first store that cannot be opened or read.
  package func unsyncedRecords(of account: UserAccount) async throws -> Int {
    if isReadOnly { return 0 }
    var count = 0
    for key in try keysOnDisk(of: account) {
      count += try await unsyncedRecords(in: Self.refusing(account) { try await store(key) })
    }
    return count
  }

  /// Refuses a logout if another process has a store open: it would keep a store whose key is gone.
  private static func refusing(
    _ account: UserAccount, _ open: () async throws -> SmartStore
  ) async throws -> SmartStore {
    do {
      return try await open()
    } catch let error as SmartStoreError where error.code == .busyOtherProcess {
      throw AccountError(
        .busy,
        "Cannot log out \(account) while another process has a store of it open. \(error.message)",
        cause: error)
    }
  }

  private func unsyncedRecords(in store: SmartStore) async throws -> Int {
    try await SmartStore.$showsNothing.withValue(true) {
      try await store.unsyncedEntries().values.reduce(0, +)
    }
  }

  /// Closes the account's stores, counts the unsynced entries of each, and keeps the stores locked,
  /// so that nothing else can open them.
  package func hold(_ account: UserAccount) async throws -> Int {
    // A caller that checked earlier whether the account is logged in checks again.
    logouts += 1
    heldAccounts[account.identity] = logouts
    let hold = logouts
    var count = 0
    try await forEach(try keys(of: account)) { key in
      try await close(key)
      let paths = StorePaths(directory: try folders.folder(of: key.name, owner: key.owner))
      let isStore =
        DurableFile(path: paths.database).exists || DurableFile(path: paths.keyFile).exists
      guard !isReadOnly, isStore, heldStores[key] == nil else { return }
      var options = options
      options.keepsOthersOut = true
      let store = try await Self.refusing(account) {
        try await SmartStore.open(
          name: key.name, owner: key.owner,
          at: URL(filePath: paths.directory, directoryHint: .isDirectory),
          encryption: encryption, options: options)
      }
      guard heldAccounts[account.identity] == hold else {
        // The logout no longer waited.
        return try await store.close()
      }
      heldStores[key] = store
      count += try await unsyncedRecords(in: store)
    }
    return count
  }

  package func release(_ account: UserAccount) async {
    heldAccounts[account.identity] = nil
    do {
      try await closeHeld(account)
    } catch {
      logger.error("A store could not be closed after a logout.", error: error)
    }
  }

  /// Removes the account's stores and then their key, even if a store could not be removed.
  ///
  /// - Throws: ``SmartStoreError`` `busyOtherProcess`, `io` of the first store that cannot be
  ///   removed, or the error of the key provider.
  package func erase(_ account: UserAccount) async throws {
    if isReadOnly { return try await forEach(try keys(of: account)) { try await close($0) } }
    let owner = StoreOwner(account)
    let steps: [() async throws -> Void] = [
      { try await self.closeHeld(account) },
      { try await self.removeAll(forUserAccount: owner) },
      { try await self.eraseKey(forUserAccount: owner) },
    ]
    try await forEach(steps) { try await $0() }
  }

  private func closeHeld(_ account: UserAccount) async throws {
    let held = heldStores.filter { $0.key.owner.identity == account.identity }
    for key in held.keys { heldStores[key] = nil }
    try await forEach(held.values) { try await $0.close() }
  }

  private func keys(of account: UserAccount) throws -> [Key] {
    try scopes(of: StoreOwner(account).account).flatMap { try keys(of: $0) }
  }

  private func keysOnDisk(of account: UserAccount) throws -> [Key] {
    try keys(of: account).filter { key in
      try folders.exists(key.name, owner: key.owner)
    }
  }
}
