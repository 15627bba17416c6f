import Synchronization

/// A source of events. Each subscriber receives all events since its subscription, in order.
package final class EventSource<Event: Sendable>: Sendable {
  private struct State {
    var subscribers: [Int: AsyncStream<Event>.Continuation] = [:]
    var next = 0
    var isFinished = false
  }
  private let state = Mutex(State())

  /// Begins without subscribers.
  package init() {}

  /// A new subscription; it keeps what its reader has not read yet.
  package func stream() -> AsyncStream<Event> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Event.self, bufferingPolicy: .unbounded)
    let id: Int? = state.withLock { state in
      guard !state.isFinished else { return nil }
      state.next += 1
      state.subscribers[state.next] = continuation
      return state.next
    }
    guard let id else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.subscribers.removeValue(forKey: id) }
    }
    return stream
  }

  /// The number of subscriptions whose readers are still there.
  var subscriberCount: Int { state.withLock { $0.subscribers.count } }

  /// Sends an event to all subscribers.
  package func send(_ event: Event) {
    let subscribers = state.withLock { Array($0.subscribers.values) }
    for subscriber in subscribers { subscriber.yield(event) }
  }

  /// Ends all subscriptions.
  package func finish() {
    let subscribers = state.withLock { state in
      state.isFinished = true
      defer { state.subscribers = [:] }
      return Array(state.subscribers.values)
    }
    for subscriber in subscribers { subscriber.finish() }
  }
}
