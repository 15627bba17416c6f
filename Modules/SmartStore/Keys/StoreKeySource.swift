import Crypto
import Foundation
import SalesforceSDKCommon

/// A key provider that has a secret store, and so a memory of the stores it encrypted.
protocol StoreRemembering {
  /// The memory of the stores of an owner; nil without a secret store.
  func records(of owner: StoreOwner) -> StoreRecords?
}

/// The keys of one store, and what the secret store remembers of it.
struct StoreKeySource: Sendable {
  private let identity: StoreIdentity
  /// The key of all stores, which wrapped the key files of format 1.
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

  /// The key that wraps new key files; nil if there is none yet.
  func key() throws(SmartStoreError) -> SymmetricKey? { try own.key() }

  func createKey() throws(SmartStoreError) -> SymmetricKey { try own.createKey() }

  /// The key that wrapped `file`; nil if there is none.
  func key(of file: StoreKeyFile) throws(SmartStoreError) -> SymmetricKey? {
    try file.format == 1 ? shared.key() : own.key()
  }

  /// The data-encryption keys in `file`.
  ///
  /// - Returns: Nil if there is no key to unwrap them with.
  /// - Throws: `wrongKey` for a file of another key.
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

  /// Whether the secret store knows the store as an encrypted one.
  func isRemembered() throws(SmartStoreError) -> Bool { try !records().isEmpty }

  /// Refuses to make a key in the place of one that is gone, where the secret store remembers stores that it
  /// wrapped: those could not be opened any more, and the new key would hide why.
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

  /// Refuses a key file of another owner or name, and one that the secret store does not know, or knows in a
  /// newer format: a copy of another store's, or an old one.
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

  /// Notes the store as an encrypted one with this key file.
  func remember(_ file: StoreKeyFile) throws(SmartStoreError) {
    try mapping { () throws(SecretStoreError) in
      try memory?.remember(
        .init(id: file.storeID.bytes, format: Int(file.format)), of: identity.recordName)
    }
  }

  /// Forgets that the store is an encrypted one.
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
