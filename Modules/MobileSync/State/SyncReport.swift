import SalesforceSDKCommon
import SmartStore

/// A report about a sync: its progress, its speed, and the records of its soup that need attention, with the
/// reasons.
public struct SyncReport: Sendable {
  /// The sync as it is stored.
  public let state: SyncState
  /// How many records the current or last run has moved so far; nil while that is not known.
  public let moved: Int?
  /// How long the current run has taken so far, or the last one took; nil if it never ran.
  public let elapsed: Duration?
  /// How many records of the sync's soups are dirty.
  public let dirty: Int
  /// The open conflicts of the sync's soups.
  public let conflicts: [SyncConflict]
  /// Records of the last run that did not reach the server, with the reason; of a sync up alone.
  public let unsent: [SyncRecordOutcome]
  /// How many records of a sync up's last run ended in which way.
  public let counts: SyncOutcomeCounts
  /// Why the first download of a sync down is not, or was not, split into ranges (``SyncState/partitions``), as a
  /// sentence. nil if it was split, if there are too few records for it, or if the target knows no ranges.
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

  /// How many records per second the current or last run moves; nil while nothing can be said.
  public var recordsPerSecond: Double? {
    guard let moved, moved > 0, let seconds = elapsed.map({ $0 / .seconds(1) }), seconds > 0 else {
      return nil
    }
    return Double(moved) / seconds
  }

  /// How long the current run will take from here, if it goes on as so far; nil if none runs or
  /// nothing can be said yet.
  public var remaining: Duration? {
    guard state.status == .running, let moved, let rate = recordsPerSecond else { return nil }
    return .seconds(Double(state.totalSize - moved) / rate)
  }
}

extension SyncManager {
  /// What there is to tell of a sync now.
  ///
  /// - Throws: ``SyncError`` `doesNotExist`, `store`.
  public func report(forId id: Int64) async throws -> SyncReport {
    try await store.syncReport(forId: id, registry: registry, environment: environment)
  }
}
