import FieldforceInspector
import HTTPTypes
import Foundation
import SalesforceAnalytics
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import TestSupport
import Testing

/// Does the page see what happens while it happens?
struct EventTests {
  @Test(.covers("HT-70"))
  func `a stream begins with hello, and sends what another process writes`() async throws {
    let fixture = try StoresFixture()
    try await fixture.fill(entries: [#"{"title":"a"}"#])
    try await fixture.inspect { client in
      let id = try await client.store().dropFirst("stores/".count)
      let events = EventReader(client, topics: "stores")
      let hello = try await events.next("hello")
      #expect(hello["resumed"]?.bool == false)
      #expect((hello["now"]?.int64 ?? 0) > 1_000_000_000_000)
      // Until a look has seen the state before, a write is no change: so write until one is sent.
      let writing = Task {
        while !Task.isCancelled {
          try await fixture.fill(entries: [#"{"title":"b"}"#])
          try await Task.sleep(for: .milliseconds(100))
        }
      }
      let change = try await events.next("change")
      writing.cancel()
      #expect(change["store"]?.string == String(id))
      #expect(change["soups"]?.elements.map(\.string) == ["notes"])
      events.stop()
      _ = try? await writing.value
    }
  }

  @Test(.covers("HT-70"))
  func `there are at most so many streams, and each ends with the inspector`() async throws {
    let fixture = try StoresFixture()
    var limits = InspectorLimits()
    limits.streams = 2
    try await fixture.inspect(limits: limits) { client in
      let first = EventReader(client, topics: "logs")
      _ = try await first.next("hello")
      let second = EventReader(client, topics: "logs")
      _ = try await second.next("hello")
      let third = try await client.call("events", ["topics": "logs"])
      #expect(third.status == 503)
      #expect(third.error == "tooManyStreams")
      #expect(third.headers["retry-after"] == "1")
      #expect(try await client.call("events", ["topics": "weather"]).error == "invalidRequest")
      first.stop()
      // The server notices the end of the connection.
      while try await client.call("events", ["topics": "weather"]).status != 400 {}
      await client.inspector.stop()
      await #expect(throws: (any Error).self) { try await second.next("never") }
      second.stop()
    }
  }

  @Test(.covers("HT-70"))
  func `requests, log records and events are kept without queries, the newest first`()
    async throws
  {
    let fixture = try StoresFixture()
    let recorder = InspectorRecorder()
    var app = fixture.app
    app.recorder = recorder
    let transport = recorder.transport(
      ScriptedTransport([RestResponse(status: 200, json: "{}")]))
    let url = try #require(
      URL(string: "https://acme.example/services/data/v66.0/query?q=SELECT+secret"))
    _ = try await transport.send(TransportRequest(method: .get, url: url))
    _ = try? await transport.send(TransportRequest(method: .post, url: url, body: [1, 2]))
    let events = recorder.eventStore()
    for number in 0..<3 { await events.store(AnalyticsEvent(name: "e\(number)", startTime: 1)) }
    let receiver = recorder.receiver()
    let logger = SalesforceLogger(
      component: "InspectorTests", level: .debug, implementation: Forwarding(receiver))
    logger.debug("one")
    logger.error("two")
    try await fixture.inspect(app) { client in
      let status = try await client.get("status")
      for source in ["requests", "logs", "analytics"] {
        #expect(status["sources"]?[source]?.kind == .null)
      }
      let response = try await client.call("requests")
      #expect(!response.text.contains("secret"))
      let requests = try #require(try response.json["requests"])
      #expect(requests.elements.map { $0["method"]?.string } == ["POST", "GET"])
      #expect(requests[1]?["path"]?.string == "/services/data/v66.0/query")
      #expect(requests[1]?["host"]?.string == "acme.example")
      #expect(requests[1]?["status"]?.int64 == 200)
      #expect(requests[1]?["receivedBytes"]?.int64 == 2)
      #expect(requests[0]?["status"]?.kind == .null)
      #expect(requests[0]?["milliseconds"]?.kind == .number)
      #expect(requests[0]?["sentBytes"]?.int64 == 2)
      let first = try await client.get("analytics", ["limit": "2"])
      let next = try #require(first["next"]?.string)
      let second = try await client.get("analytics", ["limit": "2", "after": next])
      let names = [first, second].flatMap { page in
        page["events"]?.elements.compactMap { $0["name"]?.string } ?? []
      }
      #expect(names == ["e2", "e1", "e0"])
      let logs = try await client.get("logs", ["component": "InspectorTests"])
      #expect(logs["records"]?.elements.map { $0["message"]?.string } == ["two", "one"])
      let grave = try await client.get("logs", ["level": "error", "component": "InspectorTests"])
      #expect(grave["records"]?.count == 1)
      #expect(try await client.get("logs", ["search": "TWO"])["records"]?.count == 1)
      #expect(try await client.call("logs", ["level": "loud"]).error == "invalidRequest")
      let level = try await client.post(
        "logs/levels", ["component": "no such component", "level": "debug"])
      #expect(level.error == "invalidRequest")
    }
  }

  /// Hands the records of a logger to a receiver.
  private final class Forwarding: LogImplementation {
    let componentName = "InspectorTests"
    private let receiver: any LogReceiver

    init(_ receiver: any LogReceiver) { self.receiver = receiver }

    var level: LogLevel {
      get { .verbose }
      set {}
    }

    func log(_ record: LogRecord) { receiver.receive(record) }
  }
}
