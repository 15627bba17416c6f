#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A secret store in an encrypted file, shared by any number of processes (CA-6, CA-7).
///
/// Each secret is encrypted separately with AES-256-GCM, together with its name, under a key
/// derived from the master key. A change takes a lock, writes a new file, syncs it and replaces the
/// old one; a reader sees the state before or after the change. If one record is damaged, the
/// others stay readable. An encrypted list names all records, so that one that was removed or
/// replaced by an older one throws `damaged`. The store does not detect that the whole file was
/// replaced by an older copy. A file of an earlier version, without that list, gets it with the next
/// change.
///
/// ```swift
/// let store = FileSecretStore(in: folder, masterKey: KeyFile(folder.appending(path: "master.key")))
/// let key = try store.readOrCreate(SecretName(service: "orders")) { RandomBytes.make(32) }
/// ```
public struct FileSecretStore: SecretStore {
  /// The name of the file in its folder.
  public static let fileName = "keychain.db"
  /// The most bytes that one secret may have: 1 MiB.
  public static let maxSecretBytes = 1 << 20

  /// The most bytes that are read of the file: 256 MiB.
  private static let maxFileBytes = 256 << 20

  /// The file. The first write creates it.
  public let url: URL
  private let provider: any MasterKeyProvider
  private let patience: Duration

  /// Names the folder. Reads and creates nothing yet.
  ///
  /// - Parameters:
  ///   - masterKey: Provides the key when it is needed. It is called to create one only while no
  ///     secret exists.
  ///   - patience: The maximum time for which a change waits for other processes before it throws
  ///     `locked`. Default: 5 seconds.
  public init(
    in folder: URL, masterKey: some MasterKeyProvider, patience: Duration = .seconds(5)
  ) {
    url = folder.appendingPathComponent(Self.fileName)
    provider = masterKey
    self.patience = patience
  }

  /// The protection that the master key's provider states.
  public var protection: SecretProtection { provider.protection }

  public func read(_ name: SecretName) throws(SecretStoreError) -> [UInt8]? {
    try load()?.secret(name, path: url.path)
  }

  @discardableResult
  public func update(
    _ name: SecretName,
    _ change: (_ secret: [UInt8]?) throws(SecretStoreError) -> [UInt8]?
  ) throws(SecretStoreError) -> [UInt8]? {
    try store(name) { file throws(SecretStoreError) in
      let old = try file?.secret(name, path: url.path)
      return try change(old)
    }.secret
  }

  public func write(_ secret: [UInt8], for name: SecretName) throws(SecretStoreError) {
    _ = try store(name) { _ in secret }
  }

  @discardableResult
  public func remove(_ name: SecretName) throws(SecretStoreError) -> Bool {
    try store(name) { _ in nil }.existed
  }

  public func list() throws(SecretStoreError) -> [SecretName] { try load()?.names ?? [] }

  /// Removes every unreadable record; those secrets count as absent afterwards. This is the only
  /// call that removes damaged data. A file with a damaged header stays as it is.
  ///
  /// - Returns: The number of dropped damaged records and byte ranges.
  /// - Throws: ``SecretStoreError`` as ``write(_:for:)``.
  @discardableResult
  public func dropDamagedSecrets() throws(SecretStoreError) -> Int {
    try whileLocked { () throws(SecretStoreError) in
      guard var file = try load() else { return 0 }
      let count = file.dropDamaged()
      if count > 0 { try save(file) }
      return count
    }
  }

  /// Changes one secret under the lock.
  private func store(
    _ name: SecretName, _ body: (SecretFile?) throws(SecretStoreError) -> [UInt8]?
  ) throws(SecretStoreError) -> (secret: [UInt8]?, existed: Bool) {
    try whileLocked { () throws(SecretStoreError) in
      let old = try load()
      let secret = try body(old)
      guard (secret?.count ?? 0) <= Self.maxSecretBytes else {
        throw SecretStoreError(
          .tooLarge,
          "A secret may have \(Self.maxSecretBytes) bytes. Keep larger data elsewhere.")
      }
      if old == nil, secret == nil { return (nil, false) }
      var file: SecretFile
      if let old {
        file = old
      } else {
        file = try SecretFile(masterKey: provider.masterKey(mayCreate: true))
      }
      let existed = try file.set(secret, for: name)
      try save(file)
      return (secret, existed)
    }
  }

  private func whileLocked<R>(
    _ body: () throws(SecretStoreError) -> R
  ) throws(SecretStoreError) -> R {
    let path = url.path + ".lock"
    let lock: FileLock?
    do {
      try DurableFile(url).makeFolder()
    } catch {
      throw SecretStoreError(error)
    }
    try checkFolder()
    do {
      lock = try FileLock.take(path, patience: patience)
    } catch {
      throw SecretStoreError(error)
    }
    guard let lock else {
      throw SecretStoreError(
        .locked, "Another process holds \(path). Try again when it has finished.")
    }
    return try lock.whileHeld(body)
  }

  /// Refuses a folder in which other users may exchange the file.
  private func checkFolder() throws(SecretStoreError) {
    do {
      try DurableFile(url).checkFolder()
    } catch {
      throw SecretStoreError(.exposedKeyFile, "\(error).", cause: error)
    }
  }

  /// The file as it is now; nil if there is none.
  private func load() throws(SecretStoreError) -> SecretFile? {
    try checkFolder()
    let content: [UInt8]?
    do {
      content = try DurableFile(url).content(maxBytes: Self.maxFileBytes)?.bytes
    } catch {
      throw SecretStoreError(error)
    }
    guard let bytes = content else { return nil }
    return try SecretFile(
      bytes, masterKey: provider.masterKey(mayCreate: false), path: url.path)
  }

  private func save(_ file: SecretFile) throws(SecretStoreError) {
    let bytes = try file.upgraded().bytes()
    do {
      try DurableFile(url).replace(with: bytes)
    } catch {
      throw SecretStoreError(error)
    }
  }
}
