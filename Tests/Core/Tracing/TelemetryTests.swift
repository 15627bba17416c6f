import Foundation
import HTTPTypes
import InMemoryTracing
import Metrics
import MetricsTestKit
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing
import Tracing

@testable import SalesforceSDKCore

/// Which spans and metrics does Core leave, and what do they hold?
@Suite struct TelemetryTests {
  private let tracer = InMemoryTracer()
  private let metrics = TestMetrics()

  /// Runs `work` with a tracer and a metrics backend.
  private func observed(_ work: () async throws -> Void) async rethrows {
    try await withTracer(tracer) {
      try await withMetricsFactory(metrics) { try await work() }
    }
  }

  private func client(_ org: TestOrg, _ accounts: UserAccountManager) -> RestClient {
    RestClient(
      account: org.account(), accounts: accounts, transport: org.transport(),
      options: .init(retries: RetryPolicy(firstWait: .zero)))
  }

  /// The attributes of a span as texts.
  private func texts(_ span: FinishedInMemorySpan) -> [String: String] {
    var texts: [String: String] = [:]
    span.attributes.forEach { texts[$0] = "\($1)" }
    return texts
  }

  @Test(.covers("CO-194"))
  func `a request is a span and counted, without its query and its body`() async throws {
    let org = TestOrg { _ in
      RestResponse(status: 201, json: #"{"secret":"canary-response"}"#)
    }
    let client = client(org, try await org.manager())
    try await observed {
      _ = try await client.send(.query("SELECT Id FROM Account WHERE Name = 'canary-query'"))
      _ = try await client.send(
        RestRequest(
          method: .post, path: "/services/apexrest/Orders/canary-path",
          query: [RestQueryItem("q", "canary-query")], headers: [.accept: "canary-header"],
          body: Array(#"{"Name":"canary-body"}"#.utf8)))
    }
    let spans = tracer.finishedSpans
    #expect(spans.map(\.operationName) == ["fieldforce.request", "fieldforce.request"])
    #expect(spans.map(\.kind) == [.client, .client])
    let first = texts(try #require(spans.first))
    #expect(first["http.request.method"]?.contains("GET") == true)
    #expect(first["url.path"]?.contains("/services/data/v66.0/query") == true)
    #expect(first["server.address"]?.contains("acme.my.salesforce.com") == true)
    #expect(first["http.response.status_code"]?.contains("201") == true)
    for span in spans {
      #expect(!"\(texts(span)) \(span.events) \(span.errors)".contains("canary"))
    }
    let counters = metrics.counters(label: "fieldforce.request.count")
    #expect(counters.map(\.totalValue) == [1, 1])
    #expect(!"\(counters.map(\.dimensions))".contains("canary"))
    #expect(
      counters.first?.dimensions.map(\.1).contains("GET") == true
        || counters.last?.dimensions.map(\.1).contains("GET") == true)
    #expect(metrics.timers(label: "fieldforce.request.duration").count == 2)
  }

  @Test(.covers("CO-194"))
  func `an error leaves its type in a span and not its words`() async throws {
    let org = TestOrg { _ in throw TransportError(.unreachable, "canary") }
    let client = client(org, try await org.manager())
    await observed {
      _ = try? await client.send(RestRequest(method: .post, path: "/{v}/sobjects/Account"))
    }
    let span = try #require(tracer.finishedSpans.first)
    #expect(span.status?.code == .error && span.status?.message == nil)
    #expect(span.errors.isEmpty)
    #expect(texts(span)["error.type"]?.contains("RestError") == true)
    #expect(!"\(texts(span))".contains("canary"))
    let counter = try #require(metrics.counters(label: "fieldforce.request.count").first)
    #expect(counter.dimensions.contains { $0 == ("outcome", "failure") })
  }

  @Test(.covers("CO-194"))
  func `retries and refreshes are counted, and a refresh is a span within its request`()
    async throws
  {
    let org = TestOrg { _ in RestResponse(status: 503) }
    let client = client(org, try await org.manager())
    org.state.withLock { $0.accessToken = "new" }
    try await observed { _ = try await client.response(to: RestRequest(path: "/{v}/limits")) }
    #expect(metrics.counterTotal(label: "fieldforce.request.retries") == 2)
    #expect(metrics.counterTotal(label: "fieldforce.refresh.count") == 1)
    let request = try #require(
      tracer.finishedSpans.first { $0.operationName == "fieldforce.request" })
    let refresh = try #require(
      tracer.finishedSpans.first { $0.operationName == "fieldforce.refresh" })
    #expect(refresh.parentSpanID == request.spanID)
    #expect(texts(request)["outcome"]?.contains("refused") == true)
    #expect(!"\(tracer.finishedSpans.map(texts))".contains("access-"))
  }

  @Test(.covers("CO-194"))
  func `a login is a span with its kind`() async throws {
    let org = TestOrg()
    let manager = try await org.manager([])
    try await observed {
      _ = try await manager.logIn(
        .tokens(
          accessToken: "access-1", refreshToken: "refresh-canary", instance: .production,
          app: TestOrg.app))
    }
    let span = try #require(tracer.finishedSpans.first { $0.operationName == "fieldforce.login" })
    #expect(texts(span)["type"] != nil)
    #expect(!"\(texts(span))".contains("canary") && !"\(texts(span))".contains("access-1"))
    #expect(metrics.counterTotal(label: "fieldforce.login.count") == 1)
  }

  @Test(.covers("CO-194"))
  func `without a tracer and a backend nothing is recorded`() async throws {
    var recordings = 0
    await Telemetry.measure(.sync) { if $0 != nil { recordings += 1 } }
    Telemetry.count("fieldforce.test")
    #expect(recordings == 0)
    await withTracer(tracer) { await Telemetry.measure(.sync) { _ in } }
    await withMetricsFactory(metrics) {
      await Telemetry.measure(.sync) { $0?.record("records", 5) }
    }
    #expect(tracer.finishedSpans.count == 1)
    #expect(metrics.counterTotal(label: "fieldforce.sync.records") == 5)
    #expect(metrics.counterTotal(label: "fieldforce.sync.count") == 1)
  }

  @Test(.covers("CO-194"))
  func `work that is cancelled is no error`() async throws {
    try await observed {
      do {
        try await Telemetry.measure(.read) { _ in throw CancellationError() }
      } catch is CancellationError {}
    }
    let span = try #require(tracer.finishedSpans.first)
    #expect(texts(span)["outcome"]?.contains("cancelled") == true && span.status == nil)
  }
}
