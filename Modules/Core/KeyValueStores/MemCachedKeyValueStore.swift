import Synchronization

/// A key-value store with the values that were used last kept in memory, up to a size (SS-241).
///
/// What is saved goes to disk before it counts; what another process saves is seen once the value here
/// has made room. Values that are larger than the cache pass it by.
public final class MemCachedKeyValueStore: Sendable {
  /// The store below.
  public let store: KeyValueEncryptedFileStore
  /// The most bytes kept in memory.
  public let maxBytes: Int

  private struct State {
    var values: [String: [UInt8]] = [:]
    /// Oldest use first.
    var order: [String] = []
    var bytes = 0
    /// Counts the changes, so that a value read before one is not kept after it.
    var changes = 0
  }

  private let state = Mutex(State())

  /// Puts a cache before a store.
  ///
  /// - Parameter maxBytes: Default: 4 MB.
  public init(_ store: KeyValueEncryptedFileStore, maxBytes: Int = 4 << 20) {
    self.store = store
    self.maxBytes = maxBytes
  }

  /// How many bytes of values are in memory now.
  public var cachedBytes: Int { state.withLock { $0.bytes } }

  /// Keeps a text.
  ///
  /// - Throws: As ``KeyValueEncryptedFileStore/saveValue(_:forKey:)``.
  public func saveValue(_ text: String, forKey key: String) throws(EncryptionError) {
    try saveData(Array(text.utf8), forKey: key)
  }

  /// Keeps bytes.
  ///
  /// - Throws: As ``KeyValueEncryptedFileStore/saveData(_:forKey:)``.
  public func saveData(_ bytes: [UInt8], forKey key: String) throws(EncryptionError) {
    let change = forget(key)
    try store.saveData(bytes, forKey: key)
    remember(bytes, key, since: change)
  }

  /// A value as text; `nil` if there is none.
  ///
  /// - Throws: As ``KeyValueEncryptedFileStore/readValue(forKey:)``.
  public func readValue(forKey key: String) throws(EncryptionError) -> String? {
    guard let bytes = try readData(forKey: key) else { return nil }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw EncryptionError(.notText, "The value is no text; read it as data.")
    }
    return text
  }

  /// A value's bytes; `nil` if there is none.
  ///
  /// - Throws: As ``KeyValueEncryptedFileStore/readData(forKey:maxBytes:)``.
  public func readData(forKey key: String) throws(EncryptionError) -> [UInt8]? {
    let (known, change): ([UInt8]?, Int) = state.withLock { state in
      guard let bytes = state.values[key] else { return (nil, state.changes) }
      state.order.removeAll { $0 == key }
      state.order.append(key)
      return (bytes, state.changes)
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

  /// Empties the memory; the store keeps all.
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
      Self.drop(key, &state)
      return state.changes
    }
  }

  private func remember(_ bytes: [UInt8], _ key: String, since change: Int) {
    guard bytes.count <= maxBytes else { return }
    state.withLock { state in
      guard state.changes == change else { return }
      Self.drop(key, &state)
      state.values[key] = bytes
      state.order.append(key)
      state.bytes += bytes.count
      while state.bytes > maxBytes, let oldest = state.order.first { Self.drop(oldest, &state) }
    }
  }

  private static func drop(_ key: String, _ state: inout State) {
    guard let old = state.values.removeValue(forKey: key) else { return }
    state.bytes -= old.count
    state.order.removeAll { $0 == key }
  }
}
