import SalesforceAnalytics
public import SalesforceSDKCommon

extension SyncManager {
  // MARK: Making syncs

  /// Creates a sync down without running it.
  ///
  /// - Parameters:
  ///   - syncName: A name that no other sync of the store has; nil or empty for none. A provisional sync
  ///     (``SyncState/isProvisional``) that is not active is replaced.
  /// - Returns: The sync as it is stored, with ``SyncState/warnings`` of probable mistakes in its fields, which are also
  ///   logged.
  /// - Throws: ``SyncError`` `nameInUse`, `unknownTarget` if the target is not registered, `store`.
  public func createSyncDown(
    target: some SyncDownTarget, options: SyncOptions, soupName: String,
    syncName: String? = nil
  ) async throws -> SyncState {
    try await createSyncDown(
      targetJSON: target.json, options: options, soupName: soupName, syncName: syncName)
  }

  /// As ``createSyncDown(target:options:soupName:syncName:)``, with a target in JSON.
  public func createSyncDown(
    targetJSON: JSONObject, options: SyncOptions, soupName: String,
    syncName: String? = nil
  ) async throws -> SyncState {
    try await createChecked(newDown(targetJSON, options, soupName, syncName))
  }

  /// Creates a sync up without running it.
  ///
  /// - Throws: As ``createSyncDown(target:options:soupName:syncName:)``.
  public func createSyncUp(
    target: some SyncUpTarget, options: SyncOptions, soupName: String,
    syncName: String? = nil
  ) async throws -> SyncState {
    try await createSyncUp(
      targetJSON: target.json, options: options, soupName: soupName, syncName: syncName)
  }

  /// As ``createSyncUp(target:options:soupName:syncName:)``, with a target in JSON; without one the
  /// default target is used.
  public func createSyncUp(
    targetJSON: JSONObject = [:], options: SyncOptions, soupName: String,
    syncName: String? = nil
  ) async throws -> SyncState {
    try await createChecked(newUp(targetJSON, options, soupName, syncName))
  }

  // MARK: Making and running syncs

  /// Creates a sync down and runs it.
  ///
  /// ``SyncRun/state`` has the ``SyncState/warnings`` of probable mistakes in the fields, which are also logged.
  /// If the run ends before it has downloaded a record, the sync is provisional
  /// (``SyncState/isProvisional``): it can be run again, and the next call that creates a sync of
  /// the same name replaces it. A sync without a name stays until it is deleted by its id.
  ///
  /// - Throws: ``SyncError`` `managerStopped`, and as
  ///   ``createSyncDown(target:options:soupName:syncName:)``; no sync is created then.
  public func syncDown(
    target: some SyncDownTarget, options: SyncOptions, soupName: String,
    syncName: String? = nil
  ) async throws -> SyncRun {
    try await syncDown(
      targetJSON: target.json, options: options, soupName: soupName, syncName: syncName)
  }

  /// As ``syncDown(target:options:soupName:syncName:)``, with a target in JSON.
  public func syncDown(
    targetJSON: JSONObject, options: SyncOptions, soupName: String,
    syncName: String? = nil
  ) async throws -> SyncRun {
    try await startNew(newDown(targetJSON, options, soupName, syncName))
  }

  /// Creates a sync up and runs it.
  ///
  /// Until the server has accepted one of its records, the sync is provisional, as with
  /// ``syncDown(target:options:soupName:syncName:)``.
  ///
  /// After a run, the entries still have their old modification dates. In mode `LEAVE_IF_CHANGED`,
  /// the next edit of such an entry would become a conflict: sync down first, or fetch the dates
  /// with ``SyncOptions/fetchesModificationDates``.
  ///
  /// - Throws: As ``syncDown(target:options:soupName:syncName:)``.
  public func syncUp(
    target: some SyncUpTarget, options: SyncOptions, soupName: String,
    syncName: String? = nil
  ) async throws -> SyncRun {
    try await syncUp(
      targetJSON: target.json, options: options, soupName: soupName, syncName: syncName)
  }

