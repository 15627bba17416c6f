import SalesforceSDKCommon
import SmartStore

/// One run of a sync down.
///
/// The next page is fetched while the current one is saved, and further ones if the target allows
/// (``PagePredicting``). The run
/// checks for a stop before it sends a request and before it saves a page, so that a page that came
/// after it is dropped.
struct SyncDownRun: Sendable {
  let context: SyncContext
  let uses: SoupSyncIndex
  let now: @Sendable () -> Int64
  let report: @Sendable (SyncState) -> Void

  /// The number of times that a run begins again because the server has dropped its pages.
  private static let maxRestarts = 3

  /// Runs to the end. If the server has dropped the pages of a query, it is sent again from the watermark on.
  ///
  /// - Parameter sync: The sync as submitted; it holds what is stored also when this throws.
  func run(_ target: some SyncDownTarget, _ sync: inout SyncState) async throws {
    for restart in 1... {
      do {
        try await runOnce(target, &sync)
        // What the download has doubled, such as a record under another form of its id, is one entry when the run ends.
        return try await unite(DownloadLayout(of: target, soupName: context.soupName))
      } catch let error as SyncError where error.isOfDroppedPages && restart <= Self.maxRestarts {
        MobileSyncLogger.log.info(
          "The server has dropped the pages of sync \(sync.id), which begins again from its watermark."
        )
        sync.resume()
      }
    }
  }

  /// Unites the entries of records that have several.
  private func unite(_ layout: DownloadLayout) async throws {
    for place in layout.places {
      try await context.doubles.unite(
        EntryUnion(
          soupName: place.records.soupName, names: place.names, uses: uses,
          syncId: context.syncId, time: now()), in: context.store)
    }
  }

  private func runOnce(_ target: some SyncDownTarget, _ sync: inout SyncState) async throws {
    let layout = DownloadLayout(of: target, soupName: context.soupName)
    try await layout.check(in: context.store)
    try await unite(layout)
    let writer = try await PageWriter(
      layout, sync, uses, time: now(), context.doubles, in: context.store)
    if !sync.fieldsToBackfill.isEmpty, let target = target as? any FieldBackfilling {
      try await FieldBackfill(context: context, uses: uses, fields: sync.fieldsToBackfill)
        .run(target)
      sync.fieldsToBackfill = []
      sync.backfilledTarget = nil
      try await SyncStateStore(store: context.store).save(sync, durability: .normal)
    }
    let deletions = try await PageDeletions(
      GhostCleaning(context: context, uses: uses), layout, sync, time: now())
    var pages = PageSaving(
      context: context, writer: writer, deletions: deletions, targetState: sync.targetState,
      // Others may count while they list.
      bound: PageBound(isTotalFixed: target is any PagePredicting))
    let due = try await writer.skipped.due(in: context.store)
    var context = context
    // From a checkpoint on, what was skipped before it would not come.
    context.checkpoint = due.keys.isEmpty ? sync.checkpoint : nil
    let (first, inRanges) = try await begin(target, layout, due.since, &sync, &pages, in: context)

    var machine = SyncDownMachine(
      maxTimeStamp: sync.maxTimeStamp, isSorted: target.isSortedByModificationDate,
      fetched: inRanges)
    let isWorking = machine.begin(
      total: first.map { $0.totalSize ?? -1 } ?? 0, isLast: first?.next == nil)
    sync.totalSize = machine.totalSize
    if isWorking {
      try context.checkStop()
      try await SyncStateStore(store: context.store).save(sync, durability: .normal)
      report(sync)
    }

    guard let first else {
      return try await writer.skipped.remove(
        due.keys.subtracting(pages.skipped), in: context.store)
    }
    var ahead = PagesAhead(target, layout, in: context)
    do {
      try await save(from: first, of: target, layout, &machine, &sync, &pages, &ahead)
    } catch {
      await ahead.cancel()
      throw error
    }
    await ahead.cancel()
    machine.end(latestOfChildren: pages.latestOfChildren)
    sync.maxTimeStamp = machine.maxTimeStamp
    sync.isSecondOpen = pages.isSecondOpen(of: machine.maxTimeStamp)
    sync.targetState = pages.targetState
    try await writer.skipped.remove(due.keys.subtracting(pages.skipped), in: context.store)
    if let finishing = target as? any SyncDownFinishing {
      // A process that ends while the target cleans up does not download everything again.
      try await SyncStateStore(store: context.store).save(sync, durability: .normal)
      context.checkpoint = sync.checkpoint
      await finishing.finished(in: context)
    }
  }

  /// The first page of what is downloaded one page after the other. What comes in ranges is saved before.
  ///
  /// - Parameter due: Since when skipped records have to come again; nil if there are none.
  /// - Returns: The page, nil if there is none, and how many records have come in ranges.
  private func begin<Target: SyncDownTarget>(
    _ target: Target, _ layout: DownloadLayout, _ due: Int64?, _ sync: inout SyncState,
    _ pages: inout PageSaving, in context: SyncContext
  ) async throws -> (DownloadedPage<Target.Cursor>?, Int) {
    func first(_ sync: inout SyncState) async throws -> DownloadedPage<Target.Cursor>? {
      let own = sync.start
      let start = context.serverClock.instant()
      let page = try await Self.first(
        of: target, layout, since: due.map { min($0, own) } ?? own, in: context)
      pages.readAt = context.serverClock.estimate(at: start)
      Self.noteBeginning(at: start, of: target, page?.totalSize, &sync, in: context)
      // Other targets may return all records each time.
      guard sync.isSecondOpen, target.fetchesOnlyChanges, let page,
        let places = pages.writer.placesOfEngine
      else {
        return page
      }
      return try await page.withoutKnown(
        at: sync.maxTimeStamp, of: sync.id, places, in: context.store)
    }
    guard let partitioned = target as? any PartitionedSyncDownTarget else {
      return (try await first(&sync), 0)
    }
    if sync.partitions?.isDone ?? true {
      let page = try await first(&sync)
      try await plan(partitioned, total: page?.next == nil ? 0 : page?.totalSize ?? 0, &sync, pages)
      if sync.partitions?.isDone ?? true { return (page, 0) }
    }
    try await downloadRanges(of: partitioned, layout, &sync, &pages)
    // The changes since the ranges were created.
    return (try await first(&sync), sync.partitions?.saved ?? 0)
  }

