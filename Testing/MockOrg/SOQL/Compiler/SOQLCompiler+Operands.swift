import struct Foundation.TimeZone

extension SOQLCompiler {
  /// Where an operand stands.
  enum Clause {
    case filter, having, group, order, select
  }

  /// The value of an operand.
  mutating func expression(
    _ operand: SOQLOperand, in clause: Clause
  ) throws(ServerError) -> SOQLExpression {
    switch operand {
    case .field(let path):
      let field = try scope.field(path)
      try check(field, in: clause)
      return try grouped(SOQLExpression(field), in: clause)
    case .distance(let distance):
      guard clause == .filter || !isGrouped else { throw unexpected("(") }
      return try self.distance(distance)
    case .function(let name, let argument):
      let function = name.text.uppercased()
      if let aggregate = SOQLAggregate(rawValue: function) {
        return try self.aggregate(aggregate, name, argument, in: clause)
      }
      if let dateFunction = SOQLDateFunction(rawValue: function) {
        return try self.dateFunction(dateFunction, name, argument, in: clause)
      }
      switch (function, argument) {
      case ("TOLABEL", .field(let path)?) where clause == .filter || clause == .select:
        return try label(path, name, in: clause)
      case ("CONVERTCURRENCY", .field(let path)?) where clause == .select:
        return try expression(.field(path), in: clause)
      case ("GROUPING", .field(let path)?) where clause != .filter && clause != .group:
        return try grouping(path, name)
      default: throw unexpected("(")
      }
    }
  }

