import Foundation
import InMemoryTracing
import Metrics
import MetricsTestKit
import MobileSync
import SalesforceMockOrg
import SalesforceSDKCommon
import SmartStore
import TestSupport
import Testing
import Tracing

/// Which spans and metrics does a sync leave?
@Suite struct TelemetryTests {
  private let tracer = InMemoryTracer()
  private let metrics = TestMetrics()

  private func observed(_ work: () async throws -> Void) async rethrows {
    try await withTracer(tracer) {
      try await withMetricsFactory(metrics) { try await work() }
    }
  }

  private func texts(_ span: FinishedInMemorySpan) -> [String: String] {
    var texts: [String: String] = [:]
    span.attributes.forEach { texts[$0] = "\($1)" }
    return texts
  }

  private func spans(_ name: String) -> [FinishedInMemorySpan] {
    tracer.finishedSpans.filter { $0.operationName == name }
  }

  @Test(.covers("CO-194", "BX-109", "HT-90.2"))
  func `a sync is a span around its requests and transactions, without names and values`()
    async throws
  {
    try await FieldDevice.with { device in
      let id = try await device.org.create("Account", ["Name": "canary"])
      try await observed {
        _ = try await device.syncDown().finished()
        try await device.edit(id, ["Name": "canary edit"])
        _ = try await device.syncUp().finished()
      }
      let syncs = spans("fieldforce.sync")
      #expect(syncs.count == 2)
      for sync in syncs {
        let attributes = texts(sync)
        #expect(attributes["status"]?.contains("DONE") == true)
        #expect(attributes["outcome"]?.contains("success") == true)
        #expect(attributes["records"]?.contains("1") == true)
        let children = tracer.finishedSpans.filter { $0.parentSpanID == sync.spanID }
        #expect(children.contains { $0.operationName == "fieldforce.request" })
        #expect(children.contains { $0.operationName == "fieldforce.store.transaction" })
      }
      #expect(!spans("fieldforce.store.read").isEmpty)
      let all = tracer.finishedSpans.map {
        "\($0.operationName) \(texts($0)) \($0.events) \($0.errors)"
      }
      for secret in ["canary", "SELECT", FieldDevice.soup, FieldDevice.downName, "?"] {
        #expect(all.allSatisfy { !$0.contains(secret) }, "\(secret)")
      }
      #expect(metrics.counterTotal(label: "fieldforce.sync.count") == 2)
      #expect(metrics.counterTotal(label: "fieldforce.sync.records") == 2)
      #expect(metrics.counterTotal(label: "fieldforce.store.transaction.count") > 3)
      #expect(
        metrics.counterTotal(label: "fieldforce.request.count")
          == Int64(spans("fieldforce.request").count))
      let dimensions = "\(metrics.counters.map(\.dimensions))"
      #expect(!dimensions.contains("canary") && !dimensions.contains(FieldDevice.soup))
    }
  }

  @Test(.covers("CO-194"))
  func `a sync that fails and a transaction that throws say so, and quote nothing`() async throws {
    struct Refusal: Error { let text = "canary" }
    try await FieldDevice.with { device in
      await observed {
        _ = try? await device.manager.syncDown(
          targetJSON: ["type": "soql", "query": "SELECT canaryField FROM Account"],
          options: SyncOptions(mergeMode: .overwrite), soupName: FieldDevice.soup
        ).finished()
        try? await device.store.inTransaction { _ in throw Refusal() }
      }
      let sync = try #require(spans("fieldforce.sync").first)
      #expect(texts(sync)["outcome"]?.contains("failure") == true && sync.status?.code == .error)
      let transaction = try #require(
        spans("fieldforce.store.transaction").first { $0.status?.code == .error })
      #expect(texts(transaction)["error.type"]?.contains("Refusal") == true)
      for span in tracer.finishedSpans {
        #expect(!"\(texts(span)) \(span.errors) \(span.events)".contains("canary"))
        #expect(span.status?.message == nil)
      }
      #expect(
        metrics.counters(label: "fieldforce.sync.count")
          .contains { $0.dimensions.contains { $0 == ("outcome", "failure") } })
    }
  }
}
