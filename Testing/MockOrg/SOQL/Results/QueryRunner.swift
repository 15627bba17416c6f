import GRDB
import SalesforceSDKCommon

/// Runs compiled queries and writes their responses, page by page.
struct QueryRunner {
  let transaction: OrgTransaction
  let cursors: QueryCursors

  /// The first page of a query: an object of `totalSize`, `done`, `records` and, if there is more,
  /// `nextRecordsUrl`.
  func firstPage(of query: SOQLQuery, batchSize: Int) throws -> [UInt8] {
    switch query.kind {
    case .count: return try count(query)
    case .aggregate: return try aggregate(query, batchSize: batchSize)
    case .records:
      let keys = try Int64.fetchAll(
        transaction.database, sql: query.keySQL, arguments: StatementArguments(query.keyArguments))
      let cursor = QueryCursor(
        query: query, keys: keys, batchSize: batchSize, userID: transaction.userID)
      let locator = keys.count > batchSize ? cursors.insert(cursor) : nil
      try mark(keys, of: query)
      return try page(of: cursor, at: 0, locator: locator)
    }
  }

  /// `FOR VIEW` and `FOR REFERENCE`: stamps the records of a result.
  private func mark(_ keys: [Int64], of query: SOQLQuery) throws {
    guard query.marksViewed || query.marksReferenced,
      let object = transaction.schema.object(named: query.object)
    else { return }
    // To view a record is to refer to it.
    let fields =
      query.marksViewed ? ["LastViewedDate", "LastReferencedDate"] : ["LastReferencedDate"]
    let columns = fields.compactMap { object.field(named: $0) }.map {
      "\(RecordTable.quoted($0.name)) = ?"
    }
    guard !columns.isEmpty else { return }
    let list = "[" + keys.map(String.init).joined(separator: ",") + "]"
    try transaction.database.execute(
      sql: "UPDATE \(object.table.name) SET \(columns.joined(separator: ", "))"
        + " WHERE rowid IN (SELECT value FROM json_each(?))",
      arguments: StatementArguments(columns.map { _ in transaction.stamp } + [list]))
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
    let json = RecordJSON(
      transaction: transaction, cursors: cursor.batchSize == .max ? nil : cursors)
    let statement = try transaction.database.makeStatement(sql: query.pageSQL)
    let rows = try Row.fetchCursor(
      statement,
      arguments: StatementArguments(
        [keys.databaseValue] + query.fromArguments))
    let row = StatementRow(statement)
    while try rows.next() != nil { try json.write(row, as: query.record, to: &writer) }
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }

  private func count(_ query: SOQLQuery) throws -> [UInt8] {
    let count =
      try Int.fetchOne(
        transaction.database, sql: query.sql, arguments: StatementArguments(query.arguments)) ?? 0
    let json: ResponseJSON = ["totalSize": .integer(count), "done": true, "records": []]
    return json.bytes
  }

  /// - Throws: ``ServerError`` `EXCEEDED_ID_LIMIT` for more groups than one page holds.
  private func aggregate(_ query: SOQLQuery, batchSize: Int) throws -> [UInt8] {
    let rows = try Row.fetchAll(
      transaction.database, sql: query.sql, arguments: StatementArguments(query.arguments))
    guard rows.count <= batchSize else {
      throw ServerError(
        "EXCEEDED_ID_LIMIT",
        "Aggregate query does not support queryMore(), use LIMIT to restrict the results to a "
          + "single batch")
    }
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
