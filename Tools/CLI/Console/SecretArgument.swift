import Foundation

/// The secret in the value of an option.
enum SecretArgument {
  /// No file with a secret is longer: 1 MiB.
  private static let maxBytes = 1 << 20

  /// Reads the first line of a file (`@FILE`), a line of standard input (`-`), or the argument itself.
  ///
  /// - Parameter what: The name of the secret, for the message.
  /// - Throws: ``CommandFailure`` `unreadable`.
  static func read(_ argument: String, _ what: String) throws -> String {
    var text = argument
    if argument == "-" {
      text = StandardInput.line() ?? ""
    } else if argument.hasPrefix("@") {
      let file = try InputFile.read(
        URL(filePath: String(argument.dropFirst())), maxBytes: maxBytes)
      text = String(decoding: file.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
    text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard !text.isEmpty else {
      throw CommandFailure(
        "unreadable", "There is no \(what) in \(argument == "-" ? "standard input" : argument).")
    }
    return text
  }

  /// Whether the argument names where the secret is: every user of the machine can read a command's arguments.
  static func isHidden(_ argument: String) -> Bool { argument == "-" || argument.hasPrefix("@") }
}
