import GRDB
import SalesforceSDKCommon

/// Reads single records, with all their fields or some.
struct RecordReader {
  let transaction: OrgTransaction

  /// One record with all its fields or those of a comma-separated list.
  func bytes(of object: ObjectSchema, id: String, fields: String?) throws -> [UInt8] {
    let query: SOQLQuery
    let sql: String
    if fields == nil {
      (query, sql) = object.retrieval.query(of: object)
    } else {
      var chosen = try self.query(of: object, fields: fields)
      chosen.condition = "\(SOQLQuery.rootAlias).\"Id\" = ?"
      query = chosen
      sql = chosen.sql
    }
    let statement = try transaction.database.cachedStatement(sql: sql)
    let rows = try Row.fetchCursor(
      statement,
      arguments: StatementArguments(
        query.fromArguments + [id.databaseValue]))
    guard try rows.next() != nil else { throw ServerError.notFound() }
    // The row is good while its cursor lives: without the cursor, the statement is reset.
    return try withExtendedLifetime((statement, rows)) {
      var writer = JSONWriter(capacity: 4096)
      try RecordJSON(transaction: transaction).write(
        StatementRow(statement), as: query.record, to: &writer)
      return writer.bytes
    }
  }

  /// The query that reads all fields of an object's records, or those of a comma-separated list.
  func query(of object: ObjectSchema, fields: String?) throws -> SOQLQuery {
    let names = (fields ?? "").split(separator: ",").map { String($0).trimmingBlanks() }
      .filter { !$0.isEmpty }
    if names.isEmpty { return SOQLQuery(allFieldsOf: object) }
    var chosen: [FieldSchema] = []
    for name in names {
      if name.contains(".") {
        return try SOQLQuery(
          fields: names, of: object, schema: transaction.schema,
          options: try transaction.soqlOptions(includeDeleted: true))
      }
      guard let field = object.field(named: name) else {
        throw ServerError.unknownField(name, of: object.name)
      }
      if !chosen.contains(where: { $0.name == field.name }) { chosen.append(field) }
    }
    if !chosen.contains(where: { $0.type == .id }), let id = object.field(named: "Id") {
      chosen.append(id)
    }
    return SOQLQuery(allFieldsOf: object, only: chosen)
  }
}

extension ObjectSchema {
  /// The 18-character id of one of the object's records.
  ///
  /// - Throws: ``ServerError`` `NOT_FOUND` for a text that is none.
  func recordID(_ text: String) throws(ServerError) -> String {
    guard let id = RecordID.normalized(text), id.hasPrefix(keyPrefix ?? " ") else {
      throw ServerError(
        status: 404, "NOT_FOUND",
        "Provided external ID field does not exist or is not accessible: \(text)")
    }
    return id
  }
}
