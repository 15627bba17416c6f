import GRDB
import GRDBSQLite
import SalesforceAnalytics

/// The implementation of ``StoreReader`` and ``StoreTransaction``, without public members.
public final class StoreAccess {
  let database: Database
  /// The soups of this snapshot, with what this transaction changed.
  private(set) var catalog: SoupCatalog
  /// Milliseconds since 1970.
  let now: @Sendable () -> Int64
  let diagnostics: StoreDiagnostics
  /// Whether the transaction consists of one call, which then needs no savepoint of its own.
  let isSingleCall: Bool

  /// The files of externally stored entries.
  let files: ExternalFiles
  /// The statements of the one query that this is for, if they were looked up before.
  let statements: QueryStatements?
  /// What this transaction does to them when it commits.
  var externalChanges = ExternalChanges()
  /// The last commit in this snapshot that changed files, once it was queried.
  var knownExternalSequence: Int64?
  /// Keeps the files that this snapshot sees.
  private let snapshot: ExternalSnapshot?

  /// The soups whose mapping this transaction changed.
  private(set) var changedSoups: Set<String> = []
  /// What to tell observers once this transaction is committed.
  private(set) var change = StoreChange()
  /// How many bytes of entries were written.
  private(set) var writtenBytes = 0
  /// What to tell the event store once this transaction is committed.
  private(set) var events: [AnalyticsEvent] = []
  /// What was read so far, if an observer needs it.
  private(set) var region = DatabaseRegion()
  private var recordsRegion = false
  /// The next entry id of each soup table that this transaction inserted into.
  private var nextEntryIds: [String: Int64] = [:]
  /// Why this transaction can no longer be committed.
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

  /// Whether pages carry tags, so that only the store can have written what is read.
  var hasEncryptedPages: Bool { files.encryptor != nil }

  /// The soup with this name.
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

  /// Takes over a soup's new mapping, or its absence.
  func setSoup(_ soup: Soup?, named name: String) {
    catalog = catalog.replacing(soup, named: name)
    changedSoups.insert(name)
    didChangeMapping()
  }

  // MARK: Transactions

  /// Runs `work` so that it happens completely or not at all, inside the transaction at hand.
  ///
  /// A failure that ended the whole transaction (a full disk, for one) is remembered: nothing more
  /// can be done in it then.
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

  /// Throws what made this transaction impossible to commit.
  func checkUsable() throws(SmartStoreError) {
    if let failure { throw failure }
  }

  /// Has observers told that any query may mean something else.
  func didChangeMapping() { change.changesMapping = true }

  /// Has observers told that rows of `soup` changed.
  func didChange(_ soup: Soup) { change.insert(soup) }

  /// Counts what the WAL grows by, about.
  func didWrite(bytes: Int) { writtenBytes += bytes }

  /// Has an event reported.
  func didHappen(_ event: AnalyticsEvent) { events.append(event) }

  // MARK: Reading

  /// Prepares a statement that reads, and notes what it reads if an observer needs it.
  func reading(_ sql: String, cached: Bool = true) throws(SmartStoreError) -> StoreStatement {
    if Task.isCancelled {
      throw SmartStoreError(.interrupted, "The work was cancelled and rolled back.")
    }
    let statement = try StoreStatement(database, sql, cached: cached)
    if recordsRegion { region.formUnion(statement.region) }
    return statement
  }

  /// Notes in `region` what is read from now on.
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

  /// The id that the next entry of `soup` gets. Ids are never used twice: the sequence survives
  /// deletes, and is read once for each transaction.
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
