import GRDB
import SalesforceSDKCommon

/// The duplicate rules of an org, and what a request says about them.
struct DuplicateCheck: Sendable {
  var rules: [MockOrgDuplicateRule] = []
  /// The client saves duplicates that a rule would only warn of.
  private(set) var allowsSave = false
  /// The response shows the fields of the records that are there, not only their ids.
  private(set) var includesRecords = false

  /// Takes up `Sforce-Duplicate-Rule-Header: allowSave=true; includeRecordDetails=true`; a request
  /// without it leaves things as they are.
  mutating func read(_ request: OrgRequest) {
    guard let header = request.headers["sforce-duplicate-rule-header"] else { return }
    var options: [String: Bool] = [:]
    for option in header.split(whereSeparator: { $0 == ";" || $0 == "," }) {
      let parts = option.split(separator: "=", maxSplits: 1).map {
        String($0).trimmingBlanks().lowercased()
      }
      if parts.count == 2 { options[parts[0]] = parts[1] == "true" }
    }
    allowsSave = options["allowsave"] ?? false
    includesRecords = options["includerecorddetails"] ?? false
  }
}

extension RecordWriter {
  /// Looks for records that a duplicate rule calls the same as a row.
  ///
  /// - Parameters:
  ///   - changes: The places that are written.
  ///   - id: The record that is changed; nil for a new one.
  /// - Throws: ``ServerError`` `DUPLICATES_DETECTED`.
  func checkDuplicates(
    of row: [DatabaseValue], changes: some Sequence<Int>, except id: String?
  ) throws {
    for rule in transaction.duplicates.rules
    where rule.object.lowercased() == object.name.lowercased() {
      guard id == nil ? rule.checksCreates : rule.checksUpdates,
        rule.action == .block || !transaction.duplicates.allowsSave
      else { continue }
      let places = rule.fields.compactMap { name in
        object.index(ofField: name).flatMap { object.table.positions[$0] }
      }
      guard places.count == rule.fields.count, places.allSatisfy({ !row[$0].isNull }),
        id == nil || changes.contains(where: places.contains)
      else { continue }
      let found = try records(with: places, of: row, except: id)
      if !found.isEmpty { throw try duplicates(found, rule) }
    }
  }

  private func records(
    with places: [Int], of row: [DatabaseValue], except id: String?
  ) throws -> [String] {
    let conditions = places.map {
      "\(RecordTable.quoted(object.fields[object.table.columns[$0]].name)) = ?"
    }
    return try String.fetchAll(
      transaction.database,
      sql: """
        SELECT "Id" FROM \(object.table.name) WHERE "IsDeleted" = 0 AND "Id" IS NOT ? \
        AND \(conditions.joined(separator: " AND ")) ORDER BY rowid LIMIT 100
        """,
      arguments: StatementArguments([id.databaseValue] + places.map { row[$0] }))
  }

  private func duplicates(_ ids: [String], _ rule: MockOrgDuplicateRule) throws -> ServerError {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("allowSave")
    writer.bool(rule.action == .alert)
    for (key, value) in [
      ("duplicateRule", rule.name), ("duplicateRuleEntityType", object.name),
      ("errorMessage", rule.message),
    ] {
      writer.key(key)
      writer.string(value)
    }
    writer.key("matchResults")
    writer.beginArray()
    writer.beginObject()
    writer.key("entityType")
    writer.string(object.name)
    writer.key("errors")
    writer.strings([])
    writer.key("matchEngine")
    writer.string("ExactMatchEngine")
    writer.key("matchRecords")
    writer.beginArray()
    for id in ids { try writeMatch(id, to: &writer) }
    writer.endArray()
    writer.key("rule")
    writer.string("\(object.name)_Match_Rule")
    writer.key("size")
    writer.integer(ids.count)
    writer.key("success")
    writer.bool(true)
    writer.endObject()
    writer.endArray()
    writer.endObject()
    var error = ServerError("DUPLICATES_DETECTED", rule.message)
    error.duplicateResult = try JSONSlice(parsing: writer.bytes)
    return error
  }

  private func writeMatch(_ id: String, to writer: inout JSONWriter) throws {
    writer.beginObject()
    writer.key("additionalInformation")
    writer.strings([])
    writer.key("fieldDiffs")
    writer.strings([])
    writer.key("matchConfidence")
    writer.integer(100)
    writer.key("record")
    let fields =
      transaction.duplicates.includesRecords ? nil : object.field(named: "Id").map { [$0] }
    var query = SOQLQuery(allFieldsOf: object, only: fields)
    query.condition = "\(SOQLQuery.rootAlias).\"Id\" = ?"
    let row = try Row.fetchOne(transaction.database, sql: query.sql, arguments: [id])
    if let row {
      try RecordJSON(transaction: transaction).write(row, as: query.record, to: &writer)
    } else {
      writer.null()
    }
    writer.endObject()
  }
}
