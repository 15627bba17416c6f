import Foundation
import GRDB
import GRDBSQLite
import SalesforceSDKCommon

/// The steps of opening a store, in an order that changes nothing before everything was read.
struct StoreOpening {
  let paths: StorePaths
  let options: StoreDatabaseOptions

  /// - Parameter lock: The write lock, if the caller holds it already.
  func open(
    _ encryption: StoreEncryption, lock: consuming FileLock? = nil
  ) throws(SmartStoreError) -> StoreDatabase {
    guard options.access == .readWrite else {
      return try open(encryption, StoreSession(lock: try takeReadersLock(isShared: true)))
    }
    let madeDirectory = try makeDirectory()
    let session: StoreSession
    switch consume lock {
    case let lock?: session = StoreSession(lock: lock)
    case nil: session = StoreSession(lock: try takeLock())
    }
    do {
      var isUpgraded = false
      if case .encrypted(let provider) = encryption {
        try checkNotPlanted(provider)
        isUpgraded = try isUpgradeDue()
      }
      try StaleStoreFiles(paths).recover()
      if isUpgraded, case .encrypted(let provider) = encryption {
        // The lock is held until then.
        session.hold(
          try StoreConversion(paths: paths, options: options)
            .encrypt(provider, lock: session.takeLock()))
      }
      return try open(encryption, session)
    } catch {
      // While the lock is held: who waits for it must not get that of a file without a name.
      if madeDirectory { removeUnusedDirectory() }
      session.end()
      throw error
    }
  }

  private func open(
    _ encryption: StoreEncryption, _ session: StoreSession
  ) throws(SmartStoreError) -> StoreDatabase {
    let location: String
    var store: EncryptedStore?
    var logDamage: WALDamage?
    let isNew = try isNewStore(encryption)
    if options.access == .readWrite {
      let isPlaintext = if case .plaintext = encryption { true } else { false }
      try checkForeignFiles(isPlaintext: isPlaintext)
    }
    switch encryption {
    case .plaintext:
      if try size(paths.keyFile) != nil {
        throw encrypted()
      }
      if isNew { try reserveDatabase() }
      location = paths.database
    case .encrypted(let provider):
      guard let vfs = options.vfs, sqlite3_compileoption_used("USE_URI") != 0 else {
        throw SmartStoreError(
          .io, "This SQLite cannot open a database by URI, so stores cannot be encrypted with it")
      }
      let sealed = try sealedStore(provider, isNew: isNew)
      if options.access == .readWrite, !isNew { logDamage = try keepDamagedLog(of: sealed) }
      location = vfs.uri(path: paths.database, token: session.register(sealed))
      store = sealed
    }
    let writer: DatabaseQueue
    do {
      writer = try connect(location, store: store, isNew: isNew)
    } catch {
      if store == nil, try isSealed() { throw encrypted() }
      if let store { try checkAnchor(of: store) }
      throw SmartStoreError(storage: error, at: paths.database, header: store?.header)
    }
    do {
      if options.access == .readWrite { try noteCreation() }
    } catch {
      // The failure to open is the one to tell.
      try? writer.close()
      throw SmartStoreError(storage: error, at: paths.created)
    }
    let bindingFailure = bind(encryption)
    return StoreDatabase(
      writer: writer, readers: makeReaders(location, store: store),
      checkpoints: makeCheckpoints(location, store: store),
      writerCacheBytes: options.writerCacheBytes, paths: paths, session: session, sealed: store,
      encryptionLimit: options.encryptionLimit, logDamage: logDamage,
      bindingFailure: bindingFailure)
  }

  /// Binds the store, which was found readable, to its owner and name.
  ///
  /// - Returns: Why that failed. A full disk, for one, is no reason not to open; the next opening tries again.
  private func bind(_ encryption: StoreEncryption) -> SmartStoreError? {
    guard options.access == .readWrite, case .encrypted(let provider) = encryption else {
      return nil
    }
    do {
      try StoreKeyHierarchy.bind(paths, provider: provider)
      return nil
    } catch {
      return error
    }
  }

