public import Crypto
public import SalesforceSDKCommon

/// A source of the key that wraps the data-encryption keys of stores.
///
/// A store's pages are encrypted with a random data-encryption key of its own; this key wraps it in the
/// store's key file. It never appears in a log, an error or a file.
public protocol StoreKeyProvider: Sendable {
  /// Returns the key, of at least 128 bits, or nil if none was ever created.
  ///
  /// - Throws: ``SmartStoreError`` `keyLocked` if the key exists but is not accessible now: a retry
  ///   may help. After any error, opening the store fails; it never falls back to plaintext.
  func key() throws(SmartStoreError) -> SymmetricKey?

  /// Creates and stores a key. Called only for a new store, and for a store that changes to this
  /// provider; never to open a store, which a new key could not.
  ///
  /// - Throws: ``SmartStoreError`` `keyLocked` or `io` if the key could not be stored.
  func createKey() throws(SmartStoreError) -> SymmetricKey

  /// Returns the provider of the key that wraps the keys of one owner's stores.
  ///
  /// Default: this provider, with one key for all owners. With a provider that has a key for each
  /// user, a logout also makes copies of the user's stores unreadable.
  func provider(for owner: StoreOwner) -> any StoreKeyProvider

  /// Deletes the key of an account, in all its communities, permanently: copies of its stores can never be
  /// opened again. Called at a logout.
  ///
  /// Default: does nothing, because other accounts use the same key.
  ///
  /// - Throws: ``SmartStoreError`` `keyLocked`, `io`.
  func eraseKey(of owner: StoreOwner) throws(SmartStoreError)
}

extension StoreKeyProvider {
  public func provider(for owner: StoreOwner) -> any StoreKeyProvider { self }
  public func eraseKey(of owner: StoreOwner) throws(SmartStoreError) {}
}

/// A key provider with one key that the app supplies, for example one derived from a passphrase.
///
/// This provider never creates a key, so ``createKey()`` returns the same one.
public struct FixedKeyProvider: StoreKeyProvider {
  private let fixed: SymmetricKey
  private let secrets: (any SecretStore)?

  /// - Parameters:
  ///   - key: At least 128 bits of a random source.
  ///   - secrets: Records which stores are encrypted, so that neither a plaintext database nor an
  ///     old key file can replace those of an encrypted store. Default: nil, no records.
  public init(_ key: SymmetricKey, remembering secrets: (any SecretStore)? = nil) {
    fixed = key
    self.secrets = secrets
  }

  public func key() throws(SmartStoreError) -> SymmetricKey? { fixed }

  public func createKey() throws(SmartStoreError) -> SymmetricKey { fixed }
}

extension FixedKeyProvider: StoreRemembering {
  func records(of owner: StoreOwner) -> StoreRecords? {
    secrets.map { SecretStoreKeyProvider($0).records(of: owner) }
  }
}
