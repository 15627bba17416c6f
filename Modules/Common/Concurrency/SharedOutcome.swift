import Synchronization

/// An outcome that any number of tasks wait for; it is fixed once.
package final class SharedOutcome<Value: Sendable>: Sendable {
  private struct State {
    var outcome: Result<Value, any Error>?
    var waiters: [Int: CheckedContinuation<Value, any Error>] = [:]
    var lastTicket = 0
  }

  private let state = Mutex(State())

  /// Begins open.
  package init() {}

  /// The number of waiting tasks.
  package var waiterCount: Int { state.withLock { $0.waiters.count } }

  /// Waits for ``resolve(_:)``.
  ///
  /// - Throws: The failure it was resolved with, the same for every caller; `CancellationError` as
  ///   soon as the waiting task is cancelled, which leaves the others waiting.
  package func value() async throws -> Value {
    let ticket = state.withLock { state in
      state.lastTicket += 1
      return state.lastTicket
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let known: Result<Value, any Error>? = state.withLock { state in
          if let outcome = state.outcome { return outcome }
          // The cancellation handler may have run before there was a waiter to take out.
          if Task.isCancelled { return .failure(CancellationError()) }
          state.waiters[ticket] = continuation
          return nil
        }
        if let known { continuation.resume(with: known) }
      }
    } onCancel: {
      let waiter = state.withLock { $0.waiters.removeValue(forKey: ticket) }
      waiter?.resume(throwing: CancellationError())
    }
  }

  /// Fixes the outcome and tells everybody who waits. The first one counts.
  package func resolve(_ outcome: Result<Value, any Error>) {
    let waiters = state.withLock { state in
      guard state.outcome == nil else { return [CheckedContinuation<Value, any Error>]() }
      state.outcome = outcome
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters { waiter.resume(with: outcome) }
  }
}
