import Dispatch
import Synchronization

/// A door that opens once: tasks wait for it with `await`, closures of a transaction by blocking
/// their thread.
final class Latch: Sendable {
  private struct State {
    var isOpen = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())
  private let group = DispatchGroup()

  init() { group.enter() }

  deinit { if !state.withLock({ $0.isOpen }) { group.leave() } }

  /// Lets everybody through from now on.
  func open() {
    let (isFirst, waiters) = state.withLock { state in
      defer { state = State(isOpen: true) }
      return (!state.isOpen, state.waiters)
    }
    if isFirst { group.leave() }
    for waiter in waiters { waiter.resume() }
  }

  /// Waits without holding a thread.
  func wait() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiters.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  /// Waits on a thread that may be held up, such as that of a transaction.
  func waitBlocking() { group.wait() }
}
