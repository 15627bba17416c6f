import SalesforceSDKCommon
import Synchronization

/// One event of a stream.
struct InspectorEvent: Sendable {
  let id: Int
  let name: String
  let topic: String
  let data: String

  var bytes: [UInt8] { Array("id: \(id)\nevent: \(name)\ndata: \(data)\n\n".utf8) }
}

/// The events that wait for one client. No sender ever waits for it: beyond a limit the oldest events are dropped, and
/// the client is notified of their number.
final class InspectorStream: Sendable {
  private struct State {
    var events: [InspectorEvent] = []
    var bytes = 0
    var lost: [String: Int] = [:]
    var comment = false
    var isOver = false
    var waiter: CheckedContinuation<[UInt8]?, Never>?
    var heartbeat: Task<Void, Never>?
  }

  private let topics: Set<String>
  private let limit: Int
  private let state = Mutex(State())
  private let onEnd: @Sendable (InspectorStream) -> Void

  /// The interval of comments, so that both sides detect a broken connection.
  private static let pulse: Duration = .seconds(15)

  /// - Parameter onEnd: Called once.
  init(
    topics: Set<String>, limit: Int, onEnd: @escaping @Sendable (InspectorStream) -> Void
  ) {
    self.topics = topics
    self.limit = limit
    self.onEnd = onEnd
    let heartbeat = Task { [weak self] in
      while (try? await Task.sleep(for: Self.pulse)) != nil {
        guard let self else { return }
        self.update { $0.comment = true }
      }
    }
    state.withLock { $0.heartbeat = heartbeat }
  }

  deinit { state.withLock { $0.heartbeat }?.cancel() }

  /// Adds an event, if it is of the stream's topics.
  func add(_ event: InspectorEvent) {
    guard event.topic.isEmpty || topics.contains(event.topic) else { return }
    update { state in
      state.events.append(event)
      state.bytes += event.data.utf8.count
      while state.bytes > limit, !state.events.isEmpty {
        let oldest = state.events.removeFirst()
        state.bytes -= oldest.data.utf8.count
        state.lost[oldest.topic, default: 0] += 1
      }
    }
  }

  /// Changes the state and hands what there is to the reader that waits.
  private func update(_ change: (inout State) -> Void) {
    let (waiter, bytes) = state.withLock {
      state -> (CheckedContinuation<[UInt8]?, Never>?, [UInt8]) in
      if state.isOver { return (nil, []) }
      change(&state)
      guard let waiter = state.waiter else { return (nil, []) }
      state.waiter = nil
      return (waiter, Self.take(&state))
    }
    waiter?.resume(returning: bytes)
  }

  /// The bytes of all that waits.
  private static func take(_ state: inout State) -> [UInt8] {
    var bytes: [UInt8] = []
    for (topic, count) in state.lost.sorted(by: { $0.key < $1.key }) {
      let data: JSONValue = ["topic": .string(topic), "count": .integer(Int64(count))]
      bytes += Array("event: lost\ndata: \(data.text)\n\n".utf8)
    }
    for event in state.events { bytes += event.bytes }
    if bytes.isEmpty, state.comment { bytes = Array(": still here\n\n".utf8) }
    state.lost = [:]
    state.events = []
    state.bytes = 0
    state.comment = false
    return bytes
  }

  /// Waits for the next bytes; nil at the end. One reader at a time.
  func next() async -> [UInt8]? {
    await withCheckedContinuation { continuation in
      let bytes: [UInt8]?? = state.withLock { state in
        if state.isOver { return .some(nil) }
        let isEmpty = state.events.isEmpty && state.lost.isEmpty && !state.comment
        guard isEmpty else { return .some(Self.take(&state)) }
        state.waiter = continuation
        return .none
      }
      if let bytes { continuation.resume(returning: bytes) }
    }
  }

  /// Ends the stream. Ending it twice is not an error.
  func end() {
    let (waiter, isFirst, heartbeat) = state.withLock { state in
      defer {
        state.isOver = true
        state.waiter = nil
        state.heartbeat = nil
      }
      return (state.waiter, !state.isOver, state.heartbeat)
    }
    heartbeat?.cancel()
    waiter?.resume(returning: nil)
    if isFirst { onEnd(self) }
  }
}
