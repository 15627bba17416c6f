import GRDB
import GRDBSQLite

/// What every connection to a store is set to, before anything is read or written.
enum StoreConnection {
  /// Fails unless `database` goes through ``SealedVFS``: SQLite without URI names would open a plain
  /// file instead.
  static func requireSealed(_ database: Database) throws {
    guard sealedFile(of: database) != nil else {
      throw DatabaseError(
        resultCode: .SQLITE_CANTOPEN, message: "the connection does not go through the store's VFS")
    }
  }

  /// The database file as ``SealedVFS`` has it open; nil if it is a plain one.
  static func sealedFile(of database: Database) -> SealedFile.State? {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let code = withUnsafeMutablePointer(to: &file) { pointer in
      sqlite3_file_control(
        database.sqliteConnection, "main", SQLITE_FCNTL_FILE_POINTER, pointer)
    }
    return code == SQLITE_OK ? SealedFile.state(file) : nil
  }

  /// Sets the pragmas. `temp_store` is the one that confidentiality depends on: sorts, statement
  /// journals and VACUUM must not reach the disk outside the VFS.
  static func configure(
    _ database: Database, options: StoreDatabaseOptions, cacheBytes: Int
  ) throws {
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

  /// Lets `count` databases be attached: another database would not be the store's.
  static func allowAttached(_ count: Int32, on database: Database) throws {
    guard let connection = database.sqliteConnection else {
      throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "the connection is closed")
    }
    sqlite3_limit(connection, SQLITE_LIMIT_ATTACHED, count)
  }
}