  /// Records the time from which deletions matter: records of a first run were not deleted before
  /// it.
  private static func noteBeginning(
    at start: ContinuousClock.Instant, of target: some SyncDownTarget, _ total: Int?,
    _ sync: inout SyncState, in context: SyncContext
  ) {
    guard sync.maxTimeStamp < 0, sync.deletionsUntil == nil,
      let listing = target as? any DeletionListing, total ?? .max >= listing.deletionsFrom
    else { return }
    sync.deletionsUntil = context.serverClock.time(before: start)
  }

  /// Saves all pages.
  private func save<Target: SyncDownTarget>(
    from first: DownloadedPage<Target.Cursor>, of target: Target, _ layout: DownloadLayout,
    _ machine: inout SyncDownMachine, _ sync: inout SyncState, _ pages: inout PageSaving,
    _ ahead: inout PagesAhead<Target>
  ) async throws {
    // Pages without records come while the server is still at work; how many records there are is known after them.
    let filled = try await save(from: first, &machine, &sync, &pages, &ahead) { page, machine in
      page.count == 0 && page.totalSize == nil && machine.totalSize < 0
    }
    try await BulkInsertSoup.with(
      pages.writer, expected: max(machine.totalSize, filled?.totalSize ?? -1), in: context.store
    ) { fresh in
      pages.fresh = fresh
      _ = try await save(from: filled, &machine, &sync, &pages, &ahead) { _, _ in true }
    }
  }

  /// Saves a page and those that follow, as long as `condition` holds.
  ///
  /// - Returns: The first page that is not saved; nil if there is none.
  private func save<Target: SyncDownTarget>(
    from first: DownloadedPage<Target.Cursor>?, _ machine: inout SyncDownMachine,
    _ sync: inout SyncState, _ pages: inout PageSaving, _ ahead: inout PagesAhead<Target>,
    while condition: (DownloadedPage<Target.Cursor>, SyncDownMachine) -> Bool
  ) async throws -> DownloadedPage<Target.Cursor>? {
    var page = first
    while let current = page, condition(current, machine) {
      let fault = pages.bound.follow(current)
      // What only brings a checkpoint, such as a job's id, is stored before the next request builds on it.
      let isCheckpoint = current.count == 0 && current.checkpoint != nil
      if fault == nil, !isCheckpoint { ahead.request(after: current) }
      // The first page's count is known already; a later page may correct it.
      let effect = machine.page(
        count: current.count, latest: current.latest,
        total: pages.isFirst ? nil : current.totalSize, completeUntil: current.completeUntil)
      pages.isFirst = false
      pages.latestOfChildren = max(pages.latestOfChildren, current.latestOfChildren)
      if let state = current.targetState { pages.targetState = state.isEmpty ? nil : state }
      sync = try await save(current, effect, machine, sync, &pages)
      if effect.progress != nil { report(sync) }
      if let fault { throw SyncError(fault) }
      page = try await ahead.next(after: current)
    }
    return page
  }

  /// Saves a page and what it changes in the sync's state, in one transaction.
  private func save(
    _ page: DownloadedPage<some Sendable>, _ effect: SyncDownMachine.PageEffect,
    _ machine: SyncDownMachine, _ sync: SyncState, _ pages: inout PageSaving
  ) async throws -> SyncState {
    var changed = sync
    changed.totalSize = machine.totalSize
    if let maxTimeStamp = effect.maxTimeStamp {
      changed.maxTimeStamp = maxTimeStamp
      changed.isSecondOpen = pages.isSecondOpen(of: maxTimeStamp)
    }
    if let progress = effect.progress { changed.advance(to: progress) }
    if let checkpoint = page.checkpoint {
      changed.checkpoint = checkpoint.isEmpty ? nil : checkpoint
    }
    if page.count > 0 { changed.isProvisional = false }
    return try await pages.save(page, from: sync, to: changed)
  }

  /// The first page, looked through.
  @concurrent private static func first<Target: SyncDownTarget>(
    of target: Target, _ layout: DownloadLayout, since maxTimeStamp: Int64,
    in context: SyncContext
  ) async throws -> DownloadedPage<Target.Cursor>? {
    try context.checkStop()
    return try await target.startFetch(since: maxTimeStamp, in: context).map {
      try DownloadedPage($0, layout)
    }
  }

  /// The page that a cursor leads to, looked through; nil if there is none.
  @concurrent static func page<Target: SyncDownTarget>(
    at cursor: Target.Cursor, of target: Target, _ layout: DownloadLayout, in context: SyncContext
  ) async throws -> DownloadedPage<Target.Cursor>? {
    try context.checkStop()
    return try await target.continueFetch(cursor, in: context).map {
      try DownloadedPage($0, layout)
    }
  }
}
