import Foundation
import SalesforceSDKCommon

/// Standard error: messages for the user, separate from the results on standard output.
enum Console {
  /// Prints one line, in which line ends and control characters are escaped, because a part of the
  /// text may come from a server.
  static func say(_ message: String) {
    write(TerminalText.escaped(message, keepsLines: false) + "\n")
  }

  /// Prints a message that begins with a word in a style, such as `error:`. Its other lines are indented, so that
  /// none of them looks like a message of its own.
  static func say(_ label: String, _ style: Terminal.Style, _ message: String) {
    let lines = message.split(separator: "\n", omittingEmptySubsequences: false)
      .map { TerminalText.escaped(String($0), keepsLines: false) }
    write(Terminal.errors.styled(label, style) + " " + lines.joined(separator: "\n  ") + "\n")
  }

  /// Prints a warning; the command continues.
  static func warn(_ message: String) { say("warning:", .warning, message) }

  /// Prints a text for programs on standard output: as it is, but escaped if that is a terminal. In JSON the
  /// escapes mean the same characters.
  static func printRaw(_ text: String) {
    ProgressLine.interrupt()
    print(Terminal.output.isTerminal ? TerminalText.escaped(text) : text)
  }

  /// Prints a text without a line end, behind which the user types.
  static func prompt(_ text: String) {
    write(TerminalText.escaped(text, keepsLines: false))
  }

  /// Whether standard error is a terminal.
  static var isTerminal: Bool { Terminal.errors.isTerminal }

  private static func write(_ text: String) {
    ProgressLine.interrupt()
    FileHandle.standardError.write(Data(text.utf8))
  }
}
