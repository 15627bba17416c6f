import SalesforceSDKCommon
import SmartStore

/// A report about a sync: its progress, its speed, and the records of its soup that need attention, with the
/// reasons.
public struct SyncReport: Sendable {
  /// The sync as it is stored.
  public let state: SyncState
  /// The number of records that the current or last run has transferred; nil while it is unknown.
  public let moved: Int?
  /// The duration of the current or last run; nil if the sync never ran.
  public let elapsed: Duration?
  /// The number of dirty records in the sync's soups.
  public let dirty: Int
  /// The open conflicts of the sync's soups.
  public let conflicts: [SyncConflict]
  /// Records that the last run of a sync up did not upload, with the reasons.
  public let unsent: [SyncRecordOutcome]
  /// The number of records by outcome in the last run of a sync up.
  public let counts: SyncOutcomeCounts
  /// The reason, as a sentence, why the first download is not or was not split into ranges
  /// (``SyncState/partitions``). nil if it was split, has too few records, or the target does not
  /// support ranges.
  public let serialReason: String?

  init(
    state: SyncState, now: Int64, dirty: Int, conflicts: [SyncConflict],
    outcomes: [SyncRecordOutcome], counts: SyncOutcomeCounts, obstacle: String? = nil
  ) {
    self.state = state
    serialReason = state.partitions == nil ? obstacle ?? state.serialReason : nil
    self.dirty = dirty
    self.conflicts = conflicts
    self.counts = counts
    unsent = outcomes.filter { $0.kind != .succeeded && $0.kind != .nothingToDo }
    // In two parts: the server may name any size.
    let progress = max(state.progress, 0)
    moved =
      state.totalSize < 0
      ? nil : state.totalSize / 100 * progress + state.totalSize % 100 * progress / 100
    let end = state.endTime > 0 ? state.endTime : now
    elapsed = state.startTime > 0 ? .milliseconds(max(end - state.startTime, 0)) : nil
  }

  /// The rate of the current or last run; nil while it is unknown.
  public var recordsPerSecond: Double? {
    guard let moved, moved > 0, let seconds = elapsed.map({ $0 / .seconds(1) }), seconds > 0 else {
      return nil
    }
    return Double(moved) / seconds
  }

  /// The estimated remaining time of the current run; nil if none is running or the rate is
  /// unknown.
  public var remaining: Duration? {
    guard state.status == .running, let moved, let rate = recordsPerSecond else { return nil }
    return .seconds(Double(state.totalSize - moved) / rate)
  }
}

extension SyncManager {
  /// Returns a report about a sync.
  ///
  /// - Throws: ``SyncError`` `doesNotExist`, `store`.
  public func report(forId id: Int64) async throws -> SyncReport {
    try await store.syncReport(forId: id, registry: registry, environment: environment)
  }
}
