/// The encryption of a store's files. Opening a store with the wrong setting throws an error and leaves the
/// files as they are.
public enum StoreEncryption: Sendable {
  /// Plain SQLite files. Anyone who can read the files can read the records.
  case plaintext
  /// AES-256-GCM for every page, with a data-encryption key that the provider's key wraps.
  case encrypted(any StoreKeyProvider)
}
