import SalesforceSDKCommon
import SmartStore

/// A soup that was empty when a sync down began, and has only records that this run downloaded.
///
/// Its records need not be matched to entries, so most of its indexes can wait until all are there, which takes
/// half the time. Those on the id and on the flags are kept up, so that records and counts of unsynced ones
/// are found fast while the run continues. An entry from another writer, or a record that comes a second time, ends that: then the
/// indexes are built, and the rest is matched as ever.
struct BulkInsertSoup: Sendable {
  /// The minimum number of records for which deferring index builds is faster.
  static let leastRecords = 10_000
  /// A sync runs while the app does other work, so its memory does not grow with the records.
  private static let cacheBytes = 8 << 20

  private let load: SoupLoad
  private let records: SyncSoup
  /// The newest entry; 0 while there is none.
  private var lastEntryId: Int64 = 0
  /// Hashes of the downloaded ids. If two ids have the same hash, the bulk insert ends early,
  /// without other effects.
  private var seen: Set<Int> = []
  private var isFresh = true

  init(_ load: SoupLoad, _ records: SyncSoup) {
    self.load = load
    self.records = records
  }

  /// Runs `body` with a bulk insert if the soup is empty and `expected` records are enough, and
  /// with nil otherwise.
  static func with(
    _ writer: PageWriter, expected: Int, in store: SmartStore,
    _ body: (BulkInsertSoup?) async throws -> Void
  ) async throws {
    guard expected >= leastRecords, let records = writer.onlyUnsharedSoup,
      try await store.read({ try records.newestEntryId(in: $0) }) == 0
    else { return try await body(nil) }
    let keptPaths = Set(writer.members.map(\.key) + [records.idField])
    return try await store.bulkLoad(
      intoSoupNamed: records.soupName, keepingIndexesOn: keptPaths, cacheBytes: cacheBytes
    ) { load in
      try await body(BulkInsertSoup(load, records))
    }
  }

  /// Appends the records of a page, if nothing else is in the soup, and writes what belongs to it in the same
  /// transaction.
  ///
  /// - Parameters:
  ///   - prepare: What is written before the records.
  ///   - finish: What is written after them.
  /// - Returns: The result of `finish`; nil if the page is to be matched to entries, as all that follow: nothing is
  ///   written then.
  mutating func append<Cursor, Result: Sendable>(
    _ page: DownloadedPage<Cursor>, _ writer: PageWriter, in store: SmartStore,
    prepare: @escaping @Sendable (borrowing StoreTransaction) throws -> Void,
    finish: @escaping @Sendable (borrowing StoreTransaction) throws -> Result
  ) async throws -> Result? {
    guard isFresh else { return nil }
    if page.parts[0].ids.allSatisfy({ seen.insert($0.hashValue).inserted }) {
      let (records, last) = (records, lastEntryId)
      let written = try await store.inTransaction(durability: .normal) {
        transaction -> (newest: Int64, result: Result)? in
        guard try records.newestEntryId(in: transaction) == last else { return nil }
        try prepare(transaction)
        let newest = try writer.append(page, in: transaction) ?? last
        return (newest, try finish(transaction))
      }
      if let written {
        lastEntryId = written.newest
        return written.result
      }
    }
    isFresh = false
    seen = []
    try await load.buildIndexes()
    return nil
  }
}
