import GRDB

/// A piece of SQL and the values of its question marks.
struct SOQLFragment: Sendable {
  var sql: String
  var arguments: [DatabaseValue] = []

  init(_ sql: String, _ arguments: [DatabaseValue] = []) {
    self.sql = sql
    self.arguments = arguments
  }

  /// A condition that holds for no row.
  static let never = SOQLFragment("0")

  /// Conditions joined by `operator`, with parentheses if there are several.
  ///
  /// SQLite limits the depth of expressions, and a chain of n operators is n deep. So a long list
  /// becomes a tree of short chains.
  static func joined(_ parts: [SOQLFragment], by operator: String) -> SOQLFragment {
    let longestChain = 25
    var parts = parts
    while parts.count > longestChain {
      parts = stride(from: 0, to: parts.count, by: longestChain).map { start in
        chain(parts[start..<min(start + longestChain, parts.count)], by: `operator`)
      }
    }
    return chain(parts[...], by: `operator`)
  }

  private static func chain(
    _ parts: ArraySlice<SOQLFragment>, by operator: String
  ) -> SOQLFragment {
    if parts.count == 1, let only = parts.first { return only }
    return SOQLFragment(
      "(" + parts.map(\.sql).joined(separator: " \(`operator`) ") + ")",
      parts.flatMap(\.arguments))
  }

  /// The opposite; what SQL calls unknown is false in SOQL, so its opposite is true.
  var negated: SOQLFragment { SOQLFragment("((\(sql)) IS NOT TRUE)", arguments) }
}

extension String {
  /// The name as an SQL identifier.
  var quotedForSQL: String { "\"" + replacing("\"", with: "\"\"") + "\"" }
}
