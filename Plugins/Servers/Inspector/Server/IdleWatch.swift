import Synchronization

/// Ends a server that has had no request for some time. A request in flight counts until it ends.
final class IdleWatch: Sendable {
  private struct State {
    var open = 0
    var last = ContinuousClock.now
    var task: Task<Void, Never>?
    var isOver = false
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    var lastWaiter = 0
  }

  private let limit: Duration
  private let state = Mutex(State())

  init(_ limit: Duration) { self.limit = limit }

  /// Calls `end` once the time is over.
  func start(_ end: @escaping @Sendable () async -> Void) {
    let task = Task { [weak self] in
      while let due = self?.due {
        guard due > .now else {
          await end()
          return
        }
        guard (try? await Task.sleep(until: due)) != nil else { return }
      }
    }
    state.withLock { $0.task = task }
  }

  /// The time at which the idle time ends.
  private var due: ContinuousClock.Instant {
    state.withLock { state in (state.open > 0 ? .now : state.last) + limit }
  }

  func requestBegan() { state.withLock { $0.open += 1 } }

  func requestEnded() {
    state.withLock { state in
      state.open -= 1
      state.last = .now
    }
  }

  /// The server has ended.
  func end() {
    let (task, waiters) = state.withLock { state in
      state.isOver = true
      defer { state.waiters = [:] }
      return (state.task, Array(state.waiters.values))
    }
    task?.cancel()
    for waiter in waiters { waiter.resume() }
  }

  /// Waits for the end, or until the task is cancelled.
  func waitForEnd() async {
    let id = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waits = state.withLock { state in
          if state.isOver || Task.isCancelled { return false }
          state.waiters[id] = continuation
          return true
        }
        if !waits { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
    }
  }
}
