import ArgumentParser
import Foundation
import SalesforceSDKCore

/// `fieldforce`: the package for people without Swift code, and the window through which tests look in.
///
/// Exit codes: 0 success, 1 the work failed, 2 wrong usage.
@main
struct Fieldforce: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fieldforce",
    abstract: "Offline-first Salesforce: an encrypted store, two-way sync, and a mock org.",
    discussion: "Start with:  fieldforce demo",
    version: SDKVersion.current,
    subcommands: [
      DemoCommand.self, OrgCommand.self, LoginCommand.self, AccountsCommand.self,
      SwitchCommand.self, LogoutCommand.self, RestCommand.self, SoupCommand.self,
      StoreCommand.self, SyncCommand.self,
    ])

  static func main() async {
    ConsoleLog.install(for: CommandLine.arguments)
    do {
      var command = try parseAsRoot(OptionText.separated(Array(CommandLine.arguments.dropFirst())))
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch {
      end(with: error)
    }
  }

  /// Tells what went wrong, where it is looked for, and ends the process.
  private static func end(with error: any Error) -> Never {
    switch exitCode(for: error) {
    case .success:
      print(fullMessage(for: error))
      Foundation.exit(0)
    case .validationFailure:
      Console.say(fullMessage(for: error))
      Foundation.exit(2)
    default:
      if !(error is ExitCode) {
        Console.say(
          CommandFailure(error).text(asJSON: CommandLine.arguments.contains("--json")))
      }
      Foundation.exit(1)
    }
  }
}
