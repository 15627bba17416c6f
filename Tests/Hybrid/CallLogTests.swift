import SalesforceHybridSDK
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

/// What does a developer see of the calls of a page?
struct CallLogTests {
  private struct Listener: LogReceiver {
    let tell: @Sendable (LogRecord) -> Void

    func receive(_ record: LogRecord) { tell(record) }
  }

  /// A service that other tests do not call.
  private struct Logged: HybridPlugin {
    let serviceNames = ["logged"]

    func respond(to call: HybridCall) async throws -> HybridValue {
      switch call.action {
      case "echo": return HybridValue(.array(call.arguments.map(\.value)))
      case "nothing": return .none
      case "fail": throw HybridError(.failed, "failed", value: call.arguments.first?.value)
      default: throw call.invalidAction()
      }
    }
  }

  /// The records of the bridge's log while a page carries out `calls`.
  private func records(
    level: LogLevel, _ calls: [(service: String, action: String, argument: JSONValue)]
  ) async throws -> [LogRecord] {
    try await Turns.logging.run {
      let records = Mutex<[LogRecord]>([])
      let logger = SalesforceLogger.logger(forComponent: "SalesforceHybridSDK")
      let former = logger.level
      logger.level = level
      SalesforceLogger.setReceivers { component in
        Listener { record in
          if component == "SalesforceHybridSDK" { records.withLock { $0.append(record) } }
        }
      }
      defer {
        SalesforceLogger.setReceivers(nil)
        logger.level = former
      }
      let bridge = try HybridBridge(plugins: [Logged()])
      let page = try Page(bridge)
      for (service, action, argument) in calls {
        let id = try await page.post(service, action, "pluginSDKVersion:14.0.0", argument)
        _ = await page.response(id)
      }
      await bridge.close()
      // Other tests of the process use bridges too.
      return records.withLock {
        $0.filter { $0.text.hasPrefix("logged.") || $0.text.hasPrefix("(a name of 200 bytes)") }
      }
    }
  }

  @Test(.covers("HT-71"))
  func `each call is logged at level debug with its outcome and duration, and without its data`()
    async throws
  {
    let records = try await records(
      level: .debug,
      [
        ("logged", "echo", ["secret": "xyzzy"]), ("logged", "fail", "xyzzy"),
        ("logged", "nothing", 1),
      ])
    #expect(records.map(\.level) == [.debug, .debug, .debug])
    let patterns = [
      /logged\.echo: ok, \d+\.\d{3} ms, \d+ bytes/, /logged\.fail: error, \d+\.\d{3} ms, \d+ bytes/,
      /logged\.nothing: ok, \d+\.\d{3} ms, \d+ bytes/,
    ]
    for (record, pattern) in zip(records, patterns) {
      #expect(try pattern.wholeMatch(in: record.text) != nil, "\(record.text)")
    }
    #expect(!records.contains { $0.text.contains("xyzzy") })
  }

  @Test(.covers("HT-71"))
  func `a name that a page chose cannot write lines of its own`() async throws {
    let records = try await records(
      level: .debug, [("logged", "a\nb", 1), (String(repeating: "x", count: 200), "y", 1)])
    #expect(records.count == 2)
    #expect(records.first?.text.hasPrefix("logged.(a name of 3 bytes): error") == true)
    #expect(records.last?.text.hasPrefix("(a name of 200 bytes).y: error") == true)
  }

  @Test func `at the usual level nothing is logged of a call`() async throws {
    #expect(try await records(level: .info, [("logged", "echo", 1)]).isEmpty)
  }
}
