import ArgumentParser
import Foundation
import SalesforceSDKCommon
import SalesforceSDKCore

/// The command `fieldforce`: the functions of the package for the shell, for users and for tests.
///
/// Its exit status is one of ``ExitStatus``.
@main
struct Fieldforce: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fieldforce",
    abstract: "Offline-first Salesforce: an encrypted store, two-way sync, and a mock org.",
    discussion: """
      Start with:  fieldforce demo
      If something does not work:  fieldforce doctor

      \(ExitStatus.help)
      """,
    version: SDKVersion.current,
    subcommands: [
      DemoCommand.self, OrgCommand.self, LoginCommand.self, AccountsCommand.self,
      SwitchCommand.self, LogoutCommand.self, RestCommand.self, SoupCommand.self,
      StoreCommand.self, SyncCommand.self, FilesCommand.self, RescueCommand.self,
      HybridCommand.self,
      InspectCommand.self, LockCommand.self, UnlockCommand.self, KeysCommand.self,
      ManagedCommand.self, HostsCommand.self,
      PushCommand.self, RunCommand.self, WipeCommand.self, CreateCommand.self,
      CreateWithTemplateCommand.self, ListTemplatesCommand.self, CheckConfigCommand.self,
      VersionCommand.self, DoctorCommand.self, AnalyticsCommand.self, CompletionsCommand.self,
      ManualCommand.self,
    ] + systemCommands)

  /// The command that the desktop of some systems starts.
  private static var systemCommands: [any ParsableCommand.Type] {
    #if os(Linux)
      [LoginRedirectCommand.self]
    #else
      []
    #endif
  }

  static func main() async {
    // Keys are only in the memory of this process.
    ProcessMemory.protect()
    let given = Array(CommandLine.arguments.dropFirst())
    ConsoleLog.install(for: given)
    let arguments = OptionText.generatorForm(OptionText.separated(given))
    let work = Task {
      var command = try parseAsRoot(arguments)
      let line = ProgressLine(title: type(of: command)._commandName, isDefault: true)
      defer { line.clear() }
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    }
    let interruption = Interruption { work.cancel() }
    let result = await work.result
    do {
      try result.get()
    } catch {
      if !interruption.hasArrived { end(with: error, arguments) }
    }
    if interruption.hasArrived { end(with: CommandFailure.interrupted, arguments) }
  }

  /// Reports an error on standard error and ends the process with its status.
  private static func end(with error: any Error, _ arguments: [String]) -> Never {
    let asJSON = arguments.contains("--json")
    let status: ExitStatus
    ProgressLine.end()
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
        let failure = UsageFailure(error, arguments)
        if asJSON { Console.say(failure.json) } else { failure.say() }
        status = .usage
      default:
        let failure = CommandFailure(error)
        if !(error is ExitCode) { failure.say(asJSON: asJSON) }
        status = failure.status
      }
    }
    Foundation.exit(status.rawValue)
  }
}