  /// Reads the whole schema over a read-only connection first. Until that worked the VFS takes no
  /// write, so that a store that cannot be read stays as it is.
  private func connect(
    _ location: String, store: EncryptedStore?, isNew: Bool
  ) throws -> DatabaseQueue {
    let isReadOnly = options.access == .readOnly
    let strays = try [paths.log, paths.index].filter { try DurableFile(path: $0).size() == nil }
    if store == nil, isNew {
      return try makeWriter(location, store: nil, readonly: isReadOnly, hasLog: false)
    }
    // Looked at before the first connection: closing the file would drop its locks.
    let hasLog = try store != nil || StaleStoreFiles(paths).header()?.hasLog == true
    let probe: DatabaseQueue
    do {
      probe = try DatabaseQueue(
        path: location, configuration: configuration(for: store, readonly: true))
    } catch {
      // The check created these, and no other process uses them: this process has the lock.
      if !isReadOnly { strays.forEach { unlink($0) } }
      throw error
    }
    defer { try? probe.close() }
    if !isReadOnly { store?.allowWrites() }
    return try makeWriter(location, store: store, readonly: isReadOnly, hasLog: hasLog)
  }

  /// - Parameter hasLog: Whether the database is in WAL mode, in which case opening it writes nothing:
  ///   GRDB, asked for that mode, would make a table and drop it.
  private func makeWriter(
    _ location: String, store: EncryptedStore?, readonly: Bool, hasLog: Bool
  ) throws -> DatabaseQueue {
    var configuration = configuration(for: store, readonly: readonly)
    if hasLog { configuration.journalMode = .default }
    let writer = try DatabaseQueue(path: location, configuration: configuration)
    if !readonly {
      // GRDB sets NORMAL, with which a commit may be lost with the power.
      try writer.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
    }
    return writer
  }

  private func makeReaders(_ location: String, store: EncryptedStore?) -> StoreReaderPool {
    let main = configuration(
      for: store, readonly: true, cacheBytes: options.mainReaderCacheBytes)
    let others = configuration(for: store, readonly: true)
    return StoreReaderPool(count: options.maximumReaderCount) { position in
      try DatabaseQueue(path: location, configuration: position == 0 ? main : others)
    }
  }

  private func makeCheckpoints(_ location: String, store: EncryptedStore?) -> BackgroundCheckpoints?
  {
    guard options.access == .readWrite, BackgroundCheckpoints.isSafe(isSealed: store != nil) else {
      return nil
    }
    // A checkpoint keeps no pages. The mode is that of the file, which exists.
    var configuration = configuration(for: store, readonly: false, cacheBytes: 1 << 20)
    configuration.journalMode = .default
    return BackgroundCheckpoints(interval: options.checkpointInterval) { [configuration] in
      try DatabaseQueue(path: location, configuration: configuration)
    }
  }

  /// - Parameters:
  ///   - cacheBytes: The page cache. Default: as the options say for the kind of connection.
  ///   - isIsolated: Whether the connection uses no file but the database and its log, and changes
  ///     neither at closing.
  func configuration(
    for store: EncryptedStore?, readonly: Bool, cacheBytes: Int? = nil, isIsolated: Bool = false
  ) -> Configuration {
    var configuration = Configuration()
    configuration.label = "SmartStore"
    configuration.readonly = readonly
    configuration.journalMode = .wal
    configuration.busyMode = .timeout(options.busyTimeout)
    configuration.foreignKeysEnabled = false
    // Smart SQL compares with the empty text as "" (SS-152).
    configuration.acceptsDoubleQuotedStringLiterals = true
    // An encrypted store's temporary data would reach the disk outside the VFS.
    let options = options
    let isSealed = store != nil
    let cacheBytes = cacheBytes ?? (readonly ? options.readerCacheBytes : options.writerCacheBytes)
    configuration.prepareDatabase { database in
      if isSealed { try StoreConnection.requireEncrypted(database) }
      if isIsolated { try StoreConnection.isolate(database) }
      try StoreConnection.configure(database, options: options, cacheBytes: cacheBytes)
    }
    return configuration
  }

  /// SQLite's smallest page.
  private static let smallestDatabase = 512

  // MARK: - Files

