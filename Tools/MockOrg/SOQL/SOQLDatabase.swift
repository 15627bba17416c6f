import enum Foundation.ComparisonResult
import GRDB

/// What compiled queries need of a database connection beyond SQLite itself.
enum SOQLDatabase {
  /// The collation for texts with letters beyond ASCII.
  static let collation = "SOQL"
  /// `SOQL_LIKE(text, pattern)`, the pattern as ``SOQLPattern/sqlText`` writes it.
  static let like = "SOQL_LIKE"

  /// Adds the collation and the function. Every connection that runs a ``SOQLQuery`` calls this once.
  static func prepare(_ database: Database) {
    database.add(
      collation: DatabaseCollation(collation) { a, b in
        let a = a.unicodeScalars.lazy.map(\.sortedForSOQL)
        let b = b.unicodeScalars.lazy.map(\.sortedForSOQL)
        if a.elementsEqual(b) { return .orderedSame }
        return a.lexicographicallyPrecedes(b) ? .orderedAscending : .orderedDescending
      })
    database.add(
      function: DatabaseFunction(like, argumentCount: 2, pure: true) { values in
        guard let text = String.fromDatabaseValue(values[0]),
          let pattern = String.fromDatabaseValue(values[1])
        else { return nil }
        return SOQLPattern(sqlText: pattern).matches(text)
      })
  }
}
