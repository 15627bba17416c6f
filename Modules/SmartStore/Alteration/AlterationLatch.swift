import Synchronization

/// A latch at which readers wait until an alter has ended.
///
/// Only a reader whose snapshot contains a partly altered soup uses it. Readers of an older
/// snapshot, and of one after the alter, do not wait.
final class AlterationLatch: Sendable {
  /// An alter is running: wait, then read a new snapshot.
  struct Closed: Error {}

  private struct State {
    var alterations = 0
    var waiters: [Int: CheckedContinuation<Void, any Error>] = [:]
    /// The number of the next waiter.
    var next = 0
  }

  private let state = Mutex(State())

  /// Closes the latch: an alter begins.
  func close() { state.withLock { $0.alterations += 1 } }

  /// Opens the latch: an alter has ended, with success or failure.
  func open() {
    let waiters = state.withLock { state -> [CheckedContinuation<Void, any Error>] in
      state.alterations -= 1
      guard state.alterations == 0 else { return [] }
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters { waiter.resume() }
  }

  /// The number of waiting readers.
  var waiting: Int { state.withLock { $0.waiters.count } }

  /// Throws if an alter is running.
  func checkOpen() throws(Closed) {
    if state.withLock({ $0.alterations > 0 }) { throw Closed() }
  }

  /// Returns when no alter is running.
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
