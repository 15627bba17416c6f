import Foundation
import GRDB
import SalesforceSDKCommon

/// What changed within a window of time: `/sobjects/NAME/updated` and `/deleted`.
struct ChangesResource: Resource {
  /// How far back a window may begin: what the recycle bin and the change log keep.
  private static let reach = 30 * 86_400

  /// What a response says of a window.
  private struct Window {
    let rows: [Row]
    let covered: String
    let earliest: String
  }

  let call: RESTCall

  func updated() throws -> OrgResponse {
    let window = try window(deleted: false)
    return .json([
      "ids": .array(window.rows) { .string($0[0]) }, "latestDateCovered": .string(window.covered),
    ])
  }

  func deleted() throws -> OrgResponse {
    let window = try window(deleted: true)
    return .json([
      "deletedRecords": .array(window.rows) {
        ["id": .string($0[0]), "deletedDate": .string($0[1])]
      },
      "earliestDateAvailable": .string(window.earliest),
      "latestDateCovered": .string(window.covered),
    ])
  }

  private func window(deleted: Bool) throws -> Window {
    let object = try object
    let now = Int(transaction.now.timeIntervalSince1970.rounded(.down))
    let start = try instant("start")
    let end = try instant("end")
    guard start >= now - Self.reach else {
      throw ServerError(
        "INVALID_REPLICATION_DATE", "startDate before org replication enabled date")
    }
    guard start < end else {
      throw ServerError(
        "INVALID_REPLICATION_DATE", "endDate must be at least one minute greater than startDate")
    }
    // Never beyond the present minute: a client begins its next window there, and what changes later
    // in this minute must not fall between the two.
    let covered = min(end, now / 60 * 60)
    let statement = try transaction.database.cachedStatement(
      sql: """
        SELECT "Id", "SystemModstamp" FROM \(object.table.name) AS t0 \
        WHERE "SystemModstamp" >= ? AND "SystemModstamp" <= ? AND "IsDeleted" = ?\
        \(transaction.schema.andCondition(.read, on: object, as: "t0")) ORDER BY rowid
        """)
    let rows = try Row.fetchAll(
      statement,
      arguments: [
        DateText.dateTime(secondsSince1970: start), DateText.dateTime(secondsSince1970: end),
        deleted,
      ])
    return Window(
      rows: rows, covered: DateText.dateTime(secondsSince1970: covered),
      earliest: DateText.dateTime(secondsSince1970: (now - Self.reach) / 60 * 60))
  }

  /// A parameter that is an instant; its seconds do not count.
  private func instant(_ name: String) throws(ServerError) -> Int {
    guard let text = request[query: name] else {
      throw ServerError(
        "MISSING_ARGUMENT", "The \(name) parameter is required.")
    }
    // A plus sign that was not encoded arrives as a blank.
    guard let seconds = DateText.secondsSince1970(text.replacing(" ", with: "+")) else {
      throw ServerError(
        "INVALID_REPLICATION_DATE", "The \(name) parameter has to be a date and time: \(text)")
    }
    return seconds / 60 * 60
  }
}
