import Synchronization

/// One piece of work whose outcome several callers await.
///
/// The work goes on whatever becomes of the callers: one that is cancelled stops waiting at once,
/// and the others get the outcome. It is cancelled by its owner alone.
final class SharedFlight<Value: Sendable>: Sendable {
  private struct State {
    var outcome: Result<Value, any Error>?
    var waiters: [Int: CheckedContinuation<Value, any Error>] = [:]
    var cancelled: Set<Int> = []
    var next = 0
    var task: Task<Void, Never>?
  }
  private let state = Mutex(State())

  /// Starts `work`, and calls `whenDone` after its outcome is fixed and before the first waiter
  /// learns of it.
  init(
    _ work: @escaping @Sendable () async throws -> Value,
    whenDone: @escaping @Sendable () async -> Void = {}
  ) {
    let task = Task {
      let outcome: Result<Value, any Error>
      do {
        outcome = .success(try await work())
      } catch {
        outcome = .failure(error)
      }
      await whenDone()
      self.finish(outcome)
    }
    state.withLock { $0.task = task }
  }

  /// The outcome.
  ///
  /// - Throws: What the work threw, the same for every caller; `CancellationError` if the calling
  ///   task was cancelled while it waited.
  func value() async throws -> Value {
    let id = state.withLock { state in
      state.next += 1
      return state.next
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let known: Result<Value, any Error>? = state.withLock { state in
          if let outcome = state.outcome { return outcome }
          if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
          state.waiters[id] = continuation
          return nil
        }
        if let known { continuation.resume(with: known) }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        if let waiter = state.waiters.removeValue(forKey: id) { return waiter as Optional }
        state.cancelled.insert(id)
        return nil
      }
      waiter?.resume(throwing: CancellationError())
    }
  }

  /// How many callers wait now.
  var waiterCount: Int { state.withLock { $0.waiters.count } }

  /// Cancels the work and waits for its end.
  func cancel() async {
    let task = state.withLock { $0.task }
    task?.cancel()
    await task?.value
  }

  /// Cancels the work without waiting for its end.
  func giveUp() {
    state.withLock { $0.task }?.cancel()
  }

  private func finish(_ outcome: Result<Value, any Error>) {
    let waiters = state.withLock { state in
      state.outcome = outcome
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters { waiter.resume(with: outcome) }
  }
}
