import SalesforceSDKCommon

/// A query of tests, taken apart: one object, one level of children, conditions joined with `and`,
/// one order, a limit.
struct InMemoryQuery {
  /// `field op value`; a list has several values, and may be long. `field in (select …)` has those of another query.
  struct Condition {
    let field: String
    let sign: String
    var values: Set<String>
    /// The query that has the values; empty if they are given.
    var selection: [InMemoryQuery] = []
  }

  /// A sub-select.
  struct Children {
    let relationship: String
    let query: InMemoryQuery
  }

  /// `function(field) alias`.
  struct Aggregate {
    let function: String
    let field: String
    let alias: String
  }

  var fields: [String] = []
  var aggregates: [Aggregate] = []
  var children: [Children] = []
  var object = ""
  var conditions: [Condition] = []
  var order: String?
  var limit: Int?

  init(_ soql: String) {
    var tokens = Self.tokens(soql)[...]
    guard tokens.popFirst()?.lowercased() == "select" else { return }
    while let token = tokens.popFirst(), token.lowercased() != "from" {
      if token == "," { continue }
      if token.hasPrefix("("), let function = fields.last?.lowercased(),
        ["count", "min", "max"].contains(function)
      {
        fields.removeLast()
        let next = tokens.first.map { $0 == "," || $0.lowercased() == "from" ? "" : $0 } ?? ""
        if !next.isEmpty { tokens.removeFirst() }
        aggregates.append(
          Aggregate(
            function: function, field: String(token.dropFirst().dropLast()), alias: next))
      } else if token.hasPrefix("(") {
        let query = InMemoryQuery(String(token.dropFirst().dropLast()))
        children.append(Children(relationship: query.object, query: query))
      } else {
        fields.append(token)
      }
    }
    object = tokens.popFirst() ?? ""
    while let word = tokens.popFirst()?.lowercased() {
      switch word {
      case "where", "and": conditions += Self.conditions(&tokens)
      case "order":
        tokens = tokens.dropFirst()
        order = tokens.popFirst()
      case "limit": limit = tokens.popFirst().flatMap { Int($0) }
      default: break
      }
    }
  }

  private static func conditions(_ tokens: inout ArraySlice<String>) -> [Condition] {
    guard let field = tokens.popFirst() else { return [] }
    if field.hasPrefix("(") {
      var inner = ("where " + field.dropFirst().dropLast())
        .split(separator: " ", maxSplits: 0).map(String.init).flatMap(Self.tokens)[...]
      var found: [Condition] = []
      while let word = inner.popFirst(), word == "where" || word == "and" {
        found += conditions(&inner)
      }
      return found
    }
    guard let sign = tokens.popFirst()?.lowercased(), let value = tokens.popFirst() else {
      return []
    }
    if value.lowercased().hasPrefix("(select ") {
      let query = InMemoryQuery(String(value.dropFirst().dropLast()))
      return [Condition(field: field, sign: sign, values: [], selection: [query])]
    }
    let values =
      value.hasPrefix("(")
      ? Self.tokens(String(value.dropFirst().dropLast())).filter { $0 != "," } : [value]
    return [Condition(field: field, sign: sign, values: Set(values.map(unquoted)))]
  }

  private static func unquoted(_ text: String) -> String {
    guard text.hasPrefix("'") else { return text }
    return String(text.dropFirst().dropLast()).replacing("\\'", with: "'")
      .replacing("\\\\", with: "\\")
  }

  /// Words, commas, quoted and parenthesised texts.
  private static func tokens(_ text: String) -> [String] {
    var tokens: [String] = []
    var token = ""
    var depth = 0
    var isQuoted = false
    var isEscaped = false
    func close() {
      if !token.isEmpty { tokens.append(token) }
      token = ""
    }
    for character in text {
      if isQuoted || depth > 0 {
        token.append(character)
        if isEscaped {
          isEscaped = false
        } else if character == "\\" {
          isEscaped = true
        } else if character == "'" {
          isQuoted.toggle()
        } else if !isQuoted {
          if character == "(" { depth += 1 }
          if character == ")" { depth -= 1 }
        }
        continue
      }
      switch character {
      case " ", "\n", "\t": close()
      case ",":
        close()
        tokens.append(",")
      case "'":
        close()
        token = "'"
        isQuoted = true
      case "(":
        close()
        token = "("
        depth = 1
      default: token.append(character)
      }
    }
    close()
    return tokens
  }

