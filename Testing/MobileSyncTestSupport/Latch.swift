import Dispatch
import Synchronization

/// A latch that holds a request, or a transaction, until a test opens it.
public final class Latch: Sendable {
  private struct State {
    var isOpen = false
    var hasArrived = false
    var waiting: [CheckedContinuation<Void, Never>] = []
    var watching: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())
  private let opening = DispatchGroup()

  public init() { opening.enter() }

  deinit { if !state.withLock({ $0.isOpen }) { opening.leave() } }

  /// Blocks the calling thread, such as that of a transaction, until the latch is opened.
  public func passBlocking() {
    arrive()
    opening.wait()
  }

  /// Notifies the tasks that await an arrival.
  public func arrive() {
    let watching = state.withLock { state in
      state.hasArrived = true
      defer { state.watching = [] }
      return state.watching
    }
    for watcher in watching { watcher.resume() }
  }

  /// Waits until the latch is opened.
  public func pass() async {
    await withCheckedContinuation { continuation in
      let (isOpen, watching) = state.withLock { state in
        state.hasArrived = true
        if !state.isOpen { state.waiting.append(continuation) }
        defer { state.watching = [] }
        return (state.isOpen, state.watching)
      }
      if isOpen { continuation.resume() }
      for watcher in watching { watcher.resume() }
    }
  }

  /// Suspends until a task waits at the latch.
  public func arrival() async {
    await withCheckedContinuation { continuation in
      let hasArrived = state.withLock { state in
        if !state.hasArrived { state.watching.append(continuation) }
        return state.hasArrived
      }
      if hasArrived { continuation.resume() }
    }
  }

  /// Opens the latch for all current and later waiters.
  public func open() {
    let (isFirst, waiting) = state.withLock { state in
      let isFirst = !state.isOpen
      state.isOpen = true
      defer { state.waiting = [] }
      return (isFirst, state.waiting)
    }
    if isFirst { opening.leave() }
    for waiter in waiting { waiter.resume() }
  }
}
