import SalesforceHybridSDK
import SalesforceSDKCommon
import TestSupport
import Testing

/// Does a native test learn how the tests of a page went, also of a page that stops?
struct PageTestRunTests {
  private static let service = "com.salesforce.testrunner"

  private static func report(_ name: String, _ isSuccess: Bool, _ message: String = "") -> JSONValue
  {
    [
      "testName": .string(name), "success": .bool(isSuccess), "message": .string(message),
      "testDuration": 12,
    ]
  }

  @Test(.covers("BX-120"), .timeLimit(.minutes(1)))
  func `each test of a page has its result, in the order of the native test`() async throws {
    let suite = PageTestRun()
    let bridge = try HybridBridge(plugins: [suite.plugin])
    let page = try Page(bridge)
    let results = try await suite.run(["testA", "testB"]) {
      for report in [
        Self.report("testB", false, "expected 1, got 2"), Self.report("other", true),
        Self.report("testA", true),
      ] {
        let value = try await page.value(Self.service, "onTestComplete", report)
        #expect(value == nil)
      }
    }
    #expect(
      results == [
        .init(name: "testA", isSuccess: true, duration: .milliseconds(12)),
        .init(
          name: "testB", isSuccess: false, message: "expected 1, got 2",
          duration: .milliseconds(12)),
      ])
    await bridge.close()
  }

  @Test(.covers("BX-120"), .timeLimit(.minutes(1)))
  func `a page that stops in the middle fails the tests that it did not report`() async throws {
    let suite = PageTestRun()
    let bridge = try HybridBridge(plugins: [suite.plugin])
    let page = try Page(bridge)
    let results = try await suite.run(["testA", "testB"], limit: .milliseconds(1)) {
      _ = try await page.value(Self.service, "onTestComplete", Self.report("testA", true))
    }
    #expect(results.map(\.name) == ["testA", "testB"])
    #expect(results.map(\.isSuccess) == [true, false])
    #expect(results.last?.message.contains("reported nothing") == true)
    await bridge.close()
  }

  @Test func `a page that cannot be opened ends the run with its error`() async throws {
    struct Closed: Error {}
    await #expect(throws: Closed.self) { try await PageTestRun().run(["testA"]) { throw Closed() } }
  }
}
