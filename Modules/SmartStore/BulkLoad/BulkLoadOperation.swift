import GRDB
import SalesforceSDKCommon

/// A bulk load under way, as it is recorded: the soup has no indexes on its paths until it
/// ends.
///
/// Details: `{"soupName": "accounts", "soupTableName": "TABLE_3"}`. There is one step to resume,
/// building the indexes, whatever part of the elements was committed.
struct BulkLoadOperation: Sendable {
  static let type = "BulkLoad"

  /// Page cache of the writing connection while a load goes on: each index is built by a walk through
  /// the whole table, and a table that is larger than the cache is read and opened anew for each of
  /// them. With 64 MB that was a quarter of the time for 100,000 elements.
  static let pageCacheBytes = 128 << 20

  let id: Int64
  let soupName: String
  let table: String

  /// Drops the indexes of a soup and records that they are due.
  init(_ soup: Soup, on access: StoreAccess) throws(SmartStoreError) {
    soupName = soup.name
    table = soup.table
    let details: JSONValue = ["soupName": .string(soup.name), "soupTableName": .string(soup.table)]
    id = try access.recordOperation(type: Self.type, details: details.text, status: "0")
    try access.dropIndexes(ofTable: soup.table, keepsTimes: true)
    try access.database.setPageCache(bytes: Self.pageCacheBytes)
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
    try database.setPageCache(bytes: BulkLoadOperation.pageCacheBytes)
    defer {
      do throws(SmartStoreError) {
        try database.setPageCache(bytes: self.database.writerCacheBytes)
      } catch {
        options.logger.warning("The page cache of a bulk load stays.", error: error)
      }
    }
    try commit(database, isSingleCall: true) { transaction in
      try load.finish(on: transaction.access)
      // The indexes may be there already. What was appended waits for this commit all the same.
      try transaction.access.database.touch()
    }
  }
}

extension Database {
  /// Sets how many bytes of pages the connection may keep. A smaller cache gives memory back at once.
  fileprivate func setPageCache(bytes: Int) throws(SmartStoreError) {
    do {
      try execute(sql: "PRAGMA cache_size = -\(bytes >> 10)")
    } catch {
      throw SmartStoreError(grdb: error)
    }
  }
}
