import Synchronization

/// The state of one open store for the VFS, which finds it by a token in the database's URI, never
/// by key bytes.
final class EncryptedStore: Sendable {
  let keys: StoreKeys
  let cipher: any StoreCipher
  /// The binding of the write-ahead log (WAL) to the database; nil for a copy, which has no WAL.
  let binding: WALBinding?
  /// The turns in which files may be written; nil if this process writes alone.
  private let turns: WriteTurns?
  private let writable = Atomic(false)
  private let damaged = Atomic(false)
  private let opened = Mutex(Opened())
  private let written = Atomic<Int64>(0)

  private struct Opened {
    var databasePath: String?
    var header: DatabaseHeader?
  }

  init(
    keys: StoreKeys, cipher: any StoreCipher, binding: WALBinding? = nil, turns: WriteTurns? = nil
  ) {
    self.turns = turns
    self.keys = keys
    self.cipher = cipher
    self.binding = binding
  }

  /// Whether writes are accepted. False until the store was found readable, and always for a
  /// read-only store: a store that cannot be read is never changed, not even by a checkpoint when
  /// it closes. A store that processes share accepts writes only in a turn of this process.
  var acceptsWrites: Bool { writable.load(ordering: .acquiring) && turns?.isHeld != false }

  func allowWrites() { writable.store(true, ordering: .releasing) }

  /// Whether a page with a wrong tag was read.
  var hasMetDamage: Bool { damaged.load(ordering: .relaxed) }

  /// Records a page with a wrong tag.
  ///
  /// - Returns: The result code for SQLite.
  func didMeetDamage() -> Int32 {
    damaged.store(true, ordering: .relaxed)
    return StoreIOError.damagedPage
  }

  /// The minimum length of the database file in bytes, as far as this process knows.
  var databaseBytes: Int64 { written.load(ordering: .acquiring) }

  /// Records that the database file was found or written with this length.
  func didReachDatabase(bytes: Int64) {
    // Most writes are within the file.
    if bytes > written.load(ordering: .relaxed) {
      written.max(bytes, ordering: .acquiringAndReleasing)
    }
  }

  /// Notes the length of a database file that another process may have changed.
  func didFindDatabase(bytes: Int64) { written.store(bytes, ordering: .releasing) }

  /// Records that the database file is about to be truncated to this length.
  func willTruncateDatabase(to bytes: Int64) { written.store(bytes, ordering: .releasing) }

  /// The kind of the database file, once it was opened.
  var header: DatabaseHeader.Kind? { opened.withLock { $0.header?.kind } }

  /// The generation of the WAL in the first page when the database was opened.
  var generation: UInt64 { opened.withLock { $0.header?.generation ?? 0 } }

  func didOpen(path: String, header: DatabaseHeader) {
    opened.withLock { $0 = Opened(databasePath: path, header: header) }
  }

  /// Whether `path` is the WAL of this store, and may be deleted.
  func mayDelete(_ path: String) -> Bool {
    guard acceptsWrites, let database = opened.withLock({ $0.databasePath }) else { return false }
    return path == database + "-wal"
  }
}

/// A registry of the open stores of the process by token.
enum EncryptedStoreRegistry {
  private static let stores = Mutex<[String: EncryptedStore]>([:])

  static func store(for token: String) -> EncryptedStore? {
    stores.withLock { $0[token] }
  }

  /// Returns the store that accepts writes and whose log is `path`.
  static func store(ofLog path: String) -> EncryptedStore? {
    stores.withLock { Array($0.values) }.first { $0.mayDelete(path) }
  }

  /// Registers `store` under `token` until ``remove(_:)``.
  static func add(_ store: EncryptedStore, token: String) {
    stores.withLock { $0[token] = store }
  }

  static func remove(_ token: String) {
    _ = stores.withLock { $0.removeValue(forKey: token) }
  }
}
