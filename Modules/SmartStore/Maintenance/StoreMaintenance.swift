public import Foundation
import SalesforceSDKCommon

/// Maintenance of one closed store: changing its key, encrypting, decrypting, verifying.
///
/// Every call takes the store's write lock and fails with `busyOtherProcess` while a process has the store
/// open for writing, with `busy` while another process reads it. A call that fails leaves the store as it
/// was; so does the end of the process or of the power at any instant, or else the call is complete. The only
/// exception is described at ``reencrypt(from:to:)``. The error of a call that changes keys or encryption
/// states in ``SmartStoreError/keyStates`` which key opens the store now, and whether both have to be kept.
/// Calls block until the disk has done its work: run them off the threads that tasks share, or through
/// ``SmartStoreManager/withClosedStore(named:owner:_:)``.
///
/// The database is rewritten into a copy in its folder, so its size must be free on the disk.
public struct StoreMaintenance: Sendable {
  let paths: StorePaths
  var options = StoreDatabaseOptions()
  /// For tests of a crash after a step.
  var didTake: (@Sendable (StoreConversion.Step) throws -> Void)?

  /// The store whose files are in the folder `directory`. Nothing is read yet.
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
  /// Call it after the files were restored from a backup that is older than the record in the secret store
  /// (`foreignStore`), or for a plaintext store in the place of an encrypted one; never as a matter of
  /// course, since it lifts the protection against exchanged files once. Files that belong to another account
  /// or name are refused all the same.
  ///
  /// - Throws: ``SmartStoreError`` `keyLocked`, `keyMissing`, `wrongKey`, `corruptKeyFile`, `io`.
  public func acceptRestoredFiles(_ provider: some StoreKeyProvider) throws(SmartStoreError) {
    try StoreKeySource(provider, for: paths.identity).forget()
  }

  /// Wraps the store's data-encryption key with another key; no page is rewritten (SS-35).
  ///
  /// An attacker with the old key and an old copy of the key file can still read the store:
  /// ``reencrypt(from:to:)`` ends that. A store that `new` opens already stays as it is, so the call
  /// can be repeated after an interruption. One that throws `io` may have failed when it waited for the
  /// disk, with the new key file in place: ``SmartStoreError/keyStates`` says so.
  ///
  /// - Parameter new: Makes its key if it has none, once the old one has opened the store.
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
  /// After an interrupted call, `new` may already open the store; repeat the call to resume it. After a
  /// crash, keep both keys until a call has returned. One that throws has left the store to the key that
  /// opened it before, with two exceptions: `unfinishedOperation` says that `new` opens the store, which can
  /// be used, and `backupFailed` that either may. ``SmartStoreError/keyStates`` says it in each case.
  ///
  /// - Parameter new: May be the same as `old`. Makes its key if it has none.
  /// - Throws: As ``changeKey(from:to:)``, and `exportFailed` if a page is damaged, or a copy of a damaged
  ///   log is kept, which would be unreadable afterwards; `verificationOpenFailed`, `verificationReadFailed`,
  ///   `replaceFailed`; `unfinishedOperation` if an entry file could not be encrypted again or the older
  ///   data-encryption key not be forgotten; `backupFailed` if the disk failed twice.
  public func reencrypt(
    from old: some StoreKeyProvider, to new: some StoreKeyProvider
  ) throws(SmartStoreError) {
    try inspection(old, new).stating { () throws(SmartStoreError) in
      try checkExists()
      try conversion.reencrypt(from: old, to: new)
    }
  }

  /// Turns a plaintext store into an encrypted one (SS-40). The disk may keep parts of the plaintext file
  /// until their blocks are reused.
  ///
  /// Encrypted content counts as written by the store, so everything is checked first: the schema has to be
  /// the one that the store makes of its soups, without triggers or views, every entry a JSON object with its
  /// own id, and every index what its entries say.
  ///
  /// - Throws: ``SmartStoreError`` `wrongKey` if it is encrypted already; `notADatabase` if the secret store of
  ///   the provider knows the store as encrypted, so that this database was put in its place; `corrupt` if the
  ///   check finds anything; `unfinishedOperation` if an alter or a load has to be finished first, which
  ///   opening the store as plaintext does; `attachFailed`, `exportFailed`, `verificationOpenFailed`, `verificationReadFailed`, `replaceFailed`,
  ///   `keyLocked`, `busyOtherProcess`, `diskFull`, `io`.
  public func encrypt(_ provider: some StoreKeyProvider) throws(SmartStoreError) {
    try inspection(nil, provider).stating { () throws(SmartStoreError) in
      try checkExists()
      _ = try conversion.encrypt(provider)
    }
  }

  /// Turns an encrypted store into a plaintext one (SS-40).
  ///
  /// - Throws: ``SmartStoreError`` as ``encrypt(_:)``, and what opening the store throws.
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

  /// Refuses to make a store where there is none.
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
