import GRDB
import GRDBSQLite
import SalesforceAnalytics

/// The implementation of ``StoreReader`` and ``StoreTransaction``, without public members.
public final class StoreAccess {
  let database: Database
  /// The soups of this snapshot, including the changes of this transaction.
  private(set) var catalog: SoupCatalog
  /// Milliseconds since 1970.
  let now: @Sendable () -> Int64
  let diagnostics: StoreDiagnostics
  /// Whether the transaction consists of one call, which then needs no savepoint.
  let isSingleCall: Bool

  /// The files of externally stored entries.
  let files: ExternalFiles
  /// The statements of the query that this access serves, if they were prepared earlier.
  let statements: QueryStatements?
  /// The changes to entry files that this transaction applies when it commits.
  var externalChanges = ExternalChanges()
  /// The number of the last commit in this snapshot that changed files, once it was read.
  var knownExternalSequence: Int64?
  /// The snapshot of entry files, which keeps the files of this snapshot from being deleted.
  private let snapshot: ExternalSnapshot?

  /// The soups whose mapping this transaction changed.
  private(set) var changedSoups: Set<String> = []
  /// The change that observers receive once this transaction is committed.
  private(set) var change = StoreChange()
  /// The number of bytes of entries that were written.
  private(set) var writtenBytes = 0
  /// The events to report to the event store once this transaction is committed.
  private(set) var events: [AnalyticsEvent] = []
  /// The region that was read so far, if an observer needs it.
  private(set) var region = DatabaseRegion()
  private var recordsRegion = false
  /// The next entry id of each soup table that this transaction inserted into.
  private var nextEntryIds: [String: Int64] = [:]
  /// The failure after which this transaction can no longer be committed.
  private var failure: SmartStoreError?

  init(
    _ database: Database, catalog: SoupCatalog, diagnostics: StoreDiagnostics,
    isSingleCall: Bool, files: ExternalFiles, snapshot: ExternalSnapshot? = nil,
    statements: QueryStatements? = nil
  ) {
    self.statements = statements
    self.database = database
    self.files = files
    self.snapshot = snapshot
    self.catalog = catalog
    self.now = diagnostics.options.now
    self.diagnostics = diagnostics
    self.isSingleCall = isSingleCall
  }

  var options: SmartStoreOptions { diagnostics.options }

  /// Whether pages are authenticated, so that everything that is read was written by the store.
  var hasEncryptedPages: Bool { files.encryptor != nil }

  /// Returns the soup with this name.
  func soup(named name: String) throws(SmartStoreError) -> Soup {
    guard let soup = catalog.soup(named: name) else {
      try checkFinished(name)
      throw SmartStoreError(
        .unknownSoup, "Soup: \(name) does not exist. Register it before using it.")
    }
    return soup
  }

  /// Refuses a soup whose alter was interrupted.
  func checkFinished(_ name: String) throws(SmartStoreError) {
    guard catalog.unfinished.contains(name) else { return }
    throw SmartStoreError(
      .unfinishedOperation,
      "Soup \(name) is half altered: an alter was interrupted. Finish it with "
        + "resumeLongOperations(), or open the store again.")
  }

  /// Replaces the mapping of a soup, or removes it.
  func setSoup(_ soup: Soup?, named name: String) {
    catalog = catalog.replacing(soup, named: name)
    changedSoups.insert(name)
    didChangeMapping()
  }

  // MARK: Transactions

  /// Runs `work` inside the current transaction so that it takes effect completely or not at all.
  ///
  /// A failure that ended the whole transaction, such as a full disk, is recorded: the transaction
  /// can then do nothing more.
  func atomically<T>(_ work: () throws(SmartStoreError) -> T) throws(SmartStoreError) -> T {
    try checkUsable()
    guard !isSingleCall else { return try work() }
    let before = (catalog, changedSoups, externalChanges, events)
    var outcome: Result<T, SmartStoreError>?
    do {
      try database.inSavepoint {
        do throws(SmartStoreError) {
          outcome = .success(try work())
          return .commit
        } catch {
          outcome = .failure(error)
          return .rollback
        }
      }
    } catch {
      outcome = .failure(SmartStoreError(grdb: error))
    }
    switch outcome {
    case .success(let value): return value
    case .failure(let error):
      (catalog, changedSoups, externalChanges, events) = before
      nextEntryIds.removeAll()
      if !database.isInsideTransaction { fail(error) }
      throw error
    case nil: throw SmartStoreError(.interrupted, "The work was interrupted and rolled back.")
    }
  }

  /// Makes the transaction impossible to commit.
  func fail(_ error: SmartStoreError) {
    failure = failure ?? error
  }

  /// Throws the failure after which this transaction can no longer be committed.
  func checkUsable() throws(SmartStoreError) {
    if let failure { throw failure }
  }

  /// Records for observers that the result of any query may have changed.
  func didChangeMapping() { change.changesMapping = true }

  /// Records for observers that rows of `soup` changed.
  func didChange(_ soup: Soup) { change.insert(soup) }

  /// Adds to the approximate number of bytes by which the WAL grows.
  func didWrite(bytes: Int) { writtenBytes += bytes }

  /// Records an event to report after the commit.
  func didHappen(_ event: AnalyticsEvent) { events.append(event) }

  // MARK: Reading

  /// Prepares a statement that reads, and records the region that it reads if an observer needs it.
  func reading(_ sql: String, cached: Bool = true) throws(SmartStoreError) -> StoreStatement {
    if Task.isCancelled {
      throw SmartStoreError(.interrupted, "The work was cancelled and rolled back.")
    }
    let statement = try StoreStatement(database, sql, cached: cached)
    if recordsRegion { region.formUnion(statement.region) }
    return statement
  }

  /// Starts recording in `region` what is read.
  func recordRegion() { recordsRegion = true }

  /// Runs statements that change tables.
  func execute(_ sql: String) throws(SmartStoreError) {
    do {
      try database.execute(sql: sql)
    } catch {
      throw SmartStoreError(grdb: error)
    }
  }

  // MARK: Entry ids

  /// Takes the id of the next entry of `soup`. Ids are never reused: the sequence survives deletes,
  /// and is read once per transaction.
  func takeEntryId(of soup: Soup) throws(SmartStoreError) -> Int64 {
    let id: Int64
    if let known = nextEntryIds[soup.table] {
      id = known
    } else {
      let statement = try StoreStatement(
        database,
        """
        SELECT max(ifnull((SELECT seq FROM sqlite_sequence WHERE name = '\(soup.table)'), 0), \
        ifnull((SELECT max(id) FROM \(soup.table)), 0))
        """)
      _ = try statement.step()
      id = statement.int64(0) &+ 1
    }
    guard id > 0, id < Int64.max else {
      throw SmartStoreError(.sql, "Soup: \(soup.name) has used up its entry ids.")
    }
    nextEntryIds[soup.table] = id + 1
    return id
  }
}

@available(*, unavailable)
extension StoreAccess: Sendable {}
