import Foundation
import SalesforceSDKCommon

/// Standard error: words for the person at the terminal, which never mix with results.
enum Console {
  /// Prints one line, in which what would command the terminal is escaped: servers have their part in it.
  static func say(_ message: String) {
    FileHandle.standardError.write(Data((TerminalText.escaped(message) + "\n").utf8))
  }

  /// Prints a text for programs on standard output: as it is, but escaped if that is a terminal. In JSON the
  /// escapes mean the same characters.
  static func printRaw(_ text: String) {
    print(isatty(STDOUT_FILENO) == 1 ? TerminalText.escaped(text) : text)
  }

  /// Whether a person is watching.
  static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }
}

/// A line that fills up while work goes on; silent unless a person is watching.
struct ProgressLine {
  let title: String

  /// Shows how far the work is.
  ///
  /// - Parameter percent: 0...100.
  func show(percent: Int, _ detail: String) {
    guard Console.isTerminal else { return }
    let filled = min(max(percent, 0), 100) / 5
    let bar = String(repeating: "█", count: filled) + String(repeating: "·", count: 20 - filled)
    let words = TerminalText.escaped("\(title) \(bar) \(percent) %  \(detail)", keepsLines: false)
    write("\r\u{1B}[K\(words)")
  }

  /// Takes the line away.
  func clear() {
    guard Console.isTerminal else { return }
    write("\r\u{1B}[K")
  }

  private func write(_ text: String) {
    FileHandle.standardError.write(Data(text.utf8))
  }
}
