import Foundation
import GRDB
import SalesforceSDKCommon

/// Writes the rows of a compiled query as JSON records, straight from SQLite into the response's bytes.
struct RecordJSON {
  /// The most children of one record that stand inside it; pages of their own have the others.
  static let maxChildren = 200
  /// The most children that such a page has.
  private static let maxLaterChildren = 2000

  let transaction: OrgTransaction
  /// Where results of several pages are kept; nil where all children are written at once.
  var cursors: QueryCursors?

  /// Writes one record, parents and children included.
  func write(_ row: some ResultRow, as shape: SOQLRecordShape, to writer: inout JSONWriter) throws {
    writer.beginObject()
    writeAttributes(row, of: shape, to: &writer)
    for member in shape.members {
      if case .field(let key, let column, .base64) = member, let id = shape.id {
        writer.key(key)
        if row.isNull(column) {
          writer.null()
        } else {
          writeBlob(key, of: row, id: id, to: &writer)
        }
      } else {
        try write(member, of: row, to: &writer)
      }
    }
    writer.endObject()
  }

  private func write(
    _ member: SOQLRecordShape.Member, of row: some ResultRow, to writer: inout JSONWriter
  ) throws {
    switch member {
    case .field(let key, let column, let type):
      writer.key(key)
      row.write(column, type: type, to: &writer)
    case .formatted(let key, let column, let format):
      writer.key(key)
      writer.write(.string(orNull: format.text(row.value(column))))
    case .variants(let key, let variants, let otherwise):
      writer.key(key)
      let shape = (variants + [otherwise].compactMap(\.self)).first { shape in
        shape.id.map { !row.isNull($0) } ?? false
      }
      if let shape { try write(row, as: shape, to: &writer) } else { writer.null() }
    case .compound(let key, let parts):
      writer.key(key)
      if parts.allSatisfy({ row.isNull($0.column) }) { return writer.null() }
      writer.beginObject()
      for part in parts {
        writer.key(part.key)
        row.write(part.column, type: part.type, to: &writer)
      }
      writer.endObject()
    case .parent(let key, let shape):
      writer.key(key)
      if let id = shape.id, row.isNull(id) { return writer.null() }
      try write(row, as: shape, to: &writer)
    case .children(let key, let query, let parent):
      writer.key(key)
      try writeChildren(query, of: row.value(parent), to: &writer)
    }
  }

  /// A record shows where a file's bytes are, not the bytes.
  private func writeBlob(
    _ key: String, of row: some ResultRow, id column: Int, to writer: inout JSONWriter
  ) {
    let id = row.withUTF8(column) { String(decoding: $0, as: UTF8.self) }
    let type = transaction.schema.object(keyPrefix: id.prefix(3))?.name ?? "Name"
    writer.string("\(transaction.versionPath)/sobjects/\(type)/\(id)/\(key)")
  }

