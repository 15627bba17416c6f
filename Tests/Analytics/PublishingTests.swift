import Foundation
import SalesforceAnalytics
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

/// Which events reach a service, in which form, and which are kept?
@Suite struct PublishingTests {
  private let folder: TemporaryFolder
  private let analytics: AnalyticsManager

  init() throws {
    folder = try TemporaryFolder()
    analytics = AnalyticsManager(
      store: EventStoreManager(directory: folder.file("events"), maxEvents: 5_000),
      deviceAppAttributes: DeviceAppAttributes(osName: "Linux"), now: { 10 }, network: { .viaWiFi })
  }

  private func store(_ count: Int) async throws {
    for number in 0..<count {
      await analytics.store.store(
        try analytics.event {
          $0.name = "e\(number)"
          $0.schemaType = .interaction
          $0.eventType = .system
          $0.page = ["context": "C"]
        })
    }
  }

  /// A service that notes the names of the events in each call, and refuses the calls from a number on.
  private final class Service: EventPublisher {
    let calls = Mutex<[[String]]>([])
    let refusedFrom: Int

    init(refusedFrom: Int = .max) { self.refusedFrom = refusedFrom }

    func publish(_ events: [JSONObject]) async -> Bool {
      calls.withLock { calls in
        calls.append(events.map { $0["eventSource"]?.string ?? "" })
        return calls.count <= refusedFrom
      }
    }
  }

  /// Passes on the events whose name ends so.
  private struct Only: EventTransform {
    let suffix: String

    func transform(_ event: InstrumentationEvent) -> JSONObject? {
      event.name.hasSuffix(suffix) ? AILTNTransform().transform(event) : nil
    }
  }

  @Test(.covers("CA-43"))
  func `events go out in batches of 100, and are deleted`() async throws {
    let service = Service()
    analytics.addRemotePublisher(service, transform: AILTNTransform())
    try await store(250)
    let report = await analytics.publishAllEvents()
    #expect(report.published == 250 && report.kept == 0 && report.failedPublishers == 0)
    #expect(service.calls.withLock { $0.map(\.count) } == [100, 100, 50])
    #expect(service.calls.withLock { $0.flatMap(\.self) } == (0..<250).map { "e\($0)" })
    #expect(await analytics.store.numStoredEvents == 0)
    #expect(await analytics.publishAllEvents() == .nothing)
    #expect(service.calls.withLock { $0.count } == 3)
  }

  @Test(.covers("CA-43"))
  func `if one service refuses a batch, it gets no more of them and all events are kept`()
    async throws
  {
    let (refusing, accepting) = (Service(refusedFrom: 1), Service())
    analytics.addRemotePublisher(refusing, transform: AILTNTransform())
    analytics.addRemotePublisher(accepting, transform: Only(suffix: "7"))
    try await store(250)
    let report = await analytics.publishAllEvents()
    #expect(report.kept == 250 && report.published == 0 && report.failedPublishers == 1)
    #expect(refusing.calls.withLock { $0.map(\.count) } == [100, 100])
    // The other one gets its own all the same, and gets them again.
    #expect(accepting.calls.withLock { $0.map(\.count) } == [25])
    #expect(await analytics.store.numStoredEvents == 250)
    _ = await analytics.publishAllEvents()
    #expect(accepting.calls.withLock { $0.map(\.count) } == [25, 25])
  }

  @Test(.covers("CA-43"))
  func `without a service, or with half of one, nothing happens`() async throws {
    try await store(1)
    analytics.addRemotePublisher(nil, transform: AILTNTransform())
    analytics.addRemotePublisher(Service(), transform: nil)
    #expect(await analytics.publishAllEvents() == .nothing)
    #expect(await analytics.store.numStoredEvents == 1)
  }

  @Test(.covers("CA-43"))
  func `events that are given are published and deleted, the others stay`() async throws {
    let service = Service()
    analytics.addRemotePublisher(service, transform: AILTNTransform())
    try await store(3)
    let chosen = try #require(await analytics.store.fetchAll().first { $0.name == "e1" })
    #expect(await analytics.publish([chosen]).published == 1)
    #expect(await analytics.store.fetchAll().map(\.name) == ["e0", "e2"])
    #expect(await analytics.publish([]) == .nothing)
  }

