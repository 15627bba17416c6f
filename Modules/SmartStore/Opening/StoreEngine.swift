import GRDBSQLite

/// What an app may ask about the engine under its stores (SS-33).
package enum StoreEngine {
  /// The encryption and its format, in place of the SQLCipher version.
  package static var version: String { "Fieldforce page format \(PageFormat.version)" }

  /// The algorithm and the library that provides it.
  package static func cipherProviderVersion(_ cipher: some StoreCipher = AESGCMCipher()) -> String {
    cipher.provider
  }

  /// No build of this engine was validated.
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

  /// The settings of an encrypted store as statements: what holds for each connection and cannot be
  /// changed, and what each connection starts with.
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
