public import SalesforceSDKCommon
import Synchronization

/// A generator of keys by label, which keeps them in a secret store (CO-144, CO-145).
///
/// The first request for a label creates its key, once, even if several tasks and processes request it at the
/// same time. A key is never replaced: a key that cannot be read is an error, because a new one would make
/// its data unreadable.
///
/// ```swift
/// let keys = KeyGenerator(FileSecretStore(in: folder, masterKey: KeyFile(keyFile)))
/// let key = try keys.encryptionKey(.keyValueStores)
/// ```
public final class KeyGenerator: EncryptionKeyProvider {
  /// The prefix of each label in the secret store.
  public static let servicePrefix = "com.salesforce.keystore."

  private let secrets: any SecretStore
  private let makeKey: @Sendable () -> EncryptionKey
  private let known = Mutex<[KeyLabel: EncryptionKey]>([:])

  /// Creates a generator that stores its keys in `secrets`.
  public convenience init(_ secrets: any SecretStore) {
    self.init(secrets) { .random() }
  }

  /// - Parameter makeKey: Creates each new key; tests pass known keys (CO-153).
  package init(_ secrets: any SecretStore, makeKey: @escaping @Sendable () -> EncryptionKey) {
    self.secrets = secrets
    self.makeKey = makeKey
  }

  /// The protection of the keys against theft of the files.
  public var protection: SecretProtection { secrets.protection }

  public func encryptionKey(_ label: KeyLabel) throws(EncryptionError) -> EncryptionKey {
    if let key = known.withLock({ $0[label] }) { return key }
    let key = try readOrCreate(name(of: label))
    return known.withLock { known in
      // A removal by another process concerned the earlier one.
      known[label] = key
      return key
    }
  }

  /// Returns a user's key, which is created on first use and deleted by the user's logout.
  public func encryptionKey(
    _ label: KeyLabel, of user: UserAccountIdentity
  ) throws(EncryptionError) -> EncryptionKey {
    // Read each time: another process may have logged the user out and in again.
    try readOrCreate(name(of: label, user: user))
  }

  public func eraseKeys(of user: UserAccountIdentity) throws(EncryptionError) {
    do throws(SecretStoreError) {
      let account = Self.account(user)
      for name in try secrets.list()
      where name.account == account && name.service.hasPrefix(Self.servicePrefix) {
        try secrets.remove(name)
      }
    } catch {
      throw EncryptionError(error)
    }
  }

  private func readOrCreate(_ name: SecretName) throws(EncryptionError) -> EncryptionKey {
    let bytes: [UInt8]
    do throws(SecretStoreError) {
      bytes = try secrets.readOrCreate(name) { makeKey().bytes }
    } catch {
      throw EncryptionError(error)
    }
    guard let key = EncryptionKey(bytes) else {
      CoreLogger.log.error("the key \(name) has \(bytes.count) bytes, not \(EncryptionKey.size)")
      throw EncryptionError(
        .keyDamaged,
        "The key \(name) does not have \(EncryptionKey.size) bytes. Restore the secret store.")
    }
    return key
  }

  /// Removes a key. Data that is encrypted with it can never be decrypted again.
  ///
  /// - Returns: Whether there was one.
  /// - Throws: ``EncryptionError`` `keyLocked` or `inputOutput`.
  @discardableResult
  public func removeEncryptionKey(_ label: KeyLabel) throws(EncryptionError) -> Bool {
    known.withLock { _ = $0.removeValue(forKey: label) }
    do throws(SecretStoreError) {
      return try secrets.remove(name(of: label))
    } catch {
      throw EncryptionError(error)
    }
  }

  private func name(
    of label: KeyLabel, suffix: String = "", user: UserAccountIdentity? = nil
  ) -> SecretName {
    SecretName(
      service: Self.servicePrefix + label.rawValue + suffix, account: user.map(Self.account))
  }

  private static func account(_ user: UserAccountIdentity) -> String {
    UserFolders.part(user.organizationId) + "/" + UserFolders.part(user.userId)
  }
}

extension KeyGenerator: StoreRemembering {
  func records(_ label: KeyLabel, of user: UserAccountIdentity?) -> StoreRecords? {
    StoreRecords(secrets, name: name(of: label, suffix: ".stores", user: user))
  }
}
