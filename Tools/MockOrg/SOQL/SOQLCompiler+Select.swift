import GRDB

extension SOQLCompiler {
  /// The most columns that one statement may have; SQLite's own limit is 2,000.
  private static let maxColumns = 1900
  /// The most levels of SELECT lists inside one another.
  private static let maxChildLevels = 5

  // MARK: Records

  /// The query of a SELECT whose rows are records.
  ///
  /// - Parameter level: How many SELECT lists this one stands in.
  mutating func records(level: Int = 0) throws(ServerError) -> SOQLQuery {
    var columns = SOQLColumns()
    var shape = SOQLShapeBuilder(
      type: .named(object.name), id: columns.index(of: "\(scope.rootAlias).\"Id\""))
    var selected: Set<String> = []
    for item in statement.select {
      switch item {
      case .operand(let operand, let alias):
        try select(operand, alias: alias, &columns, &shape, &selected)
      case .fields(let set, let offset):
        try checkLimit(of: set, at: offset)
        for field in object.fields where set.contains(field) {
          let path = SOQLPath(names: [field.name], offset: offset)
          try select(.field(path), alias: nil, &columns, &shape, &selected)
        }
      case .children(let inner):
        let (name, query) = try children(inner, level: level + 1)
        try checkDuplicate(name, &selected)
        shape.members.append(
          .children(key: name, query, parentID: columns.index(of: "\(scope.rootAlias).\"Id\"")))
      }
    }
    guard columns.sql.count <= Self.maxColumns else { throw .queryTooComplicated }
    let condition = try self.filter()
    let order = try self.order()
    let offset = try self.offset()
    return SOQLQuery(
      kind: .records, object: object.name, columns: columns.sql, from: scope.from,
      condition: condition?.sql, order: order.sql, limit: statement.limit, offset: offset,
      columnArguments: columns.arguments, conditionArguments: condition?.arguments ?? [],
      tailArguments: order.arguments, record: shape.shape)
  }

  private mutating func select(
    _ operand: SOQLOperand, alias: String?, _ columns: inout SOQLColumns,
    _ shape: inout SOQLShapeBuilder, _ selected: inout Set<String>
  ) throws(ServerError) {
    if alias != nil { throw .malformedQuery("only aggregate expressions use field aliasing") }
    let path: SOQLPath
    var showsLabel = false
    switch operand {
    case .field(let field): path = field
    case .function(let name, .field(let field)) where name.text.uppercased() == "TOLABEL":
      path = field
      showsLabel = true
    case .function(let name, .field(let field))
    where name.text.uppercased() == "CONVERTCURRENCY":
      path = field
    case .function: throw .malformedQuery("unexpected token: '('")
    }
    let field = try scope.field(path)
    try checkDuplicate(field.canonicalPath, &selected)
    let member: SOQLRecordShape.Member
    if field.schema.hasColumn {
      let column =
        showsLabel
        ? columns.append(label(of: field)) : columns.index(of: field.sql)
      member = .field(
        key: field.schema.name, column: column, type: showsLabel ? .string : field.schema.type)
    } else {
      member = .compound(key: field.schema.name, parts: parts(of: field, &columns))
    }
    let steps = field.steps.map { step in
      SOQLShapeBuilder.Step(
        key: step.key,
        type: step.entity.isPolymorphic ? .byKeyPrefix : .named(step.entity.name),
        id: columns.index(of: step.entity.id))
    }
    shape.insert(member, under: steps[...])
  }

  private func checkDuplicate(
    _ name: String, _ selected: inout Set<String>
  ) throws(ServerError) {
    guard selected.insert(name.lowercased()).inserted else {
      throw ServerError("INVALID_FIELD", "duplicate field selected: \(name)")
    }
  }

  /// The parts of an address or location.
  private func parts(
    of field: SOQLField, _ columns: inout SOQLColumns
  ) -> [SOQLRecordShape.CompoundColumn] {
    guard let target = field.entity.targets.first else { return [] }
    return target.object.compoundParts(of: field.schema.name).compactMap { part in
      guard let schema = target.object.field(named: part.field), schema.hasColumn else {
        return nil
      }
      let column = columns.index(of: "\(target.alias).\(RecordTable.quoted(schema.name))")
      return SOQLRecordShape.CompoundColumn(key: part.key, column: column, type: schema.type)
    }
  }