  @Test(.covers("CA-43"))
  func `a file that cannot be read keeps no other event from being published`() async throws {
    let service = Service()
    analytics.addRemotePublisher(service, transform: AILTNTransform())
    try await store(2)
    try Data("garbage".utf8).write(to: folder.file("events").appending(path: "00-garbage"))
    #expect(await analytics.publishAllEvents().published == 2)
    #expect(await analytics.store.numStoredEvents == 0)
  }

  @Test(.covers("CA-44"))
  func `events that are stored are not published while storing is off`() async throws {
    let service = Service()
    analytics.addRemotePublisher(service, transform: AILTNTransform())
    try await store(2)
    await analytics.store.setLoggingEnabled(false)
    #expect(await analytics.publishAllEvents() == .nothing)
    await analytics.store.setLoggingEnabled(true)
    #expect(await analytics.publishAllEvents().published == 2)
  }

  @Test(.covers("CA-40"))
  func `one publication runs at a time`() async throws {
    final class Held: EventPublisher {
      let began = AsyncStream.makeStream(of: Void.self)
      let mayEnd = AsyncStream.makeStream(of: Void.self)

      func publish(_ events: [JSONObject]) async -> Bool {
        began.continuation.yield()
        for await _ in mayEnd.stream { break }
        return true
      }
    }
    let held = Held()
    analytics.addRemotePublisher(held, transform: AILTNTransform())
    try await store(1)
    let first = Task { [analytics] in await analytics.publishAllEvents() }
    for await _ in held.began.stream { break }
    #expect(await analytics.publishAllEvents() == .nothing)
    held.mayEnd.continuation.yield()
    #expect(await first.value.published == 1)
  }

  // MARK: The form of AILTN

  private func transformed(
    _ schema: SchemaType, _ change: (inout InstrumentationEventBuilder) -> Void = { _ in }
  ) throws -> JSONObject {
    let event = try analytics.event { builder in
      builder.name = "n"
      builder.schemaType = schema
      builder.eventType = .user
      builder.errorType = .warning
      builder.startTime = 100
      builder.endTime = 130
      builder.sessionStartTime = 50
      builder.sessionId = "s"
      builder.attributes = ["a": 1]
      builder.page = ["context": "C"]
      builder.previousPage = ["context": "B"]
      builder.marks = ["m": 1]
      builder.senderId = "button"
      builder.senderParentId = "list"
      change(&builder)
    }
    return try #require(AILTNTransform().transform(event))
  }

  @Test(.covers("CA-41"))
  func `each schema has the members that the service expects of it`() throws {
    let common = [
      "version", "schemaType", "id", "eventSource", "ts", "pageStartTime", "clientSessionId",
      "attributes", "deviceAttributes",
    ]
    for (schema, others) in [
      (SchemaType.interaction, ["duration", "sequence", "page", "locator", "eventType"]),
      (.pageView, ["ept", "sequence", "page", "previousPage", "marks", "locator"]),
      (.performance, ["duration", "marks", "eventType"]),
      (.error, ["sequence", "page", "errorType"]),
    ] {
      let json = try transformed(schema)
      #expect(Set(json.keys) == Set(common + others), "\(schema)")
      #expect(json["version"] == "0.2" && json["schemaType"] == .string(schema.rawValue))
      #expect(json["eventSource"] == "n" && json["ts"] == 100 && json["pageStartTime"] == 50)
      #expect(json["deviceAttributes"] == ["osName": "Linux", "connectionType": "WiFi"])
    }
    let interaction = try transformed(.interaction)
    #expect(interaction["eventType"] == "user" && interaction["duration"] == 30)
    #expect(interaction["locator"] == ["target": "button", "scope": "list"])
    #expect(try transformed(.performance)["eventType"] == "defs")
    #expect(try transformed(.pageView)["ept"] == 30)
    #expect(try transformed(.error)["errorType"] == "warn")
  }

  @Test(.covers("CA-41"))
  func `what an event does not have is left out`() throws {
    let json = try transformed(.interaction) { builder in
      builder.endTime = 100
      builder.sessionId = nil
      builder.attributes = nil
      builder.senderParentId = nil
    }
    for key in ["duration", "clientSessionId", "attributes", "locator"] {
      #expect(json[key] == nil, "\(key)")
    }
    let located = try transformed(.pageView) { $0.senderContext = ["row": 2] }
    #expect(located["locator"] == ["target": "button", "scope": "list", "context": ["row": 2]])
    #expect(try transformed(.pageView) { $0.endTime = 0 }["ept"] == nil)
  }
}
