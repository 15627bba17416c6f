import ArgumentParser
import SalesforceSDKCommon

/// How a command speaks: in lines for people, or in one JSON document for programs.
struct OutputOptions: ParsableArguments {
  @Flag(help: "Print one JSON document on standard output, and nothing else there.")
  var json = false

  @Flag(help: "Write the log of the libraries to standard error.")
  var verbose = false

  /// Prints `document` if JSON was requested, else the lines that `lines` makes.
  func print(_ document: JSONValue, lines: () -> [String]) {
    if json {
      Console.printRaw(document.text)
    } else {
      for line in lines() { Swift.print(TerminalText.escaped(line)) }
    }
  }
}
