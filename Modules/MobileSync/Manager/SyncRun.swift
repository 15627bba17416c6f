import Synchronization

/// A run that was submitted: its updates, the outcomes of its records, and its end.
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

  private let end: RunEnd

  /// Waits for the end.
  ///
  /// - Returns: The state, which is done. Single records of a sync up may have been refused or
  ///   passed over: see ``outcomes``.
  /// - Throws: ``SyncError`` `failed` or `stopped` with the last state, `closed`;
  ///   `CancellationError` if the waiting task is cancelled, which leaves the run alone.
  public func finished() async throws -> SyncState {
    try await end.wait()
  }

  init(
    state: SyncState, updates: AsyncStream<SyncState>, outcomes: AsyncStream<SyncRecordOutcome>,
    end: RunEnd
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
  let end = RunEnd()

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

  /// Delivers the last update, if there is one, and ends both streams.
  func finish(_ last: SyncState?, _ result: Result<SyncState, any Error>) {
    if let last { updates.yield(last) }
    updates.finish()
    outcomes.finish()
    end.resolve(result)
  }
}

/// The end of a run, for any number of waiting tasks.
final class RunEnd: Sendable {
  private struct Waiting {
    var result: Result<SyncState, any Error>?
    var waiters: [Int: CheckedContinuation<SyncState, any Error>] = [:]
    var nextTicket = 0
  }

  private let waiting = Mutex(Waiting())

  /// Waits for ``resolve(_:)``; a cancelled waiter leaves with `CancellationError`.
  func wait() async throws -> SyncState {
    let ticket = waiting.withLock { waiting in
      waiting.nextTicket += 1
      return waiting.nextTicket
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let result: Result<SyncState, any Error>? = waiting.withLock { waiting in
          if let result = waiting.result { return result }
          // The cancellation handler may have run before there was a waiter to take out.
          if Task.isCancelled { return .failure(CancellationError()) }
          waiting.waiters[ticket] = continuation
          return nil
        }
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      let continuation = waiting.withLock { $0.waiters.removeValue(forKey: ticket) }
      continuation?.resume(throwing: CancellationError())
    }
  }

  /// Ends the run. The first result counts.
  func resolve(_ result: Result<SyncState, any Error>) {
    let waiters = waiting.withLock { waiting in
      guard waiting.result == nil else { return [CheckedContinuation<SyncState, any Error>]() }
      waiting.result = result
      defer { waiting.waiters = [:] }
      return Array(waiting.waiters.values)
    }
    for waiter in waiters { waiter.resume(with: result) }
  }
}
