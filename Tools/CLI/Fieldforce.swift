import ArgumentParser
import Foundation
import SalesforceSDKCore

/// `fieldforce`: the package for people without Swift code, and the window through which tests look in.
///
/// It ends with one of ``ExitStatus``.
@main
struct Fieldforce: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fieldforce",
    abstract: "Offline-first Salesforce: an encrypted store, two-way sync, and a mock org.",
    discussion: """
      Start with:  fieldforce demo

      \(ExitStatus.help)
      """,
    version: SDKVersion.current,
    subcommands: [
      DemoCommand.self, OrgCommand.self, LoginCommand.self, AccountsCommand.self,
      SwitchCommand.self, LogoutCommand.self, RestCommand.self, SoupCommand.self,
      StoreCommand.self, SyncCommand.self, HybridCommand.self, InspectCommand.self,
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

  /// Reports an error on standard error and ends the process with its status.
  private static func end(with error: any Error) -> Never {
    let asJSON = CommandLine.arguments.contains("--json")
    let status: ExitStatus
    if let partial = error as? PartialSuccess {
      // The document on standard output has the counts.
      if !asJSON { Console.say(partial.message) }
      status = .partial
    } else {
      switch exitCode(for: error) {
      case .success:
        print(fullMessage(for: error))
        status = .success
      case .validationFailure:
        Console.say(fullMessage(for: error))
        status = .usage
      default:
        let failure = CommandFailure(error)
        if !(error is ExitCode) { Console.say(failure.text(asJSON: asJSON)) }
        status = failure.status
      }
    }
    Foundation.exit(status.rawValue)
  }
}
