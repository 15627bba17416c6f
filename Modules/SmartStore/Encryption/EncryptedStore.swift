import Synchronization

/// What the VFS knows of one open store: found by a token in the database's URI, never by key bytes.
final class EncryptedStore: Sendable {
  let keys: StoreKeys
  let cipher: any StoreCipher
  /// What binds the write-ahead log (WAL) to the database; nil for a copy, which has none.
  let binding: WALBinding?
  private let writable = Atomic(false)
  private let damaged = Atomic(false)
  private let opened = Mutex(Opened())
  private let written = Atomic<Int64>(0)

  private struct Opened {
    var databasePath: String?
    var header: DatabaseHeader?
  }

  init(keys: StoreKeys, cipher: any StoreCipher, binding: WALBinding? = nil) {
    self.keys = keys
    self.cipher = cipher
    self.binding = binding
  }

  /// False until the store was found readable, and always for a read-only one: nothing of a store
  /// that cannot be read is ever changed, not by a checkpoint at closing either.
  var acceptsWrites: Bool { writable.load(ordering: .acquiring) }

  func allowWrites() { writable.store(true, ordering: .releasing) }

  /// Whether a page was read whose tag does not fit.
  var hasMetDamage: Bool { damaged.load(ordering: .relaxed) }

  /// Notes a page whose tag does not fit.
  ///
  /// - Returns: What SQLite gets.
  func didMeetDamage() -> Int32 {
    damaged.store(true, ordering: .relaxed)
    return StoreIOError.damagedPage
  }

  /// The bytes that the database file has at least, as far as this process knows.
  var databaseBytes: Int64 { written.load(ordering: .acquiring) }

  /// Notes that the database file was found or written to this length.
  func didReachDatabase(bytes: Int64) {
    // Most writes are within the file.
    if bytes > written.load(ordering: .relaxed) {
      written.max(bytes, ordering: .acquiringAndReleasing)
    }
  }

  /// Notes that the database file is about to be truncated to this length.
  func willTruncateDatabase(to bytes: Int64) { written.store(bytes, ordering: .releasing) }

  /// What the database file turned out to be, once it was opened.
  var header: DatabaseHeader.Kind? { opened.withLock { $0.header?.kind } }

  /// The generation of the WAL that the first page named then.
  var generation: UInt64 { opened.withLock { $0.header?.generation ?? 0 } }

  func didOpen(path: String, header: DatabaseHeader) {
    opened.withLock { $0 = Opened(databasePath: path, header: header) }
  }

  /// True if `path` is the WAL of this store, and may be deleted.
  func mayDelete(_ path: String) -> Bool {
    guard acceptsWrites, let database = opened.withLock({ $0.databasePath }) else { return false }
    return path == database + "-wal"
  }
}

/// The open stores of the process by token.
enum EncryptedStoreRegistry {
  private static let stores = Mutex<[String: EncryptedStore]>([:])

  static func store(for token: String) -> EncryptedStore? {
    stores.withLock { $0[token] }
  }

  /// The store that accepts writes and whose log is `path`.
  static func store(ofLog path: String) -> EncryptedStore? {
    stores.withLock { Array($0.values) }.first { $0.mayDelete(path) }
  }

  /// Makes `store` known under `token` until ``remove(_:)``.
  static func add(_ store: EncryptedStore, token: String) {
    stores.withLock { $0[token] = store }
  }

  static func remove(_ token: String) {
    _ = stores.withLock { $0.removeValue(forKey: token) }
  }
}
