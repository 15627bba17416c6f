import GRDB
import SalesforceSDKCommon

/// A bulk load under way, as it is recorded: the soup has no indexes until it ends.
///
/// Details: `{"soupName": "accounts", "soupTableName": "TABLE_3"}`. There is one step to resume,
/// building the indexes, whatever part of the elements was committed.
struct BulkLoadOperation: Sendable {
  static let type = "BulkLoad"

  let id: Int64
  let soupName: String
  let table: String

  /// Drops the indexes of a soup and records that they are due.
  init(_ soup: Soup, on access: StoreAccess) throws(SmartStoreError) {
    soupName = soup.name
    table = soup.table
    let details: JSONValue = ["soupName": .string(soup.name), "soupTableName": .string(soup.table)]
    id = try access.recordOperation(type: Self.type, details: details.text, status: "0")
    try access.dropIndexes(ofTable: soup.table)
  }

  /// Takes up a recorded operation; nil if it is none of this kind, or damaged.
  init?(_ operation: LongOperation) {
    guard operation.type == Self.type, let details = try? JSONValue(parsing: operation.details),
      let soupName = details["soupName"]?.string, let table = details["soupTableName"]?.string
    else { return nil }
    id = operation.id
    self.soupName = soupName
    self.table = table
  }

  /// Builds the indexes, unless the soup was removed meanwhile, and forgets the operation.
  func finish(on access: StoreAccess) throws(SmartStoreError) {
    if let soup = access.catalog.soups[soupName], soup.table == table {
      try access.createIndexes(of: soup)
    }
    try access.deleteOperation(id)
  }
}

extension SmartStore {
  /// Ends a bulk load on the writing connection.
  func finish(_ load: BulkLoadOperation, on database: Database) throws {
    try commit(database, isSingleCall: true) { try load.finish(on: $0.access) }
  }
}
