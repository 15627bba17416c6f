package import Foundation
package import GRDB
import SalesforceSDKCommon
import Synchronization

/// The database of one store, open: one writing connection, and readers that never wait for it.
package struct StoreDatabase: Sendable {
  /// The writing connection; in a store opened for reading, one that reads.
  package let writer: DatabaseQueue
  let readers: StoreReaderPool
  /// Checkpoints the WAL while much is written; nil where that is not safe, and the writer does it.
  let checkpoints: BackgroundCheckpoints?
  /// The database file.
  package let url: URL
  /// SQLite's write-ahead log (WAL).
  var logPath: String { place.log }
  private let session: StoreSession
  private let place: StoreLocation
  /// The page cache of the writing connection, in bytes.
  let writerCacheBytes: Int
  /// The keys in use; nil for a plaintext store.
  let sealed: EncryptedStore?
  private let encryptionLimit: UInt64
  /// What was lost of the WAL before it was opened; a copy is kept.
  let logDamage: WALDamage?
  /// Why the store could not be bound to its owner and name; nil if it is.
  let bindingFailure: SmartStoreError?

  /// Opens the store in the folder `directory`, or creates both. Its files belong to this name and owner.
  ///
  /// A store that cannot be opened is left as it is, byte for byte: a key that is missing, locked or
  /// wrong and a damaged file each have their own error, and none leads to a new store.
  ///
  /// - Throws: `keyMissing`, `keyLocked`, `wrongKey`, `corruptKeyFile`, `foreignStore`, `corrupt`,
  ///   `notADatabase`, `databaseMissing`, `busyOtherProcess`, `diskFull` or `io`.
  package static func open(
    at directory: URL, name: String = SmartStore.defaultStoreName, owner: StoreOwner = .global,
    encryption: StoreEncryption, options: StoreDatabaseOptions = .init()
  ) throws(SmartStoreError) -> StoreDatabase {
    let identity = StoreIdentity(name: name, owner: owner)
    return try StoreOpening(
      paths: StorePaths(directory: directory, identity: identity), options: options
    ).open(encryption)
  }

  init(
    writer: DatabaseQueue, readers: StoreReaderPool, checkpoints: BackgroundCheckpoints?,
    writerCacheBytes: Int, paths: StorePaths, session: StoreSession, sealed: EncryptedStore?,
    encryptionLimit: UInt64, logDamage: WALDamage?, bindingFailure: SmartStoreError?
  ) {
    self.bindingFailure = bindingFailure
    self.checkpoints = checkpoints
    self.writerCacheBytes = writerCacheBytes
    self.writer = writer
    self.readers = readers
    self.logDamage = logDamage
    url = URL(fileURLWithPath: paths.database)
    place = StoreLocation(database: paths.database, log: paths.log)
    self.session = session
    self.sealed = sealed
    self.encryptionLimit = encryptionLimit
  }

  /// Closes every connection, checkpoints the WAL as far as the disk allows, and releases the write lock. The
  /// rest of the WAL is read when the store is opened next.
  ///
  /// - Throws: `busy` if a connection could not be closed. The lock is kept then, and the call can be
  ///   repeated.
  package func close() throws(SmartStoreError) {
    try closeConnections()
    session.end()
  }

  /// Folds the whole log into the database, closes as ``close()`` does and hands the write lock over,
  /// so that the files can be worked on.
  ///
  /// - Throws: `busy` if another process has the store open, besides what ``close()`` throws.
  func closeKeepingLock() throws(SmartStoreError) -> FileLock {
    let isFolded: Bool
    do {
      try checkpoints?.close()
      isFolded = try writer.writeWithoutTransaction { database in
        try Row.fetchOne(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)")?[0] == 0
      }
    } catch {
      throw SmartStoreError(storage: error, at: url.path)
    }
    try closeConnections()
    let lock = session.takeLock()
    session.end()
    // The last connection to close removes the log; it stays if there is another one.
    guard isFolded, let lock, !DurableFile(path: url.path + "-wal").exists else {
      throw SmartStoreError(
        .busy, "The store at \(url.path) is open elsewhere. Close it there and try again.")
    }
    return lock
  }

  private func closeConnections() throws(SmartStoreError) {
    // All of them, whatever fails; the first failure is the one to report. The last connection to close
    // checkpoints the log: let that be the writer.
    let results: [Result<Void, any Error>] = [
      Result { try keepDamaged() }, Result { try checkpoints?.close() ?? () },
      Result { try readers.close() },
      Result { try writer.close() }, Result { sealed?.binding?.close() ?? () },
    ]
    do {
      for result in results { try result.get() }
    } catch {
      throw SmartStoreError(storage: error, at: url.path)
    }
  }

  /// Leaves the files of a store with damaged pages as they are: closing must not move what the WAL
  /// holds into the database.
  private func keepDamaged() throws {
    guard sealed?.hasMetDamage == true else { return }
    try writer.writeWithoutTransaction { try StoreConnection.keepLog(of: $0) }
  }

  /// Refuses to commit to files that have no name any more, or that are damaged: what is written to them is lost.
  ///
  /// - Throws: ``SmartStoreError`` `databaseMissing`, `corrupt`.
  func checkPlace(_ database: Database) throws(SmartStoreError) {
    try place.check(database, of: sealed)
  }

  /// Refuses to write more with a data-encryption key than is safe.
  ///
  /// - Throws: ``SmartStoreError`` `keyExhausted`.
  func checkKey() throws(SmartStoreError) {
    guard let binding = sealed?.binding, binding.encryptions >= encryptionLimit else { return }
    throw SmartStoreError(
      .keyExhausted,
      "Cannot save: the data key of the store at \(url.path) has encrypted as many pages as is safe. Close "
        + "the store and call reencrypt(from:to:).")
  }

  /// Checkpoints the WAL, as far as readers allow.
  package func checkpoint() throws(SmartStoreError) {
    do {
      try writer.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(PASSIVE)") }
    } catch {
      throw SmartStoreError(storage: error, at: url.path)
    }
  }

  /// The size of the database file in bytes, after a checkpoint of the WAL if that may be written.
  package func size() throws(SmartStoreError) -> UInt64 {
    if !writer.configuration.readonly { try checkpoint() }
    do {
      return try DurableFile(url).size() ?? 0
    } catch {
      throw SmartStoreError(storage: error, at: url.path)
    }
  }

  /// Rebuilds the database file without free pages.
  package func vacuum() throws(SmartStoreError) {
    do {
      try writer.writeWithoutTransaction { database in
        // VACUUM attaches a database in memory; otherwise nothing may be attached.
        try StoreConnection.allowAttached(1, on: database)
        let result = Result { try database.execute(sql: "VACUUM") }
        try StoreConnection.allowAttached(0, on: database)
        try result.get()
      }
    } catch {
      throw SmartStoreError(storage: error, at: url.path)
    }
  }
}

/// What an open store holds besides its connections: its place in the VFS and the write lock.
final class StoreSession: Sendable {
  private let token = Mutex<String?>(nil)
  private let lock: Mutex<FileLock?>

  init(lock: consuming FileLock?) {
    self.lock = Mutex(lock)
  }

  deinit { end() }

  /// Makes the keys of a store known to the VFS until the session ends.
  ///
  /// - Returns: The token to find them by.
  func register(_ store: EncryptedStore) -> String {
    let token = UUID().uuidString
    EncryptedStoreRegistry.add(store, token: token)
    self.token.withLock { $0 = token }
    return token
  }

  /// Hands the write lock over.
  func takeLock() -> FileLock? {
    lock.withLock { $0.take() }
  }

  /// Holds a lock that was taken from it.
  func hold(_ lock: consuming FileLock) {
    var held = Optional(lock)
    self.lock.withLock { $0 = held.take() }
  }

  /// Gives both back. Files that are still open keep the keys they have.
  func end() {
    if let token = token.withLock({ $0 }) { EncryptedStoreRegistry.remove(token) }
    lock.withLock { $0 = nil }
  }
}