  /// The keys of the store, and for a new one its key file and first page.
  private func sealedStore(
    _ provider: any StoreKeyProvider, isNew: Bool
  ) throws(SmartStoreError) -> EncryptedStore {
    let hasKeyFile = try size(paths.keyFile) != nil
    // The anchor comes after the key file and before the database.
    if isNew, !hasKeyFile, try size(paths.anchor) != nil { throw databaseMissing() }
    let keys =
      isNew && !hasKeyFile
      ? try StoreKeyHierarchy.create(paths, provider: provider)
      : try StoreKeyHierarchy.open(paths, provider: provider)
    guard isNew else { return try boundStore(keys) }
    if hasKeyFile { try checkNeverComplete(keys, provider) }
    do throws(SmartStoreError) {
      do {
        // Before the database, which names it.
        try StoreAnchors.replace(
          with: WALAnchor(generation: 1), paths, keys: keys, cipher: options.cipher)
      } catch {
        throw SmartStoreError(storage: error, at: paths.anchor)
      }
      let store = try boundStore(keys)
      try writeEmptyDatabase(store)
      return store
    } catch {
      // Without a database the key seals nothing. It may have taken its place before the failure.
      if !hasKeyFile, !DurableFile(path: paths.database).exists {
        unlink(paths.anchor)
        unlink(paths.keyFile)
      }
      throw error
    }
  }

  /// Refuses to make a database for a key file that had one: the secret store remembers a store only after it
  /// was open, and its anchor changes with the first write.
  private func checkNeverComplete(
    _ keys: StoreKeys, _ provider: any StoreKeyProvider
  ) throws(SmartStoreError) {
    if try StoreKeySource(provider, for: paths.identity).isRemembered() { throw databaseMissing() }
    do {
      let bytes = try DurableFile(path: paths.anchor).read(limit: AnchorFormat.size)
      guard let bytes else { return }
      let anchor = AnchorFormat.anchor(in: bytes, keys: keys, cipher: options.cipher)
      if anchor == WALAnchor(generation: 1) { return }
    } catch {
      throw SmartStoreError(storage: error, at: paths.anchor)
    }
    throw databaseMissing()
  }

  /// Refuses files in the store's folder that SQLite would write to or fail on, and that no store makes.
  private func checkForeignFiles(isPlaintext: Bool) throws(SmartStoreError) {
    for path in [paths.log, paths.index, paths.anchor] {
      var status = stat()
      guard lstat(path, &status) == 0 else { continue }
      guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1 else {
        throw SmartStoreError(
          .io,
          "Cannot open the store at \(paths.directory): \(path) is no file of its own, but a link, or a file with "
            + "a second name, which would be overwritten. Move it away, or replace it with a copy if it belongs "
            + "to the store.")
      }
    }
    let journal = paths.database + "-journal"
    guard !isPlaintext, DurableFile(path: journal).exists else { return }
    throw SmartStoreError(
      .io,
      "Cannot open the store at \(paths.directory): no encrypted store makes the file \(journal). Remove it."
    )
  }

  /// The store with what binds its write-ahead log (WAL) to the database.
  ///
  /// - Throws: `corruptLog` if that is not the WAL which belongs to the database.
  private func boundStore(_ keys: StoreKeys) throws(SmartStoreError) -> EncryptedStore {
    guard let vfs = options.vfs else { return EncryptedStore(keys: keys, cipher: options.cipher) }
    let check = try walCheck(keys, databaseGeneration: nil)
    return EncryptedStore(
      keys: keys, cipher: options.cipher,
      binding: WALBinding(
        paths.anchor, in: vfs.base, keys: keys, cipher: options.cipher, anchor: check.anchor,
        log: check.log))
  }

  /// Says why a store was not opened whose database names a generation that the anchor does not know.
  private func checkAnchor(of store: EncryptedStore) throws(SmartStoreError) {
    guard let binding = store.binding, store.header == .store,
      !binding.admits(databaseGeneration: store.generation)
    else { return }
    guard try decryptsFirstPage(store.keys) else {
      let damage = DatabaseError(resultCode: ResultCode(rawValue: StoreIOError.damagedPage))
      throw SmartStoreError(storage: damage, at: paths.database)
    }
    _ = try walCheck(store.keys, databaseGeneration: store.generation)
  }

  /// Whether the keys are the database's. With those of another store, nothing that its first page names counts.
  func decryptsFirstPage(_ keys: StoreKeys) throws(SmartStoreError) -> Bool {
    let encryptor = PageEncryptor(keys: keys, cipher: options.cipher)
    let plaintext = UnsafeMutableRawBufferPointer.allocate(
      byteCount: PageFormat.pageSize, alignment: 16)
    defer { plaintext.deallocate() }
    guard let start = plaintext.baseAddress else { return false }
    do {
      let file = try PageFile(reading: paths.database)
      return try file.read(1, into: encryptor.pageBytes) == PageFormat.pageSize
        && encryptor.decrypt(number: 1, into: start) != nil
    } catch {
      throw SmartStoreError(storage: error, at: paths.database)
    }
  }

