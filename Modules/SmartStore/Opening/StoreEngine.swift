import GRDBSQLite

/// Information about the engine of stores for apps (SS-33).
package enum StoreEngine {
  /// The encryption and its format, in place of the SQLCipher version.
  package static var version: String { "Fieldforce page format \(PageFormat.version)" }

  /// The algorithm and the library that provides it.
  package static func cipherProviderVersion(_ cipher: some StoreCipher = AESGCMCipher()) -> String {
    cipher.provider
  }

  /// Whether the engine was validated. No build of it was.
  package static var isFIPSValidated: Bool { false }

  package static var sqliteVersion: String { String(cString: sqlite3_libversion()) }

  /// The options that SQLite was compiled with, such as `ENABLE_FTS5`.
  package static var compileOptions: [String] {
    var options: [String] = []
    var index: Int32 = 0
    while let option = sqlite3_compileoption_get(index) {
      options.append(String(cString: option))
      index += 1
    }
    return options
  }

  /// Returns the settings of an encrypted store as statements: the fixed settings of each
  /// connection, and the initial ones.
  package static func runtimeSettings(_ options: StoreDatabaseOptions = .init()) -> [String] {
    [
      "PRAGMA journal_mode = WAL;",
      "PRAGMA page_size = \(PageFormat.pageSize);",
      "PRAGMA mmap_size = 0;",
      "PRAGMA temp_store = MEMORY;",
      "PRAGMA synchronous = FULL;",
      "PRAGMA cache_size = -\(options.writerCacheBytes >> 10);",
      "PRAGMA wal_autocheckpoint = \(options.checkpointPages);",
    ]
  }
}
