import Foundation

/// Standard error: words for the person at the terminal, which never mix with results.
enum Console {
  /// Prints one line.
  static func say(_ message: String) {
    FileHandle.standardError.write(Data((message + "\n").utf8))
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
    write("\r\u{1B}[K\(title) \(bar) \(percent) %  \(detail)")
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
