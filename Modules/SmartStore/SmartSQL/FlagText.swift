import SalesforceSDKCommon

/// A text in place of a flag of local changes: the flag is a Boolean, which as a text has other spellings in an index, so
/// that a comparison with the text finds nothing.
enum FlagText {
  /// Whether a key stands for a flag: `true` or `false`, or a part of them, in any letters and with wildcards.
  static func isMeant(_ key: String) -> Bool {
    let letters = key.trimmed.lowercased().filter { !"%_*?".contains($0) }
    return !letters.isEmpty && ("true".hasPrefix(letters) || "false".hasPrefix(letters))
  }

  /// Whether a literal with its quotes stands for a flag.
  static func isMeant(literal: some Collection<UInt8>) -> Bool {
    // A flag has few letters; a long literal is not read.
    guard literal.count <= 12, literal.count > 2 else { return false }
    return isMeant(String(decoding: literal.dropFirst().dropLast(), as: UTF8.self))
  }

  /// The error for a text in a comparison with a flag.
  ///
  /// - Parameters:
  ///   - place: The place of the text, such as `at character 12`.
  ///   - flag: The flag's path.
  ///   - remedy: A sentence that says what to write or to give.
  static func refusal(
    _ place: String, flag: String, remedy: String, fileID: String = #fileID, line: Int = #line
  ) -> SmartStoreError {
    SmartStoreError(
      .invalidQuerySpec,
      "Invalid query: \(flag) is a Boolean, and the text \(place) finds no entry by it. \(remedy)",
      fileID: fileID, line: line)
  }
}
