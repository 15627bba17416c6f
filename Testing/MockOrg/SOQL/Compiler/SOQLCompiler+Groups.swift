import GRDB

extension SOQLCompiler {
  /// The most fields of ROLLUP and CUBE.
  private static let maxTotalledGroups = 3

  // MARK: Groups

  /// The query of a SELECT whose rows are groups.
  mutating func groups() throws(ServerError) -> SOQLQuery {
    var groups: [SOQLExpression] = []
    for operand in statement.groups {
      let group = try expression(operand, in: .group)
      groupKeys.insert(group.identity)
      groups.append(group)
    }
    guard statement.grouping == .plain || groups.count <= Self.maxTotalledGroups else {
      throw .malformedQuery(
        "ROLLUP and CUBE take at most \(Self.maxTotalledGroups) fields")
    }
    if groups.isEmpty, statement.limit != nil {
      throw .malformedQuery(
        "Non-grouped query that uses overall aggregate functions cannot also use LIMIT")
    }
    let offset = try self.offset()
    let parts = try sets(of: groups).map { set throws(ServerError) in
      try rows(of: set, among: groups)
    }
    guard let first = parts.first else { throw .queryTooComplicated }
    var query = SOQLQuery(
      kind: .aggregate, object: object.name, columns: first.columns, from: scope.from,
      limit: statement.limit, offset: offset,
      record: SOQLRecordShape(type: .aggregateResult, members: first.members))
    if statement.grouping == .plain {
      let order = Self.joined(first.order)
      query.condition = first.condition?.sql
      query.conditionArguments = first.condition?.arguments ?? []
      query.group = first.group?.sql
      query.order = order
      query.groupArguments = first.group?.arguments ?? []
    } else {
      let union = union(of: parts)
      query.from = "(\(union.sql)) AS \(scope.rootAlias)"
      query.fromArguments = union.arguments
      query.columns = first.columns.indices.map { "c\($0)" }
      query.order = first.order.enumerated().map { $1.sql("o\($0)") }.joined(separator: ", ")
    }
    return query
  }

  /// The lists of groups whose rows the query has: for totals, some or all groups are left out.
  private func sets(of groups: [SOQLExpression]) -> [[SOQLExpression]] {
    switch statement.grouping {
    case .plain: [groups]
    case .rollup: (0...groups.count).reversed().map { Array(groups.prefix($0)) }
    case .cube:
      (0..<1 << groups.count).reversed().map { set in
        groups.indices.filter { set >> $0 & 1 == 1 }.map { groups[$0] }
      }
    }
  }

  /// The rows of one list of groups.
  private struct GroupRows {
    var columns: [String] = []
    var members: [SOQLRecordShape.Member] = []
    var condition: SOQLFragment?
    var group: SOQLFragment?
    var order: [OrderTerm] = []
  }

  private mutating func rows(
    of set: [SOQLExpression], among groups: [SOQLExpression]
  ) throws(ServerError) -> GroupRows {
    let kept = Set(set.map(\.identity))
    totalledKeys = Set(groups.map(\.identity)).subtracting(kept)
    var rows = GroupRows()
    var keys: Set<String> = []
    var unnamed = 0
    for item in statement.select {
      guard case .operand(let written, let alias) = item else {
        throw .malformedQuery("grouped queries select fields and aggregate functions only")
      }
      let (operand, isFormatted) = written.withoutFormat
      let value = try expression(operand, in: .select)
      let key: String
      if let alias {
        key = alias
      } else if case .field = operand {
        key = value.name
      } else {
        key = "expr\(unnamed)"
        unnamed += 1
      }
      guard keys.insert(key.lowercased()).inserted else {
        throw .malformedQuery("duplicate alias: \(key)")
      }
      rows.members.append(member(key, rows.columns.count, value, isFormatted: isFormatted))
      rows.columns.append(value.sql)
    }
    innerSelects = 0
    rows.condition = try self.filter()
    rows.group = try group(set)
    rows.order = try self.order()
    for group in groups {
      let isTotal = !kept.contains(group.identity)
      if statement.grouping != .plain {
        rows.order.append(OrderTerm(value: isTotal ? "1" : "0"))
      }
      var group = group
      if isTotal {
        group.sql = "NULL"
        group.isColumn = false
      }
      rows.order += terms(of: group, descending: false, nullsLast: false)
    }
    return rows
  }

  /// All that stands behind GROUP BY, a HAVING clause included; nil where the query has no GROUP BY.
  private mutating func group(_ set: [SOQLExpression]) throws(ServerError) -> SOQLFragment? {
    guard !statement.groups.isEmpty else { return nil }
    // The grand total of no rows at all is no row.
    var fragment = SOQLFragment(
      set.isEmpty
        ? "NULL"
        : set.map { group in
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

  /// The rows of all lists of groups, with columns `c0`, `c1`, ... and what orders them as `o0`, `o1`, ...
  private func union(of parts: [GroupRows]) -> SOQLFragment {
    var union = SOQLFragment("")
    for part in parts {
      let columns =
        part.columns.enumerated().map { "\($1) AS c\($0)" }
        + part.order.enumerated().map { "\($1.value) AS o\($0)" }
      if !union.sql.isEmpty { union.sql += " UNION ALL " }
      union.sql += "SELECT \(columns.joined(separator: ", ")) FROM \(scope.from)"
      if let condition = part.condition {
        union.sql += " WHERE \(condition.sql)"
        union.arguments += condition.arguments
      }
      if let group = part.group {
        union.sql += " GROUP BY \(group.sql)"
        union.arguments += group.arguments
      }
    }
    return union
  }

  // MARK: COUNT()

  /// Whether the query is `SELECT COUNT() FROM ...`, whose result is a number alone.
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
