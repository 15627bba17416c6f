/// The encryption of a store's files. Opening a store with the wrong setting throws an error and leaves the
/// files as they are.
public enum StoreEncryption: Sendable {
  /// Plain SQLite files. Anybody who can read them can read the records.
  case plaintext
  /// AES-256-GCM over every page, with a data-encryption key that the provider's key wraps.
  case encrypted(any StoreKeyProvider)
}