  /// The label of a picklist's value; any other value is its own label.
  private func label(of field: SOQLField) -> SOQLFragment {
    let values = field.schema.picklistValues.filter { $0.label != $0.value }
    guard !values.isEmpty else { return SOQLFragment(field.sql) }
    return SOQLFragment(
      "CASE \(field.sql)" + values.map { _ in " WHEN ? THEN ?" }.joined()
        + " ELSE \(field.sql) END",
      values.flatMap { [$0.value.databaseValue, $0.label.databaseValue] })
  }

  private func checkLimit(of set: SOQLFieldSet, at offset: Int) throws(ServerError) {
    let maxLimit = 200
    guard set == .standard || statement.limit.map({ $0 <= maxLimit }) == true else {
      throw source.error(
        "MALFORMED_QUERY", at: offset,
        "The SOQL FIELDS function must have a LIMIT of at most \(maxLimit)")
    }
  }

  /// The children that an inner SELECT names: what to call them, and their query up to the parent's id.
  private func children(
    _ inner: SOQLStatement, level: Int
  ) throws(ServerError) -> (String, SOQLQuery) {
    guard let relationship = object.childRelationship(named: inner.object.text),
      let name = relationship.relationshipName,
      let child = schema.object(named: relationship.childObject),
      let reference = child.field(named: relationship.field)
    else {
      throw source.error(
        "INVALID_TYPE", at: inner.object.offset,
        """
        Didn't understand relationship '\(inner.object.text)' in FROM part of query call. If you \
        are attempting to use a custom relationship, be sure to append the '__r' after the custom \
        relationship name. Please reference your WSDL or the describe call for the appropriate names.
        """)
    }
    guard level < Self.maxChildLevels else {
      throw source.error(
        "MALFORMED_QUERY", at: inner.object.offset,
        "a query has at most \(Self.maxChildLevels) levels of relationships to children")
    }
    var compiler = try SOQLCompiler(
      inner, object: child, source: source, schema: schema, options: innerOptions)
    guard !compiler.isGrouped else {
      throw source.error(
        "MALFORMED_QUERY", at: inner.object.offset,
        "aggregate functions are not allowed in a query of children")
    }
    var query = try compiler.records(level: level)
    let parent = "\(compiler.scope.rootAlias).\(RecordTable.quoted(reference.name)) = ?"
    query.condition = query.condition.map { "(\($0)) AND \(parent)" } ?? parent
    return (name, query)
  }

  // MARK: Groups

  /// The query of a SELECT whose rows are groups.
  mutating func groups() throws(ServerError) -> SOQLQuery {
    var groups: [SOQLExpression] = []
    for operand in statement.groups {
      let group = try expression(operand, in: .group)
      groupedSQL.insert(group.sql)
      groups.append(group)
    }
    var columns = SOQLColumns()
    var shape = SOQLShapeBuilder(type: .aggregateResult, id: nil)
    var keys: Set<String> = []
    var unnamed = 0
    for item in statement.select {
      guard case .operand(let operand, let alias) = item else {
        throw .malformedQuery("grouped queries select fields and aggregate functions only")
      }
      let value = try expression(operand, in: .select)
      let key: String
      if let alias {
        key = alias
      } else if case .function = operand {
        key = "expr\(unnamed)"
        unnamed += 1
      } else {
        key = value.name
      }
      guard keys.insert(key.lowercased()).inserted else {
        throw .malformedQuery("duplicate alias: \(key)")
      }
      shape.members.append(
        .field(key: key, column: columns.append(SOQLFragment(value.sql)), type: value.type))
    }
    let condition = try self.filter()
    let group = try self.group(groups)
    let order = try self.order()
    let offset = try self.offset()
    return SOQLQuery(
      kind: .aggregate, object: object.name, columns: columns.sql, from: scope.from,
      condition: condition?.sql, group: group?.sql, order: order.sql.isEmpty ? nil : order.sql,
      limit: statement.limit, offset: offset, conditionArguments: condition?.arguments ?? [],
      tailArguments: (group?.arguments ?? []) + order.arguments, record: shape.shape)
  }

