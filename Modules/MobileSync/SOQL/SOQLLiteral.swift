import SalesforceSDKCommon

/// Values as SOQL literals.
public enum SOQLLiteral: Sendable {
  /// The maximum number of ids in a condition: queries are part of the URL.
  public static let maxIds = 500
  /// The maximum length of a list in a URL; the server refuses URLs beyond 16 KB.
  static let maxListBytes = 15_000

  /// Returns a text in single quotes, with special characters escaped.
  public static func text(_ value: some StringProtocol) -> String {
    var literal = "'"
    for character in value.unicodeScalars {
      switch character {
      case "'", "\\": literal += "\\"
      default: break
      }
      switch character {
      case "\n": literal += "\\n"
      case "\r": literal += "\\r"
      default: literal.unicodeScalars.append(character)
      }
    }
    return literal + "'"
  }

  /// Returns a list of texts for `IN`: `('a', 'b')`.
  public static func list(_ values: some Sequence<String>) -> String {
    "(\(values.map { text($0) }.joined(separator: ", ")))"
  }

  /// Splits ids into slices, so that ``list(_:)`` of each slice is short enough for a URL.
  ///
  /// - Parameter count: The maximum number of ids in a slice; values outside of 1 to ``maxIds``
  ///   mean ``maxIds``.
  public static func slices(of ids: [String], atMost count: Int = maxIds) -> [ArraySlice<String>] {
    var slices: [ArraySlice<String>] = []
    var rest = ids[...]
    while !rest.isEmpty {
      let length = lengthOfSlice(rest, atMost: count)
      slices.append(rest.prefix(length))
      rest = rest.dropFirst(length)
    }
    return slices
  }

  /// The number of the first ids that make one slice; at least one.
  private static func lengthOfSlice(_ ids: ArraySlice<String>, atMost count: Int) -> Int {
    let count = (1...maxIds).contains(count) ? count : maxIds
    var bytes = 0
    var length = 0
    for id in ids.prefix(count) {
      // With a comma and a blank, encoded.
      bytes += PercentEncoding.encode(text(id)).utf8.count + 6
      if bytes > maxListBytes + 6, length > 0 { break }
      length += 1
    }
    return max(length, 1)
  }
}
