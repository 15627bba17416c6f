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
    let madeDirectory = try makeDirectory()
    do {
      if let lock { return try openLocked(encryption, lock: lock) }
      return try openLocked(encryption, lock: try takeLock())
    } catch {
      // Only a folder that this call made, and only if nothing is in it but the lock.
      if madeDirectory {
        unlink(paths.lock)
        rmdir(paths.directory)
      }
      throw error
    }
  }

  private func openLocked(
    _ encryption: StoreEncryption, lock given: consuming FileLock?
  ) throws(SmartStoreError) -> StoreDatabase {
    let session: StoreSession
    let location: String
    var store: SealedStore?
    var lock = given
    if options.access == .readWrite { try StoreLeftovers(paths).settle() }
    if case .encrypted(let provider) = encryption, try isUpgradeDue() {
      // The lock is not let go of meanwhile.
      lock = try StoreConversion(paths: paths, options: options).encrypt(provider, lock: lock)
    }
    let isNew = try isNewStore(encryption)
    switch encryption {
    case .plaintext:
      if try size(paths.keyFile) != nil {
        throw encrypted()
      }
      if isNew { try reserveDatabase() }
      location = paths.database
      session = StoreSession(token: nil, lock: lock)
    case .encrypted(let provider):
      guard let vfs = options.vfs, sqlite3_compileoption_used("USE_URI") != 0 else {
        throw SmartStoreError(
          .io, "This SQLite cannot open a database by URI, so stores cannot be encrypted with it")
      }
      let sealed = try sealedStore(provider, isNew: isNew)
      let token = UUID().uuidString
      SealedStores.add(sealed, token: token)
      session = StoreSession(token: token, lock: lock)
      location = vfs.uri(path: paths.database, token: token)
      store = sealed
    }
    do {
      let pool = try connect(location, store: store, isNew: isNew)
      return StoreDatabase(pool: pool, paths: paths, session: session, sealed: store)
    } catch {
      session.end()
      if store == nil, try isSealed() { throw encrypted() }
      throw SmartStoreError(storage: error, at: paths.database, header: store?.header)
    }
  }

  /// Reads the whole schema over a read-only connection first. Until that worked the VFS takes no
  /// write, so that a store that cannot be read stays as it is.
  private func connect(
    _ location: String, store: SealedStore?, isNew: Bool
  ) throws -> DatabasePool {
    let isReadOnly = options.access == .readOnly
    let strays = try [paths.log, paths.index].filter { try DurableFile(path: $0).size() == nil }
    if store == nil, isNew {
      return try makePool(location, store: nil, readonly: isReadOnly)
    }
    let probe: DatabaseQueue
    do {
      probe = try DatabaseQueue(
        path: location, configuration: configuration(for: store, readonly: true))
    } catch {
      // Looking made these, and nobody else uses them: this process has the lock.
      if !isReadOnly { strays.forEach { unlink($0) } }
      throw error
    }
    defer { try? probe.close() }
    if !isReadOnly { store?.allowWrites() }
    return try makePool(location, store: store, readonly: isReadOnly)
  }

  private func makePool(
    _ location: String, store: SealedStore?, readonly: Bool
  ) throws -> DatabasePool {
    let pool = try DatabasePool(
      path: location, configuration: configuration(for: store, readonly: readonly))
    if !readonly {
      // GRDB sets NORMAL, with which a commit may be lost with the power.
      try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
    }
    return pool
  }

  func configuration(for store: SealedStore?, readonly: Bool) -> Configuration {
    var configuration = Configuration()
    configuration.label = "SmartStore"
    configuration.readonly = readonly
    configuration.maximumReaderCount = options.maximumReaderCount
    configuration.foreignKeysEnabled = false
    // Smart SQL compares with the empty text as "" (SS-152).
    configuration.acceptsDoubleQuotedStringLiterals = true
    // An encrypted store's temporary data would reach the disk outside the VFS.
    let options = options
    let isSealed = store != nil
    configuration.prepareDatabase { database in
      if isSealed { try StoreConnection.requireSealed(database) }
      try StoreConnection.configure(database, options: options)
    }
    return configuration
  }

  /// SQLite's smallest page.
  private static let smallestDatabase = 512

  // MARK: - Files

  /// The keys of the store, and for a new one its key file and first page.
  private func sealedStore(
    _ provider: any StoreKeyProvider, isNew: Bool
  ) throws(SmartStoreError) -> SealedStore {
    let hasKeyFile = try size(paths.keyFile) != nil
    let keys =
      isNew && !hasKeyFile
      ? try StoreKeyring.create(paths, provider: provider)
      : try StoreKeyring.open(paths, provider: provider)
    let store = SealedStore(keys: keys, cipher: options.cipher)
    if isNew {
      do {
        try writeEmptyDatabase(store)
      } catch {
        // Without a database the key seals nothing.
        if !hasKeyFile { unlink(paths.keyFile) }
        throw error
      }
    }
    return store
  }

  private func writeEmptyDatabase(_ store: SealedStore) throws(SmartStoreError) {
    let sealer = PageSealer(keys: store.keys, cipher: store.cipher)
    let isSealed = PageFormat.emptyDatabase().withUnsafeBytes { page in
      page.baseAddress.map { sealer.seal($0, number: 1) } ?? false
    }
    guard isSealed else {
      throw SmartStoreError(.io, "The first page of \(paths.database) could not be sealed")
    }
    let page = UnsafeRawBufferPointer(start: sealer.pageBytes, count: PageFormat.pageSize)
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

  /// True if there is no database yet. Refuses a log without one, and a file that SQLite would take
  /// for an empty database and begin anew.
  private func isNewStore(_ encryption: StoreEncryption) throws(SmartStoreError) -> Bool {
    if let size = try size(paths.database) {
      if size >= Self.smallestDatabase { return false }
      // A plaintext store that was never written to.
      guard size == 0, case .plaintext = encryption else {
        throw SmartStoreError(
          .notADatabase, "The file \(paths.database) is no database. Restore it from a backup.")
      }
    }
    if options.access == .readOnly {
      throw SmartStoreError(.io, "There is no store at \(paths.directory) to read")
    }
    if let size = try size(paths.log), size > 0 {
      throw SmartStoreError(
        .corrupt,
        "The database \(paths.database) is missing, its log is still there. Restore the database "
          + "from a backup, or remove the store explicitly")
    }
    return true
  }

  /// True if the database is plaintext and may be encrypted now. One whose key file is there is no
  /// such store: somebody put it in the place of an encrypted one.
  private func isUpgradeDue() throws(SmartStoreError) -> Bool {
    guard options.encryptsPlaintext, options.access == .readWrite, try size(paths.keyFile) == nil
    else { return false }
    return try StoreLeftovers(paths).header()?.kind == .plaintext
  }

  /// True if the database is an encrypted store's. Only after it failed to open as a plain one:
  /// looking at an open database drops SQLite's locks on it.
  private func isSealed() throws(SmartStoreError) -> Bool {
    try StoreLeftovers(paths).header()?.kind == .store
  }

  private func encrypted() -> SmartStoreError {
    SmartStoreError(
      .wrongKey,
      "The store at \(paths.directory) is encrypted and does not open without its key. Open it with "
        + "its key and key file.")
  }

  /// The right to write to the store. There is one writer because SQLite up to 3.51.2 can lose a
  /// committed transaction when two connections write and checkpoint at the same instant.
  ///
  /// Worth a short wait: a program that this process starts holds a copy of the lock until it runs,
  /// even after the store was closed here.
  func takeLock() throws(SmartStoreError) -> FileLock? {
    guard options.access == .readWrite else { return nil }
    let lock: FileLock?
    do {
      lock = try FileLock.take(paths.lock, patience: .milliseconds(500))
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

  /// True if the folder was not there.
  private func makeDirectory() throws(SmartStoreError) -> Bool {
    guard options.access == .readWrite, try size(paths.directory) == nil else { return false }
    do {
      try DurableFile.makeFolder(paths.directory)
    } catch {
      throw SmartStoreError(storage: error, at: paths.directory)
    }
    return true
  }

  private func size(_ path: String) throws(SmartStoreError) -> UInt64? {
    do {
      return try DurableFile(path: path).size()
    } catch {
      throw SmartStoreError(storage: error, at: path)
    }
  }
}
