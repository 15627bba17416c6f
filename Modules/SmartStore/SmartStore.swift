import Dispatch
public import Foundation
import GRDB
import SalesforceSDKCommon
import SalesforceSDKCore
import Synchronization

/// An encrypted store of JSON entries in soups.
///
/// A store belongs to one account, or to the app. Any number of tasks may use it at once: writes run one
/// after the other, reads in parallel, each from a snapshot. A write that returned is on disk as a whole; a
/// write that threw changed nothing.
///
/// Get one from a ``SmartStoreManager``, which returns the same instance to all callers. Calls throw
/// ``SmartStoreError``, and `CancellationError` if the task was cancelled, in which case the work
/// was rolled back.
public final class SmartStore: Sendable {
  /// The name, unique for the owner.
  public let name: String
  /// The owner of the store.
  public let owner: StoreOwner
  /// The folder that contains only the store's files.
  public let directory: URL

  let database: StoreDatabase
  let catalogs = SoupCatalogCache()
  let options: SmartStoreOptions
  let diagnostics: StoreDiagnostics
  let changes = StoreChangeNotifier()
  let cursors = Mutex(CursorTable())
  /// The files of externally stored entries.
  let files: ExternalFiles
  /// Where readers wait while an alter goes on.
  let alterations = AlterationLatch()
  private let state = Mutex(State())

  private struct State {
    var isClosed = false
    /// What is to be ended before the files are closed.
    var dependents: [@Sendable () async -> Void] = []
    /// The closing that goes on, or is over. Nil again after it failed.
    var closing: Task<Result<Void, SmartStoreError>, Never>?
    /// How the writing connection syncs at present.
    var durability: Durability?
    /// Whether the WAL may hold a transaction that failed, as though it had been committed.
    var holdsFailedCommit = false
  }

  private var writer: DatabaseQueue { database.writer }

  /// Whether the task works on stores without showing content, so that a locked app lets it go on.
  @TaskLocal package static var showsNothing = false

  /// The name of the database file. A folder without it is no store.
  static let fileName = "store.sqlite"

  /// Opens the store in a folder, or creates both.
  ///
  /// - Throws: ``SmartStoreError`` as ``SmartStoreManager/shared(withName:forUserAccount:)``.
  public static func open(
    name: String = defaultStoreName, owner: StoreOwner = .global, at directory: URL,
    encryption: StoreEncryption, options: SmartStoreOptions = SmartStoreOptions()
  ) async throws(SmartStoreError) -> SmartStore {
    var files = StoreDatabaseOptions()
    files.encryptsPlaintext = options.encryptsPlaintextStore
    return try await open(
      name: name, owner: owner, at: directory, encryption: encryption, options: options,
      files: files)
  }

