extension SOQLCompiler {
  /// Where a condition stands among the others.
  struct Level {
    enum Parent { case none, and, or, not }

    var parent = Parent.none
    var depth = 0

    static let top = Level()

    func inside(_ parent: Parent) -> Level { Level(parent: parent, depth: depth + 1) }
  }

  mutating func condition(
    _ condition: SOQLCondition, in clause: Clause, level: Level
  ) throws(ServerError) -> SOQLFragment {
    let fragment = try compiled(condition, in: clause, level: level)
    guard fragment.depth <= SOQLFragment.maxDepth else { throw .queryTooComplicated }
    return fragment
  }

  private mutating func compiled(
    _ condition: SOQLCondition, in clause: Clause, level: Level
  ) throws(ServerError) -> SOQLFragment {
    switch condition {
    case .and(let parts):
      // An AND inside an AND is the same list.
      let inner = level.parent == .and ? level : level.inside(.and)
      return try joined(parts, by: "AND", in: clause, level: inner)
    case .or(let parts):
      return try joined(parts, by: "OR", in: clause, level: level.inside(.or))
    case .not(let inner):
      return try self.condition(inner, in: clause, level: level.inside(.not)).negated
    case .comparison(let comparison):
      let value = try expression(comparison.operand, in: clause)
      return try SOQLComparer(source: source, options: options)
        .compare(value, comparison.comparator, comparison.values)
    case .semiJoin(let path, let negated, let inner):
      try checkSemiJoin(at: level)
      return try semiJoin(path, negated: negated, inner)
    }
  }

  private mutating func joined(
    _ parts: [SOQLCondition], by operator: String, in clause: Clause, level: Level
  ) throws(ServerError) -> SOQLFragment {
    var fragments: [SOQLFragment] = []
    for part in parts { fragments.append(try condition(part, in: clause, level: level)) }
    return .joined(fragments, by: `operator`)
  }

  // MARK: Semi-joins

  /// The most SELECTs behind IN and NOT IN.
  private static let maxSemiJoins = 2

  private func checkSemiJoin(at level: Level) throws(ServerError) {
    if level.depth == 0 || level.depth == 1 && level.parent == .and { return }
    if level.depth == 1, level.parent == .or {
      throw .malformedQuery("Semi join sub-selects are not allowed with the 'OR' operator")
    }
    throw .malformedQuery(
      "Semi join sub-selects are only allowed at the top level WHERE expressions and not in nested "
        + "WHERE expressions.")
  }

  private mutating func semiJoin(
    _ path: SOQLPath, negated: Bool, _ inner: SOQLStatement
  ) throws(ServerError) -> SOQLFragment {
    let outer = try scope.field(path)
    guard outer.schema.type == .id || outer.schema.type == .reference else {
      throw .malformedQuery(
        "The left operand field in the where expression for outer query should be an id field, "
          + "cannot use: '\(path.text)'")
    }
    innerSelects += 1
    guard innerSelects <= Self.maxSemiJoins else {
      throw .malformedQuery("Maximum \(Self.maxSemiJoins) semi join sub-selects are allowed")
    }
    let innerObject = try Self.object(of: inner, source: source, schema: schema)
    guard innerObject.name != object.name || !outer.steps.isEmpty || outer.schema.type != .id else {
      throw .malformedQuery(
        "The inner and outer selects should not be on the same object type")
    }
    var compiler = try SOQLCompiler(
      inner, object: innerObject, source: source, schema: schema, options: innerOptions,
      aliasPrefix: "s\(innerSelects)_")
    guard inner.select.count == 1, case .operand(.field(let innerPath), nil)? = inner.select.first
    else {
      throw .malformedQuery("The inner select of a semi join must have exactly one field")
    }
    let field = try compiler.scope.field(innerPath)
    guard outer.sharesObject(with: field, in: schema) else {
      throw .malformedQuery(
        "The selected field '\(innerPath.text)' in the subquery and the left operand field "
          + "'\(path.text)' in the where expression in the outer query should point to the same "
          + "object type")
    }
    // One null among the values would make SQL's NOT IN unknown for every row.
    var condition = SOQLFragment("\(field.sql) IS NOT NULL")
    if inner.condition.map(Self.containsSemiJoin) == true {
      throw .malformedQuery("Nesting of semi join sub-selects is not supported")
    }
    if let filter = try compiler.filter() { condition = .joined([filter, condition], by: "AND") }
    let fragment = SOQLFragment(
      "\(outer.sql) IN (SELECT \(field.sql) FROM \(compiler.scope.from) WHERE \(condition.sql))",
      condition.arguments, depth: condition.depth + 10)
    return negated ? fragment.negated : fragment
  }

  private static func containsSemiJoin(_ condition: SOQLCondition) -> Bool {
    switch condition {
    case .and(let parts), .or(let parts): parts.contains(where: containsSemiJoin)
    case .not(let inner): containsSemiJoin(inner)
    case .comparison: false
    case .semiJoin: true
    }
  }
}

extension SOQLField {
  /// Whether ids of one object may be in both fields.
  fileprivate func sharesObject(with other: SOQLField, in schema: OrgSchema) -> Bool {
    schema.objects.contains { mayName($0) && other.mayName($0) }
  }

  /// Whether the id in this field may belong to `object`.
  private func mayName(_ object: ObjectSchema) -> Bool {
    schema.type == .id
      ? entity.targets.contains { $0.object.name == object.name } : schema.canReference(object)
  }
}
