import MobileSync
import SalesforceSDKCommon
import SmartStore
import Synchronization

/// A hub that sends events to the event streams, and buffers the last events for clients that
/// reconnect.
final class InspectorHub: Sendable {
  private struct State {
    var streams: [ObjectIdentifier: InspectorStream] = [:]
    var lastId = 0
    var recent: [InspectorEvent] = []
    var runs: [Int: Task<Void, Never>] = [:]
    var nextRun = 0
    var isClosed = false
  }

  private let limits: InspectorLimits
  private let state = Mutex(State())

  static let topics = ["syncs", "requests", "logs", "analytics", "stores"]
  private static let topicOfEvent = [
    "sync": "syncs", "outcome": "syncs", "request": "requests", "log": "logs",
    "analytics": "analytics", "store": "stores", "change": "stores",
  ]
  private static let kept = 2_000

  init(limits: InspectorLimits) { self.limits = limits }

  // MARK: Streams

  /// Whether a client waits for events.
  var hasStreams: Bool { state.withLock { !$0.streams.isEmpty } }

  /// Opens a stream, which begins with `hello`, and with the events since `lastEventId` if all are known.
  ///
  /// - Throws: ``InspectorFailure`` `tooManyStreams`.
  func open(topics: Set<String>, lastEventId: Int?) throws(InspectorFailure) -> InspectorStream {
    let stream = InspectorStream(topics: topics, limit: limits.unreadEventBytes) { [weak self] in
      self?.remove($0)
    }
    let greeting = state.withLock { state -> [InspectorEvent]? in
      guard !state.isClosed, state.streams.count < limits.streams else { return nil }
      state.streams[ObjectIdentifier(stream)] = stream
      let missed = lastEventId.map { id in state.recent.filter { $0.id > id } }
      let isResumed =
        missed.map { missed in
          missed.first.map { $0.id == (lastEventId ?? 0) + 1 } ?? (lastEventId == state.lastId)
        } ?? false
      let hello: JSONValue = [
        "now": .integer(SmartStoreOptions.systemClock()), "resumed": .bool(isResumed),
      ]
      let id = isResumed ? lastEventId ?? 0 : state.lastId
      return [InspectorEvent(id: id, name: "hello", topic: "", data: hello.text)]
        + (isResumed ? missed ?? [] : [])
    }
    guard let greeting else {
      stream.end()
      throw InspectorFailure(
        "tooManyStreams", "There are \(limits.streams) event streams already.")
    }
    for event in greeting { stream.add(event) }
    return stream
  }

  private func remove(_ stream: InspectorStream) {
    state.withLock { _ = $0.streams.removeValue(forKey: ObjectIdentifier(stream)) }
  }

  /// Ends all streams, those to come included, and stops following runs.
  func close() {
    let (streams, runs) = state.withLock { state in
      state.isClosed = true
      return (Array(state.streams.values), Array(state.runs.values))
    }
    for stream in streams { stream.end() }
    for run in runs { run.cancel() }
  }

  // MARK: Events

  func send(_ name: String, _ data: JSONValue) {
    let text = data.text
    let (event, streams) = state.withLock { state in
      state.lastId += 1
      let event = InspectorEvent(
        id: state.lastId, name: name, topic: Self.topicOfEvent[name] ?? "", data: text)
      state.recent.append(event)
      if state.recent.count > Self.kept { state.recent.removeFirst(state.recent.count - Self.kept) }
      return (event, Array(state.streams.values))
    }
    for stream in streams { stream.add(event) }
  }

  func sendChange(store: String, soups: [String]) {
    send("change", ["store": .string(store), "soups": .array(soups.map { .string($0) })])
  }

  func follow(_ recorder: InspectorRecorder) {
    recorder.listen(self) { [weak self] event, item in self?.send(event, item) }
  }

  func leave(_ recorder: InspectorRecorder) { recorder.unlisten(self) }

  // MARK: Runs

  /// Sends the outcomes of a run, and its end. Its progress is sent by ``StoreWatch``.
  ///
  /// - Parameter ended: Called when the run has ended.
  func follow(
    _ run: SyncRun, of store: SmartStore, registry: SyncTargetRegistry,
    ended: @escaping @Sendable () async -> Void
  ) {
    let storeId = InspectorIds.store(store)
    let id = state.withLock { state in
      state.nextRun += 1
      return state.nextRun
    }
    let task = Task { [weak self] in
      for await outcome in run.outcomes {
        self?.send(
          "outcome",
          ["store": .string(storeId), "outcome": InspectorResources.document(of: outcome)])
      }
      _ = try? await run.finished()
      if let report = try? await store.syncReport(forId: run.state.id, registry: registry) {
        self?.send("sync", ["store": .string(storeId), "sync": report.summary])
        self?.sendChange(store: storeId, soups: [run.state.soupName])
      }
      await ended()
      self?.state.withLock { _ = $0.runs.removeValue(forKey: id) }
    }
    let isClosed = state.withLock { state in
      state.runs[id] = task
      return state.isClosed
    }
    if isClosed { task.cancel() }
  }
}
