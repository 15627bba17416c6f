import Foundation
import SalesforceSDKCommon

extension StoreMaintenance {
  /// Makes a store usable again whose write-ahead log (WAL) is missing, truncated or replaced.
  /// Opening such a store throws ``SmartStoreError/Code/corruptLog``. The transactions of the WAL
  /// are lost permanently.
  ///
  /// The remains of a WAL are kept as `store.sqlite-wal.damaged-1` and so on. Every check reports
  /// these files until they are removed. A truncated WAL keeps the transactions before the
  /// truncation; a WAL of another store, or an older one, is not used. If a checkpoint was running,
  /// pages may be inconsistent, which the report shows. Nothing changes in a store whose WAL is
  /// complete, or if neither the database nor the WAL has a first page of this store: then only a
  /// backup helps.
  ///
  /// - Returns: The report of a check of the store afterwards.
  /// - Throws: ``SmartStoreError`` as ``verify(_:)``, `diskFull`.
  public func acceptLostLog(
    _ encryption: StoreEncryption
  ) throws(SmartStoreError) -> StoreReport {
    try checkExists()
    let opening = StoreOpening(paths: paths, options: options)
    let lock = try opening.takeLock()
    if case .encrypted(let provider) = encryption {
      let keys = try StoreKeyHierarchy.open(paths.withKeyFileOfDatabase(), provider: provider)
      // The generation in a page of another store is meaningless.
      let isKnown = try opening.decryptsFirstPage(keys)
      let generation = isKnown ? try StaleStoreFiles(paths).generation() : nil
      do {
        let check = try WALCheck(paths, keys: keys, cipher: options.cipher)
        // A power failure during a checkpoint may have torn the first page; then the WAL contains
        // it.
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

  /// Accepts the present WAL as the one that belongs to the database, or excludes it.
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

/// Functions that write anchors while no connection is open.
enum StoreAnchors {
  /// Replaces the anchor of a store, and waits until it is on disk.
  static func replace(
    with anchor: WALAnchor, _ paths: StorePaths, keys: StoreKeys, cipher: any StoreCipher
  ) throws(FileFailure) {
    var nonces = NoncePool()
    let bytes = AnchorFormat.bytes(of: anchor, keys: keys, cipher: cipher, nonces: &nonces)
    guard let bytes else { throw FileFailure("encrypted", paths.anchor, errno: EIO) }
    try DurableFile(path: paths.anchor).replace(with: bytes)
  }
}
