public import Crypto

/// Where the key comes from that wraps the data keys of stores.
///
/// A store's pages are sealed with a random data key of its own; this key wraps it in the store's key
/// file. It never appears in a log, an error or a file.
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
}

/// A provider with one key that the app brings along, derived from a passphrase say.
///
/// The key is never made here, so ``createKey()`` gives the same one.
public struct FixedKeyProvider: StoreKeyProvider {
  private let fixed: SymmetricKey

  /// - Parameter key: At least 128 bits that nobody can guess.
  public init(_ key: SymmetricKey) { fixed = key }

  public func key() throws(SmartStoreError) -> SymmetricKey? { fixed }

  public func createKey() throws(SmartStoreError) -> SymmetricKey { fixed }
}