  private mutating func group(_ groups: [SOQLExpression]) throws(ServerError) -> SOQLFragment? {
    guard !groups.isEmpty else { return nil }
    var fragment = SOQLFragment(
      groups.map { group in
        group.comparison == .text && !group.isColumn && !group.caseSensitive
          ? "\(group.sql) COLLATE NOCASE" : group.sql
      }.joined(separator: ", "))
    if let having = statement.having {
      let condition = try self.condition(having, in: .having, level: .top)
      fragment.sql += " HAVING \(condition.sql)"
      fragment.arguments += condition.arguments
    }
    return fragment
  }

  // MARK: COUNT()

  /// Whether the query is `SELECT COUNT() FROM ...`, whose answer is a number alone.
  var isCount: Bool {
    guard statement.select.count == 1,
      case .operand(.function(let name, nil), nil)? = statement.select.first
    else { return false }
    return name.text.uppercased() == SOQLAggregate.count.rawValue
  }

  /// The query of `SELECT COUNT() FROM ...`; LIMIT and OFFSET say which of the rows count.
  mutating func count() throws(ServerError) -> SOQLQuery {
    guard statement.groups.isEmpty, statement.order.isEmpty else {
      throw .malformedQuery("COUNT() cannot be used with GROUP BY or ORDER BY")
    }
    let condition = try self.filter()
    let offset = try self.offset()
    var query = SOQLQuery(
      kind: .count, object: object.name, columns: ["COUNT(*)"], from: scope.from,
      condition: condition?.sql, conditionArguments: condition?.arguments ?? [],
      record: SOQLRecordShape(type: .aggregateResult, members: []))
    if statement.limit != nil || offset != nil {
      let filter = condition.map { " WHERE \($0.sql)" } ?? ""
      query.from =
        "(SELECT 1 FROM \(scope.from)\(filter) LIMIT \(statement.limit ?? -1)"
        + " OFFSET \(offset ?? 0)) AS \(scope.rootAlias)"
      query.fromArguments = query.conditionArguments
      query.condition = nil
      query.conditionArguments = []
    }
    return query
  }
}

extension SOQLFieldSet {
  func contains(_ field: FieldSchema) -> Bool {
    switch self {
    case .all: true
    case .standard: !field.custom
    case .custom: field.custom
    }
  }
}

/// The columns of a result; one expression has one column.
struct SOQLColumns {
  private(set) var sql: [String] = []
  private(set) var arguments: [DatabaseValue] = []
  private var indexes: [String: Int] = [:]

  /// The column of an expression without question marks.
  mutating func index(of expression: String) -> Int {
    if let index = indexes[expression] { return index }
    let index = append(SOQLFragment(expression))
    indexes[expression] = index
    return index
  }

  /// A column of its own.
  mutating func append(_ fragment: SOQLFragment) -> Int {
    sql.append(fragment.sql)
    arguments += fragment.arguments
    return sql.count - 1
  }
}

/// Gathers the fields of a result under their parents, in the order in which SELECT first names each.
struct SOQLShapeBuilder {
  /// A parent on the way to a field.
  struct Step {
    var key: String
    var type: SOQLRecordShape.TypeName
    var id: Int
  }

  var type: SOQLRecordShape.TypeName
  var id: Int?
  var members: [SOQLRecordShape.Member] = []
  private var parents: [String: (position: Int, builder: SOQLShapeBuilder)] = [:]

  init(type: SOQLRecordShape.TypeName, id: Int?) {
    self.type = type
    self.id = id
  }

  mutating func insert(_ member: SOQLRecordShape.Member, under steps: ArraySlice<Step>) {
    guard let step = steps.first else {
      members.append(member)
      return
    }
    var builder = SOQLShapeBuilder(type: step.type, id: step.id)
    var position = members.count
    if let known = parents[step.key] {
      (position, builder) = known
    } else {
      members.append(.parent(key: step.key, builder.shape))
    }
    builder.insert(member, under: steps.dropFirst())
    members[position] = .parent(key: step.key, builder.shape)
    parents[step.key] = (position, builder)
  }

  var shape: SOQLRecordShape { SOQLRecordShape(type: type, id: id, members: members) }
}
