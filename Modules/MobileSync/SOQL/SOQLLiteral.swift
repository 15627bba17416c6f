import SalesforceSDKCommon

/// Values as SOQL literals.
public enum SOQLLiteral: Sendable {
  /// How many ids a condition names at most: queries travel in the address.
  public static let maxIds = 500
  /// How many bytes a list may take in an address; the server refuses addresses beyond 16 KB.
  static let maxListBytes = 15_000

  /// A text in single quotes; what would end it early is escaped.
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

  /// A list of texts for `IN`: `('a', 'b')`.
  public static func list(_ values: some Sequence<String>) -> String {
    "(\(values.map { text($0) }.joined(separator: ", ")))"
  }

  /// Cuts ids into slices, each of which ``list(_:)`` makes short enough for an address.
  ///
  /// - Parameter count: How many ids a slice has at most; values outside of 1 to ``maxIds`` mean
  ///   ``maxIds``.
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

  /// How many of the first ids make one slice; at least one.
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
