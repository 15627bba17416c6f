public import Crypto
public import SalesforceSDKCommon

/// A source of the key that wraps the data-encryption keys of stores.
///
/// A store's pages are encrypted with a random data-encryption key of its own; this key wraps it in the
/// store's key file. It never appears in a log, an error or a file.
public protocol StoreKeyProvider: Sendable {
  /// The key, of at least 128 bits, or nil if there is none and never was.
  ///
  /// - Throws: ``SmartStoreError`` `keyLocked` if the key exists but cannot be had now: a retry may
  ///   help. Every throw makes opening the store fail; nothing falls back to plaintext.
  func key() throws(SmartStoreError) -> SymmetricKey?

  /// Makes and keeps a key. Called for a new store alone, and for one that changes over to this
  /// provider: never to open a store, since a new key could not.
  ///
  /// - Throws: ``SmartStoreError`` `keyLocked` or `io` if the key could not be kept.
  func createKey() throws(SmartStoreError) -> SymmetricKey

  /// The provider of the key that wraps for the stores of one owner.
  ///
  /// Default: this one, whose key then wraps for all owners. A provider with a key for each user makes a
  /// logout erase what a copied folder holds.
  func provider(for owner: StoreOwner) -> any StoreKeyProvider

  /// Deletes the key of an account, in all its communities, permanently: copies of its stores can never be
  /// opened again. Called at a logout.
  ///
  /// Default: nothing, since the key is not the account's alone.
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
  ///   - secrets: Remembers which stores are encrypted, so that neither a plaintext database nor an old key
  ///     file can take the place of one. Default: nothing remembers it.
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
