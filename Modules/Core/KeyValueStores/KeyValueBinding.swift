import Crypto
import SalesforceSDKCommon

/// A provider of keys that has a secret store, and so a memory of the stores that were encrypted with them.
protocol StoreRemembering {
  /// The memory of a user's stores of one kind; without a user that of the app's.
  func records(_ label: KeyLabel, of user: UserAccountIdentity?) -> StoreRecords?
}

/// The owner and name of a key-value store, with its keys.
struct KeyValueBinding: Sendable {
  /// The owner and name that the version file is bound to; none for a store that was opened by its
  /// folder only.
  let parts: [String]
  /// Encrypts the version file.
  let key: EncryptionKey
  /// Encrypted version files of format 2.
  let formerKey: @Sendable () throws(EncryptionError) -> EncryptionKey
  let records: StoreRecords?

  /// A store that its key alone opens, and nothing remembers.
  init(parts: [String] = [], key: EncryptionKey) {
    self.key = key
    self.parts = parts
    formerKey = { () throws(EncryptionError) in key }
    records = nil
  }

  /// - Parameters:
  ///   - scope: The ids that identify the owner; empty for the app.
  ///   - user: The user whose key is used; nil for the app's key.
  init(
    name: String, scope: [String], user: UserAccountIdentity?, keys: any EncryptionKeyProvider
  ) throws(EncryptionError) {
    parts = scope + [name]
    key =
      if let user { try keys.encryptionKey(.keyValueStores, of: user) } else {
        try keys.encryptionKey(.keyValueStores)
      }
    formerKey = { () throws(EncryptionError) in try keys.encryptionKey(.keyValueStores) }
    records = (keys as? any StoreRemembering)?.records(.keyValueStores, of: user)
  }

  /// The authenticated data.
  var context: [UInt8] { parts.isEmpty ? [] : StoreRecords.context(of: parts) }

  /// Returns a mark that distinguishes a version file of another owner or name from one of another
  /// key.
  func mark(salt: [UInt8]) -> [UInt8] {
    Array(
      Digests.sha256(Array("fieldforce key-value binding".utf8) + salt + context)
        .prefix(KeyValueFormat.markLength))
  }

  private var recordName: String { parts.joined(separator: "/") }

  /// The stores that the secret store knows under this name.
  func known() throws(EncryptionError) -> [StoreRecords.Record] {
    do throws(SecretStoreError) {
      return try records?.records(of: recordName) ?? []
    } catch {
      throw EncryptionError(error)
    }
  }

  /// Records a store in the secret store. If that fails, the next opening records it.
  func remember(_ id: [UInt8]) {
    do throws(SecretStoreError) {
      try records?.remember(
        .init(id: id, format: Int(KeyValueFormat.currentFormat)), of: recordName)
    } catch {
      CoreLogger.log.error(
        "A key-value store could not be noted in the secret store.", error: error)
    }
  }

  /// The error of opening the files of another store.
  func foreign(_ path: String) -> EncryptionError {
    EncryptionError(
      .foreignStore,
      "The key-value store at \(path) belongs to another account or name, or is not the one that the secret "
        + "store knows here. Put the right files in their place, or remove the store.")
  }
}
