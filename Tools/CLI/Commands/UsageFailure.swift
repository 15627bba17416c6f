import ArgumentParser
import SalesforceSDKCommon

/// A command line that cannot be run, with a suggestion.
struct UsageFailure {
  private let message: String
  /// Lines that show the right usage.
  private let usage: String

  /// - Parameter error: The error of the parser.
  init(_ error: any Error, _ arguments: [String]) {
    let called = CalledCommand(arguments)
    // Unknown words first, because they often cause the parser's other errors.
    if let misspelling = Misspelling(in: called) {
      message = misspelling.message
      usage =
        called.subcommands.isEmpty
        ? "See '\(called.words) --help'."
        : "Usage: \(called.words) <subcommand>\n  See '\(called.words) --help' for more information."
      return
    }
    let parsed = Fieldforce.message(for: error)
    // The words of the generators (HT-50).
    message =
      OptionText.callsGenerator(arguments) && parsed.hasPrefix("Unexpected argument '")
      ? "Illegal argument: " + parsed.dropFirst("Unexpected argument '".count).dropLast() : parsed
    let lines = Fieldforce.fullMessage(for: error).split(
      separator: "\n", omittingEmptySubsequences: false
    )
    .drop { !$0.hasPrefix("Usage:") }.joined(separator: "\n")
    // An error that a command throws while it runs comes with the usage of the whole program.
    usage =
      called.path.count > 1 && lines.contains("See 'fieldforce --help'")
      ? "See '\(called.words) --help' for more information." : lines
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
