import GRDB
import SalesforceSDKCommon

/// A recorded bulk load in progress: the soup has no indexes on its paths until the load ends.
///
/// Details: `{"soupName": "accounts", "soupTableName": "TABLE_3"}`. The only step to resume is
/// building the indexes, for any number of committed entries.
struct BulkLoadOperation: Sendable {
  static let type = "BulkLoad"

  let id: Int64
  let soupName: String
  let table: String
  /// The page cache of the writing connection during the load.
  let cacheBytes: Int

  /// Drops the indexes of a soup and records that they must be built again. Keeps those on
  /// `keptPaths`, and those of the two times, because new entries are appended at their ends.
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

  /// Loads a recorded operation; nil if it is of another kind, or damaged.
  init?(_ operation: LongOperation) {
    guard operation.type == Self.type, let details = try? JSONValue(parsing: operation.details),
      let soupName = details["soupName"]?.string, let table = details["soupTableName"]?.string
    else { return nil }
    id = operation.id
    self.soupName = soupName
    self.table = table
    cacheBytes = SoupLoad.defaultCacheBytes
  }

  /// Sets the page cache of the writing connection for the load.
  func beginCaching(_ database: Database) throws(SmartStoreError) {
    try database.setPageCache(bytes: cacheBytes)
  }

  /// Builds the indexes, unless the soup was removed in the meantime, and deletes the operation's
  /// record.
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
      // The indexes may exist already. The appended entries still need this commit to reach the
      // disk.
      try transaction.access.database.touch()
    }
  }
}

extension Database {
  /// Sets the number of bytes of pages that the connection may cache, limited to the range from 0
  /// to SQLite's maximum. Reducing the cache frees memory at once.
  fileprivate func setPageCache(bytes: Int) throws(SmartStoreError) {
    do {
      let kibibytes = min(max(bytes >> 10, 0), Int(Int32.max))
      try execute(sql: "PRAGMA cache_size = -\(kibibytes)")
    } catch {
      throw SmartStoreError(grdb: error)
    }
  }
}
