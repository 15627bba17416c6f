import GRDB
import SalesforceSDKCommon

/// Runs searches and writes their results.
struct SearchRunner {
  /// The most records that a search finds.
  static let maxRecords = 2000
  /// What a search looks through only if it names it.
  private static let namedOnly: Set<String> = [
    "ContentVersion", "Document", "FeedComment", "FeedItem", "Product2", "Solution",
  ]

  let transaction: OrgTransaction

  /// The response to a search: an object of `searchRecords` and, if requested, `metadata`.
  ///
  /// - Throws: ``ServerError`` with the platform's code and message: `INVALID_TYPE`, `INVALID_FIELD` and
  ///   whatever else a query with the same clauses throws.
  func run(_ statement: SOSLStatement, source: SOQLSource) throws -> [UInt8] {
    var returning = statement.returning
    if returning.isEmpty {
      returning = transaction.schema.objects
        .filter { $0.searchable && $0.queryable && !Self.namedOnly.contains($0.name) }
        .map { SOSLParser.idOnly(SOQLName(text: $0.name, offset: 0)) }
    }
    var results: [Found] = []
    for part in returning { results.append(try found(part, statement, source)) }
    share(min(statement.limit ?? Self.maxRecords, Self.maxRecords), among: &results)

    var writer = JSONWriter()
    writer.beginObject()
    writer.key("searchRecords")
    writer.beginArray()
    let json = RecordJSON(transaction: transaction)
    for result in results { try write(result, json, to: &writer) }
    writer.endArray()
    if statement.showsLabels {
      writer.key("metadata")
      writer.write(labels(of: returning))
    }
    writer.endObject()
    return writer.bytes
  }

  // MARK: Finding

  /// What one object has to show.
  private struct Found {
    let query: SOQLQuery
    /// The rowids of the records in order.
    var keys: [Int64]
    let hasLimit: Bool
  }

  private func found(
    _ part: SOQLStatement, _ search: SOSLStatement, _ source: SOQLSource
  ) throws -> Found {
    let object = try SOQLCompiler.object(of: part, source: source, schema: transaction.schema)
    guard object.searchable else {
      throw ServerError("INVALID_TYPE", "entity type \(object.name) does not support search")
    }
    var compiler = try SOQLCompiler(
      part, object: object, source: source, schema: transaction.schema,
      options: try transaction.soqlOptions())
    guard !compiler.isGrouped else {
      throw ServerError.malformedSearch("aggregate functions are not allowed in a search")
    }
    let query = try compiler.records()
    var keys = try matches(of: query, object, search)
    if !part.order.isEmpty, !keys.isEmpty { keys = try sorted(keys, by: query) }
    keys = Array(keys.dropFirst(query.offset ?? 0))
    let limit = part.limit ?? search.defaultLimit
    if let limit { keys = Array(keys.prefix(limit)) }
    return Found(query: query, keys: keys, hasLimit: limit != nil)
  }

  /// The rowids of an object's records that the search matches, those first whose name does.
  private func matches(
    of query: SOQLQuery, _ object: ObjectSchema, _ search: SOSLStatement
  ) throws -> [Int64] {
    let fields = search.group.fields(of: object)
    guard !fields.isEmpty, search.expression != .nothing else { return [] }
    let columns = fields.map { "\(SOQLQuery.rootAlias).\(RecordTable.quoted($0.name))" }
    var sql =
      "SELECT \(SOQLQuery.rootAlias).rowid, \(columns.joined(separator: ", ")) FROM \(query.from)"
    var arguments = query.fromArguments
    let conditions = [query.condition, search.expression.necessaryCondition(on: columns)]
      .compactMap(\.self)
    if !conditions.isEmpty {
      sql += " WHERE " + conditions.map { "(\($0))" }.joined(separator: " AND ")
      arguments += query.conditionArguments
    }
    sql += " ORDER BY \(SOQLQuery.rootAlias).rowid"
    let names = fields.indices.filter { fields[$0].nameField }
    let matcher = SOSLMatcher(expression: search.expression)
    var byName: [Int64] = []
    var others: [Int64] = []
    let rows = try Row.fetchCursor(
      transaction.database, sql: sql, arguments: StatementArguments(arguments))
    while let row = try rows.next() {
      let texts = fields.indices.map { row[$0 + 1] as String? ?? "" }
      guard matcher.matches(texts) else { continue }
      if matcher.matches(names.map { texts[$0] }) {
        byName.append(row[0])
      } else {
        others.append(row[0])
      }
    }
    return byName + others
  }

