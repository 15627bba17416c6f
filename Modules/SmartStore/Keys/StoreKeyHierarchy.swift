import Crypto
import Foundation
import SalesforceSDKCommon

/// Functions that read the keys of a store from its key file, and create both for a new store.
enum StoreKeyHierarchy {
  /// A data-encryption key with the epoch in which it encrypts pages.
  typealias DataKey = (epoch: UInt32, key: SymmetricKey)

  /// Returns the keys of the store at `paths`, which has a key file.
  ///
  /// - Throws: `keyMissing`, `keyLocked`, `wrongKey`, `corruptKeyFile`, or `foreignStore` for files
  ///   that belong to another owner or name, or that the secret store has no record of. No file is
  ///   changed.
  static func open(
    _ paths: StorePaths, provider: some StoreKeyProvider
  ) throws(SmartStoreError) -> StoreKeys {
    let source = StoreKeySource(provider, for: paths.identity)
    let file = try read(paths)
    try source.check(file, paths)
    return try keys(file.storeID, try dataKeys(in: file, source, paths), paths)
  }

  /// Binds an open store to its owner and name, if an older version created its key file, and
  /// records it in the secret store. The store at `paths` must have been found readable.
  ///
  /// The key file is replaced in one step, and the record in the secret store is written last. If
  /// the process ends in between, the store still opens, and the next opening completes the
  /// binding.
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

  /// Creates a data-encryption key for a store without files, and stores it wrapped.
  ///
  /// - Parameter isPending: Whether the database is not yet encrypted.
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

  /// Wraps the data-encryption keys of the store at `paths` with another key; its pages do not
  /// change. A store that the new key already opens does not change.
  ///
  /// After a crash at any point, exactly one of the two keys opens the key file.
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
      // The call that wrote it may have failed while it waited for the disk.
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

  /// The keys and key files of a re-encryption.
  struct NextEpoch {
    /// The keys. The newest one is for re-encryption.
    let keys: StoreKeys
    /// The present key file of the store.
    let before: StoreKeyFile
    /// The key file that opens the store before and after its pages are re-encrypted.
    let file: StoreKeyFile
  }

  /// Creates a data-encryption key for a new epoch, and wraps all keys with the new key. If an
  /// earlier re-encryption was not completed, its key is used as the newest one. Writes nothing.
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

  /// Restores a former key file, unless it is unchanged: the disk may lack space for another.
  static func putBack(_ file: StoreKeyFile, _ paths: StorePaths) throws(SmartStoreError) {
    if let present = try? read(paths), present == file { return }
    try write(file, paths)
  }

  /// Deletes all data-encryption keys except the newest, which now encrypts every page.
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

  /// Returns the data-encryption keys, unwrapped with the new key if it wraps them already, else
  /// with the old one. Creates no key, because it would remain unused if the old key cannot open
  /// the file.
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

  /// Returns the key to wrap with. Creates it if it does not exist.
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
