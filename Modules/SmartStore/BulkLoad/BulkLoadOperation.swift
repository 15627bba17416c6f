import GRDB
import SalesforceSDKCommon

/// A bulk load under way, as it is recorded: the soup has no indexes on its paths until it
/// ends.
///
/// Details: `{"soupName": "accounts", "soupTableName": "TABLE_3"}`. There is one step to resume,
/// building the indexes, whatever part of the entries was committed.
struct BulkLoadOperation: Sendable {
  static let type = "BulkLoad"

  let id: Int64
  let soupName: String
  let table: String
  /// Page cache of the writing connection while the load goes on.
  let cacheBytes: Int

  /// Drops the indexes of a soup, but those on `keptPaths` and of the two times, which new entries go to
  /// the ends of, and records that they are due.
  init(
    _ soup: Soup, keepingIndexesOn keptPaths: Set<String> = [],
    cacheBytes: Int = SoupLoad.defaultCacheBytes, on access: StoreAccess
  ) throws(SmartStoreError) {
    self.cacheBytes = cacheBytes
    soupName = soup.name
    table = soup.table
    let details: JSONValue = ["soupName": .string(soup.name), "soupTableName": .string(soup.table)]
    id = try access.recordOperation(type: Self.type, details: details.text, status: "0")
    let kept = soup.indexes.indices.filter { keptPaths.contains(soup.indexes[$0].path) }
    try access.dropIndexes(
      ofTable: soup.table, keeping: Set(soup.timeIndexNames + kept.map(soup.indexName)))
  }

  /// Takes up a recorded operation; nil if it is none of this kind, or damaged.
  init?(_ operation: LongOperation) {
    guard operation.type == Self.type, let details = try? JSONValue(parsing: operation.details),
      let soupName = details["soupName"]?.string, let table = details["soupTableName"]?.string
    else { return nil }
    id = operation.id
    self.soupName = soupName
    self.table = table
    cacheBytes = SoupLoad.defaultCacheBytes
  }

  /// Gives the writing connection the memory for the load.
  func beginCaching(_ database: Database) throws(SmartStoreError) {
    try database.setPageCache(bytes: cacheBytes)
  }

  /// Builds the indexes, unless the soup was removed since, and forgets the operation.
  func finish(on access: StoreAccess) throws(SmartStoreError) {
    if let soup = access.catalog.soup(named: soupName), soup.table == table {
      try access.createIndexes(of: soup)
    }
    try access.deleteOperation(id)
  }
}

extension SmartStore {
  /// Ends a bulk load on the writing connection.
  func finish(_ load: BulkLoadOperation, on database: Database) throws {
    try load.beginCaching(database)
    defer {
      do throws(SmartStoreError) {
        try database.setPageCache(bytes: self.database.writerCacheBytes)
      } catch {
        options.logger.warning("The page cache of a bulk load stays.", error: error)
      }
    }
    try commit(database, isSingleCall: true) { transaction in
      try transaction.access.database.readingAhead { try load.finish(on: transaction.access) }
      // The indexes may be there already. What was appended waits for this commit all the same.
      try transaction.access.database.touch()
    }
  }
}

extension Database {
  /// Sets how many bytes of pages the connection may keep, at least none and at most what SQLite can
  /// count. A smaller cache gives memory back at once.
  fileprivate func setPageCache(bytes: Int) throws(SmartStoreError) {
    do {
      let kibibytes = min(max(bytes >> 10, 0), Int(Int32.max))
      try execute(sql: "PRAGMA cache_size = -\(kibibytes)")
    } catch {
      throw SmartStoreError(grdb: error)
    }
  }
}
