import Synchronization

/// Where readers wait until an alter has ended.
///
/// Only a reader whose snapshot shows a soup half altered asks. Readers of an older snapshot, and
/// those who come when all is done, pass without noticing.
final class AlterationGate: Sendable {
  /// An alter is going on: wait, then begin again with a new snapshot.
  struct Closed: Error {}

  private struct State {
    var alterations = 0
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  /// An alter begins.
  func close() { state.withLock { $0.alterations += 1 } }

  /// An alter has ended, whichever way.
  func open() {
    let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      state.alterations -= 1
      guard state.alterations == 0 else { return [] }
      defer { state.waiters = [] }
      return state.waiters
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
  func waitUntilOpen() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if state.alterations > 0 { state.waiters.append(continuation) }
        return state.alterations == 0
      }
      if isOpen { continuation.resume() }
    }
  }
}
