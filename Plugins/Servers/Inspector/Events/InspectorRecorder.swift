import Foundation
import HTTPTypes
import MobileSync
public import SalesforceAnalytics
public import SalesforceSDKCommon
public import SalesforceSDKCore
import SmartStore
import Synchronization

/// A recorder of an app's last 2,000 requests, log records and events in memory, for its inspector.
///
/// ```swift
/// let recorder = InspectorRecorder()
/// let transport = recorder.transport(URLSessionTransport())
/// recorder.receiveLogs()
/// ```
///
/// Paths of requests are recorded without queries and without parts that may be user data. Log
/// records have no secrets; see `SalesforceLogger`.
public final class InspectorRecorder: Sendable {
  /// The recorded items.
  enum List: String, Sendable, CaseIterable { case requests, logs, analytics }

  /// Receives the event's name and its data.
  typealias Listener = @Sendable (_ event: String, _ item: JSONValue) -> Void

  private struct State {
    var items: [List: [JSONValue]] = [:]
    var sources: Set<List> = []
    var sequence: Int64 = 0
    var requests: Int64 = 0
    var listeners: [ObjectIdentifier: Listener] = [:]
  }

  /// The number of items of each list.
  static let capacity = 2_000

  private let state = Mutex(State())
  private let now: @Sendable () -> Int64

  /// Creates an empty recorder.
  public convenience init() { self.init(now: SmartStoreOptions.systemClock) }

  init(now: @escaping @Sendable () -> Int64) { self.now = now }

  // MARK: Sources

  /// Returns a transport that records the requests of another.
  public func transport(_ transport: some HTTPTransport) -> some HTTPTransport {
    state.withLock { _ = $0.sources.insert(.requests) }
    return RecordingTransport(transport: transport, recorder: self)
  }

  /// Returns an event store that records events and passes them to another. Default: none.
  public func eventStore(
    forwardingTo next: any EventStore = DiscardingEventStore()
  ) -> some EventStore {
    state.withLock { _ = $0.sources.insert(.analytics) }
    return RecordingEventStore(next: next, recorder: self)
  }

  /// Records the log of all components, in place of the receivers that were set before. A program with receivers of
  /// its own calls ``receiver()`` from them.
  public func receiveLogs() {
    let receiver = receiver()
    SalesforceLogger.setReceivers { _ in receiver }
  }

  /// Returns a receiver that records the records that it gets.
  public func receiver() -> any LogReceiver {
    state.withLock { _ = $0.sources.insert(.logs) }
    return RecordingReceiver(recorder: self)
  }

  var seesLogs: Bool { state.withLock { $0.sources.contains(.logs) } }
  var seesRequests: Bool { state.withLock { $0.sources.contains(.requests) } }
  var seesEvents: Bool { state.withLock { $0.sources.contains(.analytics) } }

  // MARK: Items

  /// The items of a list, the newest first.
  func items(_ list: List) -> [JSONValue] {
    state.withLock { $0.items[list] ?? [] }.reversed()
  }

  func listen(_ owner: AnyObject, _ listener: @escaping Listener) {
    state.withLock { $0.listeners[ObjectIdentifier(owner)] = listener }
  }

  func unlisten(_ owner: AnyObject) {
    state.withLock { _ = $0.listeners.removeValue(forKey: ObjectIdentifier(owner)) }
  }

  /// Stores an item, and replaces an earlier one with the same id.
  fileprivate func add(_ members: JSONObject, to list: List, event: String) {
    let (item, listeners) = state.withLock { state in
      var item = members
      var items = state.items[list] ?? []
      if let id = item["id"], let known = items.lastIndex(where: { $0["id"] == id }) {
        item["sequence"] = items[known]["sequence"]
        items[known] = .object(item)
      } else {
        state.sequence += 1
        item["sequence"] = .integer(state.sequence)
        items.append(.object(item))
        if items.count > Self.capacity { items.removeFirst(items.count - Self.capacity) }
      }
      state.items[list] = items
      return (JSONValue.object(item), Array(state.listeners.values))
    }
    for listener in listeners { listener(event, item) }
  }

  fileprivate func time() -> Int64 { now() }

