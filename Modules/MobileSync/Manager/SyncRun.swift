import SalesforceSDKCommon
import Synchronization

/// A run of a sync: its updates, the outcomes of its records, and its end.
///
/// The run belongs to its manager. Releasing this value, or cancelling a task that waits for it,
/// does not end the run; ``SyncManager/stop()`` does.
///
/// ```swift
/// let run = try await manager.reSync(named: "accounts")
/// for await state in run.updates { print(state.status, state.progress) }
/// ```
public struct SyncRun: Sendable {
  /// The sync as it was submitted: running, progress 0, total size -1.
  public let state: SyncState
  /// The updates in order, from ``state`` to the final one, which is done, failed or stopped. Each
  /// update is stored before it is delivered.
  ///
  /// For one reader. Updates are buffered from the start of the run; a reader that falls behind by
  /// more than ``bufferedUpdates`` loses the oldest. If the manager is closed, the stream ends
  /// without a final update.
  public let updates: AsyncStream<SyncState>
  /// The outcome of each record of a sync up, in order, as soon as it is stored.
  ///
  /// For one reader; buffered like ``updates``. A sync down has none. To read all outcomes again,
  /// use ``SyncManager/outcomes(forId:)``.
  public let outcomes: AsyncStream<SyncRecordOutcome>

  /// The number of updates and outcomes that are buffered for a slow reader.
  public static let bufferedUpdates = 16_384

  private let end: SharedOutcome<SyncState>

  /// Waits for the end.
  ///
  /// - Returns: The final state, which is done. Single records of a sync up may have been rejected
  ///   or skipped: see ``outcomes``.
  /// - Throws: ``SyncError`` `failed` or `stopped` with the last state, `closed`;
  ///   `CancellationError` if the waiting task is cancelled, which does not affect the run.
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

/// The sink to which the engine delivers the updates of a ``SyncRun``.
struct RunReporter: Sendable {
  let updates: AsyncStream<SyncState>.Continuation
  let outcomes: AsyncStream<SyncRecordOutcome>.Continuation
  let end = SharedOutcome<SyncState>()
  /// The number of outcomes by kind, for the log.
  let tally = OutcomeTally()

  /// Creates both ends.
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

  /// Delivers the outcome of a record.
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
