import ArgumentParser
import SalesforceSDKCommon

/// A command line that cannot be run, with a suggestion.
struct UsageFailure {
  private let message: String
  /// Lines that show the right usage.
  private let usage: String

  /// - Parameter error: The error of the parser.
  init(_ error: any Error, _ arguments: [String]) {
    let full = Fieldforce.fullMessage(for: error)
    // Unknown words first, because they often cause the parser's other errors.
    if let program = try? CommandTable.program(),
      let misspelling = Misspelling(in: arguments, of: program)
    {
      message = misspelling.message
      let called = misspelling.command.path.joined(separator: " ")
      usage =
        misspelling.command.subcommands.isEmpty
        ? "See '\(called) --help'."
        : "Usage: \(called) <subcommand>\n  See '\(called) --help' for more information."
      return
    }
    let parsed = Fieldforce.message(for: error)
    // The words of the generators (HT-50).
    message =
      OptionText.callsGenerator(arguments) && parsed.hasPrefix("Unexpected argument '")
      ? "Illegal argument: " + parsed.dropFirst("Unexpected argument '".count).dropLast() : parsed
    let lines = full.split(separator: "\n", omittingEmptySubsequences: false)
      .drop { !$0.hasPrefix("Usage:") }.joined(separator: "\n")
    // An error that a command throws while it runs comes with the usage of the whole program.
    let called = (try? CommandTable.program())?.command(arguments).command.path ?? []
    usage =
      called.count > 1 && lines.contains("See 'fieldforce --help'")
      ? "See '\(called.joined(separator: " ")) --help' for more information." : lines
  }

  func say() {
    Console.say("Error:", .failure, message)
    usage.split(separator: "\n").map(String.init).forEach(Console.say)
  }

  /// The same form as that of a failure.
  var json: String {
    CommandFailure("usage", message, status: .usage).text(asJSON: true)
  }
}
