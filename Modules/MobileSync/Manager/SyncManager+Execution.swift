import SalesforceAnalytics
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore

extension SyncManager {
  /// The end of a run: the state as it is stored, nil if the manager was closed, and what the caller receives.
  private typealias RunEnd = (state: SyncState?, result: Result<SyncState, any Error>)

  /// Runs a submitted sync to its end, whatever that is. Never on the manager's own executor.
  @concurrent nonisolated func execute(
    _ submitted: SyncState, storedTimeStamp: Int64, leavesOutReferences: Bool,
    _ context: SyncContext, _ reporter: RunReporter
  ) async {
    let ended = await Telemetry.measure(.sync) { recording -> RunEnd in
      recording?.setDimension("type", submitted.type.rawValue)
      recording?.set("sync.id", Int(submitted.id))
      let ended = await execute(
        submitted, storedTimeStamp: storedTimeStamp, leavesOutReferences, context, reporter)
      recording?.describe(ended.state)
      return ended
    }
    // Afterwards, so that the caller finds the span and the measurements of the run complete.
    reporter.finish(ended.state, ended.result)
  }

  @concurrent private nonisolated func execute(
    _ submitted: SyncState, storedTimeStamp: Int64, _ leavesOutReferences: Bool,
    _ context: SyncContext, _ reporter: RunReporter
  ) async -> RunEnd {
    var sync = submitted
    var reason: (any Error)?
    MobileSyncLogger.log.info("Sync \(sync.id) (\(sync.type.rawValue)) started.")
    do {
      if sync.type == .syncUp { try await forgetOutcomes(ofLastRunOf: sync.id) }
      while true {
        do {
          try signal.check()
          try await Self.storeErrors {
            try await run(&sync, leavesOutReferences: leavesOutReferences, context, reporter)
          }
          sync.finish(.done, at: environment.now())
          break
        } catch StopSignal.Interruption.stopped {
          guard await endsAsStopped(sync.id) else {
            if sync != submitted { sync.resume() }
            continue
          }
          // Unless it began, the watermark is as it was.
          if sync == submitted { sync.maxTimeStamp = storedTimeStamp }
          sync.finish(.stopped, at: environment.now())
          break
        }
      }
    } catch StopSignal.Interruption.closed {
      return await endClosed(sync)
    } catch is CancellationError where signal.current == .closed {
      return await endClosed(sync)
    } catch {
      reason = error
      let known =
        error as? SyncError ?? SyncError(.failed, "The sync failed: \(error)", cause: error)
      sync.finish(.failed, error: known.stored, at: environment.now())
    }
    return await end(sync, reason, reporter)
  }

  /// Once per run, however often it is stopped and restarted while it winds down.
  @concurrent private nonisolated func forgetOutcomes(ofLastRunOf id: Int64) async throws {
    if signal.current == .closed { throw StopSignal.Interruption.closed }
    try await Self.storeErrors { try await OutcomeStore(store: store).clear(syncId: id) }
  }

  /// Runs the target as it is stored.
  @concurrent private nonisolated func run(
    _ sync: inout SyncState, leavesOutReferences: Bool, _ context: SyncContext,
    _ reporter: RunReporter
  ) async throws {
    let report: @Sendable (SyncState) -> Void = { reporter.updates.yield($0) }
    let uses = try await soupUses()
    switch sync.type {
    case .syncDown:
      try await SyncDownRun(context: context, uses: uses, now: environment.now, report: report)
        .run(try registry.downTarget(from: sync.target), &sync)
    case .syncUp:
      try await SyncUpRun(
        context: context, uses: uses, now: environment.now, report: report,
        reportOutcome: { reporter.report($0) }, leavesOutReferences: leavesOutReferences
      ).run(try registry.upTarget(from: sync.target), &sync)
    }
  }

