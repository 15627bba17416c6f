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
  /// The expressions behind GROUP BY by their SQL.
  var groupedSQL: Set<String> = []
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
        guard case .operand(.function(let name, _), _) = item else { return false }
        return SOQLAggregate(rawValue: name.text.uppercased()) != nil
          || SOQLDateFunction(rawValue: name.text.uppercased()) != nil
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

  // MARK: Operands

  /// Where an operand stands.
  enum Clause {
    case filter, having, group, order, select
  }

  mutating func expression(
    _ operand: SOQLOperand, in clause: Clause
  ) throws(ServerError) -> SOQLExpression {
    switch operand {
    case .field(let path):
      let field = try scope.field(path)
      try check(field, in: clause)
      let expression = SOQLExpression(field)
      try checkGrouped(expression, in: clause)
      return expression
    case .function(let name, let argument):
      if let aggregate = SOQLAggregate(rawValue: name.text.uppercased()) {
        return try self.aggregate(aggregate, name, argument, in: clause)
      }
      if let function = SOQLDateFunction(rawValue: name.text.uppercased()) {
        return try dateFunction(function, name, argument, in: clause)
      }
      throw .malformedQuery("unexpected token: '('")
    }
  }

  private func check(_ field: SOQLField, in clause: Clause) throws(ServerError) {
    let (allowed, verb) =
      switch clause {
      case .filter, .having: (field.schema.isFilterable, "filtered")
      case .group: (field.schema.isGroupable, "grouped")
      case .order: (field.schema.isSortable, "sorted")
      case .select: (true, "selected")
      }
    guard allowed else {
      throw source.error(
        "INVALID_FIELD", at: field.offset,
        "field '\(field.schema.name)' can not be \(verb) in a query call")
    }
  }

  /// What is shown of a group, or orders groups, is either the same for all its rows or an aggregate.
  private func checkGrouped(_ expression: SOQLExpression, in clause: Clause) throws(ServerError) {
    guard isGrouped, clause == .select || clause == .order || clause == .having,
      !groupedSQL.contains(expression.sql)
    else { return }
    throw source.error(
      "MALFORMED_QUERY", at: expression.offset,
      "Field must be grouped or aggregated: \(expression.name)")
  }

  private mutating func aggregate(
    _ aggregate: SOQLAggregate, _ name: SOQLName, _ argument: SOQLOperand?, in clause: Clause
  ) throws(ServerError) -> SOQLExpression {
    guard clause != .filter, clause != .group, isGrouped else {
      throw source.error(
        "MALFORMED_QUERY", at: name.offset, "aggregate function is not allowed here: \(name.text)")
    }
    guard let argument else {
      guard aggregate == .count, clause != .select else {
        throw .malformedQuery("unexpected token: ')'")
      }
      return SOQLExpression(sql: "COUNT(*)", type: .int, name: name.text, offset: name.offset)
    }
    guard case .field(let path) = argument else {
      throw .malformedQuery("unexpected token: '('")
    }
    let field = try scope.field(path)
    guard field.schema.supports(aggregate) else {
      throw source.error(
        "INVALID_FIELD", at: field.offset,
        "field \(field.schema.name) does not support aggregate operator \(aggregate.rawValue)")
    }
    let value = SOQLExpression(field)
    // Texts are told apart and ordered without regard to case, also where no column says so.
    let collated =
      value.comparison == .text && !field.isColumn ? field.sql + " COLLATE NOCASE" : field.sql
    let (sql, type): (String, FieldType) =
      switch aggregate {
      case .count: ("COUNT(\(field.sql))", .int)
      case .countDistinct: ("COUNT(DISTINCT \(collated))", .int)
      case .sum: ("SUM(\(field.sql))", field.schema.type)
      case .avg: ("AVG(\(field.sql))", .double)
      case .min: ("MIN(\(collated))", field.schema.type)
      case .max: ("MAX(\(collated))", field.schema.type)
      }
    return SOQLExpression(sql: sql, type: type, name: field.schema.name, offset: name.offset)
  }

  private mutating func dateFunction(
    _ function: SOQLDateFunction, _ name: SOQLName, _ argument: SOQLOperand?, in clause: Clause
  ) throws(ServerError) -> SOQLExpression {
    let path: SOQLPath
    var secondsFromUTC = 0
    switch argument {
    case .field(let field): path = field
    case .function(let zone, .field(let field)) where zone.text.uppercased() == "CONVERTTIMEZONE":
      path = field
      secondsFromUTC = options.secondsFromUTC
    default: throw .malformedQuery("unexpected token: ')'")
    }
    let field = try scope.field(path)
    guard function.takes(field.schema.type) else {
      throw source.error(
        "INVALID_FIELD", at: field.offset,
        "field \(field.schema.name) does not support function \(function.rawValue)")
    }
    let expression = SOQLExpression(
      sql: function.sql(field.sql, secondsFromUTC: secondsFromUTC), type: function.resultType,
      name: field.schema.name, offset: name.offset)
    try checkGrouped(expression, in: clause)
    return expression
  }

  // MARK: Clauses

  /// All that stands behind WHERE.
  mutating func filter() throws(ServerError) -> SOQLFragment? {
    var parts: [SOQLFragment] = []
    if !includesDeleted { parts.append(SOQLFragment("\(scope.rootAlias).\"IsDeleted\" = 0")) }
    if let condition = statement.condition {
      parts.append(try self.condition(condition, in: .filter, level: .top))
    }
    return parts.isEmpty ? nil : .joined(parts, by: "AND")
  }

  /// All that stands behind ORDER BY. Rows that the query does not tell apart keep the order of their
  /// creation.
  mutating func order() throws(ServerError) -> SOQLFragment {
    var terms: [SOQLFragment] = []
    for item in statement.order {
      let value = try expression(item.operand, in: .order)
      let direction = item.descending ? " DESC" : " ASC"
      let nulls = item.nullsLast ? " NULLS LAST" : " NULLS FIRST"
      if value.picklistValues.count > 1 {
        terms.append(SOQLFragment("\(value.sql) IS NULL" + (item.nullsLast ? " ASC" : " DESC")))
        terms.append(
          SOQLFragment(
            "CASE \(value.sql)"
              + value.picklistValues.indices.map { " WHEN ? THEN \($0)" }.joined()
              + " ELSE \(value.picklistValues.count) END" + direction,
            value.picklistValues.map(\.databaseValue)))
      }
      let collation =
        value.comparison == .text && !value.isColumn
        ? " COLLATE \(value.caseSensitive ? "BINARY" : "NOCASE")" : ""
      terms.append(SOQLFragment(value.sql + collation + direction + nulls))
    }
    if !isGrouped {
      terms.append(SOQLFragment("\(scope.rootAlias).rowid"))
    } else {
      terms += groupedSQL.sorted().map { SOQLFragment($0) }
    }
    return SOQLFragment(
      terms.map(\.sql).joined(separator: ", "), terms.flatMap(\.arguments))
  }

  /// The offset, which the platform limits.
  func offset() throws(ServerError) -> Int? {
    let maxOffset = 2000
    guard let offset = statement.offset, offset > maxOffset else { return statement.offset }
    throw ServerError(
      "NUMBER_OUTSIDE_VALID_RANGE", "Maximum SOQL offset allowed is \(maxOffset)")
  }
}
