import GRDB
import GRDBSQLite
import StoreSystem

/// The settings of every connection to a store, made before anything is read or written.
enum StoreConnection {
  /// Throws unless `database` uses ``EncryptedVFS``: SQLite without URI names would open a plain
  /// file instead.
  static func requireEncrypted(_ database: Database) throws {
    guard sealedFile(of: database) != nil else {
      throw DatabaseError(
        resultCode: .SQLITE_CANTOPEN, message: "the connection does not go through the store's VFS")
    }
  }

  /// Returns the database file that ``EncryptedVFS`` has open; nil if it is a plain one.
  static func sealedFile(of database: Database) -> EncryptedFile.State? {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let code = withUnsafeMutablePointer(to: &file) { pointer in
      sqlite3_file_control(
        database.sqliteConnection, "main", SQLITE_FCNTL_FILE_POINTER, pointer)
    }
    return code == SQLITE_OK ? EncryptedFile.state(file) : nil
  }

  /// Sets the pragmas. Confidentiality depends on `temp_store`: sorts, statement journals and
  /// VACUUM must not write to the disk outside the VFS.
  static func configure(
    _ database: Database, options: StoreDatabaseOptions, cacheBytes: Int
  ) throws {
    try defend(database, runsTriggers: options.runsTriggers)
    // A negative cache size counts KiB.
    try database.execute(
      sql: """
        PRAGMA temp_store = MEMORY;
        PRAGMA cache_size = -\(cacheBytes >> 10);
        PRAGMA cell_size_check = ON;
        PRAGMA journal_size_limit = \(options.checkpointPages * PageFormat.frameSize);
        PRAGMA wal_autocheckpoint = \(options.checkpointPages);
        """)
    try allowAttached(0, on: database)
    if let connection = database.sqliteConnection { QueryLimits.set(on: connection) }
    try SoupValueFunction.add(to: database)
  }

  /// Returns the number of frames of the WAL that are already in the database; 0 if it is not
  /// known.
  static func copiedFrames(of database: Database) -> Int {
    // The header stands there twice; the number follows.
    let headers = 2 * logIndexHeaderSize
    return logIndex(of: database).map { Int($0.load(fromByteOffset: headers, as: UInt32.self)) }
      ?? 0
  }

  private static let logIndexHeaderSize = 48

  /// The last transaction in the WAL as its index has it; nil if the WAL is empty. Only while a statement of the
  /// connection reads: until then, what a process left that ended while it wrote may stand there.
  static func lastCommit(of database: Database) -> WALAnchor.Commit? {
    guard let index = logIndex(of: database) else { return nil }
    let frames = Int(index.load(fromByteOffset: 16, as: UInt32.self))
    guard frames > 0 else { return nil }
    return WALAnchor.Commit(
      salts: (index + 32).loadUnaligned(as: UInt64.self), frames: frames,
      sums: WALFormat.Sums(
        first: index.load(fromByteOffset: 24, as: UInt32.self),
        second: index.load(fromByteOffset: 28, as: UInt32.self)))
  }

  /// The bytes that each commit changes in the index of the WAL; empty if there is none.
  static func commitMark(of database: Database) -> [UInt8] {
    guard let index = logIndex(of: database) else { return [] }
    return Array(UnsafeRawBufferPointer(start: index, count: logIndexHeaderSize))
  }

  /// The first part of the index of the WAL, which the connections of all processes share.
  private static func logIndex(of database: Database) -> UnsafeMutableRawPointer? {
    var pointer: UnsafeMutablePointer<sqlite3_file>?
    let code = withUnsafeMutablePointer(to: &pointer) { place in
      sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_FILE_POINTER, place)
    }
    guard code == SQLITE_OK, let file = pointer, let map = file.pointee.pMethods.pointee.xShmMap
    else { return nil }
    var memory: UnsafeMutableRawPointer?
    guard map(file, 0, 32 << 10, 0, &memory) == SQLITE_OK else { return nil }
    return memory
  }

  /// Makes the connection read the write-ahead log (WAL) without an index file, and leave it
  /// unchanged when it closes. Must be called before anything is read.
  static func isolate(_ database: Database) throws {
    try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
    try keepLog(of: database)
  }

  /// Makes closing leave the write-ahead log (WAL) and the database unchanged.
  static func keepLog(of database: Database) throws {
    try set(StoreSystemNoCheckpointOnClose, true, on: database)
  }

  /// Disables the dangerous features of a schema that someone else may have written: triggers,
  /// views and functions, and statements that change the schema directly.
  private static func defend(_ database: Database, runsTriggers: Bool) throws {
    try set(StoreSystemDefensive, true, on: database)
    try set(StoreSystemTriggers, runsTriggers, on: database)
    try set(StoreSystemViews, false, on: database)
    if canDistrustSchema { try set(StoreSystemTrustedSchema, false, on: database) }
  }

  /// Whether SQLite lets an index of an untrusted schema call `json_extract`. Some versions, 3.40
  /// among them, classify their own JSON functions as unsafe in this case, and a store with json1
  /// indexes would not open. Without triggers and views, and with the store's own function allowed
  /// only in statements, such a schema can call nothing harmful.
  static let canDistrustSchema: Bool = {
    do {
      return try DatabaseQueue().writeWithoutTransaction { database in
        try set(StoreSystemTrustedSchema, false, on: database)
        try database.execute(
          sql: "CREATE TABLE entry (soup); CREATE INDEX path ON entry (json_extract(soup, '$.a'))")
        return true
      }
    } catch {
      return false
    }
  }()

  private static func set(_ name: StoreSystemSwitch, _ isOn: Bool, on database: Database) throws {
    guard let connection = database.sqliteConnection else {
      throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "the connection is closed")
    }
    let code = store_system_set(UnsafeMutableRawPointer(connection), name, isOn ? 1 : 0)
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
  }

  /// Sets the number of databases that may be attached: normally none, because another database is
  /// not part of the store.
  static func allowAttached(_ count: Int32, on database: Database) throws {
    guard let connection = database.sqliteConnection else {
      throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "the connection is closed")
    }
    sqlite3_limit(connection, SQLITE_LIMIT_ATTACHED, count)
  }
}
