import ArgumentParser
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

  /// Refuses a secret on the command line: every user of the machine can read a command's arguments, and the shell
  /// keeps them.
  ///
  /// - Parameter option: The name of the option, for the message.
  /// - Throws: `ValidationError` unless the argument is nil, `-` or `@FILE`.
  static func check(_ argument: String?, option: String) throws {
    guard let argument, argument != "-", !argument.hasPrefix("@") else { return }
    throw ValidationError(
      "\(option) takes no secret itself, which others could read. Give @FILE, or - for a line of standard input."
    )
  }
}