  private func walCheck(
    _ keys: StoreKeys, databaseGeneration: UInt64?
  ) throws(SmartStoreError) -> WALCheck {
    let check: WALCheck
    do {
      check = try WALCheck(paths, keys: keys, cipher: options.cipher)
    } catch {
      throw SmartStoreError(storage: error, at: paths.log)
    }
    if let fault = check.fault(databaseGeneration: databaseGeneration) {
      throw fault.error(paths)
    }
    return check
  }

  /// Copies a log that holds transactions which SQLite will not find, and will write over.
  private func keepDamagedLog(of store: EncryptedStore) throws(SmartStoreError) -> WALDamage? {
    // There is nothing behind the transactions that SQLite finds.
    if store.binding?.isWhole == true { return nil }
    do {
      let damage = try WALDamage.find(in: paths.log, keys: store.keys, cipher: store.cipher)
      guard let damage else { return nil }
      let copies = paths.damagedLogs
      // Every opening that fails afterwards comes upon the same log.
      if let last = copies.last, try WALCopy.isSame(last, as: paths.log) { return damage }
      try WALCopy.make(of: paths.log, at: paths.damagedLog(copies.count + 1))
      return damage
    } catch {
      throw SmartStoreError(storage: error, at: paths.log)
    }
  }

  private func writeEmptyDatabase(_ store: EncryptedStore) throws(SmartStoreError) {
    let encryptor = PageEncryptor(keys: store.keys, cipher: store.cipher, generation: 1)
    let isSealed = PageFormat.emptyDatabase().withUnsafeBytes { page in
      page.baseAddress.map { encryptor.encrypt($0, number: 1) } ?? false
    }
    guard isSealed else {
      throw SmartStoreError(.io, "The first page of \(paths.database) could not be sealed")
    }
    let page = UnsafeRawBufferPointer(start: encryptor.pageBytes, count: PageFormat.pageSize)
    do {
      try DurableFile(path: paths.database).replace(with: Array(page))
    } catch {
      throw SmartStoreError(storage: error, at: paths.database)
    }
  }

  /// Makes the empty file of a plaintext store: SQLite would let others read it.
  private func reserveDatabase() throws(SmartStoreError) {
    do {
      try DurableFile(path: paths.database).replace(with: [])
    } catch {
      throw SmartStoreError(storage: error, at: paths.database)
    }
  }

  /// True if there is no database yet. Refuses to start over where one was, and a file that SQLite
  /// would take for an empty database.
  private func isNewStore(_ encryption: StoreEncryption) throws(SmartStoreError) -> Bool {
    let wasCreated = try size(paths.created) != nil
    if let size = try size(paths.database) {
      if size >= Self.smallestDatabase { return false }
      // A plaintext store that was never written to.
      guard size == 0, !wasCreated, case .plaintext = encryption else {
        throw SmartStoreError(
          .notADatabase, "The file \(paths.database) is no database. Restore it from a backup.")
      }
    }
    let logSize = try size(paths.log) ?? 0
    if wasCreated || logSize > 0 { throw databaseMissing() }
    if options.access == .readOnly {
      throw SmartStoreError(
        .databaseMissing,
        "There is no store at \(paths.directory) to read. Open it for writing once to make it.")
    }
    return true
  }

  /// True if the database is plaintext and may be encrypted now. One whose key file is there is no
  /// such store: it was put in the place of an encrypted one. Only by the holder of the write lock.
  private func isUpgradeDue() throws(SmartStoreError) -> Bool {
    guard options.encryptsPlaintext, try size(paths.keyFile) == nil else { return false }
    return try StaleStoreFiles(paths).header()?.kind == .plaintext
  }

  /// Refuses a plaintext database in the place of an encrypted store, before the key file of that store is taken
  /// for what an interrupted encryption left.
  func checkNotPlanted(_ provider: any StoreKeyProvider) throws(SmartStoreError) {
    guard try size(paths.keyFile) == nil, try StaleStoreFiles(paths).header()?.kind == .plaintext
    else { return }
    try checkNeverEncrypted(provider)
  }

