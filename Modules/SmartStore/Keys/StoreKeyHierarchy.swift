import Crypto
import Foundation
import SalesforceSDKCommon

/// Gets the keys of a store from its key file, or makes both for a new store.
enum StoreKeyHierarchy {
  /// A data-encryption key and the epoch whose pages it encrypts.
  typealias DataKey = (epoch: UInt32, key: SymmetricKey)

  /// The keys of the store at `paths`, which has a key file.
  ///
  /// - Throws: `keyMissing`, `keyLocked`, `wrongKey`, `corruptKeyFile`, or `foreignStore` for files that belong
  ///   to another owner or name, or that the secret store does not know; no file is changed.
  static func open(
    _ paths: StorePaths, provider: some StoreKeyProvider
  ) throws(SmartStoreError) -> StoreKeys {
    let source = StoreKeySource(provider, for: paths.identity)
    let file = try read(paths)
    try source.check(file, paths)
    return try keys(file.storeID, try dataKeys(in: file, source, paths), paths)
  }

  /// Binds an open store to its owner and name, if an older version made its key file, and has the secret store
  /// remember it. The store at `paths` was found readable.
  ///
  /// The key file is replaced in one step, and what the secret store remembers comes last: whatever ends the
  /// process, the store opens, and the next opening goes on.
  static func bind(
    _ paths: StorePaths, provider: some StoreKeyProvider
  ) throws(SmartStoreError) {
    let source = StoreKeySource(provider, for: paths.identity)
    var file = try read(paths)
    if file.format < StoreKeyFile.currentFormat {
      file = try wrap(
        try dataKeys(in: file, source, paths), storeID: file.storeID,
        with: try wrappingKey(of: source), paths)
      try write(file, paths)
    }
    try source.remember(file)
  }

  /// Makes a data-encryption key for a store that has no file yet, and keeps it wrapped.
  ///
  /// - Parameter isPending: Whether the database is still to be encrypted.
  static func create(
    _ paths: StorePaths, provider: some StoreKeyProvider, isPending: Bool = false
  ) throws(SmartStoreError) -> StoreKeys {
    let source = StoreKeySource(provider, for: paths.identity)
    try source.checkKeyNotLost()
    let wrappingKey = try wrappingKey(of: source)
    let storeID = UUID()
    let dataKeys: [DataKey] = [(epoch: 1, key: SymmetricKey(size: .bits256))]
    let file = try wrap(dataKeys, storeID: storeID, with: wrappingKey, paths)
    try write(file, to: isPending ? paths.pendingKeyFile : paths.keyFile)
    return try keys(storeID, dataKeys, paths)
  }

  /// Wraps the data-encryption keys of the store at `paths` with another key; its pages stay as they are. A
  /// store that the new key opens already stays as it is.
  ///
  /// A crash at any instant leaves a key file that exactly one of the two keys opens.
  static func rewrap(
    _ paths: StorePaths, from old: some StoreKeyProvider, to new: some StoreKeyProvider
  ) throws(SmartStoreError) {
    let (old, new) = sources(old, new, paths)
    if let known = try new.key(), let before = try? old.key(), known == before {
      throw SmartStoreError(
        .wrongKey,
        "The new key of the store at \(paths.directory) is the old one, so nothing would change. Give "
          + "another one.")
    }
    let file = try read(paths)
    let opened = try open(file, paths, from: old, to: new)
    guard !opened.isWrapped else {
      // The call that wrote it may have failed when it waited for the disk.
      do {
        try DurableFile.syncFolder(paths.directory)
      } catch {
        throw SmartStoreError(storage: error, at: paths.keyFile)
      }
      return try new.remember(file)
    }
    let rewrapped = try wrap(
      opened.dataKeys, storeID: file.storeID, with: try wrappingKey(of: new), paths)
    try write(rewrapped, paths)
    try new.remember(rewrapped)
  }

  /// What a re-encryption needs before it begins.
  struct NextEpoch {
    /// The keys, of which the newest is the one to re-encrypt with.
    let keys: StoreKeys
    /// The key file of the store as it is.
    let before: StoreKeyFile
    /// The key file that opens the store before and after its pages are encrypted again.
    let file: StoreKeyFile
  }

  /// Makes a data-encryption key for a new epoch, wrapped like the others by the new key, unless an earlier
  /// re-encryption was not completed: then its key is the newest one. Nothing is written yet.
  static func nextEpoch(
    _ paths: StorePaths, from old: some StoreKeyProvider, to new: some StoreKeyProvider
  ) throws(SmartStoreError) -> NextEpoch {
    let (old, new) = sources(old, new, paths)
    let file = try read(paths)
    var dataKeys = try open(file, paths, from: old, to: new).dataKeys
    if dataKeys.count == 1 {
      let newest = dataKeys.map(\.epoch).max() ?? 0
      dataKeys.append((newest + 1, SymmetricKey(size: .bits256)))
    }
    return NextEpoch(
      keys: try keys(file.storeID, dataKeys, paths), before: file,
      file: try wrap(dataKeys, storeID: file.storeID, with: try wrappingKey(of: new), paths))
  }

