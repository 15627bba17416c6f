import GRDB
import GRDBSQLite
import StoreSystem

/// What every connection to a store is set to, before anything is read or written.
enum StoreConnection {
  /// Fails unless `database` goes through ``EncryptedVFS``: SQLite without URI names would open a plain
  /// file instead.
  static func requireEncrypted(_ database: Database) throws {
    guard sealedFile(of: database) != nil else {
      throw DatabaseError(
        resultCode: .SQLITE_CANTOPEN, message: "the connection does not go through the store's VFS")
    }
  }

  /// The database file as ``EncryptedVFS`` has it open; nil if it is a plain one.
  static func sealedFile(of database: Database) -> EncryptedFile.State? {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let code = withUnsafeMutablePointer(to: &file) { pointer in
      sqlite3_file_control(
        database.sqliteConnection, "main", SQLITE_FCNTL_FILE_POINTER, pointer)
    }
    return code == SQLITE_OK ? EncryptedFile.state(file) : nil
  }

  /// Sets the pragmas. `temp_store` is the one that confidentiality depends on: sorts, statement
  /// journals and VACUUM must not reach the disk outside the VFS.
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
    try SoupValueFunction.add(to: database)
  }

  /// How many frames of the WAL are in the database already; 0 if that is not known.
  static func copiedFrames(of database: Database) -> Int {
    // The header of the log's index stands there twice; the number follows.
    let headers = 2 * 48
    var pointer: UnsafeMutablePointer<sqlite3_file>?
    let code = withUnsafeMutablePointer(to: &pointer) { place in
      sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_FILE_POINTER, place)
    }
    guard code == SQLITE_OK, let file = pointer, let map = file.pointee.pMethods.pointee.xShmMap
    else { return 0 }
    var memory: UnsafeMutableRawPointer?
    guard map(file, 0, 32 << 10, 0, &memory) == SQLITE_OK, let memory else { return 0 }
    return Int(memory.load(fromByteOffset: headers, as: UInt32.self))
  }

  /// Reads the write-ahead log (WAL) without an index file, and leaves it as it is at closing. Before
  /// anything is read.
  static func isolate(_ database: Database) throws {
    try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
    try keepLog(of: database)
  }

  /// Lets closing leave the write-ahead log (WAL) and the database as they are.
  static func keepLog(of database: Database) throws {
    try set(StoreSystemNoCheckpointOnClose, true, on: database)
  }

  /// Takes the means from the schema of a database that was written by someone else: its triggers, views
  /// and functions, and statements that change the schema behind SQLite's back.
  private static func defend(_ database: Database, runsTriggers: Bool) throws {
    try set(StoreSystemDefensive, true, on: database)
    try set(StoreSystemTriggers, runsTriggers, on: database)
    try set(StoreSystemViews, false, on: database)
    if canDistrustSchema { try set(StoreSystemTrustedSchema, false, on: database) }
  }

  /// Whether SQLite lets an index call `json_extract` of a schema that is not trusted. Some versions, 3.40 among
  /// them, take their own JSON functions for harmful then, and a store with json1 indexes would not open. With
  /// triggers and views off and the store's own function for statements alone, such a schema has nothing
  /// harmful to call.
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

  /// Lets `count` databases be attached: another database would not be the store's.
  static func allowAttached(_ count: Int32, on database: Database) throws {
    guard let connection = database.sqliteConnection else {
      throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "the connection is closed")
    }
    sqlite3_limit(connection, SQLITE_LIMIT_ATTACHED, count)
  }
}
