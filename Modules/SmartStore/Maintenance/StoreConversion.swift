import Crypto
import Foundation
import GRDB
import GRDBSQLite
import SalesforceSDKCommon

/// A rewrite of a closed store's database: encrypted, decrypted, or encrypted with a new key.
///
/// Each conversion copies every page to a new file, checks that the copy opens and can be read, and
/// renames it over the database. Before that single step the store has the old form, after it the
/// new one. ``StaleStoreFiles`` removes the files that a crash leaves.
struct StoreConversion {
  /// A completed step of a conversion, for tests of a crash after it.
  enum Step: Sendable, CaseIterable {
    case exported, keyWritten, written, copied, verified, keySetAside, replaced
  }

  let paths: StorePaths
  let options: StoreDatabaseOptions
  /// Called after each step. An error that it throws ends the conversion like a failure.
  var didTake: (@Sendable (Step) throws -> Void)?

  // MARK: Encrypting and decrypting

  /// Encrypts a plaintext store.
  ///
  /// - Parameter lock: The write lock, if the caller holds it already.
  /// - Returns: The write lock.
  func encrypt(
    _ provider: some StoreKeyProvider, lock given: consuming FileLock? = nil
  ) throws(SmartStoreError) -> FileLock {
    let readers = try opening.takeReadersLock(isShared: false)
    let held: FileLock
    switch consume given {
    case let lock?: held = lock
    case nil: held = try opening.takeLock()
    }
    if try StaleStoreFiles(paths).header()?.kind == .plaintext {
      try opening.checkNeverEncrypted(provider)
    }
    let database = try opening.open(.plaintext, lock: held)
    try recoverExternalFiles(of: database)
    try checkContent(of: database)
    try export(database)
    let lock = try database.closeKeepingLock()
    try lock.whileHeld { () throws(SmartStoreError) in
      try recovering { () throws(SmartStoreError) in
        try take(.exported)
        try writeEncrypted(with: provider)
      }
      // The store is encrypted. If the record cannot be written now, the next opening writes it.
      try? StoreKeyHierarchy.bind(paths, provider: provider)
    }
    _ = consume readers
    return lock
  }

  /// Refuses to encrypt content that the store has not written.
  private func checkContent(of database: StoreDatabase) throws(SmartStoreError) {
    do {
      var report = StoreReport()
      let files = ExternalFiles(database: paths.database, encryptor: nil)
      try files.reconcile(with: database)
      try database.verify(
        into: &report, diagnostics: StoreDiagnostics(SmartStoreOptions()), files: files)
      if let finding = report.findings.first(where: { $0.kind != .notIndexed }) {
        throw SmartStoreError(
          .corrupt,
          "The store at \(paths.directory) is not encrypted, since it holds what no store writes "
            + "(\(finding)). Remove or correct that, and try again.")
      }
      let isUnfinished = try database.writer.writeWithoutTransaction { connection in
        try connection.tableExists(MetaTable.longOperations)
          && !StoreAccess.operations(connection).isEmpty
      }
      guard !isUnfinished else {
        throw SmartStoreError(
          .unfinishedOperation,
          "The store at \(paths.directory) has an alter or a load to be finished. Open it as plaintext "
            + "once, and encrypt it then.")
      }
    } catch {
      // The first failure is the one to report.
      try? database.close()
      throw SmartStoreError(grdb: error)
    }
  }

  private func writeEncrypted(with provider: some StoreKeyProvider) throws(SmartStoreError) {
    let keys = try StoreKeyHierarchy.create(paths, provider: provider, isPending: true)
    try take(.keyWritten)
    let store = EncryptedStore(keys: keys, cipher: options.cipher)
    var anchor = WALAnchor(generation: 1)
    let encryptor = PageEncryptor(keys: keys, cipher: options.cipher, generation: anchor.generation)
    try copy(paths.exported, to: paths.encrypted) { page, number in
      if number == 1 {
        // A copy that was never opened is not yet in WAL mode.
        page.storeBytes(of: 2, toByteOffset: 18, as: UInt8.self)
        page.storeBytes(of: 2, toByteOffset: 19, as: UInt8.self)
      }
      guard encryptor.encrypt(page, number: number) else { return false }
      page.copyMemory(from: encryptor.pageBytes, byteCount: PageFormat.pageSize)
      return true
    }
    try verify(paths.encrypted, store: store)
    try convertExternalFiles(from: nil, to: ExternalFileEncryptor(store: store))
    anchor.encryptions = try pageCount(paths.encrypted)
    try replaceAnchor(anchor, keys)
    try replace(with: paths.encrypted)
  }