  private func sorted(_ keys: [Int64], by query: SOQLQuery) throws -> [Int64] {
    let list = "[" + keys.map(String.init).joined(separator: ",") + "]"
    let key = "\(SOQLQuery.rootAlias).rowid"
    return try Int64.fetchAll(
      transaction.database,
      sql: "SELECT \(key) FROM \(query.from) WHERE \(key) IN (SELECT value FROM json_each(?))"
        + " ORDER BY \(query.order ?? key)",
      arguments: StatementArguments(query.fromArguments + [list.databaseValue]))
  }

  /// Shortens the results to `total` records: objects with a limit of their own come first, the others
  /// share evenly what is left.
  private func share(_ total: Int, among results: inout [Found]) {
    var rest = total
    for index in results.indices where results[index].hasLimit {
      results[index].keys = Array(results[index].keys.prefix(rest))
      rest -= results[index].keys.count
    }
    // The shortest first: what it leaves of its share is for the longer ones.
    var open = results.indices.filter { !results[$0].hasLimit }
      .sorted { (results[$0].keys.count, $0) < (results[$1].keys.count, $1) }
    while let index = open.first {
      results[index].keys = Array(results[index].keys.prefix(rest / open.count))
      rest -= results[index].keys.count
      open.removeFirst()
    }
  }

  // MARK: Responses

  private func write(
    _ result: Found, _ json: RecordJSON, to writer: inout JSONWriter
  ) throws {
    guard !result.keys.isEmpty else { return }
    let keys = "[" + result.keys.map(String.init).joined(separator: ",") + "]"
    let rows = try Row.fetchCursor(
      transaction.database, sql: result.query.pageSQL,
      arguments: StatementArguments([keys.databaseValue] + result.query.fromArguments))
    while let row = try rows.next() { try json.write(row, as: result.query.record, to: &writer) }
  }

  private func labels(of returning: [SOQLStatement]) -> ResponseJSON {
    let objects = returning.compactMap { part -> ResponseJSON? in
      guard let object = transaction.schema.object(named: part.object.text) else { return nil }
      let fields = part.select.compactMap { item -> ResponseJSON? in
        guard case .operand(.field(let path), _) = item, path.names.count == 1,
          let field = object.field(named: path.names[0])
        else { return nil }
        return ["name": .string(field.name), "label": .string(field.label)]
      }
      return ["entityName": .string(object.name), "fieldMetadata": .array(fields)]
    }
    return ["entityMetadata": .array(objects)]
  }
}

extension SOSLExpression {
  /// A condition that SQLite checks faster than words are compared, and that holds for whatever the
  /// expression matches; nil if it says nothing.
  ///
  /// Its texts are letters and digits alone.
  fileprivate func necessaryCondition(on columns: [String]) -> String? {
    switch self {
    case .words(let words):
      let text = columns.map { "IFNULL(\($0), '')" }.joined(separator: " || ' ' || ")
      let literals = words.map(\.longestLiteral).filter { !$0.isEmpty }
      guard let longest = literals.max(by: { $0.count < $1.count }) else { return nil }
      return "(\(text)) LIKE '%\(longest)%'"
    case .and(let parts):
      let conditions = parts.compactMap { $0.necessaryCondition(on: columns) }
      return conditions.isEmpty ? nil : "(" + conditions.joined(separator: " AND ") + ")"
    case .or(let parts):
      let conditions = parts.compactMap { $0.necessaryCondition(on: columns) }
      guard conditions.count == parts.count, !conditions.isEmpty else { return nil }
      return "(" + conditions.joined(separator: " OR ") + ")"
    case .not, .nothing: return nil
    }
  }
}
