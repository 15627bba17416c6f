/// What an app can read about the engine under its stores. The names are those of the original, the
/// values those of this engine, which is not SQLCipher.
extension SmartStore {
  /// The encryption and its format.
  public static func versionOfSQLCipher() -> String { StoreEngine.version }

  /// The cipher and the library that provides it.
  public static func cipherProviderVersion() -> String { StoreEngine.cipherProviderVersion() }

  /// Whether the engine was validated under FIPS 140. It was not.
  public static func cipherFIPSStatus() -> Bool { StoreEngine.isFIPSValidated }

  /// The version of SQLite.
  public static func versionOfSQLite() -> String { StoreEngine.sqliteVersion }

  /// The options that SQLite was compiled with, such as `ENABLE_FTS5`.
  public static func compileOptions() -> [String] { StoreEngine.compileOptions }

  /// The settings of an encrypted store's connections, as statements.
  public static func runtimeSettings() -> [String] { StoreEngine.runtimeSettings() }
}