  /// Ends a run: the state is stored, the event is delivered, the sync is free again.
  @concurrent private nonisolated func end(
    _ sync: SyncState, _ reason: (any Error)?, _ reporter: RunReporter
  ) async -> RunEnd {
    var sync = sync
    var reason = reason
    do {
      if sync.isProvisional { sync.isProvisional = try await staysProvisional(sync) }
      try await Self.storeErrors { try await states.save(sync, durability: .normal) }
    } catch {
      if signal.current == .closed {
        return await endClosed(sync)
      }
      MobileSyncLogger.log.error("The end of sync \(sync.id) could not be stored: \(error)")
      let known = error as? SyncError ?? SyncError(.store, "\(error)", cause: error)
      if sync.status == .done || sync.status == .stopped {
        sync.status = .failed
        sync.progress = min(sync.progress, 99)
        sync.error = known.stored
        reason = known
      }
    }
    Self.logEnd(of: sync, reporter.tally.counts)
    await environment.events.store(event(for: sync))
    await leave(sync.id)
    return (sync, Self.result(of: sync, reason))
  }

  /// Whether a run of a provisional sync has moved nothing: a download that was done has, also if it
  /// brought no record.
  @concurrent private nonisolated func staysProvisional(_ sync: SyncState) async throws -> Bool {
    if sync.type == .syncDown { return sync.status != .done }
    let kinds = try await Self.storeErrors {
      try await store.read { reader in try OutcomeStore.kinds(syncId: sync.id, in: reader) }
    }
    return kinds.isSubset(of: .notAccepted) && (sync.status != .done || !kinds.isEmpty)
  }

  /// Logs ids and numbers alone: names of soups and syncs are the program's, and errors may quote records.
  private static func logEnd(of sync: SyncState, _ counts: SyncOutcomeCounts) {
    let log = MobileSyncLogger.log
    guard log.isEnabled(.info) else { return }
    var line = "Sync \(sync.id) (\(sync.type.rawValue)) ended: \(sync.status.rawValue)"
    if sync.totalSize >= 0 { line += ", \(sync.totalSize) records" }
    if sync.type == .syncUp {
      line +=
        " (\(counts.succeeded) succeeded, \(counts.skipped) skipped, \(counts.failed) failed)"
    }
    log.info("\(line), \(max(0, sync.endTime - sync.startTime)) ms.")
  }

  @concurrent private nonisolated func endClosed(_ sync: SyncState) async -> RunEnd {
    MobileSyncLogger.log.info(
      "Sync \(sync.id) (\(sync.type.rawValue)) ended: the manager was closed.")
    await leave(sync.id)
    return (
      nil, .failure(SyncError(.closed, "The sync manager was closed during the run of \(sync.id)."))
    )
  }

  private static func result(
    of sync: SyncState, _ reason: (any Error)?
  ) -> Result<SyncState, any Error> {
    switch sync.status {
    case .done: return .success(sync)
    case .stopped:
      return .failure(
        SyncError(
          .stopped, "The sync \(sync.id) was stopped. Restart the manager, then run it again.",
          state: sync))
    default:
      let known = reason as? SyncError
      return .failure(
        SyncError(
          .failed,
          "The sync \(sync.id) failed: \(known?.message ?? "\(reason.map { "\($0)" } ?? "")")",
          status: known?.status, body: known?.body, state: sync, cause: reason))
    }
  }

  private nonisolated func event(for sync: SyncState) -> AnalyticsEvent {
    var attributes: JSONObject = [
      "syncId": .integer(sync.id), "syncTarget": sync.target["type"] ?? .null,
      "startTime": .integer(sync.startTime), "endTime": .integer(sync.endTime),
    ]
    if sync.totalSize > 0 { attributes["numRecords"] = .integer(Int64(sync.totalSize)) }
    return AnalyticsEvent(
      name: sync.type.rawValue, className: "SyncManager", attributes: attributes,
      startTime: sync.startTime,
      endTime: sync.endTime)
  }
}

extension Telemetry.Recording {
  /// Records how a sync ended: its status and the number of its records.
  fileprivate func describe(_ ended: SyncState?) {
    guard let ended else { return setOutcome("cancelled") }
    setDimension("status", ended.status.rawValue)
    if ended.totalSize >= 0 { record("records", ended.totalSize) }
    switch ended.status {
    case .done: break
    case .stopped: setOutcome("cancelled")
    default: setOutcome("failure")
    }
  }
}