  /// Refuses a plaintext database in the place of a store that the secret store knows as encrypted.
  func checkNeverEncrypted(_ provider: any StoreKeyProvider) throws(SmartStoreError) {
    guard try StoreKeySource(provider, for: paths.identity).isRemembered() else { return }
    throw SmartStoreError(
      .notADatabase,
      "The file \(paths.database) is a plaintext database, though the secret store knows \(paths.identity) "
        + "as encrypted. Restore the store from a backup; if the plaintext database is yours, call "
        + "StoreMaintenance.acceptRestoredFiles(_:) and encrypt it.")
  }

  private func databaseMissing() -> SmartStoreError {
    SmartStoreError(
      .databaseMissing,
      "The database \(paths.database) is missing, though there was one. Restore it from a backup, "
        + "with the files in its folder, or remove the store to start over.")
  }

  /// Notes for good that there is a database. Until then one that is missing is taken for a creation
  /// that was interrupted, and made.
  private func noteCreation() throws(FileFailure) {
    let note = DurableFile(path: paths.created)
    if !note.exists { _ = try note.create([]) }
  }

  /// True if the database is an encrypted store's. Only after it failed to open as a plain one:
  /// looking at an open database drops SQLite's locks on it.
  func isSealed() throws(SmartStoreError) -> Bool {
    try StaleStoreFiles(paths).header()?.kind == .store
  }

  func encrypted() -> SmartStoreError {
    SmartStoreError(
      .wrongKey,
      "The store at \(paths.directory) is encrypted and does not open without its key. Open it with "
        + "its key and key file.")
  }

  /// The right to write to the store. There is one writer because what a store knows of its own
  /// writes (entry ids, entry files, observers) is known to one process, and because SQLite up to
  /// 3.51.2 can lose a committed transaction when two connections write and checkpoint at the same
  /// instant. The connection that checkpoints the WAL in the background is kept from that by
  /// ``BackgroundCheckpoints``.
  func takeLock() throws(SmartStoreError) -> FileLock {
    let lock: FileLock?
    do {
      do {
        lock = try FileLock.take(paths.lock, patience: options.lockPatience)
      } catch  where error.errno == ENOENT {
        // The process that had the lock removed the store, folder and all.
        try DurableFile.makeFolder(paths.directory)
        lock = try FileLock.take(paths.lock, patience: options.lockPatience)
      }
    } catch {
      throw SmartStoreError(storage: error, at: paths.lock)
    }
    guard let lock else {
      throw SmartStoreError(
        .busyOtherProcess,
        "The store at \(paths.directory) is open for writing elsewhere. Close it there, or open it "
          + "read-only")
    }
    return lock
  }

  /// The promise that no process exchanges the files, for a reader, or that no process reads them, for the one that
  /// does. The writer needs neither: it has the lock that such work begins with.
  ///
  /// - Returns: Nil if there is no store to read, or its folder is not writable.
  /// - Throws: ``SmartStoreError`` `busyOtherProcess` to a reader, `busy` to others.
  func takeReadersLock(isShared: Bool) throws(SmartStoreError) -> FileLock? {
    guard try size(paths.database) != nil else { return nil }
    let lock: FileLock?
    do {
      lock = try FileLock.take(
        paths.readers, isShared: isShared, patience: StorePaths.lockPatience)
    } catch {
      if isShared, error.isForbidden { return nil }
      throw SmartStoreError(storage: error, at: paths.readers)
    }
    guard let lock else {
      throw isShared
        ? SmartStoreError(
          .busyOtherProcess,
          "The files of the store at \(paths.directory) are being rewritten. Try again when that is "
            + "done.")
        : SmartStoreError(
          .busy, "The store at \(paths.directory) is open elsewhere. Close it there and try again.")
    }
    return lock
  }

  /// True if the folder was not there.
  private func makeDirectory() throws(SmartStoreError) -> Bool {
    guard try size(paths.directory) == nil else { return false }
    do {
      try DurableFile.makeFolder(paths.directory)
    } catch {
      throw SmartStoreError(storage: error, at: paths.directory)
    }
    return true
  }

  /// Removes the folder if nothing is in it but the lock (SS-10).
  private func removeUnusedDirectory() {
    let names = try? FileManager.default.contentsOfDirectory(atPath: paths.directory)
    guard let names, names.allSatisfy({ paths.directory + "/" + $0 == paths.lock }) else { return }
    unlink(paths.lock)
    rmdir(paths.directory)
  }

  private func size(_ path: String) throws(SmartStoreError) -> UInt64? {
    do {
      return try DurableFile(path: path).size()
    } catch {
      throw SmartStoreError(storage: error, at: path)
    }
  }
}
