public import SalesforceSDKCommon

/// SQLite's plan for a query, as `EXPLAIN QUERY PLAN` reports it.
public struct ExplainedQuery: Sendable, Equatable {
  /// The statement that was explained, with `EXPLAIN QUERY PLAN` before it.
  public let sql: String
  /// The values bound to its placeholders; nil if there are none.
  public let args: [JSONValue]?
  /// The steps: objects with `id`, `parent`, `notused` and the readable `detail`.
  public let rows: [JSONValue]

  /// The readable steps.
  public var details: [String] { rows.compactMap { $0["detail"]?.string } }

  /// `{"sql", "args", "rows"}`, without `args` if there are none.
  public var json: JSONValue {
    var members: JSONObject = ["sql": .string(sql)]
    members["args"] = args.map { .array($0) }
    members["rows"] = .array(rows)
    return .object(members)
  }

  /// Reads the plan of `sql` on the snapshot that is about to run it.
  init(
    _ sql: String, _ bindings: [BoundValue], on access: StoreAccess
  ) throws(SmartStoreError) {
    self.sql = "EXPLAIN QUERY PLAN \(sql)"
    args = bindings.isEmpty ? nil : bindings.map(\.jsonValue)
    let statement = try StoreStatement(access.database, self.sql, cached: false)
    statement.bind(bindings)
    var rows: [JSONValue] = []
    while try statement.step() {
      var members = JSONObject()
      for column in 0..<statement.columnCount {
        members[statement.columnName(column)] =
          switch statement.value(column) {
          case .integer(let integer): .integer(integer)
          case .double(let double): .double(double)
          case .text(let text): .string(String(decoding: text, as: UTF8.self))
          case .null: .null
          }
      }
      rows.append(.object(members))
    }
    self.rows = rows
  }
}

extension BoundValue {
  fileprivate var jsonValue: JSONValue {
    switch self {
    case .null: .null
    case .integer(let integer): .integer(integer)
    case .double(let double): .double(double)
    case .text(let text): .string(text)
    }
  }
}

extension SmartStore {
  /// Whether the store records the plan of each query before it runs. Default: false, because each
  /// query is then prepared twice.
  public var capturesExplainQueryPlan: Bool {
    get { diagnostics.capturesExplainQueryPlan }
    set { diagnostics.capturesExplainQueryPlan = newValue }
  }

  /// The plan of the last query that ran while ``capturesExplainQueryPlan`` was on. Its `args` are
  /// the query's values: keep it out of logs.
  public var lastExplainQueryPlan: ExplainedQuery? { diagnostics.lastExplainQueryPlan }
}
