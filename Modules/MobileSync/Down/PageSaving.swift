import SalesforceSDKCommon
import SmartStore

/// The writer of a run's pages, with the values known from saved pages.
struct PageSaving {
  let context: SyncContext
  let writer: PageWriter
  let deletions: PageDeletions
  /// The soup, as long as it has nothing but what this run has downloaded.
  var fresh: BulkInsertSoup?
  /// The keys of records that were skipped.
  var skipped: Set<String> = []
  var isFirst = true
  var latestOfChildren: Int64 = -1
  var bound: PageBound<AnyHashable>
  var targetState: JSONObject?
  /// A time of the server's before it read the run's records, in milliseconds since 1970; nil if it is unknown.
  var readAt: Int64?

  init(
    context: SyncContext, writer: PageWriter, deletions: PageDeletions, targetState: JSONObject?,
    bound: PageBound<AnyHashable>
  ) {
    self.bound = bound
    self.context = context
    self.writer = writer
    self.deletions = deletions
    self.targetState = targetState
  }

  /// Whether records of a date may have changed in the same second after they were read.
  ///
  /// The server's clocks are taken to differ by half a second at most.
  func isSecondOpen(of date: Int64) -> Bool {
    guard date > 0, let readAt else { return false }
    return readAt < date / 1_000 * 1_000 + 1_500
  }

  /// Saves a page and what it changes in the sync's state, in one transaction.
  ///
  /// - Parameters:
  ///   - sync: The state as it is stored.
  ///   - state: The state with the page.
  /// - Returns: The state as it is stored now.
  mutating func save(
    _ page: DownloadedPage<some Sendable>, from sync: SyncState, to state: SyncState
  ) async throws -> SyncState {
    try context.checkStop()
    let (context, deletions, writer) = (context, deletions, writer)
    let prepare: @Sendable (borrowing StoreTransaction) throws -> Void = { transaction in
      // Looked at again now that the writer is ours: nothing is written after a stop.
      try context.signal.check()
      if !page.deleted.isEmpty { try deletions.apply(page.deleted, in: transaction) }
    }
    let soupNames = writer.places.map(\.records.soupName)
    let finish: @Sendable (borrowing StoreTransaction) throws -> SyncState = { transaction in
      var state = state
      if page.count > 0 {
        try state.noteDownload(into: soupNames, in: transaction)
      }
      if state != sync { try SyncStateStore.save(state, in: transaction) }
      return state
    }
    let appended = try await fresh?.append(
      page, writer, in: context.store, prepare: prepare, finish: finish)
    if let appended { return appended }
    let (skipped, saved) = try await context.store.inTransaction(durability: .normal) {
      transaction in
      try prepare(transaction)
      let skipped = try writer.save(page, in: transaction)
      return (skipped, try finish(transaction))
    }
    self.skipped.formUnion(skipped)
    return saved
  }
}
