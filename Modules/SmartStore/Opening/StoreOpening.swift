import Foundation
import GRDB
import GRDBSQLite
import SalesforceSDKCommon

/// The steps of opening a store. Nothing is changed before everything was read.
struct StoreOpening {
  let paths: StorePaths
  let options: StoreDatabaseOptions

  /// - Parameter lock: The write lock, if the caller holds it already.
  func open(
    _ encryption: StoreEncryption, lock: consuming FileLock? = nil
  ) throws(SmartStoreError) -> StoreDatabase {
    try checkDirectory()
    guard options.access == .readWrite else {
      return try open(encryption, StoreSession(lock: try takeReadersLock(isShared: true)))
    }
    let madeDirectory = try makeDirectory()
    let session: StoreSession
    switch consume lock {
    case let lock?: session = StoreSession(lock: lock)
    case nil where options.isShared: session = try StoreSession(sharing: self)
    case nil: session = StoreSession(lock: try takeLock())
    }
    defer { session.turns?.release() }
    do {
      // What maintenance leaves is there before the first process opens the store, or not at all.
      if StaleStoreFiles(paths).mayExist { session.waitToBeFirst() }
      guard session.isFirst else { return try open(encryption, session) }
      var isUpgraded = false
      if case .encrypted(let provider) = encryption {
        try checkNotPlanted(provider)
        isUpgraded = try isUpgradeDue()
      }
      try StaleStoreFiles(paths).recover()
      if isUpgraded, case .encrypted(let provider) = encryption {
        // Until then the caller has the lock.
        session.hold(
          try StoreConversion(paths: paths, options: options)
            .encrypt(provider, lock: session.takeLock()))
      }
      return try open(encryption, session)
    } catch {
      // While the lock is held: who waits for it must not get that of a file without a name.
      if madeDirectory, session.isFirst { removeUnusedDirectory() }
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
    if isNew, !session.isFirst { throw databaseMissing() }
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
      let sealed = try sealedStore(provider, isNew: isNew, turns: session.turns)
      // What others are writing is damaged only when they no longer write.
      if options.access == .readWrite, !isNew, session.isFirst {
        logDamage = try keepDamagedLog(of: sealed)
      }
      location = vfs.uri(path: paths.database, token: session.register(sealed))
      store = sealed
    }
    let writer: DatabaseQueue
    do {
      writer = try connect(location, store: store, isNew: isNew, isFirst: session.isFirst)
    } catch {
      if store == nil, try isSealed() { throw encrypted() }
      if let store { try checkAnchor(of: store) }
      throw SmartStoreError(storage: error, at: paths.database, header: store?.header)
    }
    do {
      if options.access == .readWrite { try noteCreation() }
    } catch {
      // The failure to open is the one to report.
      try? writer.close()
      throw SmartStoreError(storage: error, at: paths.created)
    }
    let bindingFailure = bind(encryption)
    let turn = StoreTurn(turns: session.turns, sealed: store)
    return StoreDatabase(
      writer: writer, readers: makeReaders(location, store: store),
      checkpoints: makeCheckpoints(location, store: store, turn: turn),
      writerCacheBytes: options.writerCacheBytes, paths: paths, session: session, turn: turn,
      sealed: store, encryptionLimit: options.encryptionLimit, logDamage: logDamage,
      bindingFailure: bindingFailure)
  }

  /// Binds the store, which was found readable, to its owner and name.
  ///
  /// - Returns: The failure. The store opens even if binding fails, for example because the disk is
  ///   full; the next opening tries again.
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

