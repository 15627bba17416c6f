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
  /// Looks for the commits of other processes while live queries wait.
  let otherWriters = OtherWriters()
  let cursors = Mutex(CursorTable())
  /// The files of externally stored entries.
  let files: ExternalFiles
  /// The latch at which readers wait while an alter runs.
  let alterations = AlterationLatch()
  private let state = Mutex(State())

  private struct State {
    var isClosed = false
    /// Work that must end before the files are closed.
    var dependents: [@Sendable () async -> Void] = []
    /// The close that is running or has succeeded; nil again after a failure.
    var closing: Task<Result<Void, SmartStoreError>, Never>?
    /// The current sync setting of the writing connection.
    var durability: Durability?
    /// Whether the WAL may contain a failed transaction that looks committed.
    var holdsFailedCommit = false
  }

  private var writer: DatabaseQueue { database.writer }

  /// Whether the task works on stores without showing content, so that it may continue while the
  /// app is locked.
  @TaskLocal package static var showsNothing = false

  /// The name of the database file. A folder without it is not a store.
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
    files.isShared = !options.keepsOthersOut
    files.turnLimit = options.otherWritersLimit
    return try await open(
      name: name, owner: owner, at: directory, encryption: encryption, options: options,
      files: files)
  }

  /// Opens the store in a folder, with options for its files.
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
      encryptor: database.sealed.map { ExternalFileEncryptor(store: $0) },
      keepOthersOut: { [database] () throws(SmartStoreError) in
        try database.beginAlone(waits: false)
      })
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
        // Entry files are known to the process alone that writes them.
        if files.isInUse { try database.beginAlone() }
        // A program that another process starts keeps a copy of its locks until it runs, so that this process may
        // be alone although it was not the first.
        try prepare(isAlone: database.isFirst || files.isInUse)
        let changes = changes
        database.turn.whenOthersWrote { changes.publish(.unknown) }
      }
      database.finishOpening()
    } catch {
      // The failure to open is the one to report.
      try? database.close()
      throw SmartStoreError(grdb: error)
    }
  }

  /// Migrates the tables and completes the unfinished work of an earlier process.
  ///
  /// - Parameter isAlone: Whether no other process has the store open for writing.
  private func prepare(isAlone: Bool) throws {
    try onWriter { database in
      try database.inTransaction {
        try access(database).migrateMetaTables()
        return .commit
      }
      // What another process is at work on is not interrupted. It may have ended since, or may be about to.
      if !isAlone {
        guard try !StoreAccess.operations(database).isEmpty,
          (try? self.database.beginAlone()) != nil
        else { return }
      }
      defer { if !isAlone { self.database.endAlone() } }
      try finishInterrupted(database)
      do {
        try completeFlags(database)
      } catch {
        // A failure here, such as a full disk, does not prevent opening: the entries are intact.
        options.logger.error(
          "The flags of entries in store '\(name)' could not be completed. The next opening tries again.",
          error: error)
      }
    }
  }

  /// Refuses a store that cannot be read without writing to it. A store with entry files is one:
  /// only the process that writes them knows which files belong to a snapshot.
  private func checkReadable() throws {
    guard !files.isInUse else {
      throw SmartStoreError(
        .readOnly, "The store \(name) keeps elements in files. Open it for writing to read them.")
    }
    try writer.read { try access($0).checkComplete() }
  }

  /// Creates the access that is used before the catalog is read.
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

  /// Whether the store was closed. A closed store is never open again.
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
          await otherWriters.end()
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

  /// Registers `end`, which the store calls and awaits before it closes its files: for tasks that
  /// work on the store by themselves. If the store is closed already, `end` is called at once.
  package func whenClosing(_ end: @escaping @Sendable () async -> Void) async {
    let isLate = state.withLock { state in
      state.dependents.append(end)
      return state.isClosed
    }
    if isLate { await end() }
  }

  /// Returns the size of the database and of all entry files in bytes, after a checkpoint of the
  /// WAL as far as readers allow.
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

  /// Runs `body` in one transaction. On return all of its writes are committed; if it throws, none
  /// are.
  ///
  /// Transactions of one store run one after another; readers do not wait for them. The closure is
  /// synchronous and runs off the caller's thread; it must not wait for another call to this store.
  ///
  /// - Parameter durability: ``Durability/full`` unless the data can be obtained again.
  /// - Throws: The error of `body`, unchanged; ``SmartStoreError`` `closed`, `readOnly`,
  ///   `diskFull`, `outOfMemory`, `io`. If the message of `io` says that the outcome is unknown,
  ///   the disk failed twice, and the transaction may be committed if the process ends before the
  ///   next write.
  @discardableResult
  public func inTransaction<T: Sendable>(
    durability: Durability = .full,
    _ body: @Sendable (borrowing StoreTransaction) throws -> T
  ) async throws -> T {
    try await write(durability, isSingleCall: false, body)
  }

  /// Runs `body` on one snapshot of the store, concurrently with other readers and the writer.
  ///
  /// - Throws: The error of `body`, unchanged; ``SmartStoreError`` `closed`, `corrupt`,
  ///   `outOfMemory`, `io`; `CancellationError`, also while the call waits for an alter.
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

  /// Runs a query that is expected to be short on the caller's thread. The query needs no entry
  /// files.
  ///
  /// - Parameters:
  ///   - statements: The query's statements, from `catalog`.
  /// - Returns: Nil if the caller must use ``read(_:)``: the query is not short, or the soups have
  ///   changed.
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
      // The caller runs it again with ``read(_:)``.
      if read?.value == nil { recording?.setOutcome("deferred") }
      return read?.value
    }
  }

  /// Creates the access to one snapshot.
  private func access(
    _ database: Database, _ schemaVersion: Int64, _ snapshot: ExternalSnapshot?
  ) throws -> StoreAccess {
    let catalog = try catalogs.current(database, schemaVersion: schemaVersion)
    // A running alter blocks the read; an interrupted one concerns only its soup.
    if !catalog.unfinished.isEmpty { try alterations.checkOpen() }
    return StoreAccess(
      database, catalog: catalog, diagnostics: diagnostics, isSingleCall: false, files: files,
      snapshot: snapshot)
  }

  /// Runs one call, or several, in a transaction.
  func write<T: Sendable>(
    _ durability: Durability = .full, isSingleCall: Bool = true,
    _ body: @Sendable (borrowing StoreTransaction) throws -> T
  ) async throws -> T {
    try checkOpen()
    try checkUnlocked()
    try checkWritable()
    return try await delivering { _ in
      try await writer.writeWithoutTransaction { database in
        try self.database.turn.run(on: database) {
          // Files are replaced when their transaction commits, so the commit must survive a power
          // failure.
          try self.setDurability(self.files.isInUse ? .full : durability, database)
          return try self.commit(database, isSingleCall: isSingleCall, body)
        }
      }
    }
  }

  /// Runs `work`, which may consist of several transactions, on the writing connection in one turn of this process.
  func onWriter<T>(_ work: (Database) throws -> T) throws -> T {
    try writer.writeWithoutTransaction { database in
      try self.database.turn.run(on: database) { try work(database) }
    }
  }

  /// Runs `work`. Afterwards, also if it failed, sends the notifications that it left.
  ///
  /// - Parameter kind: The kind of work in traces and metrics.
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
    var isCommitted = false
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
      // The first page contains the generation of the WAL, and has to change after each checkpoint.
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
      isCommitted = true
      do throws(SmartStoreError) {
        try self.database.checkPlace(database)
      } catch  where error.code == .databaseMissing {
        // Files that were removed while they were written take the transaction along.
        throw error
      } catch {
        // The transaction is stored. The next one reports the damage.
      }
      if let changed { catalogs.publish(changed) }
      self.database.checkpoints?.didWrite(access.writtenBytes)
      changes.publish(access.change)
      diagnostics.report(access.events)
      return result
    } catch {
      if isCommitted { throw error }
      // The first failure is the one to report; after a lost transaction there is nothing to undo.
      try? database.rollback()
      if isMarked { binding?.returnMark() }
      if files.isInUse { files.discardStaged() }
      throw error
    }
  }

  /// Commits, and makes sure that a failed commit does not reappear.
  ///
  /// SQLite writes a transaction to the WAL as a committed one, and then waits for the disk. If
  /// that fails, it rolls the transaction back, but leaves its frames in the WAL: a process that
  /// recovers the WAL after a crash would find the transaction there.
  ///
  /// - Throws: ``UndecidedCommit`` if the commit may reappear.
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

  /// Overwrites a failed transaction in the WAL with a transaction that changes nothing.
  private func revoke(_ database: Database) throws {
    do {
      try database.inTransaction(.immediate) {
        try database.touch()
        return .commit
      }
    } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_IOERR_FSYNC {
      // The transaction is in the WAL. It changes nothing, so it does not matter whether it is
      // recovered.
    }
    state.withLock { $0.holdsFailedCommit = false }
  }

  /// Sets how the writing connection syncs. SQLite allows that only between transactions.
  func setDurability(_ durability: Durability, _ database: Database) throws {
    guard state.withLock({ $0.durability }) != durability else { return }
    try database.execute(
      sql: "PRAGMA synchronous = \(durability == .full ? "FULL" : "NORMAL")")
    state.withLock { $0.durability = durability }
  }

  func checkOpen() throws(SmartStoreError) {
    guard !isClosed else { throw closedError }
  }

  /// Refuses to return content while the app is locked, except to syncs and logouts, which show
  /// none of it.
  func checkUnlocked() throws(SmartStoreError) {
    guard let lock = options.screenLock, lock.isLocked, !SmartStore.showsNothing else { return }
    throw SmartStoreError(
      .screenLocked,
      "Cannot use store '\(name)': the app is locked, as an org of its users demands. Unlock it first."
    )
  }

  /// Refuses to write to a store that was opened read-only.
  func checkWritable() throws(SmartStoreError) {
    guard !options.isReadOnly else {
      throw SmartStoreError(
        .readOnly, "The store \(name) was opened for reading only. Open it for writing first.")
    }
  }

  /// The error that every call to a closed store throws.
  var closedError: SmartStoreError {
    SmartStoreError(.closed, "Store is closed. Ask the store manager for \(name) again.")
  }

  /// Converts an error for callers: their own errors unchanged, SQLite's as ``SmartStoreError``, a
  /// cancellation as `CancellationError`.
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

/// The threads on which files are opened and closed, so that threads of tasks never wait for them.
enum StoreQueue {
  private static let queue = DispatchQueue(label: "SmartStore", attributes: .concurrent)

  static func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: work()) }
    }
  }
}
