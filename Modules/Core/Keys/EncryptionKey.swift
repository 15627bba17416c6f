import Crypto
import SalesforceSDKCommon

/// A key of 256 bits. Its description contains no part of it, and its bytes are overwritten when the last
/// copy is released (CO-152).
public struct EncryptionKey: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
  /// The number of bytes of a key.
  public static let size = 32

  let key: SymmetricKey

  /// Creates a key from its bytes; `nil` if their number is not ``size``.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.size else { return nil }
    key = SymmetricKey(data: bytes)
  }

  init(_ key: SymmetricKey) { self.key = key }

  /// Returns a new key from the system's random generator.
  public static func random() -> EncryptionKey { EncryptionKey(SymmetricKey(size: .bits256)) }

  /// The key's bytes. Store them only in a safe location.
  public var bytes: [UInt8] { key.withUnsafeBytes { Array($0) } }

  /// A derived key for one use, which reveals nothing about this key.
  func derived(for use: String, salt: [UInt8] = []) -> EncryptionKey {
    EncryptionKey(
      HKDF<SHA256>.deriveKey(
        inputKeyMaterial: key, salt: salt, info: Array(use.utf8), outputByteCount: Self.size))
  }

  /// `EncryptionKey`, without its bytes.
  public var description: String { "EncryptionKey" }

  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A source of keys by label: ``KeyGenerator``, or a hardware module or key service of the program (CO-149).
public protocol EncryptionKeyProvider: Sendable {
  /// Returns the key of a label. It has to be the same in every run as long as data is encrypted
  /// with it.
  ///
  /// - Throws: ``EncryptionError`` `keyLocked`, `keyMissing`, `keyDamaged`, `wrongKey` or
  ///   `inputOutput`. A key that cannot be read is never replaced.
  func encryptionKey(_ label: KeyLabel) throws(EncryptionError) -> EncryptionKey

  /// The key of that label for the data of one user.
  ///
  /// Default: the key of the label, which all users then share. With a key for each user, a logout
  /// also makes copies of the user's files unreadable.
  ///
  /// - Throws: As ``encryptionKey(_:)``.
  func encryptionKey(
    _ label: KeyLabel, of user: UserAccountIdentity
  ) throws(EncryptionError) -> EncryptionKey

  /// Deletes all keys of a user permanently. A logout calls it. Default: does nothing.
  ///
  /// - Throws: ``EncryptionError`` `keyLocked` or `inputOutput`.
  func eraseKeys(of user: UserAccountIdentity) throws(EncryptionError)
}

extension EncryptionKeyProvider {
  public func encryptionKey(
    _ label: KeyLabel, of user: UserAccountIdentity
  ) throws(EncryptionError) -> EncryptionKey {
    try encryptionKey(label)
  }

  public func eraseKeys(of user: UserAccountIdentity) throws(EncryptionError) {}
}

/// The purpose of a key: each kind of data has its own key (CO-144).
public struct KeyLabel: Sendable, Hashable, CustomStringConvertible {
  /// The name of the key in the secret store.
  public let rawValue: String

  /// Creates a label of your own.
  public init(_ rawValue: String) { self.rawValue = rawValue }

  /// Accounts.
  public static let userAccount = KeyLabel("com.salesforce.userAccount.encryptionKey")
  /// Pictures of users.
  public static let userPhotos = KeyLabel("com.salesforce.userAccount.photos.encryptionKey")
  /// Events that are to be sent later.
  public static let eventStore = KeyLabel("com.salesforce.eventStore.encryptionKey")
  /// Key-value stores.
  public static let keyValueStores = KeyLabel("com.salesforce.keyValueStores.encryptionKey")
  /// Cached responses.
  public static let urlCache = KeyLabel("com.salesforce.URLCache.encryptionKey")

  public var description: String { rawValue }
}
