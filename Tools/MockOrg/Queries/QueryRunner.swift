import GRDB
import SalesforceSDKCommon

/// Runs compiled queries and writes their answers, page by page.
struct QueryRunner {
  let transaction: OrgTransaction
  let cursors: QueryCursors

  /// The first page of a query: an object of `totalSize`, `done`, `records` and, if there is more,
  /// `nextRecordsUrl`.
  func firstPage(of query: SOQLQuery, batchSize: Int) throws -> [UInt8] {
    switch query.kind {
    case .count: return try count(query)
    case .aggregate: return try aggregate(query)
    case .records:
      let keys = try Int64.fetchAll(
        transaction.database, sql: query.keySQL, arguments: StatementArguments(query.keyArguments))
      let cursor = QueryCursor(
        query: query, keys: keys, batchSize: batchSize, userID: transaction.userID)
      let locator = keys.count > batchSize ? cursors.insert(cursor) : nil
      return try page(of: cursor, at: 0, locator: locator)
    }
  }

  /// A later page, by what follows `query/` in its URL: `01g...-2000`.
  ///
  /// - Throws: ``ServerError`` `INVALID_QUERY_LOCATOR`.
  func page(locator text: String) throws -> [UInt8] {
    let parts = text.split(separator: "-")
    guard parts.count == 2, let offset = Int(parts[1]), offset >= 0,
      let cursor = cursors.cursor(String(parts[0])), cursor.userID == transaction.userID,
      offset <= cursor.keys.count
    else {
      throw ServerError("INVALID_QUERY_LOCATOR", "invalid query locator")
    }
    return try page(of: cursor, at: offset, locator: String(parts[0]))
  }

  private func page(of cursor: QueryCursor, at offset: Int, locator: String?) throws -> [UInt8] {
    let end = min(offset + cursor.batchSize, cursor.keys.count)
    let keys = "[" + cursor.keys[offset..<end].map(String.init).joined(separator: ",") + "]"
    let query = cursor.query
    var writer = JSONWriter(capacity: 1024 + 512 * (end - offset))
    writer.beginObject()
    writer.key("totalSize")
    writer.integer(cursor.keys.count)
    writer.key("done")
    writer.bool(end == cursor.keys.count)
    if end < cursor.keys.count, let locator {
      writer.key("nextRecordsUrl")
      writer.string("\(transaction.versionPath)/query/\(locator)-\(end)")
    }
    writer.key("records")
    writer.beginArray()
    let json = RecordJSON(transaction: transaction)
    let statement = try transaction.database.makeStatement(sql: query.pageSQL)
    let rows = try Row.fetchCursor(
      statement,
      arguments: StatementArguments(
        query.columnArguments + [keys.databaseValue] + query.fromArguments))
    while let row = try rows.next() { try json.write(row, as: query.record, to: &writer) }
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }

  private func count(_ query: SOQLQuery) throws -> [UInt8] {
    let count =
      try Int.fetchOne(
        transaction.database, sql: query.sql, arguments: StatementArguments(query.arguments)) ?? 0
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("totalSize")
    writer.integer(count)
    writer.key("done")
    writer.bool(true)
    writer.key("records")
    writer.beginArray()
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }

  private func aggregate(_ query: SOQLQuery) throws -> [UInt8] {
    let rows = try Row.fetchAll(
      transaction.database, sql: query.sql, arguments: StatementArguments(query.arguments))
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("totalSize")
    writer.integer(rows.count)
    writer.key("done")
    writer.bool(true)
    writer.key("records")
    writer.beginArray()
    let json = RecordJSON(transaction: transaction)
    for row in rows { try json.write(row, as: query.record, to: &writer) }
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }
}
