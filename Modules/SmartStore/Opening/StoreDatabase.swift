package import Foundation
package import GRDB
import SalesforceSDKCommon
import Synchronization

/// The open database of one store: one writing connection, and readers that never wait for it.
package struct StoreDatabase: Sendable {
  /// The writing connection; in a store opened read-only, a reading one.
  package let writer: DatabaseQueue
  let readers: StoreReaderPool
  /// The background checkpoints during many writes; nil if they are not safe, and the writer
  /// checkpoints itself.
  let checkpoints: BackgroundCheckpoints?
  /// The database file.
  package let url: URL
  /// SQLite's write-ahead log (WAL).
  var logPath: String { place.log }
  private let session: StoreSession
  /// The turns of this process, in which it writes.
  let turn: StoreTurn
  private let place: StoreLocation
  /// The page cache of the writing connection, in bytes.
  let writerCacheBytes: Int
  /// The keys in use; nil for a plaintext store.
  let sealed: EncryptedStore?
  private let encryptionLimit: UInt64
  /// The damage to the WAL before it was opened; a copy of the WAL is kept.
  let logDamage: WALDamage?
  /// The reason why the store could not be bound to its owner and name; nil if it is bound.
  let bindingFailure: SmartStoreError?

  /// Opens the store in the folder `directory`, or creates both. Its files belong to this name and owner.
  ///
  /// A store that cannot be opened is not changed: a missing, locked or wrong key and a damaged
  /// file each have their own error, and none of them leads to a new store.
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
    writerCacheBytes: Int, paths: StorePaths, session: StoreSession, turn: StoreTurn,
    sealed: EncryptedStore?,
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
    self.turn = turn
    self.encryptionLimit = encryptionLimit
  }

  /// Closes every connection, checkpoints the WAL as far as the disk allows, and releases the write lock. The
  /// rest of the WAL is read when the store is opened next.
  ///
  /// - Throws: `busy` if a connection could not be closed. The lock is kept then, and the call can be
  ///   repeated.
  package func close() throws(SmartStoreError) {
    let hasTurn = takeTurnToClose()
    defer { if hasTurn { turn.release() } }
    try closeConnections()
    session.end()
  }

  /// Takes the turn for the checkpoint of the last connection to close. Without it the WAL stays as it is.
  private func takeTurnToClose() -> Bool {
    do {
      return try writer.writeWithoutTransaction { database in
        do {
          try turn.take(on: database)
          return true
        } catch {
          try StoreConnection.keepLog(of: database)
          return false
        }
      }
    } catch {
      // The connection is closed already, or cannot be used.
      return false
    }
  }

  /// Whether other processes may write to the store while it is open here.
  var isSharedWithWriters: Bool { turn.turns != nil || writer.configuration.readonly }

  /// Whether no other process had the store open for writing when this one opened it.
  var isFirst: Bool { session.isFirst }

  /// Lets other processes open the store: what an earlier one left unfinished is finished.
  func finishOpening() { session.finishOpening() }

  /// Keeps other processes from opening the store for writing until ``endAlone()``.
  ///
  /// - Parameter waits: Whether to wait for one that opens the store just now: never inside a transaction.
  /// - Throws: ``SmartStoreError`` `busyOtherProcess` if another process has the store open for writing.
  func beginAlone(waits: Bool = true) throws(SmartStoreError) {
    try session.beginAlone(waits: waits)
  }

  /// Lets other processes open the store for writing again.
  func endAlone() { session.endAlone() }

  /// Checkpoints the whole WAL into the database, closes as ``close()`` does, and returns the write
  /// lock, so that the caller can change the files.
  ///
  /// - Throws: `busy` if another process has the store open, and the errors of ``close()``.
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
    // The last connection to close removes the log; it remains if another connection is open.
    guard isFolded, let lock, !DurableFile(path: url.path + "-wal").exists else {
      throw SmartStoreError(
        .busy, "The store at \(url.path) is open elsewhere. Close it there and try again.")
    }
    return lock
  }

  private func closeConnections() throws(SmartStoreError) {
    // Closes all of them despite failures; the first failure is the one to report. The last
    // connection to close checkpoints the log, so the writer closes last.
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

  /// Leaves the files of a store with damaged pages unchanged: closing must not checkpoint the WAL.
  private func keepDamaged() throws {
    guard sealed?.hasMetDamage == true else { return }
    try writer.writeWithoutTransaction { try StoreConnection.keepLog(of: $0) }
  }

  /// Refuses to commit to files that were removed or damaged, because the writes would be lost.
  ///
  /// - Throws: ``SmartStoreError`` `databaseMissing`, `corrupt`.
  func checkPlace(_ database: Database) throws(SmartStoreError) {
    try place.check(database, of: sealed)
  }

  /// Refuses to encrypt more pages with a data-encryption key than is safe.
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
      try writer.writeWithoutTransaction { database in
        try turn.run(on: database) { try database.execute(sql: "PRAGMA wal_checkpoint(PASSIVE)") }
      }
    } catch {
      throw SmartStoreError(storage: error, at: url.path)
    }
  }

  /// Returns the size of the database file in bytes, after a checkpoint of the WAL if the store is
  /// writable.
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
        // VACUUM attaches a database in memory; otherwise no database may be attached.
        try StoreConnection.allowAttached(1, on: database)
        let result = Result { try turn.run(on: database) { try database.execute(sql: "VACUUM") } }
        try StoreConnection.allowAttached(0, on: database)
        try result.get()
      }
    } catch {
      throw SmartStoreError(storage: error, at: url.path)
    }
  }
}
