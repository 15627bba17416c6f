import GRDB

extension SOQLCompiler {
  /// The most columns that one statement may have; SQLite's own limit is 2,000.
  static let maxColumns = 1900
  /// The most levels of SELECT lists inside one another.
  private static let maxChildLevels = 5
  /// The most SELECT lists in one.
  private static let maxChildQueries = 20

  /// The query of a SELECT whose rows are records.
  ///
  /// - Parameter level: How many SELECT lists this one stands in.
  mutating func records(level: Int = 0) throws(ServerError) -> SOQLQuery {
    var list = SOQLSelectList(
      shape: SOQLShapeBuilder(type: .named(object.name), id: nil))
    list.shape.id = list.columns.index(of: "\(scope.rootAlias).\"Id\"")
    var childQueries = 0
    for item in statement.select {
      switch item {
      case .operand(let operand, let alias): try select(operand, alias: alias, &list)
      case .fields(let set, let offset):
        try checkLimit(of: set)
        for field in object.fields where set.contains(field) {
          try select(
            .field(SOQLPath(names: [field.name], offset: offset)), alias: nil, &list)
        }
      case .typeOf(let typeOf): try select(typeOf, &list)
      case .children(let inner):
        childQueries += 1
        guard childQueries <= Self.maxChildQueries else { throw .queryTooComplicated }
        let (name, query) = try children(inner, level: level + 1)
        try list.reserve(name)
        list.shape.members.append(
          .children(
            key: name, query, parentID: list.columns.index(of: "\(scope.rootAlias).\"Id\"")))
      }
    }
    guard list.columns.sql.count <= Self.maxColumns else { throw .queryTooComplicated }
    let condition = try self.filter()
    let order = Self.joined(try self.order())
    let offset = try self.offset()
    var query = SOQLQuery(
      kind: .records, object: object.name, columns: list.columns.sql, from: scope.from,
      condition: condition?.sql, order: order, limit: statement.limit, offset: offset,
      conditionArguments: condition?.arguments ?? [],
      record: list.shape.shape)
    query.marksViewed = statement.marksViewed
    query.marksReferenced = statement.marksReferenced
    return query
  }

  // MARK: Fields and functions

  private mutating func select(
    _ operand: SOQLOperand, alias: String?, _ list: inout SOQLSelectList
  ) throws(ServerError) {
    let (operand, isFormatted) = operand.withoutFormat
    let path: SOQLPath?
    switch operand {
    case .field(let field):
      if alias != nil, !isFormatted {
        throw .malformedQuery("only aggregate expressions use field aliasing")
      }
      path = field
    case .function(_, .field(let field)): path = field
    case .distance: path = nil
    case .function: throw unexpected("(")
    }
    let field: SOQLField? = if let path { try scope.field(path) } else { nil }
    if let field, field.schema.isCompound {
      guard case .field = operand, !isFormatted else { throw unexpected("(") }
      try list.reserve(field.canonicalPath)
      let member = SOQLRecordShape.Member.compound(
        key: field.schema.name, parts: parts(of: field, &list.columns))
      return try list.insert(member, under: field.steps)
    }
    let value = try expression(operand, in: .select)
    let column = list.columns.index(of: value.sql)
    let key = alias ?? field?.schema.name ?? list.nextUnnamedKey()
    try list.reserve(alias ?? field?.canonicalPath ?? key)
    let member = self.member(key, column, value, isFormatted: isFormatted)
    try list.insert(member, under: alias == nil ? field?.steps ?? [] : [])
  }

  /// The member that shows a value, as it is or as the user's locale writes it.
  func member(
    _ key: String, _ column: Int, _ value: SOQLExpression, isFormatted: Bool
  ) -> SOQLRecordShape.Member {
    isFormatted
      ? .formatted(
        key: key, column: column,
        SOQLFormat(type: value.type, scale: value.scale, zone: options.timeZone))
      : .field(key: key, column: column, type: value.type)
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

  private func checkLimit(of set: SOQLFieldSet) throws(ServerError) {
    let maxLimit = 200
    guard set == .standard || statement.limit.map({ $0 <= maxLimit }) == true else {
      // The platform says this without the place.
      throw .malformedQuery("The SOQL FIELDS function must have a LIMIT of at most \(maxLimit)")
    }
  }

  // MARK: TYPEOF

  private mutating func select(
    _ typeOf: SOQLTypeOf, _ list: inout SOQLSelectList
  ) throws(ServerError) {
    let relationship = try scope.relationship(typeOf.relationship)
    guard relationship.entity.isPolymorphic, let last = relationship.steps.last else {
      throw source.error(
        "INVALID_FIELD", at: typeOf.relationship.offset,
        "TYPEOF needs a polymorphic relationship: '\(typeOf.relationship.text)'")
    }
    let name = relationship.steps.map(\.key).joined(separator: ".")
    try list.reserve(name)
    var variants: [SOQLRecordShape] = []
    for branch in typeOf.branches {
      guard let object = schema.object(named: branch.object.text),
        let target = relationship.narrowed(to: object.name)
      else {
        throw source.error(
          "INVALID_TYPE", at: branch.object.offset,
          """
          sObject type '\(branch.object.text)' is not supported. If you are attempting to use a \
          custom object, be sure to append the '__c' after the entity name. Please reference your \
          WSDL or the describe call for the appropriate names.
          """)
      }
      variants.append(
        try shape(of: branch.fields, target, type: .named(object.name), &list.columns))
    }
    var otherwise: SOQLRecordShape?
    if !typeOf.otherwise.isEmpty {
      var target = relationship
      target.steps = []
      otherwise = try shape(of: typeOf.otherwise, target, type: .byKeyPrefix, &list.columns)
    }
    try list.insert(
      .variants(key: last.key, variants, otherwise: otherwise),
      under: relationship.steps.dropLast(), showing: name)
  }

  /// Some fields of one of the objects that a relationship may lead to.
  private mutating func shape(
    of fields: [SOQLPath], _ target: SOQLScope.Relationship, type: SOQLRecordShape.TypeName,
    _ columns: inout SOQLColumns
  ) throws(ServerError) -> SOQLRecordShape {
    var list = SOQLSelectList(
      columns: columns,
      shape: SOQLShapeBuilder(type: type, id: columns.index(of: target.entity.id)))
    list.columns = columns
    for path in fields {
      let field = try scope.field(path, of: target)
      try list.reserve(field.canonicalPath)
      let member: SOQLRecordShape.Member =
        !field.schema.isCompound
        ? .field(
          key: field.schema.name, column: list.columns.index(of: field.sql),
          type: field.schema.type)
        : .compound(key: field.schema.name, parts: parts(of: field, &list.columns))
      try list.insert(member, under: field.steps)
    }
    columns = list.columns
    return list.shape.shape
  }

  // MARK: Children

  /// The children that an inner SELECT names: what to call them, and their query up to the parent's id.
  private func children(
    _ inner: SOQLStatement, level: Int
  ) throws(ServerError) -> (String, SOQLQuery) {
    guard let relationship = scope.childRelationship(inner.object.text),
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
    query.restrict(to: "\(compiler.scope.rootAlias).\(RecordTable.quoted(reference.name)) = ?")
    return (name, query)
  }
}
