import Foundation
import HybridServer
import SalesforceHybridSDK
import SalesforceSDKCommon
import TestSupport
import Testing

/// Does a native test run a suite in JavaScript?
struct NodeSuiteTests {
  /// The program `node`, if it is on the path.
  static let node: URL? = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .map { URL(filePath: String($0)).appending(path: "node") }
    .first { FileManager.default.isExecutableFile(atPath: $0.path(percentEncoded: false)) }

  /// A suite over the package `fieldforce`. The package's folder and the bridge's line are its arguments.
  private static let suite = """
    const [folder, line] = process.argv.slice(2);
    const { connect } = await import(folder + "node/index.js");
    const { connection } = connect(line);
    const tests = {
      async testEcho() {
        const [value] = await connection.call("echo", "echo", { a: [1, "é"] });
        if (JSON.stringify(value) !== '{"a":[1,"é"]}') throw new Error("got " + JSON.stringify(value));
      },
      async testWrong() {
        throw new Error("expected 1, got 2");
      },
    };
    const report = (testName, success, message) =>
      connection.call("com.salesforce.testrunner", "onTestComplete", { testName, success, message, testDuration: 1 });
    await connection.call("com.salesforce.testrunner", "onReadyForTests");
    for (const [name, test] of Object.entries(tests)) {
      await test().then(() => report(name, true, ""), (error) => report(name, false, error.message));
    }
    process.exit();
    """

  @Test(.covers("BX-120"), .enabled(if: node != nil), .timeLimit(.minutes(2)))
  func `a suite of a Node process reports to a native test`() async throws {
    let run = PageTestRun()
    let bridge = try HybridBridge(plugins: [EchoPlugin(), run.plugin])
    let server = try await HybridServer.start(bridge: bridge)
    let folder = try TemporaryFolder()
    let file = folder.file("suite.mjs")
    try Data(Self.suite.utf8).write(to: file)
    let sources = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Plugins/Servers/HybridServer/JavaScript/plugins/fieldforce/")
      .standardizedFileURL
    let process = Process()
    process.executableURL = Self.node
    process.arguments = [
      file.path(percentEncoded: false), sources.absoluteString, server.info.text,
    ]
    // The process ends after its last report: what is missing then does not come.
    let results = try await run.run(
      ["testEcho", "testWrong", "testMissing"], limit: .milliseconds(1)
    ) {
      try await withCheckedThrowingContinuation { (ended: CheckedContinuation<Void, any Error>) in
        process.terminationHandler = { _ in ended.resume() }
        do { try process.run() } catch { ended.resume(throwing: error) }
      }
    }
    #expect(process.terminationStatus == 0)
    #expect(results.map(\.isSuccess) == [true, false, false])
    #expect(results.map(\.message)[1] == "expected 1, got 2")
    await server.stop()
  }
}