  /// Decrypts every page of an encrypted store permanently.
  func decrypt(_ provider: some StoreKeyProvider) throws(SmartStoreError) {
    let readers = try opening.takeReadersLock(isShared: false)
    let database = try opening.open(.encrypted(provider))
    try recoverExternalFiles(of: database)
    let lock = try database.closeKeepingLock()
    try lock.whileHeld { () throws(SmartStoreError) in
      try recovering { () throws(SmartStoreError) in try writePlaintext(with: provider) }
    }
    _ = consume readers
  }

  private func writePlaintext(with provider: some StoreKeyProvider) throws(SmartStoreError) {
    try checkCopies()
    let keys = try StoreKeyHierarchy.open(paths, provider: provider)
    let encryptor = PageEncryptor(keys: keys, cipher: options.cipher)
    try copy(paths.database, to: paths.decrypted) { page, number in
      encryptor.pageBytes.copyMemory(from: page, byteCount: PageFormat.pageSize)
      return encryptor.decrypt(number: number, into: page) != nil
    }
    try verify(paths.decrypted, store: nil)
    let sealed = EncryptedStore(keys: keys, cipher: options.cipher)
    try convertExternalFiles(from: ExternalFileEncryptor(store: sealed), to: nil)
    // First, because a plaintext store that is recorded as encrypted could not be encrypted again.
    // Until the store is plaintext, each opening restores the record.
    try StoreKeySource(provider, for: paths.identity).forget()
    do {
      try DurableFile(path: paths.keyFile).move(to: URL(fileURLWithPath: paths.pendingKeyFile))
    } catch {
      throw SmartStoreError(
        .backupFailed,
        "The key file of \(paths.directory) could not be set aside. Check the folder's "
          + "permissions; the store stays encrypted.", cause: error)
    }
    try take(.keySetAside)
    try replace(with: paths.decrypted)
  }

  // MARK: Re-encrypting

  /// Encrypts every page with a new data-encryption key, which the new provider's key wraps.
  func reencrypt(
    from old: some StoreKeyProvider, to new: some StoreKeyProvider
  ) throws(SmartStoreError) {
    // An interrupted run leaves a store that the new key opens.
    let readers = try opening.takeReadersLock(isShared: false)
    var isBegun = true
    do throws(SmartStoreError) {
      _ = try StoreKeyHierarchy.open(paths, provider: new)
    } catch  where error.code == .wrongKey || error.code == .keyMissing {
      isBegun = false
    }
    let database = try opening.open(.encrypted(isBegun ? new : old))
    try recoverExternalFiles(of: database)
    let lock = try database.closeKeepingLock()
    try lock.whileHeld { () throws(SmartStoreError) in
      // Once the new key opens the store, the remaining work can wait for the next opening.
      defer { try? StaleStoreFiles(paths).recover() }
      try rewriteEncrypted(from: old, to: new)
    }
    _ = consume readers
  }

  private func rewriteEncrypted(
    from old: some StoreKeyProvider, to new: some StoreKeyProvider
  ) throws(SmartStoreError) {
    try checkCopies()
    let epoch = try StoreKeyHierarchy.nextEpoch(paths, from: old, to: new)
    var anchor = try readAnchor(epoch.keys)
    anchor?.encryptions = try pageCount(paths.database)
    let encryptor = PageEncryptor(
      keys: epoch.keys, cipher: options.cipher, generation: anchor?.generation ?? 0)
    try copy(paths.database, to: paths.reencrypted) { page, number in
      encryptor.pageBytes.copyMemory(from: page, byteCount: PageFormat.pageSize)
      guard encryptor.decrypt(number: number, into: page) != nil,
        encryptor.encrypt(page, number: number)
      else { return false }
      page.copyMemory(from: encryptor.pageBytes, byteCount: PageFormat.pageSize)
      return true
    }
    let store = EncryptedStore(keys: epoch.keys, cipher: options.cipher)
    try verify(paths.reencrypted, store: store)
    do {
      try exchange(epoch)
      // One file at a time: until all are encrypted with the new key, the key file contains both
      // keys.
      try ExternalFiles(database: paths.database, encryptor: ExternalFileEncryptor(store: store))
        .reencryptFiles()
      if let anchor { try replaceAnchor(anchor, epoch.keys) }
      try StoreKeyHierarchy.dropOlderEpochs(paths, provider: new)
    } catch {
      // The copy exists until it has replaced the database, even if the failure was not reported.
      if DurableFile(path: paths.reencrypted).exists, let failure = error as? SmartStoreError {
        throw failure
      }
      throw SmartStoreError(
        .unfinishedOperation,
        "The new key opens the store at \(paths.directory), but encrypting it again did not end. The "
          + "store can be used. Run a check, and then this again.", cause: error)
    }
  }