  /// Connects, after the whole schema was read with a read-only connection. Until that succeeds the
  /// VFS refuses writes, so that a store that cannot be read does not change.
  private func connect(
    _ location: String, store: EncryptedStore?, isNew: Bool, isFirst: Bool
  ) throws -> DatabaseQueue {
    let isReadOnly = options.access == .readOnly
    let strays = try [paths.log, paths.index].filter { try DurableFile(path: $0).size() == nil }
    if store == nil, isNew {
      return try makeWriter(location, store: nil, readonly: isReadOnly, hasLog: false)
    }
    let probe: DatabaseQueue
    do {
      probe = try DatabaseQueue(
        path: location, configuration: configuration(for: store, readonly: true))
    } catch {
      // The check created these, and no other process uses them: this process has the lock.
      if !isReadOnly, isFirst { strays.forEach { unlink($0) } }
      throw error
    }
    defer { try? probe.close() }
    // By a connection: opening the file in another way and closing it would end the locks of this process.
    let hasLog =
      try store != nil
      || probe.unsafeRead { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal"
    if !isReadOnly { store?.allowWrites() }
    return try makeWriter(location, store: store, readonly: isReadOnly, hasLog: hasLog)
  }

  /// - Parameter hasLog: Whether the database is in WAL mode already. Then opening it writes
  ///   nothing: to set that mode, GRDB would create and drop a table.
  private func makeWriter(
    _ location: String, store: EncryptedStore?, readonly: Bool, hasLog: Bool
  ) throws -> DatabaseQueue {
    var configuration = configuration(for: store, readonly: readonly)
    if hasLog { configuration.journalMode = .default }
    let writer = try DatabaseQueue(path: location, configuration: configuration)
    if !readonly {
      // GRDB sets NORMAL, with which a power failure may lose a commit.
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

  private func makeCheckpoints(
    _ location: String, store: EncryptedStore?, turn: StoreTurn
  ) -> BackgroundCheckpoints? {
    guard options.access == .readWrite, BackgroundCheckpoints.isSafe(isSealed: store != nil) else {
      return nil
    }
    // A checkpoint caches no pages. The existing file determines the mode.
    var configuration = configuration(for: store, readonly: false, cacheBytes: 1 << 20)
    configuration.journalMode = .default
    return BackgroundCheckpoints(interval: options.checkpointInterval, turn: turn) {
      [configuration] in try DatabaseQueue(path: location, configuration: configuration)
    }
  }

  /// - Parameters:
  ///   - cacheBytes: The page cache. Default: the one in the options for this kind of connection.
  ///   - isIsolated: Whether the connection uses only the database and its log, and does not change
  ///     them when it closes.
  func configuration(
    for store: EncryptedStore?, readonly: Bool, cacheBytes: Int? = nil, isIsolated: Bool = false
  ) -> Configuration {
    var configuration = Configuration()
    configuration.label = "SmartStore"
    configuration.readonly = readonly
    configuration.journalMode = .wal
    configuration.busyMode = .timeout(options.busyTimeout)
    configuration.foreignKeysEnabled = false
    // Smart SQL writes the empty text as "" in comparisons (SS-152).
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

  /// The size of SQLite's smallest database: one page.
  private static let smallestDatabase = 512

  // MARK: - Files

  /// Returns the keys of the store. For a new store, creates its key file and first page.
  private func sealedStore(
    _ provider: any StoreKeyProvider, isNew: Bool, turns: WriteTurns?
  ) throws(SmartStoreError) -> EncryptedStore {
    let hasKeyFile = try size(paths.keyFile) != nil
    // The anchor is created after the key file and before the database.
    if isNew, !hasKeyFile, try size(paths.anchor) != nil { throw databaseMissing() }
    let keys =
      isNew && !hasKeyFile
      ? try StoreKeyHierarchy.create(paths, provider: provider)
      : try StoreKeyHierarchy.open(paths, provider: provider)
    guard isNew else { return try boundStore(keys, turns) }
    if hasKeyFile { try checkNeverComplete(keys, provider) }
    do throws(SmartStoreError) {
      do {
        // Before the database, which contains the anchor's generation.
        try StoreAnchors.replace(
          with: WALAnchor(generation: 1), paths, keys: keys, cipher: options.cipher)
      } catch {
        throw SmartStoreError(storage: error, at: paths.anchor)
      }
      let store = try boundStore(keys, turns)
      try writeEmptyDatabase(store)
      return store
    } catch {
      // Without a database the key encrypts nothing. The key file may have been written before the
      // failure.
      if !hasKeyFile, !DurableFile(path: paths.database).exists {
        unlink(paths.anchor)
        unlink(paths.keyFile)
      }
      throw error
    }
  }

  /// Refuses to create a database for a key file that had one. The secret store records a store
  /// only after it was open, and its anchor changes with the first write.
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

  /// Refuses files in the store's folder that SQLite would write to or fail on, and that a store
  /// never creates.
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

  /// Returns the store with the binding of its write-ahead log (WAL) to the database.
  ///
  /// - Throws: `corruptLog` if that is not the WAL which belongs to the database.
  private func boundStore(
    _ keys: StoreKeys, _ turns: WriteTurns?
  ) throws(SmartStoreError) -> EncryptedStore {
    guard let vfs = options.vfs else { return EncryptedStore(keys: keys, cipher: options.cipher) }
    let check = try walCheck(keys, databaseGeneration: nil)
    return EncryptedStore(
      keys: keys, cipher: options.cipher,
      binding: WALBinding(
        paths.anchor, in: vfs.base, keys: keys, cipher: options.cipher, anchor: check.anchor,
        log: check.log), turns: turns)
  }

  /// Throws the reason if the database contains a generation that the anchor does not know.
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

  /// Whether the keys are the database's. With another store's keys, the content of its first page
  /// is meaningless.
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

  /// Copies a log with transactions that SQLite will not find, and will overwrite.
  private func keepDamagedLog(of store: EncryptedStore) throws(SmartStoreError) -> WALDamage? {
    // Nothing follows the transactions that SQLite finds.
    if store.binding?.isWhole == true { return nil }
    do {
      let damage = try WALDamage.find(in: paths.log, keys: store.keys, cipher: store.cipher)
      guard let damage else { return nil }
      let copies = paths.damagedLogs
      // Every later opening that fails finds the same log.
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

  /// Creates the empty file of a plaintext store, which SQLite would create readable for other
  /// users.
  private func reserveDatabase() throws(SmartStoreError) {
    do {
      try DurableFile(path: paths.database).replace(with: [])
    } catch {
      throw SmartStoreError(storage: error, at: paths.database)
    }
  }

  /// Whether the database does not exist yet. Refuses to replace a lost database, and a file that
  /// SQLite would read as an empty database.
  private func isNewStore(_ encryption: StoreEncryption) throws(SmartStoreError) -> Bool {
    let wasCreated = try size(paths.created) != nil
    if let size = try size(paths.database) {
      if size >= Self.smallestDatabase { return false }
      // A plaintext store that was never written.
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

  /// Whether the database is plaintext and may be encrypted now. A plaintext database with a key
  /// file may not, because it has replaced an encrypted one. Only the holder of the write lock may
  /// call it.
  private func isUpgradeDue() throws(SmartStoreError) -> Bool {
    guard options.encryptsPlaintext, try size(paths.keyFile) == nil else { return false }
    return try StaleStoreFiles(paths).header()?.kind == .plaintext
  }

  /// Refuses a plaintext database that has replaced an encrypted store, before that store's key
  /// file is treated as the remains of an interrupted encryption.
  func checkNotPlanted(_ provider: any StoreKeyProvider) throws(SmartStoreError) {
    guard try size(paths.keyFile) == nil, try StaleStoreFiles(paths).header()?.kind == .plaintext
    else { return }
    try checkNeverEncrypted(provider)
  }

  /// Refuses a plaintext database that has replaced a store which the secret store has recorded as
  /// encrypted.
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

  /// Records permanently that the database exists. Until then a missing database counts as an
  /// interrupted creation, and is created.
  private func noteCreation() throws(FileFailure) {
    let note = DurableFile(path: paths.created)
    if !note.exists { _ = try note.create([]) }
  }

  /// Whether the database is an encrypted store's. Only after it failed to open as a plain one,
  /// because reading an open database here releases SQLite's locks on it.
  func isSealed() throws(SmartStoreError) -> Bool {
    try StaleStoreFiles(paths).header()?.kind == .store
  }

  func encrypted() -> SmartStoreError {
    SmartStoreError(
      .wrongKey,
      "The store at \(paths.directory) is encrypted and does not open without its key. Open it with "
        + "its key and key file.")
  }

  /// The right to write to the store alone, or with other processes.
  ///
  /// Who changes the files themselves has to be alone: SQLite's locks do not protect a file that is replaced. Those
  /// who share the store write in turns (``WriteTurns``).
  ///
  /// - Parameter isShared: Only by the holder of the gate.
  func takeLock(isShared: Bool = false) throws(SmartStoreError) -> FileLock {
    // Released at the end: who has the lock alone is not disturbed.
    let gate = isShared ? nil : try takeGate(patience: options.lockPatience)
    let lock = try take(paths.lock, isShared: isShared, patience: options.lockPatience)
    _ = consume gate
    return lock
  }

  /// The right to open the store, and to keep other processes out of it.
  func takeGate(patience: Duration) throws(SmartStoreError) -> FileLock {
    try take(paths.opening, isShared: false, patience: patience)
  }

  private func take(
    _ path: String, isShared: Bool, patience: Duration
  ) throws(SmartStoreError) -> FileLock {
    let lock: FileLock?
    do {
      do {
        lock = try FileLock.take(path, isShared: isShared, patience: patience)
      } catch  where error.errno == ENOENT {
        // The process that had the lock removed the store, folder and all.
        try DurableFile.makeOwnFolder(paths.directory)
        lock = try FileLock.take(path, isShared: isShared, patience: patience)
      }
    } catch {
      throw SmartStoreError(storage: error, at: path)
    }
    guard let lock else { throw openElsewhere() }
    return lock
  }

  /// The error of who cannot write now.
  func openElsewhere() -> SmartStoreError {
    let holder = FileLockHolder.process(of: paths.lock).map { "in process \($0)" } ?? "elsewhere"
    return SmartStoreError(
      .busyOtherProcess,
      "The store at \(paths.directory) is open for writing \(holder). Close it there, or open it "
        + "read-only.")
  }

  /// The promise that no process exchanges the files, for a reader, or that no process reads them, for the one that
  /// does. The writer needs neither: it has the lock that such work begins with.
  ///
  /// - Returns: Nil if the store does not exist, or its folder is not writable.
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

  /// Refuses a folder in which other users may exchange files.
  private func checkDirectory() throws(SmartStoreError) {
    do throws(FileFailure) {
      try DurableFile.checkFolder(paths.directory)
    } catch {
      throw SmartStoreError(.readOnly, "\(error).", cause: error)
    }
  }

  /// True if the folder was not there.
  private func makeDirectory() throws(SmartStoreError) -> Bool {
    guard try size(paths.directory) == nil else { return false }
    do {
      try DurableFile.makeOwnFolder(paths.directory)
    } catch {
      throw SmartStoreError(storage: error, at: paths.directory)
    }
    return true
  }

  /// Removes the folder if it contains only the lock (SS-10).
  private func removeUnusedDirectory() {
    let names = try? FileManager.default.contentsOfDirectory(atPath: paths.directory)
    let locks = paths.locks
    guard let names, names.allSatisfy({ locks.contains(paths.directory + "/" + $0) }) else {
      return
    }
    for lock in locks { unlink(lock) }
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