  /// As ``syncUp(target:options:soupName:syncName:)``, with a target in JSON; without one the
  /// default target is used.
  public func syncUp(
    targetJSON: JSONObject = [:], options: SyncOptions, soupName: String,
    syncName: String? = nil
  ) async throws -> SyncRun {
    try await startNew(newUp(targetJSON, options, soupName, syncName))
  }

  /// Runs a stored sync of either direction again: a sync down requests the records that changed
  /// since, a sync up sends the dirty records.
  ///
  /// - Throws: ``SyncError`` `doesNotExist`, `managerStopped`, `alreadyRunning`, `store`.
  public func reSync(id: Int64) async throws -> SyncRun {
    try await start(id: try await runnable(existing(id: id)).id)
  }

  /// As ``reSync(id:)``, by name.
  public func reSync(named name: String) async throws -> SyncRun {
    try await start(id: try await runnable(existing(name: name)).id)
  }

  // MARK: Ghosts

  /// Removes clean records that the sync downloaded and that the server no longer returns for it.
  ///
  /// It costs one request per 2,000 records on the server. A ``DeletionListing`` target with many
  /// records needs two requests if records left it only by deletion. The stored sync is not
  /// changed, except for its record of deletions.
  ///
  /// With such a target, if equal numbers of records leave and enter the target by changes of
  /// access, only ``cleanResyncGhosts(forId:comparingIds:)`` finds the ghosts.
  ///
  /// - Returns: The number of removed records; for a target with parents and children, of removed
  ///   parents.
  /// - Throws: ``SyncError`` `doesNotExist`, `managerStopped`, `alreadyRunning`,
  ///   `ghostsNeedSyncDown`; `stopped` if the manager was stopped in the meantime; the errors of
  ///   the requests, with nothing removed.
  public func cleanResyncGhosts(forId id: Int64) async throws -> Int {
    try await cleanResyncGhosts(forId: id, comparingIds: false)
  }

  /// As ``cleanResyncGhosts(forId:)``; with `comparingIds`, it always compares all ids.
  public func cleanResyncGhosts(forId id: Int64, comparingIds: Bool) async throws -> Int {
    try await cleanGhosts(of: try await runnable(existing(id: id)), comparingIds).removed
  }

  /// As ``cleanResyncGhosts(forId:)``, by name.
  public func cleanResyncGhosts(forName name: String) async throws -> Int {
    try await cleanGhosts(of: try await runnable(existing(name: name))).removed
  }

  /// As ``cleanResyncGhosts(forId:)``, with the counts of all soups that the sync fills.
  public func cleanResyncGhostCounts(forId id: Int64) async throws -> GhostCounts {
    try await cleanGhosts(of: try await runnable(existing(id: id)))
  }

  // MARK: Looking

  /// Returns the sync with this id, nil if there is none.
  public func syncStatus(forId id: Int64) async throws -> SyncState? {
    try await Self.storeErrors { try await states.sync(id: id) }
  }

  /// Returns the sync with this name, nil if there is none.
  public func syncStatus(forName name: String) async throws -> SyncState? {
    try await Self.storeErrors { try await states.sync(name: name) }
  }

  /// Whether there is a sync with this name.
  public func hasSync(forName name: String) async throws -> Bool {
    try await syncStatus(forName: name) != nil
  }

  /// Returns all syncs of the store, or those in `status`, by ascending id.
  public func syncs(with status: SyncStatus? = nil) async throws -> [SyncState] {
    try await Self.storeErrors { try await states.all(with: status) }
  }

  /// Returns the outcome of each record in the last run of a sync up.
  ///
  /// A record of an earlier run is still listed as `inFlight` or `unanswered` as long as it is
  /// unknown whether the server created it.
  public func outcomes(forId id: Int64) async throws -> [SyncRecordOutcome] {
    try await Self.storeErrors { try await OutcomeStore(store: store).outcomes(syncId: id) }
  }

  /// Returns the number of records by outcome in the last run of a sync up.
  public func outcomeCounts(forId id: Int64) async throws -> SyncOutcomeCounts {
    try await Self.storeErrors { try await OutcomeStore(store: store).counts(syncId: id) }
  }

