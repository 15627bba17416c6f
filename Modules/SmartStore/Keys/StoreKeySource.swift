import Crypto
import Foundation
import SalesforceSDKCommon

/// A key provider with a secret store that records the encrypted stores.
protocol StoreRemembering {
  /// Returns the records of an owner's stores; nil without a secret store.
  func records(of owner: StoreOwner) -> StoreRecords?
}

/// The keys of one store, and the store's record in the secret store.
struct StoreKeySource: Sendable {
  private let identity: StoreIdentity
  /// The key for all stores, which wrapped the key files of format 1.
  private let shared: any StoreKeyProvider
  /// The key of the owner.
  private let own: any StoreKeyProvider
  private let memory: StoreRecords?

  init(_ provider: any StoreKeyProvider, for identity: StoreIdentity) {
    self.identity = identity
    shared = provider
    own = provider.provider(for: identity.owner)
    memory = (provider as? any StoreRemembering)?.records(of: identity.owner)
  }

  /// Returns the key that wraps new key files; nil if it does not exist yet.
  func key() throws(SmartStoreError) -> SymmetricKey? { try own.key() }

  func createKey() throws(SmartStoreError) -> SymmetricKey { try own.createKey() }

  /// Returns the key that wrapped `file`; nil if it does not exist.
  func key(of file: StoreKeyFile) throws(SmartStoreError) -> SymmetricKey? {
    try file.format == 1 ? shared.key() : own.key()
  }

  /// Unwraps the data-encryption keys in `file`.
  ///
  /// - Returns: Nil if the key to unwrap them with does not exist.
  /// - Throws: `wrongKey` for a file that another key wrapped.
  func unwrap(
    _ file: StoreKeyFile, _ paths: StorePaths
  ) throws(SmartStoreError) -> [StoreKeyHierarchy.DataKey]? {
    guard let key = try key(of: file) else { return nil }
    do {
      return try file.unwrap(with: key, for: identity)
    } catch {
      throw SmartStoreError(
        .wrongKey,
        "The key given does not open the store at \(paths.directory), which another key sealed")
    }
  }

  // MARK: Memory

  /// Whether the secret store has a record of the store as encrypted.
  func isRemembered() throws(SmartStoreError) -> Bool { try !records().isEmpty }

  /// Refuses to create a key if the secret store has records of stores that a lost key wrapped:
  /// those stores could no longer be opened, and a new key would hide the reason.
  func checkKeyNotLost() throws(SmartStoreError) {
    guard try own.key() == nil, let memory else { return }
    let isEmpty = try mapping { () throws(SecretStoreError) in try memory.isEmpty() }
    guard isEmpty else {
      throw SmartStoreError(
        .keyMissing,
        "Cannot make \(identity): the secret store knows encrypted stores of this owner, but their key is gone. "
          + "Restore the secret store from a backup; without one, remove all stores of this owner.")
    }
  }

  /// Refuses a key file of another owner or name, and one that the secret store has no record of,
  /// or has recorded in a newer format: it is a copy of another store's file, or an old file.
  func check(_ file: StoreKeyFile, _ paths: StorePaths) throws(SmartStoreError) {
    guard file.isBound(to: identity) else {
      throw SmartStoreError(
        .foreignStore,
        "The files at \(paths.directory) are not those of \(identity): they belong to another account or to "
          + "a store of another name. Put the right files in their place.")
    }
    let known = try records()
    guard !known.isEmpty else { return }
    let id = file.storeID.bytes
    guard known.contains(where: { $0.id == id && file.format >= $0.format }) else {
      throw SmartStoreError(
        .foreignStore,
        "The files at \(paths.directory) are not those that the secret store knows as \(identity): they were "
          + "exchanged, or are older than it. Put the right files in their place; if you restored these "
          + "yourself, call StoreMaintenance.acceptRestoredFiles(_:).")
    }
  }

  /// Records the store as encrypted, with this key file.
  func remember(_ file: StoreKeyFile) throws(SmartStoreError) {
    try mapping { () throws(SecretStoreError) in
      try memory?.remember(
        .init(id: file.storeID.bytes, format: Int(file.format)), of: identity.recordName)
    }
  }

  /// Deletes the record of the store.
  func forget() throws(SmartStoreError) {
    try mapping { () throws(SecretStoreError) in try memory?.forget(identity.recordName) }
  }

  private func records() throws(SmartStoreError) -> [StoreRecords.Record] {
    try mapping { () throws(SecretStoreError) in
      try memory?.records(of: identity.recordName) ?? []
    }
  }

  private func mapping<R>(_ body: () throws(SecretStoreError) -> R) throws(SmartStoreError) -> R {
    do {
      return try body()
    } catch {
      throw SmartStoreError(secrets: error)
    }
  }
}
