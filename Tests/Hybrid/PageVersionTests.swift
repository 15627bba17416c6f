import SalesforceHybridSDK
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

/// What does a page notice of a version of its JavaScript that is not the bridge's?
struct PageVersionTests {
  private struct Listener: LogReceiver {
    let tell: @Sendable (String) -> Void

    func receive(_ record: LogRecord) { tell("\(record.level): \(record.text)") }
  }

  /// The log lines that name a version, while a page calls with it, twice.
  private func lines(of version: String) async throws -> [String] {
    try await Turns.logging.run {
      let lines = Mutex<[String]>([])
      SalesforceLogger.setReceivers { _ in
        Listener { line in lines.withLock { $0.append(line) } }
      }
      defer { SalesforceLogger.setReceivers(nil) }
      let bridge = try HybridBridge(plugins: [Echo()])
      let page = try Page(bridge)
      for _ in 0..<2 {
        let id = try await page.post(
          "echo", "echo", .string("pluginSDKVersion:\(version)"), ["a": 1])
        let response = await page.response(id)
        #expect(response["status"] == "ok" && response["value"] == [["a": 1]])
      }
      await bridge.close()
      return lines.withLock { $0.filter { $0.contains("version '\(version)'") } }
    }
  }

  @Test(
    .covers("HT-6"),
    arguments: [
      ("7.1.77", "older"), ("13.9.9.9", "older"), ("14.0.0dev", "older"), ("14.0", "older"),
      ("14.0.1", "newer"), ("15.dev", "newer"), ("141.0", "newer"), ("x", "older"),
    ])
  func `another version is logged once as older or newer, and the call works`(
    version: String, relation: String
  ) async throws {
    let lines = try await lines(of: version)
    #expect(lines.count == 1)
    #expect(lines.first?.hasPrefix("warn: ") == true)
    #expect(lines.first?.contains(", \(relation) than 14.0.0 of the bridge") == true)
  }

  @Test(.covers("HT-6"))
  func `the bridge's own version is no warning`() async throws {
    #expect(try await lines(of: "14.0.0") == [])
  }
}
