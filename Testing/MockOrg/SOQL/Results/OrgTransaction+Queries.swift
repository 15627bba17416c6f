import struct Foundation.TimeZone
import GRDB

extension OrgTransaction {
  /// What a query of the request's user depends on.
  func soqlOptions(includeDeleted: Bool = false) throws -> SOQLOptions {
    SOQLOptions(
      now: now, timeZone: try userTimeZone, userID: userID, recentIDs: recentIDs,
      includeDeleted: includeDeleted,
      apiVersion: apiVersion, allowsApexSyntax: acceptsApexClauses)
  }

  /// The zone of the user's clock, UTC where the user has none.
  private var userTimeZone: TimeZone {
    get throws {
      guard schema.object(named: "User")?.field(named: "TimeZoneSidKey") != nil else { return .gmt }
      let statement = try database.cachedStatement(
        sql: "SELECT \"TimeZoneSidKey\" FROM \"User\" WHERE \"Id\" = ?")
      let zone = try String.fetchOne(statement, arguments: [userID])
      // One value for UTC by any name: it needs no conversion.
      guard let zone, zone != "GMT", zone != "UTC" else { return .gmt }
      return TimeZone(identifier: zone) ?? .gmt
    }
  }
}

extension OrgRequest {
  /// Whether the request may stamp records although it only reads: `FOR VIEW`, `FOR REFERENCE`.
  var mayMarkRecords: Bool {
    guard path.contains("query") || path.contains("queryAll"), let text = self[query: "q"] else {
      return false
    }
    let words = text.uppercased()
    return words.contains("VIEW") || words.contains("REFERENCE")
  }
}
