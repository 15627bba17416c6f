import enum Foundation.ComparisonResult
import func Foundation.asin
import func Foundation.cos
import func Foundation.sin
import struct Foundation.TimeZone
import GRDB

/// What compiled queries need of a database connection beyond SQLite itself.
enum SOQLDatabase {
  /// The collation for texts with letters beyond ASCII.
  static let collation = "SOQL"
  /// `SOQL_LIKE(text, pattern)`, the pattern as ``SOQLPattern/sqlText`` writes it.
  static let like = "SOQL_LIKE"

  /// `SOQL_LOCAL(dateTime, zone)`: a stored datetime as the clocks of a zone show it.
  static let local = "SOQL_LOCAL"
  /// `SOQL_DISTANCE(latitude, longitude, latitude, longitude)`, in kilometers.
  static let distance = "SOQL_DISTANCE"

  /// Adds the collation and the functions. Every connection that runs a ``SOQLQuery`` calls this once.
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
    database.add(
      function: DatabaseFunction(local, argumentCount: 2, pure: true) { values in
        guard let text = String.fromDatabaseValue(values[0]),
          let zone = String.fromDatabaseValue(values[1]).flatMap(TimeZone.init(identifier:))
        else { return nil }
        return SOQLTimeZone(zone: zone).local(text)
      })
    database.add(
      function: DatabaseFunction(distance, argumentCount: 4, pure: true) { values in
        let degrees = values.compactMap { Double.fromDatabaseValue($0) }
        guard degrees.count == 4 else { return nil }
        return kilometers(from: (degrees[0], degrees[1]), to: (degrees[2], degrees[3]))
      })
  }

  /// The way over the surface of a sphere of the earth's mean radius; places in degrees.
  private static func kilometers(
    from a: (latitude: Double, longitude: Double), to b: (latitude: Double, longitude: Double)
  ) -> Double {
    let radians = Double.pi / 180
    // The haversine, which stays exact for places close to each other.
    let latitudes = sin((b.latitude - a.latitude) * radians / 2)
    let longitudes = sin((b.longitude - a.longitude) * radians / 2)
    let haversine =
      latitudes * latitudes
      + cos(a.latitude * radians) * cos(b.latitude * radians) * longitudes * longitudes
    return 2 * 6371.0088 * asin(min(haversine.squareRoot(), 1))
  }
}
