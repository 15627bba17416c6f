import ArgumentParser
import SalesforceSDKCommon

/// The form of a command's output: lines of text, or one JSON document.
struct OutputOptions: ParsableArguments {
  @Flag(help: "Print one JSON document on standard output, and nothing else there.")
  var json = false

  @Flag(help: "Write the log of the libraries to standard error.")
  var verbose = false

  /// Prints `document` if JSON was requested, else the lines that `lines` makes; a line end in one of them is
  /// escaped.
  func print(_ document: JSONValue, lines: () -> [String]) {
    ProgressLine.end()
    if json {
      Console.printRaw(document.text)
    } else {
      for line in lines() { Swift.print(TerminalText.escaped(line, keepsLines: false)) }
    }
  }

  /// As ``print(_:lines:)``, for lines that are escaped already and may have colours.
  func printStyled(_ document: JSONValue, lines: () -> [String]) {
    ProgressLine.end()
    if json { return Console.printRaw(document.text) }
    for line in lines() { Swift.print(line) }
  }

  /// Prints `document` if JSON was requested, else a table; `empty` takes the place of a table without rows.
  func print(_ document: JSONValue, empty: String? = nil, table: () -> Table) {
    printStyled(document) {
      let lines = table().lines(for: .output)
      return lines.isEmpty ? empty.map { [$0] } ?? [] : lines
    }
  }
}
