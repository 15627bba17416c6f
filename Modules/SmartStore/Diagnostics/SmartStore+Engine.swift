/// Information about the engine of stores. The names are those of the Mobile SDK, the values those
/// of this engine, which is not SQLCipher.
extension SmartStore {
  /// Returns the encryption and its format.
  public static func versionOfSQLCipher() -> String { StoreEngine.version }

  /// Returns the cipher and the library that provides it.
  public static func cipherProviderVersion() -> String { StoreEngine.cipherProviderVersion() }

  /// Whether the engine was validated under FIPS 140. It was not.
  public static func cipherFIPSStatus() -> Bool { StoreEngine.isFIPSValidated }

  /// Returns the version of SQLite.
  public static func versionOfSQLite() -> String { StoreEngine.sqliteVersion }

  /// Returns the options that SQLite was compiled with, such as `ENABLE_FTS5`.
  public static func compileOptions() -> [String] { StoreEngine.compileOptions }

  /// Returns the settings of an encrypted store's connections, as statements.
  public static func runtimeSettings() -> [String] { StoreEngine.runtimeSettings() }
}
