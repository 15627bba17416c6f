import ArgumentParser
import Foundation

/// Gets the values of parameters: from the command line, or at a terminal from the user until each is valid.
struct ParameterPrompt {
  /// Whether the user may be prompted.
  let isInteractive: Bool

  init(isNonInteractive: Bool) {
    isInteractive = !isNonInteractive && StandardInput.isTerminal && Console.isTerminal
  }

  /// The value of a parameter.
  ///
  /// - Parameters:
  ///   - given: The value on the command line; nil if it is missing there.
  ///   - standard: The value of an empty line; nil if one is required.
  /// - rule: Returns the error of a value, as the beginning of a sentence; nil for a valid value.
  /// - Throws: `ValidationError` if the user cannot be prompted, or ends the input.
  func value(
    _ name: String, _ title: String, given: String?, standard: String? = nil,
    rule: (String) -> String?
  ) throws -> String {
    var text = given ?? (isInteractive ? nil : standard)
    if text?.isEmpty == true, let standard { text = standard }
    while true {
      if let text {
        guard let reason = rule(text) else { return text }
        guard isInteractive else {
          throw text.isEmpty
            ? Self.missing(name)
            : ValidationError("The parameter --\(name)=\(text) is wrong. \(Self.ended(reason))")
        }
        Console.say(Self.ended(reason))
      } else if !isInteractive {
        throw Self.missing(name)
      }
      Console.prompt("\(title)\(standard.map { $0.isEmpty ? " (optional)" : " (\($0))" } ?? ""): ")
      guard let line = StandardInput.line() else {
        throw ValidationError("The input ended before the parameter --\(name) had a value.")
      }
      let typed = line.trimmingCharacters(in: .whitespaces)
      text = typed.isEmpty ? standard ?? "" : typed
    }
  }

  private static func missing(_ name: String) -> ValidationError {
    ValidationError("The parameter --\(name) is missing. Write --\(name)=VALUE.")
  }

  /// The reason as a whole sentence.
  private static func ended(_ reason: String) -> String {
    reason.hasSuffix("?") || reason.hasSuffix(".") ? reason : reason + "."
  }
}
