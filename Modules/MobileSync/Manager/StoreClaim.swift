import Foundation
import SmartStore
import Synchronization

/// The right of one sync manager to work on a store; a process gives it to one manager at a time.
///
/// It ends with ``release()``, with its last reference, and when the store is closed.
final class StoreClaim: Sendable {
  private struct Holder {
    let number: UInt64
    let store: SmartStore
  }

  private struct Holders {
    var byPath: [String: Holder] = [:]
    var lastNumber: UInt64 = 0
  }

  private static let holders = Mutex(Holders())

  private let path: String
  private let number: UInt64

  /// Claims a store.
  ///
  /// - Throws: ``SyncError`` `storeInUse` if another manager has the store, whatever object or path it
  ///   was opened by.
  init(_ store: SmartStore) throws(SyncError) {
    let path = store.directory.resolvingSymlinksInPath().standardizedFileURL.path
    let number = Self.holders.withLock { holders -> UInt64? in
      // A manager can do nothing more with a closed store.
      if let holder = holders.byPath[path], !holder.store.isClosed { return nil }
      holders.lastNumber += 1
      holders.byPath[path] = Holder(number: holders.lastNumber, store: store)
      return holders.lastNumber
    }
    guard let number else {
      throw SyncError(
        .storeInUse,
        "Cannot create a sync manager for store '\(store.name)': it has one. Get that one from a shared "
          + "registry (SyncManagerRegistry), or close it first.")
    }
    self.path = path
    self.number = number
  }

  deinit { release() }

  /// Releases the store for the next manager. A second call does nothing.
  func release() {
    // Returned, so that the last reference to the store does not end under the lock.
    _ = Self.holders.withLock { holders -> Holder? in
      guard holders.byPath[path]?.number == number else { return nil }
      return holders.byPath.removeValue(forKey: path)
    }
  }
}
