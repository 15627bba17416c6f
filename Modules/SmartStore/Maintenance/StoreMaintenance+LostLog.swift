import Foundation
import SalesforceSDKCommon

extension StoreMaintenance {
  /// Creates a store usable again whose write-ahead log (WAL) is missing, was cut off or replaced. Opening such
  /// a store throws ``SmartStoreError/Code/corruptLog``. The transactions of the WAL are lost permanently.
  ///
  /// The remains of a WAL are kept as `store.sqlite-wal.damaged-1` and so on, which every check names until
  /// it is removed. The transactions of a WAL that was cut stay as far as they reach; one of another store,
  /// or an older one, is left out. Where a checkpoint was under way, pages may contradict each other: the
  /// report says so. Nothing is changed in a store whose WAL is whole, nor where neither the database nor the
  /// WAL has a first page of this store: there a backup helps, and no WAL.
  ///
  /// - Returns: What a check of the store finds afterwards.
  /// - Throws: ``SmartStoreError`` as ``verify(_:)``, `diskFull`.
  public func acceptLostLog(
    _ encryption: StoreEncryption
  ) throws(SmartStoreError) -> StoreReport {
    try checkExists()
    let opening = StoreOpening(paths: paths, options: options)
    let lock = try opening.takeLock()
    if case .encrypted(let provider) = encryption {
      let keys = try StoreKeyHierarchy.open(paths.withKeyFileOfDatabase(), provider: provider)
      // What a page names that is not the store's counts for nothing.
      let isKnown = try opening.decryptsFirstPage(keys)
      let generation = isKnown ? try StaleStoreFiles(paths).generation() : nil
      do {
        let check = try WALCheck(paths, keys: keys, cipher: options.cipher)
        // A checkpoint that ended with the power may have torn the first page: then the WAL has it.
        if isKnown || check.log.pages.contains(1),
          let fault = check.fault(databaseGeneration: generation)
        {
          try replaceAnchor(check, fault, keys, databaseGeneration: generation ?? 0)
        }
      } catch {
        throw SmartStoreError(storage: error, at: paths.log)
      }
    }
    let report = try checkLocked(encryption)
    _ = consume lock
    return report
  }

  /// Takes the WAL as it is for the one that belongs to the database, or leaves it out.
  private func replaceAnchor(
    _ check: WALCheck, _ fault: WALCheck.Fault, _ keys: StoreKeys, databaseGeneration: UInt64
  ) throws(FileFailure) {
    let log = DurableFile(path: paths.log)
    if let size = try log.size(), size > 0 {
      try WALCopy.make(of: paths.log, at: paths.damagedLog(paths.damagedLogs.count + 1))
    }
    let known = max(
      check.anchor?.generation ?? 0, max(databaseGeneration, check.log.generation))
    var anchor = WALAnchor(generation: known + 1, databaseGeneration: databaseGeneration)
    anchor.encryptions =
      (check.anchor?.encryptions ?? 0) + UInt64(check.log.end?.frames ?? 0)
    if fault != .foreign, let end = check.log.end {
      try PageFile(reading: paths.log).sync()
      anchor.last = end
      anchor.isRequired = true
    } else {
      try log.remove()
      try DurableFile.syncFolder(paths.directory)
    }
    try StoreAnchors.replace(with: anchor, paths, keys: keys, cipher: options.cipher)
  }
}

/// Anchors that are written while no connection is open.
enum StoreAnchors {
  /// Replaces the anchor of a store, and waits for the disk.
  static func replace(
    with anchor: WALAnchor, _ paths: StorePaths, keys: StoreKeys, cipher: any StoreCipher
  ) throws(FileFailure) {
    var nonces = NoncePool()
    let bytes = AnchorFormat.bytes(of: anchor, keys: keys, cipher: cipher, nonces: &nonces)
    guard let bytes else { throw FileFailure("encrypted", paths.anchor, errno: EIO) }
    try DurableFile(path: paths.anchor).replace(with: bytes)
  }
}
