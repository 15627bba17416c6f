import GRDB

/// Resolves the names of one SELECT against the schema and compiles its clauses.
struct SOQLCompiler {
  let statement: SOQLStatement
  let source: SOQLSource
  let schema: OrgSchema
  let options: SOQLOptions
  /// Whether the rows are groups: the query has GROUP BY or an aggregate function.
  let isGrouped: Bool
  var scope: SOQLScope
  /// What tells the expressions behind GROUP BY apart.
  var groupKeys: Set<String> = []
  /// Those of them that the rows of totals being compiled add up.
  var totalledKeys: Set<String> = []
  /// How many inner SELECTs were compiled; each names its tables differently.
  var innerSelects = 0

  init(
    _ statement: SOQLStatement, object: ObjectSchema, source: SOQLSource, schema: OrgSchema,
    options: SOQLOptions, aliasPrefix: String = "t"
  ) throws(ServerError) {
    self.statement = statement
    self.source = source
    self.schema = schema
    self.options = options
    isGrouped =
      !statement.groups.isEmpty
      || statement.select.contains { item in
        guard case .operand(let operand, _) = item else { return false }
        return operand.isAggregate
      }
    scope = try SOQLScope(
      statement, object: object, source: source, schema: schema, aliasPrefix: aliasPrefix)
  }

  var object: ObjectSchema { scope.object }

  var includesDeleted: Bool { options.includeDeleted || statement.allRows }

  /// The options of the SELECTs inside this one: `ALL ROWS` holds for them too.
  var innerOptions: SOQLOptions {
    var options = options
    options.includeDeleted = includesDeleted
    return options
  }

  /// The object that FROM names.
  static func object(
    of statement: SOQLStatement, source: SOQLSource, schema: OrgSchema
  ) throws(ServerError) -> ObjectSchema {
    guard let object = schema.object(named: statement.object.text) else {
      throw source.error(
        "INVALID_TYPE", at: statement.object.offset,
        """
        sObject type '\(statement.object.text)' is not supported. If you are attempting to use a \
        custom object, be sure to append the '__c' after the entity name. Please reference your \
        WSDL or the describe call for the appropriate names.
        """)
    }
    guard object.queryable else {
      throw ServerError(
        "INVALID_TYPE_FOR_OPERATION", "entity type \(object.name) does not support query")
    }
    return object
  }

  // MARK: Clauses

  /// All that stands behind WHERE, the scope included.
  mutating func filter() throws(ServerError) -> SOQLFragment? {
    var parts: [SOQLFragment] = []
    if !includesDeleted { parts.append(SOQLFragment("\(scope.rootAlias).\"IsDeleted\" = 0")) }
    if let access = schema.condition(.read, on: object, as: scope.rootAlias) {
      parts.append(SOQLFragment(access, depth: 20))
    }
    if let name = statement.scope, let scope = try scopeCondition(name) { parts.append(scope) }
    if let categories = try dataCategoryCondition() { parts.append(categories) }
    if let condition = statement.condition {
      parts.append(try self.condition(condition, in: .filter, level: .top))
    }
    return parts.isEmpty ? nil : .joined(parts, by: "AND")
  }

  /// `USING SCOPE`: which records belong to the user; nil for all of them.
  private func scopeCondition(_ name: SOQLName) throws(ServerError) -> SOQLFragment? {
    guard let named = SOQLFilterScope(named: name.text), named.isSupported(by: object) else {
      throw source.error(
        "MALFORMED_QUERY", at: name.offset,
        "scope '\(name.text)' is not supported on \(object.name)")
    }
    return named.condition(on: scope.rootAlias, options)
  }

  /// One value that rows are sorted by.
  struct OrderTerm {
    var value: String
    /// `COLLATE` and a name, for texts.
    var collation = ""
    /// Direction and place of nulls.
    var suffix = ""

    /// The term as ORDER BY has it, for the value or for a column that holds it.
    func sql(_ column: String? = nil) -> String { (column ?? value) + collation + suffix }
  }

  /// All that stands behind ORDER BY. Rows that the query does not tell apart keep the order of their
  /// creation, groups the order of their values.
  mutating func order() throws(ServerError) -> [OrderTerm] {
    var terms: [OrderTerm] = []
    for item in statement.order {
      let value = try expression(item.operand, in: .order)
      terms += self.terms(of: value, descending: item.descending, nullsLast: item.nullsLast)
    }
    if !isGrouped {
      terms.append(OrderTerm(value: "\(scope.rootAlias).rowid"))
    }
    return terms
  }

  func terms(of value: SOQLExpression, descending: Bool, nullsLast: Bool) -> [OrderTerm] {
    let suffix = (descending ? " DESC" : " ASC") + (nullsLast ? " NULLS LAST" : " NULLS FIRST")
    var terms: [OrderTerm] = []
    if value.picklistValues.count > 1 {
      terms.append(
        OrderTerm(value: "\(value.sql) IS NULL", suffix: nullsLast ? " ASC" : " DESC"))
      let ranks = value.picklistValues.enumerated().map { index, value in
        " WHEN \(SOQLFragment.quoted(value)) THEN \(index)"
      }
      terms.append(
        OrderTerm(
          value: "CASE \(value.sql)" + ranks.joined() + " ELSE \(value.picklistValues.count) END",
          suffix: descending ? " DESC" : " ASC"))
    }
    let collation =
      value.comparison == .text ? " COLLATE \(value.caseSensitive ? "BINARY" : "NOCASE")" : ""
    terms.append(OrderTerm(value: value.sql, collation: collation, suffix: suffix))
    return terms
  }

  /// All that stands behind ORDER BY; nil without terms.
  static func joined(_ terms: [OrderTerm]) -> String? {
    terms.isEmpty ? nil : terms.map { $0.sql() }.joined(separator: ", ")
  }

  /// The offset, which the platform limits.
  func offset() throws(ServerError) -> Int? {
    let maxOffset = 2000
    guard let offset = statement.offset, offset > maxOffset else { return statement.offset }
    throw ServerError(
      "NUMBER_OUTSIDE_VALID_RANGE", "Maximum SOQL offset allowed is \(maxOffset)")
  }
}
