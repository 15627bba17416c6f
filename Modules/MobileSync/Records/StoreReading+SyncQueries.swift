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

  /// The rows of a Smart SQL statement that looks for `values`, which runs in slices: a statement takes
  /// a limited number of arguments.
  ///
  /// - Parameter smartSQL: The statement, given the list that stands behind its `IN`.
  borrowing func rows(
    among values: some Sequence<String>, _ smartSQL: (_ list: String) -> String
  ) throws -> [JSONValue] {
    let values = Array(values)
    var found: [JSONValue] = []
    for start in stride(from: 0, to: values.count, by: SyncLimits.recordsPerRead) {
      let slice = values[start..<min(start + SyncLimits.recordsPerRead, values.count)]
      let places = Array(repeating: "?", count: slice.count).joined(separator: ", ")
      found += try rows(smartSQL("(\(places))"), slice.map { .string($0) }, limit: nil)
    }
    return found
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