  /// Replaces the key file and then the database.
  ///
  /// Only the new database needs the new key file. If replacing the database fails, the old key
  /// file is restored, because a caller that receives an error may delete the new key.
  private func exchange(_ epoch: StoreKeyHierarchy.NextEpoch) throws(SmartStoreError) {
    do throws(SmartStoreError) {
      try StoreKeyHierarchy.write(epoch.file, paths)
      try take(.keyWritten)
      try replace(with: paths.reencrypted)
    } catch {
      guard DurableFile(path: paths.reencrypted).exists else { throw error }
      do throws(SmartStoreError) {
        try StoreKeyHierarchy.putBack(epoch.before, paths)
      } catch let second {
        throw SmartStoreError(
          .backupFailed,
          "The store at \(paths.directory) stays as it is, but its key file could not be put back: "
            + "if the old key does not open it, the new one does. Keep both, and try again.",
          cause: second)
      }
      throw error
    }
  }

  // MARK: The anchor of the write-ahead log (WAL)

  /// Returns the anchor of the store; nil if an earlier version without anchors created the store.
  private func readAnchor(_ keys: StoreKeys) throws(SmartStoreError) -> WALAnchor? {
    do {
      return try WALCheck(paths, keys: keys, cipher: options.cipher).anchor
    } catch {
      throw SmartStoreError(storage: error, at: paths.anchor)
    }
  }

  /// Returns the number of pages of a database file.
  private func pageCount(_ path: String) throws(SmartStoreError) -> UInt64 {
    do {
      return (try DurableFile(path: path).size() ?? 0) / UInt64(PageFormat.pageSize)
    } catch {
      throw SmartStoreError(storage: error, at: path)
    }
  }

  /// Replaces the anchor with one that is encrypted with the newest data-encryption key.
  private func replaceAnchor(_ anchor: WALAnchor, _ keys: StoreKeys) throws(SmartStoreError) {
    do {
      try StoreAnchors.replace(with: anchor, paths, keys: keys, cipher: options.cipher)
    } catch {
      throw SmartStoreError(storage: error, at: paths.anchor)
    }
  }

  // MARK: Steps

  private var opening: StoreOpening {
    var options = options
    // The content is encrypted here, not during opening.
    options.encryptsPlaintext = false
    return StoreOpening(paths: paths, options: options)
  }

  /// Runs the steps, and then removes stale files, also after a failure.
  private func recovering(_ steps: () throws(SmartStoreError) -> Void) throws(SmartStoreError) {
    do {
      try steps()
      try StaleStoreFiles(paths).recover()
    } catch {
      // The first failure is the one to report. Files that cannot be removed now are removed at the
      // next opening.
      try? StaleStoreFiles(paths).recover()
      throw error
    }
  }

  /// Refuses to delete the key of the copies of damaged logs, which may still be needed to read
  /// them.
  private func checkCopies() throws(SmartStoreError) {
    guard let copy = paths.damagedLogs.last else { return }
    throw SmartStoreError(
      .exportFailed,
      "The store keeps \(copy), what was found of a damaged log. Without the present key no one could "
        + "read it. Delete it, or move it away with a copy of the key file, and try again.")
  }

  /// Applies the database's last commit to the files of externally stored entries.
  private func recoverExternalFiles(of database: StoreDatabase) throws(SmartStoreError) {
    do throws(SmartStoreError) {
      try ExternalFiles(database: paths.database, encryptor: nil).reconcile(with: database)
    } catch {
      // The failure of the cleanup is the one to report.
      try? database.close()
      throw error
    }
  }

  /// Creates a converted copy of the files of externally stored entries. It becomes valid when the
  /// database is replaced.
  private func convertExternalFiles(
    from source: ExternalFileEncryptor?, to target: ExternalFileEncryptor?
  ) throws(SmartStoreError) {
    do {
      try ExternalConversion(database: paths.database).prepare(from: source, to: target)
    } catch {
      throw SmartStoreError(
        .exportFailed,
        "A file of an externally stored element could not be copied. The store stays as it is; run "
          + "a check.", cause: error)
    }
  }