  /// Replaces the key file of the store at `paths`.
  static func write(_ file: StoreKeyFile, _ paths: StorePaths) throws(SmartStoreError) {
    try write(file, to: paths.keyFile)
  }

  /// Puts a former key file back, unless it is there still: the disk may have no room for another.
  static func putBack(_ file: StoreKeyFile, _ paths: StorePaths) throws(SmartStoreError) {
    if let present = try? read(paths), present == file { return }
    try write(file, paths)
  }

  /// Forgets all data-encryption keys but the newest, which encrypts every page now.
  static func dropOlderEpochs(
    _ paths: StorePaths, provider: some StoreKeyProvider
  ) throws(SmartStoreError) {
    let source = StoreKeySource(provider, for: paths.identity)
    let file = try read(paths)
    let dataKeys = try dataKeys(in: file, source, paths)
    let newest = dataKeys.max { $0.epoch < $1.epoch }
    if let newest, dataKeys.count > 1 {
      let wrappingKey = try wrappingKey(of: source)
      try write(try wrap([newest], storeID: file.storeID, with: wrappingKey, paths), paths)
    }
    try source.remember(file)
  }

  // MARK: Parts

  /// The data-encryption keys, opened with the new key if that wraps them already, or else with the old one. No
  /// key is made: one that no store uses would be left if the old one did not open the file.
  private static func open(
    _ file: StoreKeyFile, _ paths: StorePaths, from old: StoreKeySource, to new: StoreKeySource
  ) throws(SmartStoreError) -> (dataKeys: [DataKey], isWrapped: Bool) {
    try old.check(file, paths)
    if let key = try new.key(of: file),
      let dataKeys = try? file.unwrap(with: key, for: paths.identity)
    {
      return (dataKeys, file.format == StoreKeyFile.currentFormat)
    }
    return (try dataKeys(in: file, old, paths), false)
  }

  private static func sources(
    _ old: any StoreKeyProvider, _ new: any StoreKeyProvider, _ paths: StorePaths
  ) -> (old: StoreKeySource, new: StoreKeySource) {
    (StoreKeySource(old, for: paths.identity), StoreKeySource(new, for: paths.identity))
  }

  private static func keys(
    _ storeID: UUID, _ dataKeys: [DataKey], _ paths: StorePaths
  ) throws(SmartStoreError) -> StoreKeys {
    guard let keys = StoreKeys(storeID: storeID, dataKeys: dataKeys) else {
      throw damaged(paths, detail: "it holds no key")
    }
    return keys
  }

  private static func dataKeys(
    in file: StoreKeyFile, _ source: StoreKeySource, _ paths: StorePaths
  ) throws(SmartStoreError) -> [DataKey] {
    guard let dataKeys = try source.unwrap(file, paths) else {
      throw SmartStoreError(
        .keyMissing,
        "The key of the store at \(paths.directory) is not in the key store. Restore the key; "
          + "without it the store cannot be read")
    }
    return dataKeys
  }

  /// The key to wrap with, made if there is none.
  private static func wrappingKey(
    of source: StoreKeySource
  ) throws(SmartStoreError) -> SymmetricKey {
    let key: SymmetricKey
    if let known = try source.key() {
      key = known
    } else {
      key = try source.createKey()
    }
    guard key.bitCount >= 128 else {
      throw SmartStoreError(
        .wrongKey, "A store's key needs at least 128 bits, this one has \(key.bitCount)")
    }
    return key
  }

  private static func wrap(
    _ dataKeys: [DataKey], storeID: UUID, with key: SymmetricKey, _ paths: StorePaths
  ) throws(SmartStoreError) -> StoreKeyFile {
    do {
      return try StoreKeyFile(
        storeID: storeID, identity: paths.identity, dataKeys: dataKeys, wrappingKey: key)
    } catch {
      throw SmartStoreError(
        .io, "No data key could be wrapped for the store at \(paths.directory)", cause: error)
    }
  }

  private static func read(_ paths: StorePaths) throws(SmartStoreError) -> StoreKeyFile {
    let bytes: [UInt8]?
    do {
      bytes = try DurableFile(path: paths.keyFile).read(limit: StoreKeyFile.maxSize + 1)
    } catch {
      throw SmartStoreError(storage: error, at: paths.keyFile)
    }
    guard let bytes else {
      throw SmartStoreError(
        .keyMissing,
        "The key file \(paths.keyFile) is missing. Restore it from a backup; without it the "
          + "database in the same folder cannot be read")
    }
    do {
      return try StoreKeyFile(parsing: bytes)
    } catch .newerVersion(let version) {
      throw damaged(paths, detail: "it has version \(version) of the format")
    } catch {
      throw damaged(paths, detail: "its checksum does not fit")
    }
  }

  private static func write(_ file: StoreKeyFile, to path: String) throws(SmartStoreError) {
    do {
      try DurableFile(path: path).replace(with: file.bytes)
    } catch {
      throw SmartStoreError(storage: error, at: path)
    }
  }

  private static func damaged(_ paths: StorePaths, detail: String) -> SmartStoreError {
    SmartStoreError(
      .corruptKeyFile,
      "The key file \(paths.keyFile) cannot be used: \(detail). Restore it from a backup")
  }
}
