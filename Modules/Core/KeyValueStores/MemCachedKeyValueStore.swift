import Synchronization

/// A key-value store that keeps recently used values in memory, up to a size (SS-241).
///
/// A value is written to disk before it is cached. If another process saves a value, this store
/// returns the cached one until it is evicted. Values larger than the cache are not cached.
public final class MemCachedKeyValueStore: Sendable {
  /// The underlying store.
  public let store: KeyValueEncryptedFileStore
  /// The maximum number of bytes in memory.
  public let maxBytes: Int
  /// The size that each entry adds to its key and value, so that many small entries count, too.
  public static let entryBytes = 64

  private struct Entry {
    let value: [UInt8]
    /// The number of its last use.
    var use: Int
  }

  private struct State {
    var entries: [String: Entry] = [:]
    /// The keys by their last use.
    var keys: [Int: String] = [:]
    /// No key has an older use.
    var oldest = 0
    var uses = 0
    var bytes = 0
    /// Counts the changes, so that a value read before one is not kept after it.
    var changes = 0

    mutating func use(_ key: String) -> [UInt8]? {
      guard let entry = entries[key] else { return nil }
      keys[entry.use] = nil
      uses += 1
      keys[uses] = key
      entries[key]?.use = uses
      return entry.value
    }

    mutating func insert(_ value: [UInt8], for key: String) {
      uses += 1
      keys[uses] = key
      entries[key] = Entry(value: value, use: uses)
      bytes += MemCachedKeyValueStore.bytes(of: value, key)
    }

    mutating func remove(_ key: String) {
      guard let entry = entries.removeValue(forKey: key) else { return }
      keys[entry.use] = nil
      bytes -= MemCachedKeyValueStore.bytes(of: entry.value, key)
    }

    mutating func removeOldest() {
      while keys[oldest] == nil { oldest += 1 }
      if let key = keys[oldest] { remove(key) }
    }
  }

  private let state = Mutex(State())

  /// Creates a cache for a store.
  ///
  /// - Parameter maxBytes: The maximum size of the cached values. Default: 4 MB.
  public init(_ store: KeyValueEncryptedFileStore, maxBytes: Int = 4 << 20) {
    self.store = store
    self.maxBytes = maxBytes
  }

  /// The number of bytes in memory: values with their keys, and ``entryBytes`` for each.
  public var cachedBytes: Int { state.withLock { $0.bytes } }

  /// Stores a text.
  ///
  /// - Throws: As ``KeyValueEncryptedFileStore/saveValue(_:forKey:)``.
  public func saveValue(_ text: String, forKey key: String) throws(EncryptionError) {
    try saveData(Array(text.utf8), forKey: key)
  }

  /// Stores bytes.
  ///
  /// - Throws: As ``KeyValueEncryptedFileStore/saveData(_:forKey:)``.
  public func saveData(_ bytes: [UInt8], forKey key: String) throws(EncryptionError) {
    let change = forget(key)
    try store.saveData(bytes, forKey: key)
    remember(bytes, key, since: change)
  }

  /// Returns a value as text; `nil` if there is none.
  ///
  /// - Throws: As ``KeyValueEncryptedFileStore/readValue(forKey:)``.
  public func readValue(forKey key: String) throws(EncryptionError) -> String? {
    guard let bytes = try readData(forKey: key) else { return nil }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw EncryptionError(.notText, "The value is not text. Read it as data.")
    }
    return text
  }

  /// Returns a value's bytes; `nil` if there is none.
  ///
  /// - Throws: As ``KeyValueEncryptedFileStore/readData(forKey:maxBytes:)``.
  public func readData(forKey key: String) throws(EncryptionError) -> [UInt8]? {
    let (known, change): ([UInt8]?, Int) = state.withLock { state in
      (state.use(key), state.changes)
    }
    if let known { return known }
    let bytes = try store.readData(forKey: key)
    if let bytes { remember(bytes, key, since: change) }
    return bytes
  }

  /// Removes a value.
  ///
  /// - Throws: As ``KeyValueEncryptedFileStore/removeValue(forKey:)``.
  @discardableResult
  public func removeValue(forKey key: String) throws(EncryptionError) -> Bool {
    forget(key)
    defer { forget(key) }
    return try store.removeValue(forKey: key)
  }

  /// Removes all values.
  ///
  /// - Throws: As ``KeyValueEncryptedFileStore/removeAll()``.
  public func removeAll() throws(EncryptionError) {
    removeCached()
    defer { removeCached() }
    try store.removeAll()
  }

  /// Empties the cache. The store keeps all values.
  public func removeCached() {
    state.withLock { state in
      let changes = state.changes + 1
      state = State()
      state.changes = changes
    }
  }

  /// - Returns: The number of this change.
  @discardableResult
  private func forget(_ key: String) -> Int {
    state.withLock { state in
      state.changes += 1
      state.remove(key)
      return state.changes
    }
  }

  private func remember(_ value: [UInt8], _ key: String, since change: Int) {
    guard Self.bytes(of: value, key) <= maxBytes else { return }
    state.withLock { state in
      guard state.changes == change else { return }
      state.remove(key)
      state.insert(value, for: key)
      while state.bytes > maxBytes { state.removeOldest() }
    }
  }

  private static func bytes(of value: [UInt8], _ key: String) -> Int {
    value.count + key.utf8.count + entryBytes
  }
}