  private func writeAttributes(
    _ row: some ResultRow, of shape: SOQLRecordShape, to writer: inout JSONWriter
  ) {
    writer.key("attributes")
    guard let column = shape.id else {
      return writeType(of: shape, to: &writer)
    }
    row.withUTF8(column) { id in
      let type: String
      switch shape.type {
      case .named(let name): type = name
      case .byKeyPrefix:
        let prefix = String(decoding: id.prefix(3), as: UTF8.self)
        type = transaction.schema.object(keyPrefix: prefix)?.name ?? "Name"
      case .aggregateResult: type = "AggregateResult"
      }
      // API names and ids have no character that JSON escapes.
      var head: [UInt8] = []
      head.reserveCapacity(64 + 2 * type.utf8.count)
      head.append(contentsOf: #"{"type":""#.utf8)
      head.append(contentsOf: type.utf8)
      if id.isEmpty { return writer.value(head, id, Array("\"}".utf8)) }
      head.append(contentsOf: #"","url":""#.utf8)
      head.append(contentsOf: transaction.versionPath.utf8)
      head.append(contentsOf: "/sobjects/".utf8)
      head.append(contentsOf: type.utf8)
      head.append(UInt8(ascii: "/"))
      writer.value(head, id, Array("\"}".utf8))
    }
  }

  /// The attributes of a row that is no record.
  private func writeType(of shape: SOQLRecordShape, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("type")
    if case .named(let name) = shape.type {
      writer.string(name)
    } else {
      writer.string("AggregateResult")
    }
    writer.endObject()
  }

  private func writeChildren(
    _ query: SOQLQuery, of parent: DatabaseValue, to writer: inout JSONWriter
  ) throws {
    var query = query
    query.conditionArguments.append(parent)
    // All rows at once: the children of a child may need the same statement.
    let rows = try Row.fetchAll(
      transaction.database.cachedStatement(sql: query.sql),
      arguments: StatementArguments(query.arguments))
    if rows.isEmpty { return writer.null() }
    let count = rows.count
    let pageSize = cursors == nil ? .max : Self.maxChildren
    writer.beginObject()
    writer.key("totalSize")
    writer.integer(count)
    writer.key("done")
    writer.bool(count <= pageSize)
    if count > pageSize, let cursors {
      let keys = try Int64.fetchAll(
        transaction.database, sql: query.keySQL,
        arguments: StatementArguments(query.keyArguments))
      let locator = cursors.insert(
        QueryCursor(
          query: query, keys: keys, batchSize: Self.maxLaterChildren, userID: transaction.userID))
      writer.key("nextRecordsUrl")
      writer.string("\(transaction.versionPath)/query/\(locator)-\(pageSize)")
    }
    writer.key("records")
    writer.beginArray()
    for row in rows.prefix(pageSize) { try write(row, as: query.record, to: &writer) }
    writer.endArray()
    writer.endObject()
  }

  /// Writes one value as its type has it.
  static func write(_ value: DatabaseValue, type: FieldType, to writer: inout JSONWriter) {
    switch value.storage {
    case .null: writer.null()
    case .int64(let number):
      switch type.storage {
      case .integer where type == .boolean: writer.bool(number != 0)
      case .real: writer.double(orNull: Double(number))
      default: writer.integer(number)
      }
    case .double(let number): writer.double(orNull: number)
    case .string(let text): writer.string(text)
    case .blob(let data): writer.string(data.base64EncodedString())
    }
  }
}

extension SOQLQuery {
  /// The whole statement.
  var sql: String { statement(selecting: columns) }

  /// The values of ``sql``'s question marks.
  var arguments: [DatabaseValue] {
    fromArguments + conditionArguments + groupArguments
  }

  /// The statement that finds the rowids of the result in order.
  var keySQL: String { statement(selecting: ["\(Self.rootAlias).rowid"]) }

  /// The values of ``keySQL``'s question marks.
  var keyArguments: [DatabaseValue] { fromArguments + conditionArguments + groupArguments }

  /// The statement that reads the columns of given rowids, in their order. Its arguments are a
  /// JSON array of rowids and the from arguments.
  var pageSQL: String {
    // CROSS JOIN keeps SQLite from choosing another outer loop than the list of rowids.
    """
    SELECT \(columns.joined(separator: ", ")) FROM json_each(?) AS page CROSS JOIN \(from) \
    WHERE \(Self.rootAlias).rowid = page.value
    """
  }

  private func statement(selecting columns: [String]) -> String {
    var sql = "SELECT \(columns.joined(separator: ", ")) FROM \(from)"
    if let condition { sql += " WHERE \(condition)" }
    if let group { sql += " GROUP BY \(group)" }
    if let order { sql += " ORDER BY \(order)" }
    if limit != nil || offset != nil {
      // SQLite takes OFFSET only behind LIMIT; -1 is no limit.
      sql += " LIMIT \(limit ?? -1)"
    }
    if let offset { sql += " OFFSET \(offset)" }
    return sql
  }
}
