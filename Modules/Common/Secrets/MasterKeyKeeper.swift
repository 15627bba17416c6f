import Synchronization

/// A place that can keep the master key of a ``FileSecretStore``: a file, a file behind a passphrase, the desktop's
/// secret service. ``KeptMasterKey`` chooses among them and moves the key from one to another.
public protocol MasterKeyKeeper: Sendable {
  /// The name under which a folder records its keeper, such as `file`. It never changes.
  var name: String { get }

  /// The protection of the key.
  var protection: SecretProtection { get }

  /// The key; nil only if this keeper certainly has none.
  ///
  /// - Throws: ``SecretStoreError``, such as `locked`, `noSessionBus`, `authenticationFailed`, `missingPassphrase`,
  ///   `corrupt`. None of them means that there is no key.
  func load() throws(SecretStoreError) -> MasterKey?

  /// Stores a key durably before it returns. Storing the same key again succeeds.
  ///
  /// - Throws: ``SecretStoreError`` `occupied` if there is another key, which is not replaced;
  ///   otherwise as ``load()``.
  func keep(_ key: MasterKey) throws(SecretStoreError)

  /// Removes the key. Succeeds if there is none.
  func forget() throws(SecretStoreError)
}

/// A master key that is one secret of another store, such as the desktop's secret service.
///
/// The key is read once and then kept in memory, because ``FileSecretStore`` requests it for every
/// secret.
public final class StoredMasterKey: MasterKeyKeeper {
  public let name: String
  /// The secret that contains the key.
  public let secretName: SecretName
  private let store: any SecretStore
  private let held = Mutex<MasterKey?>(nil)

  /// Names the secret. Reads nothing yet.
  ///
  /// - Parameters:
  ///   - name: The keeper's name, such as `secret-service`.
  ///   - secretName: The secret that holds the key, in 64 hexadecimal digits.
  public init(_ name: String, in store: some SecretStore, as secretName: SecretName) {
    self.name = name
    self.secretName = secretName
    self.store = store
  }

  /// The protection of the other store.
  public var protection: SecretProtection { store.protection }

  public func load() throws(SecretStoreError) -> MasterKey? {
    if let key = held.withLock({ $0 }) { return key }
    guard let secret = try store.read(secretName) else { return nil }
    let key = try parse(secret)
    held.withLock { $0 = key }
    return key
  }

  public func keep(_ key: MasterKey) throws(SecretStoreError) {
    try store.update(secretName) { secret throws(SecretStoreError) in
      guard let secret else { return Array(Hex.encode(key.bytes).utf8) }
      guard try parse(secret) == key else {
        throw SecretStoreError(
          .occupied,
          "The keeper '\(name)' holds another key as '\(secretName)'. Remove that secret if no data needs it."
        )
      }
      return secret
    }
  }

  public func forget() throws(SecretStoreError) {
    try store.remove(secretName)
    held.withLock { $0 = nil }
  }

  private func parse(_ secret: [UInt8]) throws(SecretStoreError) -> MasterKey {
    guard let key = Hex.decode(String(decoding: secret, as: UTF8.self)).flatMap({ MasterKey($0) })
    else {
      throw SecretStoreError(
        .corrupt,
        "The secret '\(secretName)' of the keeper '\(name)' does not hold 64 hexadecimal digits. "
          + "Restore it from a backup.")
    }
    return key
  }
}