  /// Returns the number of unsynced records of each soup, which would be lost with the store.
  ///
  /// Soups without an index on `__local__` cannot be synced up and are skipped; soups without
  /// unsynced records are omitted.
  public func unsyncedRecords() async throws -> [String: Int] {
    try await Self.storeErrors { try await SyncSoup.dirtyCounts(in: store) }
  }

  /// Deletes a sync, if it exists. The records that it downloaded stay. A caller that runs it
  /// during the deletion gets `alreadyRunning`, and afterwards `doesNotExist`.
  ///
  /// - Throws: ``SyncError`` `alreadyRunning` while it is active, `store`, `closed`.
  public func deleteSync(forId id: Int64) async throws {
    try reserve(id)
    defer { leave(id) }
    try await writing {
      try await states.delete(id: id)
      try await OutcomeStore(store: store).clear(syncId: id)
      try await ContributingSyncs.removeAll(of: id, in: store)
      try await SkippedRecords.removeAll(of: id, in: store)
    }
  }

  /// As ``deleteSync(forId:)``, by name.
  public func deleteSync(forName name: String) async throws {
    if let sync = try await syncStatus(forName: name) { try await deleteSync(forId: sync.id) }
  }

  /// Returns a new local id for a record to create.
  public nonisolated func createLocalId() -> String {
    SyncKeys.newLocalId(environment.uniqueNumber())
  }

  // MARK: Steps

  func existing(id: Int64) async throws -> SyncState {
    guard let sync = try await syncStatus(forId: id) else {
      throw SyncError(.doesNotExist, "Sync \(id) does not exist. Make it first.")
    }
    return sync
  }

  func existing(name: String) async throws -> SyncState {
    guard let sync = try await syncStatus(forName: name) else {
      throw SyncError(.doesNotExist, "Sync \(name) does not exist. Make it first.")
    }
    return sync
  }

  /// The sync, if it may be run now and its target is known.
  private func runnable(_ sync: SyncState) throws -> SyncState {
    try checkAccepting()
    try checkNotActive(sync.id)
    return sync
  }

  private func cleanGhosts(
    of sync: SyncState, _ comparesIds: Bool = false
  ) async throws -> GhostCounts {
    guard sync.type == .syncDown else {
      throw SyncError(
        .ghostsNeedSyncDown,
        "Can only run clean ghosts for sync down: sync \(sync.id) is a \(sync.type.rawValue).")
    }
    let started = environment.now()
    do {
      let counts = try await removeGhosts(of: sync, comparesIds)
      await storeCleaningEvent(sync, from: started, counts: counts)
      return counts
    } catch {
      await storeCleaningEvent(sync, from: started, counts: nil)
      throw error
    }
  }

  private func removeGhosts(
    of sync: SyncState, _ comparesIds: Bool
  ) async throws -> GhostCounts {
    let target = try registry.downTarget(from: sync.target)
    do {
      return try await Self.storeErrors {
        try await perform(on: sync) { context in
          try await GhostCleaning(context: context, uses: try await self.soupUses())
            .run(target, of: sync, comparesIds: comparesIds)
        }
      }
    } catch StopSignal.Interruption.stopped {
      throw SyncError(
        .stopped, "Cleaning the ghosts of sync \(sync.id) was stopped. Restart the manager first.")
    } catch  where signal.current == .closed {
      // Closing cancels what is in flight; the caller is not cancelled.
      throw SyncError(.closed, "The sync manager was closed while it cleaned ghosts.")
    }
  }

  /// Stores the event of a cleaning; one that failed has no count.
  private func storeCleaningEvent(
    _ sync: SyncState, from start: Int64, counts: GhostCounts?
  ) async {
    var attributes: JSONObject = [
      "syncId": .integer(sync.id), "syncTarget": sync.target["type"] ?? .null,
    ]
    if let counts { attributes["numRecords"] = .integer(Int64(counts.removed)) }
    await environment.events.store(
      AnalyticsEvent(
        name: "cleanResyncGhosts", className: "SyncManager", attributes: attributes,
        startTime: start,
        endTime: environment.now()))
  }
}