  /// Opens the store in a folder with options for its files too.
  package static func open(
    name: String = defaultStoreName, owner: StoreOwner = .global, at directory: URL,
    encryption: StoreEncryption, options: SmartStoreOptions = SmartStoreOptions(),
    files: StoreDatabaseOptions
  ) async throws(SmartStoreError) -> SmartStore {
    let result = await StoreQueue.run { () -> Result<SmartStore, SmartStoreError> in
      do throws(SmartStoreError) {
        return .success(
          try SmartStore(
            name: name, owner: owner, directory: directory, encryption: encryption,
            options: options, files: files))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  private init(
    name: String, owner: StoreOwner, directory: URL, encryption: StoreEncryption,
    options: SmartStoreOptions, files databaseOptions: StoreDatabaseOptions
  ) throws(SmartStoreError) {
    self.name = name
    self.owner = owner
    self.directory = directory
    self.options = options
    let diagnostics = StoreDiagnostics(options)
    self.diagnostics = diagnostics
    var databaseOptions = databaseOptions
    if options.isReadOnly { databaseOptions.access = .readOnly }
    database = try StoreDatabase.open(
      at: directory, name: name, owner: owner, encryption: encryption, options: databaseOptions)
    files = ExternalFiles(
      database: database.url.path,
      encryptor: database.sealed.map { ExternalFileEncryptor(store: $0) })
    if let damage = database.logDamage {
      options.logger.error(
        "The log of store '\(name)' was damaged outside the store: \(damage.transactions) or more "
          + "transactions are lost. A copy of it is kept in the store's folder.")
    }
    if let failure = database.bindingFailure {
      options.logger.error(
        "Store '\(name)' could not be bound to its owner. The next opening tries again.",
        error: failure)
    }
    do {
      if options.isReadOnly {
        try checkReadable()
      } else {
        try prepare()
      }
    } catch {
      // The failure to open is the one to tell.
      try? database.close()
      throw SmartStoreError(grdb: error)
    }
  }

  /// Brings the tables up to date and completes what an earlier process left unfinished.
  private func prepare() throws {
    try writer.writeWithoutTransaction { database in
      try database.inTransaction {
        try access(database).migrateMetaTables()
        return .commit
      }
      try finishInterrupted(database)
      do {
        try completeFlags(database)
      } catch {
        // A full disk, for one, is no reason not to open: the entries are there.
        options.logger.error(
          "The flags of entries in store '\(name)' could not be completed. The next opening tries again.",
          error: error)
      }
    }
  }

  /// Refuses a store that cannot be read without writing to it. One with entry files is such: the
  /// process that writes them alone knows which of them a snapshot means.
  private func checkReadable() throws {
    guard !files.isInUse else {
      throw SmartStoreError(
        .readOnly, "The store \(name) keeps elements in files. Open it for writing to read them.")
    }
    try writer.read { try access($0).checkComplete() }
  }

  /// Access before there is a catalogue.
  private func access(_ database: Database) -> StoreAccess {
    StoreAccess(
      database, catalog: SoupCatalog(schemaVersion: 0, soups: [:]), diagnostics: diagnostics,
      isSingleCall: true, files: files)
  }

  /// The full path of the database file.
  public var path: String { directory.appending(path: SmartStore.fileName).path }

  /// Whether the store belongs to the app rather than to an account.
  public var isGlobal: Bool { owner.isGlobal }

  /// The engine of the full-text tables that new soups get.
  public var fullTextVersion: SmartStoreOptions.FullTextVersion { options.fullTextVersion }

  /// Whether the store was closed. A closed store stays so.
  public var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Waits for the work in progress and closes the files. Every later call throws ``SmartStoreError``
  /// `closed`.
  ///
  /// A repeated call is not an error: each call returns when the files are closed. After a failed call, the
  /// next call tries again.
  ///
  /// - Throws: ``SmartStoreError`` `busy` if a connection could not be closed.
  public func close() async throws(SmartStoreError) {
    let closing = state.withLock { state in
      state.isClosed = true
      let closing =
        state.closing
        ?? Task { [self, dependents = state.dependents] in
          for end in dependents { await end() }
          changes.finish()
          cursors.withLock { $0.close() }
          return await StoreQueue.run { [database] in
            Result { () throws(SmartStoreError) in try database.close() }
          }
        }
      state.closing = closing
      return closing
    }
    let result = await closing.value
    if case .failure = result {
      state.withLock { if $0.closing == closing { $0.closing = nil } }
    }
    try result.get()
  }

  /// Has `end` called and awaited when the store is closed, before its files are: for what works on the
  /// store on its own. Called at once if it is closed already.
  package func whenClosing(_ end: @escaping @Sendable () async -> Void) async {
    let isLate = state.withLock { state in
      state.dependents.append(end)
      return state.isClosed
    }
    if isLate { await end() }
  }

  /// The size of the database and of all entry files in bytes, after a checkpoint of the WAL as far as
  /// readers allow.
  ///
  /// - Throws: ``SmartStoreError`` `closed`, `busy`, `diskFull`, `io`.
  public func databaseSize() async throws(SmartStoreError) -> UInt64 {
    try checkOpen()
    let result = await StoreQueue.run { [database] in
      Result { () throws(SmartStoreError) in
        try database.size() + self.externalUsage().bytes
      }
    }
    return try result.get()
  }

  // MARK: Transactions

  /// Runs `body` in one transaction: on return all of its writes are committed; if it throws, none.
  ///
  /// Transactions of one store run one after another; readers do not wait for them. The closure is
  /// synchronous and runs off the caller's thread; it must not wait for another call to this store.
  ///
  /// - Parameter durability: ``Durability/full`` unless the data can be obtained again.
  /// - Throws: What `body` throws, unchanged; ``SmartStoreError`` `closed`, `readOnly`, `diskFull`,
  ///   `outOfMemory`, `io`. If the message of `io` says so, the disk failed twice, and the transaction
  ///   may be there should the process end before the next write.
  @discardableResult
  public func inTransaction<T: Sendable>(
    durability: Durability = .full,
    _ body: @Sendable (borrowing StoreTransaction) throws -> T
  ) async throws -> T {
    try await write(durability, isSingleCall: false, body)
  }

  /// Runs `body` on one snapshot of the store, next to other readers and the writer.
  ///
  /// - Throws: What `body` throws, unchanged; ``SmartStoreError`` `closed`, `corrupt`, `outOfMemory`,
  ///   `io`; `CancellationError`, also while it waits for an alter.
  public func read<T: Sendable>(
    _ body: @Sendable (borrowing StoreReader) throws -> T
  ) async throws -> T {
    try await delivering(as: .read) { _ in
      while true {
        try checkOpen()
        try checkUnlocked()
        let snapshot = files.beginReading()
        do {
          return try await database.readers.read { database, schemaVersion in
            try body(StoreReader(try self.access(database, schemaVersion, snapshot)))
          }
        } catch is AlterationLatch.Closed {
          try await alterations.waitUntilOpen()
        }
      }
    }
  }

  /// Runs one query that is expected to be short on the caller's thread. It needs no entry files.
  ///
  /// - Parameters:
  ///   - statements: Those of the query, from `catalog`.
  /// - Returns: Nil if it must be done by ``read(_:)``: it is not short, or the soups have changed.
  func readBriefly<T: Sendable>(
    _ statements: QueryStatements, of catalog: SoupCatalog,
    _ body: @Sendable (borrowing StoreReader) throws -> T
  ) async throws -> T? {
    try await delivering(as: .read) { recording in
      try checkOpen()
      try checkUnlocked()
      let read = try await database.readers.readBriefly { database, schemaVersion -> T? in
        guard schemaVersion == catalog.schemaVersion, catalog.unfinished.isEmpty else { return nil }
        return try body(
          StoreReader(
            StoreAccess(
              database, catalog: catalog, diagnostics: diagnostics, isSingleCall: false,
              files: files, statements: statements)))
      }
      if read?.isOver == true { statements.isLong.store(true, ordering: .relaxed) }
      // The caller begins it again.
      if read?.value == nil { recording?.setOutcome("deferred") }
      return read?.value
    }
  }

  /// What a read of one snapshot stands on.
  private func access(
    _ database: Database, _ schemaVersion: Int64, _ snapshot: ExternalSnapshot?
  ) throws -> StoreAccess {
    let catalog = try catalogs.current(database, schemaVersion: schemaVersion)
    // An alter that is going on is waited for; one that was interrupted concerns its soup alone.
    if !catalog.unfinished.isEmpty { try alterations.checkOpen() }
    return StoreAccess(
      database, catalog: catalog, diagnostics: diagnostics, isSingleCall: false, files: files,
      snapshot: snapshot)
  }

  /// Runs one call, or several, in a transaction of their own.
  func write<T: Sendable>(
    _ durability: Durability = .full, isSingleCall: Bool = true,
    _ body: @Sendable (borrowing StoreTransaction) throws -> T
  ) async throws -> T {
    try checkOpen()
    try checkUnlocked()
    try checkWritable()
    return try await delivering { _ in
      try await writer.writeWithoutTransaction { database in
        // Files are replaced when their transaction commits: it must not be lost afterwards.
        try self.setDurability(self.files.isInUse ? .full : durability, database)
        return try self.commit(database, isSingleCall: isSingleCall, body)
      }
    }
  }

  /// Runs `work`, and whatever comes of it hands on what it left word of.
  ///
  /// - Parameter kind: How it is traced and measured.
  func delivering<T>(
    as kind: Telemetry.Work = .transaction, _ work: (Telemetry.Recording?) async throws -> T
  ) async throws -> T {
    let outcome: Result<T, any Error>
    do {
      outcome = .success(
        try await Telemetry.measure(kind) { recording in
          do {
            return try await work(recording)
          } catch {
            throw outward(error)
          }
        })
    } catch {
      outcome = .failure(error)
    }
    await diagnostics.deliver()
    return try outcome.get()
  }

  /// Runs `body` in a transaction on the writing connection.
  func commit<T>(
    _ database: Database, isSingleCall: Bool,
    _ body: (borrowing StoreTransaction) throws -> T
  ) throws -> T {
    if state.withLock({ $0.holdsFailedCommit }) { try revoke(database) }
    try database.runCached("BEGIN IMMEDIATE")
    let binding = self.database.sealed?.binding
    let changesBefore = database.totalChangesCount
    var isMarked = false
    do {
      let access = StoreAccess(
        database, catalog: try catalogs.current(database), diagnostics: diagnostics,
        isSingleCall: isSingleCall, files: files)
      let result = try body(StoreTransaction(access))
      try access.checkUsable()
      let sequence = try access.takeExternalSequence()
      var changed: SoupCatalog?
      if !access.changedSoups.isEmpty {
        changed = access.catalog.at(schemaVersion: try SoupCatalog.schemaVersion(database))
      }
      try self.database.checkPlace(database)
      try self.database.checkKey()
      // The first page names the generation of the WAL, and has to change after each checkpoint.
      if database.totalChangesCount != changesBefore, binding?.takeMark() == true {
        isMarked = true
        try database.touch()
      }
      if let sequence {
        do {
          try files.commit(access.externalChanges, sequence: sequence) {
            try self.finish(database)
          }
        } catch let error as FileFailure {
          throw SmartStoreError(storage: error, at: files.root)
        }
      } else {
        try finish(database)
      }
      if let changed { catalogs.publish(changed) }
      self.database.checkpoints?.didWrite(access.writtenBytes)
      changes.publish(access.change)
      diagnostics.report(access.events)
      return result
    } catch {
      // The first failure is the one to tell; after a lost transaction there is nothing to undo.
      try? database.rollback()
      if isMarked { binding?.returnMark() }
      if files.isInUse { files.discardStaged() }
      throw error
    }
  }

  /// Commits, and makes sure that what failed does not come back.
  ///
  /// SQLite writes a transaction to the WAL as a committed one, and then waits for the disk. If that
  /// fails, it takes the transaction back, but not what is in the WAL: a process that recovers the WAL after
  /// a crash would find the transaction there.
  ///
  /// - Throws: ``UndecidedCommit`` if it may come back.
  private func finish(_ database: Database) throws {
    do {
      try database.runCached("COMMIT")
    } catch let error as DatabaseError where error.mayHaveWrittenCommit {
      try? database.rollback()
      state.withLock { $0.holdsFailedCommit = true }
      do {
        try revoke(database)
      } catch let second {
        options.logger.error(
          "A failed transaction could not be taken out of the log.", error: second)
        throw UndecidedCommit(cause: error)
      }
      throw error
    }
  }

  /// Writes a transaction that changes nothing over what a failed one left in the WAL.
  private func revoke(_ database: Database) throws {
    do {
      try database.inTransaction(.immediate) {
        try database.touch()
        return .commit
      }
    } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_IOERR_FSYNC {
      // It is in the log. Whether it counts does not matter, since it changes nothing.
    }
    state.withLock { $0.holdsFailedCommit = false }
  }

  /// Sets how the writing connection syncs, which SQLite allows between transactions only.
  func setDurability(_ durability: Durability, _ database: Database) throws {
    guard state.withLock({ $0.durability }) != durability else { return }
    try database.execute(
      sql: "PRAGMA synchronous = \(durability == .full ? "FULL" : "NORMAL")")
    state.withLock { $0.durability = durability }
  }

  func checkOpen() throws(SmartStoreError) {
    guard !isClosed else { throw closedError }
  }

  /// Refuses to give out content while the app is locked, except to syncs and logouts, which show none of it.
  func checkUnlocked() throws(SmartStoreError) {
    guard let lock = options.screenLock, lock.isLocked, !SmartStore.showsNothing else { return }
    throw SmartStoreError(
      .screenLocked,
      "Cannot use store '\(name)': the app is locked, as an org of its users demands. Unlock it first."
    )
  }

  /// Refuses to write to a store that was opened to be read.
  func checkWritable() throws(SmartStoreError) {
    guard !options.isReadOnly else {
      throw SmartStoreError(
        .readOnly, "The store \(name) was opened for reading only. Open it for writing first.")
    }
  }

  /// What every call to a closed store throws.
  var closedError: SmartStoreError {
    SmartStoreError(.closed, "Store is closed. Ask the store manager for \(name) again.")
  }

  /// An error as callers see it: theirs unchanged, the engine's as ours, cancellation as such.
  func outward(_ error: any Error) -> any Error {
    if isClosed, error is DatabaseError {
      return SmartStoreError(.closed, "Store is closed.", cause: error)
    }
    switch error {
    case let error as DatabaseError: return SmartStoreError(grdb: error)
    case let error as UndecidedCommit: return error.told
    case let error as SmartStoreError where error.code == .interrupted && Task.isCancelled:
      return CancellationError()
    default: return error
    }
  }
}

/// The threads on which files are opened and closed, so that tasks' own threads never wait.
enum StoreQueue {
  private static let queue = DispatchQueue(label: "SmartStore", attributes: .concurrent)

  static func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: work()) }
    }
  }
}
