extension StringProtocol {
  /// The text without blanks and line breaks at its ends.
  package var trimmed: String {
    guard let first = firstIndex(where: { !$0.isWhitespace }),
      let last = lastIndex(where: { !$0.isWhitespace })
    else { return "" }
    return String(self[first...last])
  }

  /// The text without line breaks at its start and white space at its end: columns stay where they are.
  package var trimmedLines: String {
    guard let last = lastIndex(where: { !$0.isWhitespace }) else { return "" }
    return String(self[...last].drop(while: \.isNewline))
  }
}