  /// Whether a record meets all conditions.
  func holds(for record: JSONObject) -> Bool {
    conditions.allSatisfy { condition in
      let value = record[condition.field]?.string ?? ""
      let wanted = condition.values.first ?? ""
      switch condition.sign {
      case "=": return value == wanted
      case ">": return value > wanted
      case ">=": return value >= wanted
      case "<": return !value.isEmpty && value < wanted
      case "<=": return !value.isEmpty && value <= wanted
      case "in": return condition.values.contains(value)
      default: return false
      }
    }
  }
}

extension InMemoryOrg.State {
  /// Runs a query and gives its first page.
  mutating func query(_ soql: String) -> JSONValue {
    let query = InMemoryQuery(soql)
    if !query.aggregates.isEmpty { return total(of: query) }
    let found = records(query.object, query).map { record in
      var selected = selecting(query.fields, from: record)
      for children in query.children {
        selected[children.relationship] = childList(children, of: record)
      }
      return selected
    }
    lastNumber += 1
    let cursor = "/services/data/v66.0/query/01g\(lastNumber)"
    cursors[cursor] = found
    return page("\(cursor)-0", size: pageSize)
  }

  /// The single record of a query with aggregate functions; of `count()` the number alone.
  private func total(of query: InMemoryQuery) -> JSONValue {
    let found = records(query.object, query)
    if query.aggregates[0].field.isEmpty {
      return ["totalSize": .integer(Int64(found.count)), "done": true, "records": []]
    }
    var result: JSONObject = ["attributes": ["type": "AggregateResult"]]
    for aggregate in query.aggregates {
      let values = found.compactMap { $0[aggregate.field]?.string }
      let extreme = aggregate.function == "min" ? values.min() : values.max()
      result[aggregate.alias] =
        aggregate.function == "count"
        ? .integer(Int64(values.count)) : extreme.map { .string($0) } ?? .null
    }
    return ["totalSize": 1, "done": true, "records": [.object(result)]]
  }

  func records(_ type: String, _ query: InMemoryQuery) -> [JSONObject] {
    var query = query
    for index in query.conditions.indices {
      guard let selection = query.conditions[index].selection.first,
        let field = selection.fields.first
      else { continue }
      let values = records(selection.object, selection).compactMap { $0[field]?.string }
      query.conditions[index].values = Set(values)
    }
    var found = (objects[type] ?? [:]).values.filter(query.holds)
    let order = query.order ?? "Id"
    found.sort { left, right in
      (left[order]?.string ?? "", left["Id"]?.string ?? "")
        < (right[order]?.string ?? "", right["Id"]?.string ?? "")
    }
    return query.limit.map { Array(found.prefix($0)) } ?? found
  }

  private mutating func childList(
    _ children: InMemoryQuery.Children, of record: JSONObject
  ) -> JSONValue {
    guard let relation = relations.first(where: { $0.name == children.relationship }),
      let parent = record["Id"]?.string
    else { return .null }
    let found = records(relation.child, children.query)
      .filter { $0[relation.field]?.string == parent }
      .map { selecting(children.query.fields, from: $0) }
    if found.isEmpty { return .null }
    lastNumber += 1
    let cursor = "/services/data/v66.0/query/01g\(lastNumber)"
    cursors[cursor] = found
    return page("\(cursor)-0", size: childPageSize)
  }

  /// The page of a cursor, named `cursor-start`.
  func page(_ path: String, size: Int) -> JSONValue {
    let parts = path.split(separator: "-").map(String.init)
    guard parts.count == 2, let all = cursors[parts[0]], let start = Int(parts[1]) else {
      return .object([:])
    }
    let end = min(start + size, all.count)
    return [
      "totalSize": .integer(Int64(all.count)), "done": .bool(end == all.count),
      "nextRecordsUrl": end < all.count ? .string("\(parts[0])-\(end)") : .null,
      "records": .array(all[start..<end].map { .object($0) }),
    ]
  }

  /// The fields of a record in the result of a query or a retrieve.
  func selecting(_ fields: [String], from record: JSONObject) -> JSONObject {
    var selected: JSONObject = ["attributes": record["attributes"] ?? .null]
    for field in fields { selected[field] = record[field] ?? .null }
    return selected
  }
}
