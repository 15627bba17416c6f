import Crypto
import SalesforceSDKCommon

/// A provider of keys that has a secret store, and so a memory of the stores that were encrypted with them.
protocol StoreRemembering {
  /// The memory of a user's stores of one kind; without a user that of the app's.
  func records(_ label: KeyLabel, of user: UserAccountIdentity?) -> StoreRecords?
}

/// Whose a key-value store is and how it is called, with the keys for it.
struct KeyValueBinding: Sendable {
  /// What the version file is bound to; none for a store that was opened by its folder alone.
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
  ///   - scope: The parts that tell owners apart; none for the app.
  ///   - user: Whose key is used; nil for the app's.
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

  /// What is authenticated.
  var context: [UInt8] { parts.isEmpty ? [] : StoreRecords.context(of: parts) }

  /// Tells a version file of another owner or name from one of another key.
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

  /// Has the secret store remember a store. What cannot be noted now is at the next opening.
  func remember(_ id: [UInt8]) {
    do throws(SecretStoreError) {
      try records?.remember(
        .init(id: id, format: Int(KeyValueFormat.currentFormat)), of: recordName)
    } catch {
      CoreLogger.log.error(
        "A key-value store could not be noted in the secret store.", error: error)
    }
  }

  /// What opening throws for files of another store.
  func foreign(_ path: String) -> EncryptionError {
    EncryptionError(
      .foreignStore,
      "The key-value store at \(path) belongs to another account or name, or is not the one that the secret "
        + "store knows here. Put the right files in their place, or remove the store.")
  }
}
