import Synchronization

/// Where readers wait until an alter has ended.
///
/// Only a reader whose snapshot shows a soup half altered asks. Readers of an older snapshot, and
/// those who come when all is done, pass without noticing.
final class AlterationLatch: Sendable {
  /// An alter is going on: wait, then begin again with a new snapshot.
  struct Closed: Error {}

  private struct State {
    var alterations = 0
    var waiters: [Int: CheckedContinuation<Void, any Error>] = [:]
    /// The number of the next waiter.
    var next = 0
  }

  private let state = Mutex(State())

  /// An alter begins.
  func close() { state.withLock { $0.alterations += 1 } }

  /// An alter has ended, whichever way.
  func open() {
    let waiters = state.withLock { state -> [CheckedContinuation<Void, any Error>] in
      state.alterations -= 1
      guard state.alterations == 0 else { return [] }
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters { waiter.resume() }
  }

  /// How many wait.
  var waiting: Int { state.withLock { $0.waiters.count } }

  /// Throws if an alter is going on.
  func checkOpen() throws(Closed) {
    if state.withLock({ $0.alterations > 0 }) { throw Closed() }
  }

  /// Returns when no alter is going on.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled: an alter may take minutes.
  func waitUntilOpen() async throws {
    let number = state.withLock { state in
      defer { state.next += 1 }
      return state.next
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let outcome = state.withLock { state -> Result<Void, any Error>? in
          if Task.isCancelled { return .failure(CancellationError()) }
          if state.alterations == 0 { return .success(()) }
          state.waiters[number] = continuation
          return nil
        }
        if let outcome { continuation.resume(with: outcome) }
      }
    } onCancel: {
      let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
      waiter?.resume(throwing: CancellationError())
    }
  }
}
