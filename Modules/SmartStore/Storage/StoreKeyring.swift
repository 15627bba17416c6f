import Crypto
import Foundation
import SalesforceSDKCommon

/// Gets the keys of a store from its key file, or makes both for a new store.
enum StoreKeyring {
  /// The keys of the store at `paths`, which has a key file.
  ///
  /// - Throws: `keyMissing`, `keyLocked`, `wrongKey` or `corruptKeyFile`; no file is changed.
  static func open(
    _ paths: StorePaths, provider: some StoreKeyProvider
  ) throws(SmartStoreError) -> StoreKeys {
    let file = try read(paths)
    guard let wrappingKey = try provider.key() else {
      throw SmartStoreError(
        .keyMissing,
        "The key of the store at \(paths.directory) is not in the key store. Restore the key; "
          + "without it the store cannot be read")
    }
    let dataKeys: [(epoch: UInt32, key: SymmetricKey)]
    do {
      dataKeys = try file.unwrap(with: wrappingKey)
    } catch {
      throw SmartStoreError(
        .wrongKey,
        "The key given does not open the store at \(paths.directory), which another key sealed")
    }
    guard let keys = StoreKeys(storeID: file.storeID, dataKeys: dataKeys) else {
      throw damaged(paths, detail: "it holds no key")
    }
    return keys
  }

  /// Makes a data key for a store that has no file yet, and keeps it wrapped.
  static func create(
    _ paths: StorePaths, provider: some StoreKeyProvider
  ) throws(SmartStoreError) -> StoreKeys {
    let wrappingKey: SymmetricKey
    if let key = try provider.key() {
      wrappingKey = key
    } else {
      wrappingKey = try provider.createKey()
    }
    guard wrappingKey.bitCount >= 128 else {
      throw SmartStoreError(
        .wrongKey, "A store's key needs at least 128 bits, this one has \(wrappingKey.bitCount)")
    }
    let storeID = UUID()
    let dataKeys = [(epoch: UInt32(1), key: SymmetricKey(size: .bits256))]
    let file: StoreKeyFile
    do {
      file = try StoreKeyFile(storeID: storeID, dataKeys: dataKeys, wrappingKey: wrappingKey)
    } catch {
      throw SmartStoreError(
        .io, "No data key could be wrapped for the store at \(paths.directory)", cause: error)
    }
    try write(file, to: paths)
    guard let keys = StoreKeys(storeID: storeID, dataKeys: dataKeys) else {
      throw damaged(paths, detail: "it holds no key")
    }
    return keys
  }

  /// Wraps the data keys of the store at `paths` with another key; its pages stay as they are.
  ///
  /// A crash at any instant leaves a key file that exactly one of the two keys opens.
  static func rewrap(
    _ paths: StorePaths, from old: SymmetricKey, to new: SymmetricKey
  ) throws(SmartStoreError) {
    let file = try read(paths)
    let rewrapped: StoreKeyFile
    do {
      let dataKeys = try file.unwrap(with: old)
      rewrapped = try StoreKeyFile(
        storeID: file.storeID, dataKeys: dataKeys, wrappingKey: new)
    } catch {
      throw SmartStoreError(
        .wrongKey, "The old key given does not open the store at \(paths.directory)", cause: error)
    }
    try write(rewrapped, to: paths)
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
          + "database beside it cannot be read")
    }
    do {
      return try StoreKeyFile(parsing: bytes)
    } catch .newerVersion(let version) {
      throw damaged(paths, detail: "it has version \(version) of the format")
    } catch {
      throw damaged(paths, detail: "its checksum does not fit")
    }
  }

  private static func write(
    _ file: StoreKeyFile, to paths: StorePaths
  ) throws(SmartStoreError) {
    do {
      try DurableFile(path: paths.keyFile).replace(with: file.bytes)
    } catch {
      throw SmartStoreError(storage: error, at: paths.keyFile)
    }
  }

  private static func damaged(_ paths: StorePaths, detail: String) -> SmartStoreError {
    SmartStoreError(
      .corruptKeyFile,
      "The key file \(paths.keyFile) cannot be used: \(detail). Restore it from a backup")
  }
}
