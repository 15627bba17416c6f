public import Foundation
import SalesforceSDKCommon

/// Maintenance of one closed store: changing its key, encrypting, decrypting, verifying.
///
/// Every call takes the store's write lock. It fails with `busyOtherProcess` while a process has
/// the store open for writing, and with `busy` while another process reads it. A call that fails
/// leaves the store unchanged. If the process or the power ends during a call, the store is either
/// unchanged or completely changed; the only exception is described at ``reencrypt(from:to:)``. If
/// a call that changes keys or encryption fails, its error states in ``SmartStoreError/keyStates``
/// which key opens the store now, and whether both keys must be kept. Calls block until the disk
/// has finished: run them off the threads that tasks share, or with
/// ``SmartStoreManager/withClosedStore(named:owner:_:)``.
///
/// The database is rewritten into a copy in its folder, so its size must be free on the disk.
public struct StoreMaintenance: Sendable {
  let paths: StorePaths
  var options = StoreDatabaseOptions()
  /// Called after each step, for tests of a crash.
  var didTake: (@Sendable (StoreConversion.Step) throws -> Void)?

  /// Creates the maintenance of the store in the folder `directory`. Reads nothing yet.
  ///
  /// - Parameters:
  ///   - name: The name that the store is opened by.
  ///   - owner: The owner that the store is opened for.
  public init(
    at directory: URL, name: String = SmartStore.defaultStoreName, owner: StoreOwner = .global
  ) {
    paths = StorePaths(directory: directory, identity: StoreIdentity(name: name, owner: owner))
  }

  /// Accepts the current files of the store, despite the record in the secret store, when it is opened or
  /// encrypted next.
  ///
  /// Call it after the files were restored from a backup that is older than the record in the
  /// secret store (`foreignStore`), or for a plaintext store that replaces an encrypted one. Do not
  /// call it routinely, because it disables the protection against replaced files once. Files that
  /// belong to another account or name are still refused.
  ///
  /// - Throws: ``SmartStoreError`` `keyLocked`, `keyMissing`, `wrongKey`, `corruptKeyFile`, `io`.
  public func acceptRestoredFiles(_ provider: some StoreKeyProvider) throws(SmartStoreError) {
    try StoreKeySource(provider, for: paths.identity).forget()
  }

  /// Wraps the store's data-encryption key with another key. Rewrites no page (SS-35).
  ///
  /// An attacker with the old key and an old copy of the key file can still read the store;
  /// ``reencrypt(from:to:)`` prevents that. A store that `new` already opens does not change, so
  /// the call can be repeated after an interruption. A call that throws `io` may have failed while
  /// it waited for the disk, after the new key file was in place: ``SmartStoreError/keyStates``
  /// shows it.
  ///
  /// - Parameter new: The new provider. If it has no key, a key is created once the old one has
  ///   opened the store.
  /// - Throws: ``SmartStoreError`` `wrongKey` if neither key opens the store or both are the same,
  ///   `keyMissing`,
  ///   `keyLocked`, `corruptKeyFile`, `databaseMissing`, `busyOtherProcess`, `diskFull`, `io`.
  public func changeKey(
    from old: some StoreKeyProvider, to new: some StoreKeyProvider
  ) throws(SmartStoreError) {
    try inspection(old, new).stating { () throws(SmartStoreError) in
      try checkExists()
      let opening = StoreOpening(paths: paths, options: options)
      let lock = try opening.takeLock()
      try opening.checkNotPlanted(old)
      try StaleStoreFiles(paths).recover()
      try StoreKeyHierarchy.rewrap(paths, from: old, to: new)
      _ = consume lock
    }
  }

  /// Encrypts every page with a new data-encryption key, which is wrapped by the key of `new`.
  ///
  /// After an interrupted call, `new` may already open the store; repeat the call to resume it.
  /// After a crash, keep both keys until a call has returned. After an error the key that opened
  /// the store before still opens it, with two exceptions: after `unfinishedOperation`, `new` opens
  /// the store, which can be used; after `backupFailed`, either key may.
  /// ``SmartStoreError/keyStates`` states the key in each case.
  ///
  /// - Parameter new: May be the same as `old`. If it has no key, a key is created.
  /// - Throws: As ``changeKey(from:to:)``, and `exportFailed` if a page is damaged, or if a copy of
  ///   a damaged log exists, which would become unreadable; `verificationOpenFailed`,
  ///   `verificationReadFailed`, `replaceFailed`; `unfinishedOperation` if an entry file could not
  ///   be encrypted again or the older data-encryption key could not be deleted; `backupFailed` if
  ///   the disk failed twice.
  public func reencrypt(
    from old: some StoreKeyProvider, to new: some StoreKeyProvider
  ) throws(SmartStoreError) {
    try inspection(old, new).stating { () throws(SmartStoreError) in
      try checkExists()
      try conversion.reencrypt(from: old, to: new)
    }
  }

  /// Encrypts a plaintext store (SS-40). The disk may keep parts of the plaintext file until their
  /// blocks are reused.
  ///
  /// Encrypted content counts as written by the store, so everything is checked first: the schema
  /// must be the one that the store creates for its soups, without triggers or views, every entry
  /// must be a JSON object with its own id, and every index must agree with the entries.
  ///
  /// - Throws: ``SmartStoreError`` `wrongKey` if it is encrypted already; `notADatabase` if the
  ///   provider's secret store has a record of the store as encrypted, so that this database must
  ///   have replaced it; `corrupt` if the check finds anything; `unfinishedOperation` if an alter
  ///   or a load must be finished first, which opening the store as plaintext does; `attachFailed`,
  ///   `exportFailed`, `verificationOpenFailed`, `verificationReadFailed`, `replaceFailed`,
  ///   `keyLocked`, `busyOtherProcess`, `diskFull`, `io`.
  public func encrypt(_ provider: some StoreKeyProvider) throws(SmartStoreError) {
    try inspection(nil, provider).stating { () throws(SmartStoreError) in
      try checkExists()
      _ = try conversion.encrypt(provider)
    }
  }

  /// Decrypts an encrypted store (SS-40).
  ///
  /// - Throws: ``SmartStoreError`` as ``encrypt(_:)``, and the errors of opening the store.
  public func decrypt(_ provider: some StoreKeyProvider) throws(SmartStoreError) {
    try inspection(provider, nil).stating { () throws(SmartStoreError) in
      try checkExists()
      try conversion.decrypt(provider)
    }
  }

  private var conversion: StoreConversion {
    StoreConversion(paths: paths, options: options, didTake: didTake)
  }

  /// - Parameters:
  ///   - old: Nil for a plaintext store.
  ///   - new: Nil for one that becomes plaintext.
  func inspection(
    _ old: (any StoreKeyProvider)?, _ new: (any StoreKeyProvider)?
  ) -> StoreKeyInspection {
    StoreKeyInspection(paths: paths, options: options, old: old, new: new)
  }

  /// Whether the store has a key, or must have had one: it is not plaintext, or has a key file.
  func hasKey() throws(SmartStoreError) -> Bool {
    if DurableFile(path: paths.keyFile).exists { return true }
    return try StaleStoreFiles(paths).header()?.kind != .plaintext
  }

  /// Throws if the store does not exist, so that no call creates it.
  func checkExists() throws(SmartStoreError) {
    let size: UInt64?
    do {
      size = try DurableFile(path: paths.database).size()
    } catch {
      throw SmartStoreError(storage: error, at: paths.database)
    }
    guard size != nil else {
      throw SmartStoreError(.databaseMissing, "There is no store at \(paths.directory).")
    }
  }
}
