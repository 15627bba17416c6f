import SalesforceSDKCommon

/// A suite of tests in JavaScript that a native test runs, with a time limit for each of its tests (BX-120).
///
/// The page, or a Node process, runs its tests in its own order and reports each to the service
/// `com.salesforce.testrunner`, see ``TestRunnerPlugin``. One object serves one run.
///
/// ```swift
/// let suite = PageTestRun()
/// let bridge = try HybridBridge.standard(host: host, plugins: [suite.plugin])
/// let server = try await HybridServer.start(bridge: bridge, www: folder)
/// for result in try await suite.run(["testUpsert", "testSync"], open: { try await browser.open(server.url) }) {
///   #expect(result.isSuccess, "\(result.name): \(result.message)")
/// }
/// ```
public final class PageTestRun: Sendable {
  /// The result of one test.
  public struct Result: Sendable, Equatable {
    /// The name by which the page reports the test.
    public let name: String
    /// Whether the test passed.
    public let isSuccess: Bool
    /// The reason of a failure. Default: empty.
    public let message: String
    /// The duration that the page measured. Default: zero.
    public let duration: Duration

    /// Creates a result.
    public init(name: String, isSuccess: Bool, message: String = "", duration: Duration = .zero) {
      self.name = name
      self.isSuccess = isSuccess
      self.message = message
      self.duration = duration
    }
  }

  private enum Event: Sendable {
    case result(Result)
    /// The time limit that began after this number of results.
    case expired(after: Int)
  }

  /// The service to which the page reports.
  public let plugin: TestRunnerPlugin
  private let events: AsyncStream<Event>
  private let arrival: AsyncStream<Event>.Continuation

  /// Creates a run and its service.
  public init() {
    let (events, arrival) = AsyncStream.makeStream(of: Event.self)
    self.events = events
    self.arrival = arrival
    plugin = TestRunnerPlugin { report in
      if let result = Result(report) { arrival.yield(.result(result)) }
    }
  }

  /// Opens the page and waits until each of the tests has reported.
  ///
  /// - Parameters:
  ///   - names: The tests that the page is to report. Other reports are ignored.
  ///   - limit: The time for each test, counted from the report before, or from the opening of the page.
  ///     When it ends, all tests without a report have failed. Default: 30 seconds.
  ///   - clock: Measures `limit`. Default: the continuous clock.
  ///   - open: Opens the page. What it throws ends the run.
  /// - Returns: One result for each name, in the order of `names`; the last report counts.
  /// - Throws: The error of `open`, or `CancellationError`.
  public func run(
    _ names: [String], limit: Duration = .seconds(30),
    clock: any Clock<Duration> = ContinuousClock(), open: () async throws -> Void
  ) async throws -> [Result] {
    try await open()
    var results: [String: Result] = [:]
    var missing = Set(names)
    var number = 0
    var timer = startTimer(number, limit, clock)
    defer { timer.cancel() }
    if missing.isEmpty { return [] }
    for await event in events {
      switch event {
      case .expired(after: number):
        return names.map { name in
          results[name]
            ?? Result(
              name: name, isSuccess: false,
              message: "The page reported nothing for \(limit). Missing: \(missing.count) tests.")
        }
      case .expired: continue
      case .result(let result):
        guard names.contains(result.name) else { continue }
        results[result.name] = result
        missing.remove(result.name)
        if missing.isEmpty { return names.compactMap { results[$0] } }
        number += 1
        timer.cancel()
        timer = startTimer(number, limit, clock)
      }
    }
    throw CancellationError()
  }

  private func startTimer(
    _ number: Int, _ limit: Duration, _ clock: any Clock<Duration>
  ) -> Task<Void, Never> {
    Task { [arrival] in
      try? await clock.sleep(for: limit)
      // A timer that was cancelled has an older number, which counts no more.
      arrival.yield(.expired(after: number))
    }
  }
}

extension PageTestRun.Result {
  /// Reads `{testName, success, message, testDuration}`; nil without a name. The duration is in milliseconds.
  init?(_ report: JSONSlice) {
    guard let name = report["testName"]?.string else { return nil }
    self.init(
      name: name, isSuccess: report["success"]?.bool ?? false,
      message: report["message"]?.string ?? "",
      duration: .milliseconds(report["testDuration"]?.double ?? 0))
  }
}