  /// Writes a plaintext copy whose pages have space for tags.
  private func export(_ database: StoreDatabase) throws(SmartStoreError) {
    do {
      // SQLite would create it readable for other users.
      try DurableFile(path: paths.exported).replace(with: [])
      try database.writer.writeWithoutTransaction { connection in
        var reserve = Int32(PageFormat.reservedSize)
        sqlite3_file_control(
          connection.sqliteConnection, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserve)
        try StoreConnection.allowAttached(1, on: connection)
        defer { try? StoreConnection.allowAttached(0, on: connection) }
        try connection.execute(sql: "VACUUM INTO ?", arguments: [paths.exported])
      }
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CANTOPEN {
      throw SmartStoreError(
        .attachFailed, "The copy \(paths.exported) could not be opened. Check the folder.",
        cause: error)
    } catch {
      throw SmartStoreError(
        .exportFailed,
        "The store at \(paths.directory) could not be copied. It stays as it is; make room, and "
          + "run a check.", cause: error)
    }
  }

  /// Copies a database page by page; `transform` changes each page in place, or returns that it
  /// cannot.
  private func copy(
    _ source: String, to target: String,
    _ transform: (UnsafeMutableRawPointer, UInt32) -> Bool
  ) throws(SmartStoreError) {
    do {
      let source = try PageFile(reading: source)
      let copy = try PageFile(creating: target)
      let buffer = UnsafeMutableRawBufferPointer.allocate(
        byteCount: PageFormat.pageSize, alignment: 16)
      defer { buffer.deallocate() }
      guard let page = buffer.baseAddress else { return }
      var number: UInt32 = 1
      while true {
        let count = try source.read(number, into: page)
        if count == 0 { break }
        guard
          count == PageFormat.pageSize && (number == PageFormat.lockPage || transform(page, number))
        else { throw PageFailure(number: number) }
        try copy.write(number, from: page)
        number += 1
      }
      do {
        try take(.written)
        try copy.sync()
      } catch {
        throw SmartStoreError(
          .detachFailed,
          "The copy \(target) could not be brought to the disk. The store stays as it is.",
          cause: error)
      }
    } catch let error as SmartStoreError {
      throw error
    } catch let error as PageFailure {
      throw SmartStoreError(
        .exportFailed,
        "Page \(error.number) of the store at \(paths.directory) is damaged, so it could not be "
          + "copied. The store stays as it is; run a check.")
    } catch {
      throw SmartStoreError(
        .exportFailed,
        "The store at \(paths.directory) could not be copied. It stays as it is; make room.",
        cause: error)
    }
    try take(.copied)
  }

  private struct PageFailure: Error { let number: UInt32 }

  /// Opens the copy and reads all of it.
  private func verify(_ path: String, store: EncryptedStore?) throws(SmartStoreError) {
    var token: String?
    var location = "file:" + EncryptedVFS.escaped(path) + "?immutable=1"
    if let store, let vfs = options.vfs {
      let name = UUID().uuidString
      EncryptedStoreRegistry.add(store, token: name)
      token = name
      location = vfs.uri(path: path, token: name) + "&immutable=1"
    }
    defer { if let token { EncryptedStoreRegistry.remove(token) } }
    let queue: DatabaseQueue
    do {
      queue = try DatabaseQueue(
        path: location,
        configuration: opening.configuration(for: store, readonly: true))
    } catch {
      throw SmartStoreError(
        .verificationOpenFailed,
        "The copy \(path) does not open. The store stays as it is.", cause: error)
    }
    do {
      let found = try queue.read { try String.fetchAll($0, sql: "PRAGMA quick_check(1)") }
      try queue.close()
      guard found == ["ok"] else { throw DatabaseError(message: found.joined(separator: " ")) }
    } catch {
      throw SmartStoreError(
        .verificationReadFailed,
        "The copy \(path) does not read. The store stays as it is; run a check.", cause: error)
    }
    try take(.verified)
  }

  /// Replaces the database, the step that decides between old and new form.
  private func replace(with copy: String) throws(SmartStoreError) {
    do {
      try DurableFile(path: copy).move(to: URL(fileURLWithPath: paths.database))
    } catch {
      throw SmartStoreError(
        .replaceFailed,
        "The new database could not take its place at \(paths.database). Check the folder's "
          + "permissions and open the store again: it is whole.", cause: error)
    }
    try take(.replaced)
  }

  private func take(_ step: Step) throws(SmartStoreError) {
    do {
      try didTake?(step)
    } catch {
      throw SmartStoreError(storage: error, at: paths.directory)
    }
  }
}
