import GRDB

/// A piece of SQL and the values of its question marks.
struct SOQLFragment: Sendable {
  /// The deepest condition that SQLite takes: its parser's stack holds 100 words, of which the rest of
  /// the statement needs some.
  static let maxDepth = 55

  var sql: String
  var arguments: [DatabaseValue]
  /// How many words SQLite's parser holds back when it is at the innermost part.
  private(set) var depth: Int
  private var isParenthesized = false

  init(_ sql: String, _ arguments: [DatabaseValue] = [], depth: Int = 0) {
    self.sql = sql
    self.arguments = arguments
    self.depth = depth
  }

  /// A text as a part of SQL, for names and labels of the schema; values of a query are arguments.
  static func quoted(_ text: String) -> String {
    "'" + text.replacing("'", with: "''").replacing("\0", with: "") + "'"
  }

  /// A condition that holds for no row.
  static let never = SOQLFragment("0")

  /// Conditions joined by `operator`, with parentheses if there are several.
  ///
  /// SQLite limits both how deep an expression is and how far its parser has to look back. A chain of
  /// n operators is n deep, so a long list becomes a tree of short chains. What stands at the
  /// beginning costs the parser least, so deep parts stand there, the deepest in a chain of two.
  static func joined(_ parts: [SOQLFragment], by operator: String) -> SOQLFragment {
    let longestChain = 25
    var parts = parts
    var deepest: SOQLFragment?
    if parts.contains(where: { $0.depth > 0 }) {
      parts.sort { $0.depth > $1.depth }
      deepest = parts.removeFirst()
    }
    while parts.count > longestChain {
      parts = stride(from: 0, to: parts.count, by: longestChain).map { start in
        chain(parts[start..<min(start + longestChain, parts.count)], by: `operator`)
      }
    }
    guard let deepest else { return chain(parts[...], by: `operator`) }
    return parts.isEmpty
      ? deepest : chain([deepest, chain(parts[...], by: `operator`)], by: `operator`)
  }

  private static func chain(
    _ parts: ArraySlice<SOQLFragment>, by operator: String
  ) -> SOQLFragment {
    if parts.count == 1, let only = parts.first { return only }
    var chain = SOQLFragment(
      "(" + parts.map(\.sql).joined(separator: " \(`operator`) ") + ")",
      parts.flatMap(\.arguments))
    let later = parts.dropFirst().map(\.depth).max() ?? 0
    chain.depth = max((parts.first?.depth ?? 0) + 1, later + 3)
    chain.isParenthesized = true
    return chain
  }

  /// The opposite; what SQL calls unknown is false in SOQL, so its opposite is true.
  var negated: SOQLFragment {
    var opposite = SOQLFragment(
      isParenthesized ? "(\(sql) IS NOT TRUE)" : "((\(sql)) IS NOT TRUE)", arguments,
      depth: depth + (isParenthesized ? 1 : 2))
    opposite.isParenthesized = true
    return opposite
  }
}
