import Foundation

/// Standard input, from which a command reads so that Ctrl-C ends it at once.
enum StandardInput {
  static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

  /// One line without its end; `nil` at the end of the input.
  static func line() -> String? {
    Interruption.whileReading { readLine() }
  }

  /// Everything up to the end.
  static func all() -> Data {
    Interruption.whileReading { FileHandle.standardInput.readDataToEndOfFile() }
  }
}
