import SalesforceSDKCommon
import Synchronization

/// A run of a sync: its updates, the outcomes of its records, and its end.
///
/// The run belongs to its manager. Letting go of this value, or cancelling the task that waits for
/// it, does not end it; ``SyncManager/stop()`` does.
///
/// ```swift
/// let run = try await manager.reSync(named: "accounts")
/// for await state in run.updates { print(state.status, state.progress) }
/// ```
public struct SyncRun: Sendable {
  /// The sync as it was submitted: running, progress 0, total size -1.
  public let state: SyncState
  /// The updates in order, beginning with ``state`` and ending with the only one that is done,
  /// failed or stopped. Each is in the store before it comes here.
  ///
  /// For one reader. Kept from the start of the run; a reader that falls behind by more than
  /// ``bufferedUpdates`` loses the oldest. It ends without a last update if the manager is closed.
  public let updates: AsyncStream<SyncState>
  /// What became of each record of a sync up, in order, as soon as it is in the store.
  ///
  /// For one reader; kept as ``updates`` are. A sync down has none. All of them can be read again
  /// with ``SyncManager/outcomes(forId:)``.
  public let outcomes: AsyncStream<SyncRecordOutcome>

  /// How many updates and outcomes wait for a slow reader.
  public static let bufferedUpdates = 16_384

  private let end: SharedOutcome<SyncState>

  /// Waits for the end.
  ///
  /// - Returns: The state, which is done. Single records of a sync up may have been refused or
  ///   passed over: see ``outcomes``.
  /// - Throws: ``SyncError`` `failed` or `stopped` with the last state, `closed`;
  ///   `CancellationError` if the waiting task is cancelled, which leaves the run alone.
  public func finished() async throws -> SyncState {
    try await end.value()
  }

  init(
    state: SyncState, updates: AsyncStream<SyncState>, outcomes: AsyncStream<SyncRecordOutcome>,
    end: SharedOutcome<SyncState>
  ) {
    self.state = state
    self.updates = updates
    self.outcomes = outcomes
    self.end = end
  }
}

/// Where the engine delivers what a ``SyncRun`` shows.
struct RunReporter: Sendable {
  let updates: AsyncStream<SyncState>.Continuation
  let outcomes: AsyncStream<SyncRecordOutcome>.Continuation
  let end = SharedOutcome<SyncState>()
  /// The number of outcomes by kind, for the log.
  let tally = OutcomeTally()

  /// Makes both ends.
  static func make(for state: SyncState) -> (RunReporter, SyncRun) {
    let (updates, updatesEnd) = AsyncStream.makeStream(
      of: SyncState.self, bufferingPolicy: .bufferingNewest(SyncRun.bufferedUpdates))
    let (outcomes, outcomesEnd) = AsyncStream.makeStream(
      of: SyncRecordOutcome.self, bufferingPolicy: .bufferingNewest(SyncRun.bufferedUpdates))
    let reporter = RunReporter(updates: updatesEnd, outcomes: outcomesEnd)
    updatesEnd.yield(state)
    let run = SyncRun(state: state, updates: updates, outcomes: outcomes, end: reporter.end)
    return (reporter, run)
  }

  /// Delivers what became of a record.
  func report(_ outcome: SyncRecordOutcome) {
    outcomes.yield(outcome)
    tally.add(outcome.kind)
  }

  /// Delivers the last update, if there is one, and ends both streams.
  func finish(_ last: SyncState?, _ result: Result<SyncState, any Error>) {
    if let last { updates.yield(last) }
    updates.finish()
    outcomes.finish()
    end.resolve(result)
  }
}

/// Counts the outcomes of one run.
final class OutcomeTally: Sendable {
  private let state = Mutex(SyncOutcomeCounts())

  var counts: SyncOutcomeCounts { state.withLock { $0 } }

  func add(_ kind: SyncRecordOutcome.Kind) { state.withLock { $0.add(kind) } }
}
