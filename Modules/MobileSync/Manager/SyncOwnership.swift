import Foundation
import SalesforceSDKCommon
import SmartStore
import Synchronization

/// The right of one process to run syncs of a store. Other processes may edit its entries at the same time.
///
/// A manager takes it with its first operation and gives it back with its last one. It is the system's lock on a
/// file of its own, so that it ends with the process, whichever way that ends. So a sync that is stored as running
/// was interrupted if no process has it.
final class SyncOwnership: Sendable {
  /// A process that is being started keeps a copy of the lock until it runs.
  private static let patience = Duration.milliseconds(500)

  private let path: String
  private let storeName: String
  private let lock = Mutex<FileLock?>(nil)

  init(of store: SmartStore) {
    path = store.directory.appending(path: "store.syncs").path
    storeName = store.name
  }

  /// Takes the right, unless this manager has it.
  ///
  /// - Returns: Whether it was taken just now.
  /// - Throws: ``SyncError`` `storeInUse` if another process runs syncs of the store; `store` if the file cannot be
  ///   locked.
  func take() throws(SyncError) -> Bool {
    try lock.withLock { lock throws(SyncError) in
      if lock != nil { return false }
      do {
        lock = try FileLock.take(path, patience: Self.patience)
      } catch {
        throw SyncError(
          .store,
          "The syncs of store '\(storeName)' cannot be locked (\(error)). Check the folder.",
          cause: error)
      }
      guard lock != nil else {
        throw SyncError(
          .storeInUse,
          "Cannot run a sync of store '\(storeName)': another process runs one. Wait until that has ended, "
            + "and try again.")
      }
      return true
    }
  }

  /// Lets other processes run syncs; a second call does nothing.
  func release() { lock.withLock { $0 = nil } }
}
