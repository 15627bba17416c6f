/// Whether the files of a store are sealed. There is no silent way from one to the other: opening
/// with the wrong one fails and leaves the files as they are.
public enum StoreEncryption: Sendable {
  /// Plain SQLite files. Anybody who can read them can read the records.
  case plaintext
  /// AES-256-GCM over every page, with a data key that the provider's key wraps.
  case encrypted(any StoreKeyProvider)
}
