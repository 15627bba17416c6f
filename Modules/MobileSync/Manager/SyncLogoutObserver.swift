public import SalesforceSDKCore
public import SmartStore

/// Keeps a logout from losing edits, and takes the account's stores with it (SS-20, MS-12).
///
/// Give one to `UserAccountManager.addLogoutObserver(_:)`. A logout first learns how many records of
/// the account's stores are dirty; when it goes on, the account's sync managers are closed and its
/// stores removed. Global stores and those of other accounts are untouched.
public struct SyncLogoutObserver: LogoutObserver {
  private let stores: SmartStoreManager
  private let managers: SyncManagers

  /// Takes the managers whose stores and syncs belong to accounts.
  public init(stores: SmartStoreManager, managers: SyncManagers) {
    self.stores = stores
    self.managers = managers
  }

  /// The dirty records in all soups of all stores of the account, in all its communities; those in
  /// soups without an index on `__local__` left out: nothing can sync them.
  ///
  /// - Throws: `SmartStoreError` if a store cannot be opened or read; ``SyncError`` `store` if it may
  ///   not be opened, since the account is not logged in.
  public func unsyncedRecords(of account: UserAccount) async throws -> Int {
    var count = 0
    // A logout takes the stores of every community with it.
    for owner in try await stores.scopes(ofAccount: StoreOwner(account)) {
      for name in try stores.allStoreNames(forUserAccount: owner) {
        guard let store = try await stores.shared(withName: name, forUserAccount: owner) else {
          throw SyncError(
            .store,
            "The store '\(name)' may not be opened while its account is not logged in, so its edits "
              + "cannot be counted. Log in first.")
        }
        count += try await SoupRecords.dirtyCounts(in: store).values.reduce(0, +)
      }
    }
    return count
  }

  /// Closes the account's sync managers and removes its stores, in all its communities.
  ///
  /// - Throws: `SmartStoreError` `io` if files stay behind.
  public func willLogOut(_ account: UserAccount, reason: LogoutReason) async throws {
    let owner = StoreOwner(account)
    await managers.removeSharedInstances(ofAccount: owner)
    try await stores.removeAll(forUserAccount: owner)
  }
}
