import Foundation
import SalesforceSDKCommon

extension SmartStoreManager {
  /// A store on disk, as far as its folder shows.
  package struct FoundStore: Sendable {
    package let name: String
    package let owner: StoreOwner
    /// Whether its database is there. A folder with a key alone is what is left of a store.
    package let hasDatabase: Bool
    package let isEncrypted: Bool
    /// The size of the database and its log.
    package let bytes: Int64

    /// The name for people, with the kind of the owner.
    package var label: String {
      SmartStoreInspector.Choice(storeName: name, owner: owner).label
    }
  }

  /// The stores of an owner, with those that lost their database, by the bytes of their names. Nothing is
  /// opened or created.
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

  /// A manager that only reads the same stores, also while another process writes them.
  package nonisolated func readOnly() -> SmartStoreManager {
    var options = options
    options.isReadOnly = true
    return SmartStoreManager(root: root, encryption: encryption, options: options) { _ in true }
  }

  /// Whether a store that this manager does not have open can be opened for writing now. The right to write is taken
  /// for a moment and given back.
  ///
  /// - Throws: ``SmartStoreError`` `busyOtherProcess` if another process, or another manager, has it; `io`.
  package nonisolated func checkWritable(
    _ name: String, owner: StoreOwner
  ) throws(SmartStoreError) {
    let paths = StorePaths(directory: try folders.folder(of: name, owner: owner))
    do {
      if try FileLock.take(paths.lock) != nil { return }
    } catch {
      throw SmartStoreError(storage: error, at: paths.lock)
    }
    throw SmartStoreError(
      .busyOtherProcess, "The store \(name) is open for writing in another process.")
  }

  /// Checks a store, as ``StoreMaintenance/verify(_:)``, without closing it: one that is open for writing, here
  /// or elsewhere, is `busyOtherProcess`.
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
