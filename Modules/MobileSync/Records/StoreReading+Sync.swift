import SalesforceSDKCommon
import SmartStore

extension StoreReading where Self: ~Copyable {
  /// The rows of a Smart SQL statement; at most `limit`, if given.
  borrowing func rows(
    _ smartSQL: String, _ arguments: [JSONValue], limit: Int?
  ) throws -> [JSONValue] {
    let spec = try QuerySpec.buildSmartQuerySpec(
      smartSql: smartSQL, pageSize: limit ?? Int(Int32.max))
    return try query(using: spec, startingFromPageIndex: 0, whereArgs: arguments)
  }

  /// The entries that exist, by ascending entry id.
  borrowing func entries(
    _ ids: [Int64], of soupName: String
  ) throws -> [(id: Int64, record: JSONSlice)] {
    try retrieve(usingSoupEntryIds: ids, fromSoupNamed: soupName)
      .compactMap { record in record[SyncKeys.soupEntryId]?.int64.map { (id: $0, record: record) } }
      .sorted { $0.id < $1.id }
  }
}
