import GRDB
import SalesforceSDKCommon

/// `/query?explain=`: how a query would be run, in the platform's form. Which conditions count as indexed
/// follows the platform's rules; the costs are an estimate of ours.
struct QueryPlanResource: Resource {
  /// Fields that the platform indexes in every object.
  private static let indexed: Set<String> = [
    "Id", "Name", "OwnerId", "CreatedDate", "SystemModstamp", "RecordTypeId",
  ]

  private struct Plan {
    /// Nil for a scan of the table.
    var field: String?
    var cost: Double
  }

  let call: RESTCall

  func explain(_ text: String) throws -> OrgResponse {
    let options = try transaction.soqlOptions()
    let query = try SOQLQuery(compiling: text, schema: transaction.schema, options: options)
    let statement = try SOQLParser.parse(
      SOQLSource(text), allowsApexSyntax: options.allowsApexSyntax)
    let object = try transaction.object(named: query.object)
    let total = try count(object.table.name, nil, [])
    let matching = try count(
      query.from, query.condition, query.fromArguments + query.conditionArguments)
    // A query is selective that finds fewer than three in ten of a large table's records.
    let threshold = 0.3 * Double(max(total, 1000))
    var plans = [Plan(cost: max(0.65, Double(total) / threshold))]
    for field in Self.indexedFields(of: statement.condition, object) {
      plans.append(Plan(field: field, cost: Double(matching) / threshold))
    }
    plans.sort { $0.cost < $1.cost }
    return .json([
      "plans": .array(plans) { json(of: $0, on: object, matching: matching, total: total) }
    ])
  }

  private func count(
    _ from: String, _ condition: String?, _ arguments: [DatabaseValue]
  ) throws -> Int {
    try Int.fetchOne(
      transaction.database,
      sql: "SELECT COUNT(*) FROM \(from)" + (condition.map { " WHERE \($0)" } ?? ""),
      arguments: StatementArguments(arguments)) ?? 0
  }

  /// The object's own indexed fields that every record of the result is compared with.
  private static func indexedFields(
    of condition: SOQLCondition?, _ object: ObjectSchema
  ) -> [String] {
    switch condition {
    case .and(let parts): parts.flatMap { indexedFields(of: $0, object) }
    case .comparison(let comparison):
      if case .field(let path) = comparison.operand, path.names.count == 1,
        ![.notEqual, .notIn, .like, .excludes].contains(comparison.comparator),
        let field = object.field(named: path.names[0]),
        indexed.contains(field.name) || field.type == .reference || field.externalId || field.unique
      {
        [field.name]
      } else {
        []
      }
    case .semiJoin(let path, negated: false, _):
      path.names.count == 1 ? [path.names[0]] : []
    default: []
    }
  }

  private func json(
    of plan: Plan, on object: ObjectSchema, matching: Int, total: Int
  ) -> ResponseJSON {
    [
      "cardinality": .integer(plan.field == nil ? total : matching),
      "fields": .strings([plan.field].compactMap(\.self)),
      "leadingOperationType": plan.field == nil ? "TableScan" : "Index",
      "notes": [
        [
          "description": "Not considering filter for optimization because unindexed",
          "fields": ["IsDeleted"], "tableEnumOrId": .string(object.name),
        ]
      ],
      "relativeCost": .double((plan.cost * 1000).rounded() / 1000),
      "sobjectCardinality": .integer(total), "sobjectType": .string(object.name),
    ]
  }
}
