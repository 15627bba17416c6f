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
    let result: ResponseJSON = [
      "allowSave": .bool(rule.action == .alert), "duplicateRule": .string(rule.name),
      "duplicateRuleEntityType": .string(object.name), "errorMessage": .string(rule.message),
      "matchResults": [
        [
          "entityType": .string(object.name), "errors": [], "matchEngine": "ExactMatchEngine",
          "matchRecords": try .array(ids) { id in
            [
              "additionalInformation": [], "fieldDiffs": [], "matchConfidence": 100,
              "record": try record(id),
            ]
          },
          "rule": "\(object.name)_Match_Rule", "size": .integer(ids.count), "success": true,
        ]
      ],
    ]
    var error = ServerError("DUPLICATES_DETECTED", rule.message)
    error.duplicateResult = try result.slice
    return error
  }

  private func record(_ id: String) throws -> ResponseJSON {
    let fields =
      transaction.duplicates.includesRecords ? nil : object.field(named: "Id").map { [$0] }
    var query = SOQLQuery(allFieldsOf: object, only: fields)
    query.condition = "\(SOQLQuery.rootAlias).\"Id\" = ?"
    guard let row = try Row.fetchOne(transaction.database, sql: query.sql, arguments: [id]) else {
      return .null
    }
    var writer = JSONWriter()
    try RecordJSON(transaction: transaction).write(row, as: query.record, to: &writer)
    return .raw(try JSONSlice(parsing: writer.bytes))
  }
}