  /// A token that no rule of the grammar gives a place.
  func unexpected(_ token: String) -> ServerError {
    .malformedQuery("unexpected token: '\(token)'")
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

  /// What is shown of a group, or orders groups, is either the same for all its rows or an aggregate;
  /// in a row of totals, what is added up is null.
  private func grouped(
    _ expression: SOQLExpression, in clause: Clause
  ) throws(ServerError) -> SOQLExpression {
    guard isGrouped, clause == .select || clause == .order || clause == .having else {
      return expression
    }
    guard groupKeys.contains(expression.identity) else {
      throw source.error(
        "MALFORMED_QUERY", at: expression.offset,
        clause == .order
          ? "Ordered field must be grouped or aggregated: \(expression.name)"
          : "Field must be grouped or aggregated: \(expression.name)")
    }
    guard totalledKeys.contains(expression.identity) else { return expression }
    var null = expression
    null.sql = "NULL"
    null.isColumn = false
    return null
  }

  // MARK: Functions

  private mutating func aggregate(
    _ aggregate: SOQLAggregate, _ name: SOQLName, _ argument: SOQLOperand?, in clause: Clause
  ) throws(ServerError) -> SOQLExpression {
    guard clause != .filter, clause != .group, isGrouped else {
      throw source.error(
        "MALFORMED_QUERY", at: name.offset, "aggregate function is not allowed here: \(name.text)")
    }
    guard let argument else {
      guard aggregate == .count, clause != .select else { throw unexpected(")") }
      return SOQLExpression(sql: "COUNT(*)", type: .int, name: name.text, offset: name.offset)
    }
    guard case .field(let path) = argument else {
      throw .malformedQuery(
        """
        nested functional syntax can only be used in the following manner: \
        date_function(convertTimezone(columnName)): \(aggregate.rawValue)
        """)
    }
    let field = try scope.field(path)
    guard field.schema.supports(aggregate) else {
      throw source.error(
        "INVALID_FIELD", at: field.offset,
        "field \(field.schema.name) does not support aggregate operator \(aggregate.rawValue)")
    }
    let value = SOQLExpression(field)
    // Texts are compared and ordered without regard to case, also where no column says so.
    let collated =
      value.comparison == .text && !field.isColumn ? field.sql + " COLLATE NOCASE" : field.sql
    let (sql, type): (String, FieldType) =
      switch aggregate {
      case .count: ("COUNT(\(field.sql))", .int)
      case .countDistinct: ("COUNT(DISTINCT \(collated))", .int)
      case .sum: ("SUM(\(field.sql))", field.schema.type)
      case .avg: ("AVG(\(field.sql))", .double)
      case .min, .max:
        (
          value.picklistValues.isEmpty
            ? "\(aggregate.rawValue)(\(collated))" : Self.extreme(aggregate, of: value),
          field.schema.type
        )
      }
    var expression = SOQLExpression(
      sql: sql, type: type, name: field.schema.name, offset: name.offset)
    expression.scale = field.schema.scale
    return expression
  }

  /// The first or last value of a picklist by the order of its values; others stand behind them.
  private static func extreme(_ aggregate: SOQLAggregate, of value: SOQLExpression) -> String {
    let name = aggregate.rawValue
    let quoted = value.picklistValues.map { SOQLFragment.quoted($0) }
    let places = quoted.enumerated().map { " WHEN \($1) THEN \($0)" }.joined()
    let values = quoted.enumerated().map { " WHEN \($0) THEN \($1)" }.joined()
    let others =
      "\(name)(CASE WHEN \(value.sql) COLLATE NOCASE IN (\(quoted.joined(separator: ", ")))"
      + " THEN NULL ELSE \(value.sql) END COLLATE NOCASE)"
    return "CASE \(name)(CASE WHEN \(value.sql) IS NULL THEN NULL ELSE "
      + "CASE \(value.sql) COLLATE NOCASE\(places) ELSE \(quoted.count) END END)\(values)"
      + " ELSE \(others) END"
  }

  private mutating func dateFunction(
    _ function: SOQLDateFunction, _ name: SOQLName, _ argument: SOQLOperand?, in clause: Clause
  ) throws(ServerError) -> SOQLExpression {
    let path: SOQLPath
    var zone = TimeZone.gmt
    var isConverted = false
    switch argument {
    case .field(let field): path = field
    case .function(let inner, .field(let field))
    where inner.text.uppercased() == "CONVERTTIMEZONE":
      path = field
      zone = options.timeZone
      isConverted = true
    case nil: throw unexpected(")")
    default: throw unexpected("(")
    }
    let field = try scope.field(path)
    guard function.takes(field.schema.type) else {
      throw source.error(
        "INVALID_FIELD", at: field.offset,
        "field \(field.schema.name) does not support function \(function.rawValue)")
    }
    var expression = SOQLExpression(
      sql: function.sql(field.sql, zone: zone), type: function.resultType,
      name: field.schema.name, offset: name.offset)
    // Calendar and fiscal years may be the same, as may times in a zone that changes nothing: they are
    // groups of their own all the same.
    expression.groupKey = "\(function.rawValue) \(isConverted) \(field.sql)"
    return try grouped(expression, in: clause)
  }

  /// Whether a row adds up a group: 1 for totals of it, 0 for its own values.
  private mutating func grouping(
    _ path: SOQLPath, _ name: SOQLName
  ) throws(ServerError) -> SOQLExpression {
    let field = try scope.field(path)
    guard groupKeys.contains(field.sql) else {
      throw source.error(
        "MALFORMED_QUERY", at: field.offset,
        "Field must be grouped or aggregated: \(field.schema.name)")
    }
    return SOQLExpression(
      // A number alone would name a column behind ORDER BY.
      sql: totalledKeys.contains(field.sql) ? "(0 + 1)" : "(0 + 0)", type: .int, name: name.text,
      offset: name.offset)
  }

  /// The label of a picklist's value; any other value is its own label.
  private mutating func label(
    _ path: SOQLPath, _ name: SOQLName, in clause: Clause
  ) throws(ServerError) -> SOQLExpression {
    let field = try scope.field(path)
    try check(field, in: clause)
    var expression = SOQLExpression(field)
    let values = field.schema.picklistValues.filter { $0.label != $0.value }
    guard !values.isEmpty else { return try grouped(expression, in: clause) }
    expression = try grouped(expression, in: clause)
    expression.sql =
      "CASE \(expression.sql)"
      + values.map {
        " WHEN \(SOQLFragment.quoted($0.value)) THEN \(SOQLFragment.quoted($0.label))"
      }.joined() + " ELSE \(expression.sql) END"
    expression.isColumn = false
    expression.type = .string
    expression.picklistValues = []
    return expression
  }

  // MARK: Distances

  private mutating func distance(
    _ distance: SOQLDistance
  ) throws(ServerError) -> SOQLExpression {
    let kilometersPerMile = 1.609344
    let places = [try place(distance.from), try place(distance.to)].joined(separator: ", ")
    var sql = "\(SOQLDatabase.distance)(\(places))"
    if distance.unit == .miles { sql = "(\(sql) / \(kilometersPerMile))" }
    var expression = SOQLExpression(
      sql: sql, type: .double, name: distance.name.text, offset: distance.name.offset)
    expression.isDistance = true
    expression.scale = 2
    return expression
  }

  /// Latitude and longitude.
  private mutating func place(_ place: SOQLDistance.Place) throws(ServerError) -> String {
    switch place {
    case .point(let latitude, let longitude):
      guard (-90.0...90).contains(latitude), (-180.0...180).contains(longitude) else {
        throw ServerError(
          "NUMBER_OUTSIDE_VALID_RANGE", "latitude has to be within 90, longitude within 180 degrees"
        )
      }
      return "\(latitude), \(longitude)"
    case .field(let path):
      let field = try scope.field(path)
      let target = field.entity.targets.first
      let columns = ["latitude", "longitude"].compactMap { key -> String? in
        guard
          let part = target?.object.compoundParts(of: field.schema.name).first(where: {
            $0.key == key
          }),
          let schema = target?.object.field(named: part.field), schema.hasColumn
        else { return nil }
        return "\(target?.alias ?? "").\(RecordTable.quoted(schema.name))"
      }
      guard columns.count == 2 else {
        throw source.error(
          "INVALID_FIELD", at: field.offset,
          "field \(field.schema.name) does not support function DISTANCE")
      }
      return columns.joined(separator: ", ")
    }
  }
}

extension SOQLOperand {
  /// Whether it makes the rows of its query groups.
  var isAggregate: Bool {
    guard case .function(let name, let argument) = self else { return false }
    let function = name.text.uppercased()
    if function == "FORMAT" { return argument?.isAggregate == true }
    return SOQLAggregate(rawValue: function) != nil || SOQLDateFunction(rawValue: function) != nil
  }
}
