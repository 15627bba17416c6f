import Foundation
import SalesforceSDKCommon

extension SmartStoreManager {
  /// A store on disk, as its folder describes it.
  package struct FoundStore: Sendable {
    package let name: String
    package let owner: StoreOwner
    /// Whether its database exists. A folder with only a key is the remains of a store.
    package let hasDatabase: Bool
    package let isEncrypted: Bool
    /// The size of the database and its write-ahead log (WAL) in bytes.
    package let bytes: Int64

    /// The store's name for display, with the kind of the owner.
    package var label: String {
      SmartStoreInspector.Choice(storeName: name, owner: owner).label
    }
  }

  /// Returns the stores of an owner, including those without a database, ordered by the bytes of
  /// their names. Opens and creates nothing.
  ///
  /// - Throws: ``SmartStoreError`` `io`.
  package nonisolated func foundStores(of owner: StoreOwner) throws(SmartStoreError) -> [FoundStore]
  {
    var found: [FoundStore] = []
    for name in try folders.folderNames(of: owner) {
      let paths = StorePaths(directory: try folders.folder(of: name, owner: owner))
      let hasDatabase = try folders.exists(name, owner: owner)
      let hasKey = DurableFile(path: paths.keyFile).exists
      guard hasDatabase || hasKey else { continue }
      let sizes = [paths.database, paths.log].map { path in
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
      }
      found.append(
        FoundStore(
          name: name, owner: owner, hasDatabase: hasDatabase, isEncrypted: hasKey,
          bytes: sizes.reduce(0, +)))
    }
    return found.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }

  /// Returns a manager that only reads the same stores, also while another process writes them.
  package nonisolated func readOnly() -> SmartStoreManager {
    var options = options
    options.isReadOnly = true
    return SmartStoreManager(root: root, encryption: encryption, options: options) { _ in true }
  }

  /// Opens a store read-only, passes it to `body` and closes it. Leaves the store's folder as it was: reading creates
  /// SQLite's log and index, and the file that readers lock, where they do not exist. While another process has the
  /// store open, they stay.
  ///
  /// - Throws: ``SmartStoreError`` `databaseMissing` if there is no database, and those of opening; the errors of `body`.
  package nonisolated func readingWithoutTrace<Result>(
    _ name: String, owner: StoreOwner, _ body: (SmartStore) async throws -> Result
  ) async throws -> Result {
    let paths = StorePaths(directory: try folders.folder(of: name, owner: owner))
    guard try folders.exists(name, owner: owner) else {
      throw SmartStoreError(
        .databaseMissing,
        "The database of store '\(name)' is missing. Restore its folder \(paths.directory) from a backup."
      )
    }
    let strays = [paths.log, paths.index, paths.readers].filter { !DurableFile(path: $0).exists }
    let reader = readOnly()
    let result: Swift.Result<Result, any Error>
    do {
      let store =
        owner.isGlobal
        ? try await reader.sharedGlobal(withName: name)
        : try await reader.shared(withName: name, forUserAccount: owner)
      guard let store else {
        throw SmartStoreError(.closed, "Store '\(name)' was removed. Nothing was read.")
      }
      result = .success(try await body(store))
    } catch {
      result = .failure(error)
    }
    try await reader.close()
    Self.remove(strays, of: paths)
    return try result.get()
  }

  /// Removes files that a reader has created, unless another process has the store open now.
  private nonisolated static func remove(_ strays: [String], of paths: StorePaths) {
    // With both locks there is neither a writer nor a reader, to whom the files could belong.
    guard !strays.isEmpty, DurableFile(path: paths.lock).exists,
      let lock = try? FileLock.take(paths.lock), let readers = try? FileLock.take(paths.readers)
    else { return }
    readers.whileHeld {
      lock.whileHeld {
        let log = DurableFile(path: paths.log)
        for path in strays where path != paths.log || (try? log.size()) == 0 { unlink(path) }
      }
    }
  }

  /// Whether a store that this manager does not have open could be opened for writing now. Takes
  /// the write lock for a moment.
  ///
  /// - Throws: ``SmartStoreError`` `busyOtherProcess` if another process writes alone, or another manager of this
  ///   process has the store open; `io`.
  package nonisolated func checkWritable(
    _ name: String, owner: StoreOwner
  ) throws(SmartStoreError) {
    let paths = StorePaths(directory: try folders.folder(of: name, owner: owner))
    do {
      if let lock = try FileLock.take(paths.lock, isShared: true),
        !ProcessClaim.has(lock.identity())
      {
        return
      }
    } catch {
      throw SmartStoreError(storage: error, at: paths.lock)
    }
    throw SmartStoreError(
      .busyOtherProcess, "The store \(name) is open for writing in another process.")
  }

  /// Checks a store like ``StoreMaintenance/verify(_:)``, without closing it. A store that is open
  /// for writing, in this process or another, throws `busyOtherProcess`.
  package nonisolated func verify(
    _ name: String, owner: StoreOwner
  ) async throws(SmartStoreError) -> StoreReport {
    let files = StoreMaintenance(
      at: try folders.folder(of: name, owner: owner), name: name, owner: owner)
    return try await StoreQueue.run { [encryption] in
      Result { () throws(SmartStoreError) in try files.verify(encryption) }
    }.get()
  }
}
