import AuthFlows
import Foundation
import LoopbackLogin
import SalesforceSDKCore

/// Runs logins and prints what came of them.
///
///     AuthFlowTester                                      every login, against a mock org, with a scripted person
///     AuthFlowTester LOGIN...                             some of them
///     AuthFlowTester --url URL --client-id KEY LOGIN...   against an org, with the browser and a person
///
/// Ends with 0 if no login failed, with 1 if one did, and with 2 for wrong arguments.
@main
struct AuthFlowTester {
  static func main() async {
    do {
      let arguments = try Arguments(CommandLine.arguments.dropFirst())
      let isSuccess =
        if let settings = try arguments.settings() {
          try await run(settings, arguments.flows)
        } else {
          try await AuthSettings.withMockOrg { settings, _ in
            try await run(settings, arguments.flows)
          }
        }
      exit(isSuccess ? 0 : 1)
    } catch {
      FileHandle.standardError.write(Data("error: \(error)\n".utf8))
      exit(2)
    }
  }

  /// Runs the logins, and returns whether none failed.
  private static func run(_ settings: AuthSettings, _ flows: [AuthFlow]) async throws -> Bool {
    let runner = AuthFlowRunner(settings)
    var failed = 0
    for flow in flows {
      let report = try await runner.run(flow)
      for line in report.lines { print(line) }
      if !report.isSuccess { failed += 1 }
    }
    print(failed == 0 ? "no login failed" : "\(failed) of \(flows.count) logins failed")
    return failed == 0
  }
}