  fileprivate func takeRequestId() -> Int64 {
    state.withLock { state in
      state.requests += 1
      return state.requests
    }
  }
}

/// Records what another transport sends.
private struct RecordingTransport<Transport: HTTPTransport>: HTTPTransport {
  let transport: Transport
  let recorder: InspectorRecorder

  func send(_ request: TransportRequest) async throws -> RestResponse {
    let entry = RequestEntry(request, recorder)
    do {
      let response = try await transport.send(request)
      entry.end(status: response.status, receivedBytes: Int64(response.body.count))
      return response
    } catch {
      entry.end(status: nil, receivedBytes: 0)
      throw error
    }
  }

  func withStream<Result: Sendable>(
    to request: TransportRequest,
    _ body: @Sendable (RestStream) async throws -> Result
  ) async throws -> Result {
    let entry = RequestEntry(request, recorder)
    do {
      return try await transport.withStream(to: request) { stream in
        let length = stream.headers[.contentLength].flatMap { Int64($0) } ?? 0
        entry.end(status: stream.status, receivedBytes: length)
        return try await body(stream)
      }
    } catch {
      entry.end(status: nil, receivedBytes: 0)
      throw error
    }
  }
}

/// A request in the list, from its start to its end.
private final class RequestEntry: Sendable {
  private let members: JSONObject
  private let recorder: InspectorRecorder
  private let start = ContinuousClock.now
  private let isOver = Atomic(false)

  init(_ request: TransportRequest, _ recorder: InspectorRecorder) {
    self.recorder = recorder
    let running = RunningSync.current
    let host = request.url.host() ?? ""
    members = [
      "id": .integer(recorder.takeRequestId()), "time": .integer(recorder.time()),
      "method": .string(request.method.rawValue), "path": .string(Self.path(of: request)),
      "host": .string(request.url.port.map { "\(host):\($0)" } ?? host), "status": .null,
      "milliseconds": .null, "sentBytes": .integer(Int64(request.body?.count ?? 0)),
      "receivedBytes": 0, "repetitions": 0,
      "syncId": running.map { .integer($0.id) } ?? .null,
      "store": running.map { .string(InspectorIds.store($0.store)) } ?? .null,
    ]
    recorder.add(members, to: .requests, event: "request")
  }

  /// The path as a request describes itself: without the query and without what may be data of a user.
  private static func path(of request: TransportRequest) -> String {
    let text = RestRequest(method: request.method, url: request.url).description
    return text.firstIndex(of: "/").map { String(text[$0...]) } ?? "/"
  }

  func end(status: Int?, receivedBytes: Int64) {
    // Reading a stream may fail after its head was there.
    guard !isOver.exchange(true, ordering: .relaxed) else { return }
    var members = members
    members["status"] = status.map { .integer(Int64($0)) } ?? .null
    members["milliseconds"] = .integer(Int64((ContinuousClock.now - start) / .milliseconds(1)))
    members["receivedBytes"] = .integer(receivedBytes)
    recorder.add(members, to: .requests, event: "request")
  }
}

/// Records log records.
private struct RecordingReceiver: LogReceiver {
  let recorder: InspectorRecorder

  func receive(_ record: LogRecord) {
    recorder.add(
      [
        "time": .integer(recorder.time()), "component": .string(record.component),
        "level": .string(record.level.description),
        "tag": record.tag.map { .string($0) } ?? .null, "message": .string(record.message),
        "error": record.errorText.map { .string($0) } ?? .null, "file": .string(record.file),
        "function": .string(record.function),
      ], to: .logs, event: "log")
  }
}

/// Records events.
private struct RecordingEventStore: EventStore {
  let next: any EventStore
  let recorder: InspectorRecorder

  func store(_ event: AnalyticsEvent) async {
    recorder.add(
      [
        "time": .integer(recorder.time()), "name": .string(event.name),
        "attributes": .object(event.attributes), "startTime": .integer(event.startTime),
        "endTime": .integer(event.endTime),
      ], to: .analytics, event: "analytics")
    await next.store(event)
  }

  func scoped(to owner: EventOwner) -> any EventStore {
    RecordingEventStore(next: next.scoped(to: owner), recorder: recorder)
  }
}
