import Foundation
@testable import MockOrgTests

/// Makes random queries of what an org has.
struct QueryGenerator {
  typealias Path = PlainQuery.Path
  typealias Operand = PlainQuery.Operand
  typealias Condition = PlainQuery.Condition

  private var dice: Dice
  private let org: PlainOrg
  private static let dateFunctions = [
    "CALENDAR_YEAR", "CALENDAR_QUARTER", "CALENDAR_MONTH", "FISCAL_YEAR", "FISCAL_QUARTER",
    "FISCAL_MONTH", "DAY_IN_MONTH", "DAY_IN_WEEK", "DAY_IN_YEAR", "WEEK_IN_MONTH", "WEEK_IN_YEAR",
  ]

  init(seed: UInt64, _ org: PlainOrg) {
    dice = Dice(seed: seed)
    self.org = org
  }

  mutating func query() -> PlainQuery {
    let names = org.objects.keys.sorted()
    var query = PlainQuery(object: dice.pick(names))
    if dice.chance(85) {
      query.condition = condition(query.object, depth: 0)
      if dice.chance(20) { addSemiJoins(to: &query) }
    }
    query.isMine = dice.chance(8)
    query.includesDeleted = dice.chance(20)
    if dice.chance(30) {
      group(&query)
    } else {
      select(into: &query, level: 0)
      for _ in 0..<dice.below(4) {
        let path = path(query.object) { $0.kind != .multipicklist }
        query.order.append(
          .init(
            operand: .path(path), descending: dice.chance(50),
            nullsLast: dice.chance(50) ? dice.chance(50) : nil))
      }
    }
    if !query.isGrouped || !query.groups.isEmpty {
      if dice.chance(30) { query.limit = dice.below(30) }
      if dice.chance(15) { query.offset = dice.below(10) }
    }
    return query
  }

  // MARK: Select

  private mutating func select(into query: inout PlainQuery, level: Int) {
    guard let object = org.objects[query.object] else { return }
    var names: Set<String> = []
    query.items = [.operand(.path(Path(parents: [], field: PlainField(name: "Id", kind: .id))))]
    names.insert("Id")
    var polymorphic = object.fields.first { $0.isPolymorphic && dice.chance(40) }
    for _ in 0..<dice.below(5) {
      let path = path(query.object)
      // What TYPEOF shows cannot be shown otherwise.
      if path.parents.first == polymorphic, polymorphic != nil { continue }
      guard names.insert(path.text).inserted else { continue }
      query.items.append(
        .operand(path.field.kind == .picklist && dice.chance(50) ? .label(path) : .path(path)))
    }
    if level > 0, dice.chance(70) { polymorphic = nil }
    if let field = polymorphic {
      query.items.append(typeOf(field))
    }
    guard level < 2 else { return }
    for child in object.children where dice.chance(level == 0 ? 25 : 10) {
      guard names.insert(child.relationship).inserted else { continue }
      var inner = PlainQuery(object: child.object)
      if dice.chance(50) { inner.condition = condition(child.object, depth: 2) }
      if dice.chance(50) {
        inner.order = [
          .init(
            operand: .path(path(child.object) { $0.kind != .multipicklist }),
            descending: dice.chance(50), nullsLast: nil)
        ]
      }
      if dice.chance(30) { inner.limit = dice.below(4) }
      select(into: &inner, level: level + 1)
      query.items.append(.children(relationship: child.relationship, inner))
    }
  }

  private mutating func typeOf(_ field: PlainField) -> PlainQuery.Item {
    var branches: [(object: String, fields: [PlainField])] = []
    for target in field.targets where branches.isEmpty || dice.chance(50) {
      let fields = org.objects[target]?.fields.filter { $0.kind != .id } ?? []
      branches.append((target, dice.pick(fields, dice.below(3) + 1)))
    }
    let shared = [PlainField(name: "Id", kind: .id), PlainField(name: "Name", kind: .text)]
    return .typeOf(field, branches, otherwise: dice.chance(60) ? dice.pick(shared, 2) : [])
  }

  // MARK: Groups

  private mutating func group(_ query: inout PlainQuery) {
    for _ in 0..<dice.below(4) {
      let operand: Operand
      if dice.chance(30), let function = dateFunction(query.object) {
        operand = function
      } else {
        operand = .path(path(query.object, where: \.isGroupable))
      }
      // The name of a field is its key in the response, whichever parent it belongs to.
      let isKnown = query.groups.contains { group in
        if case .path(let a) = group, case .path(let b) = operand {
          return a.field.name == b.field.name
        }
        return group == operand
      }
      if !isKnown { query.groups.append(operand) }
    }
    if !query.groups.isEmpty, dice.chance(45) {
      query.grouping = dice.chance(50) ? .rollup : .cube
    }
    for group in query.groups where dice.chance(80) { query.items.append(.operand(group)) }
    for _ in 0..<dice.below(3) + 1 { query.items.append(.operand(aggregate(query.object))) }
    let plain = query.groups.filter { if case .path = $0 { true } else { false } }
    if query.grouping != .plain, case .path(let path)? = plain.first, dice.chance(60) {
      query.items.append(.operand(.grouping(path)))
    }
    guard !query.groups.isEmpty else { return }
    if dice.chance(40) { query.having = having(query, plain) }
    if dice.chance(40) {
      let operand =
        dice.chance(50) || plain.isEmpty ? number(aggregate(query.object)) : dice.pick(plain)
      query.order = [
        .init(operand: operand, descending: dice.chance(50), nullsLast: dice.chance(50))
      ]
    }
  }

  private mutating func aggregate(_ object: String) -> Operand {
    if let path = optionalPath(object, where: \.isNumber), dice.chance(50) {
      return .aggregate(dice.pick(["SUM", "AVG", "MIN", "MAX", "COUNT"]), path)
    }
    let path = path(object) { ![.boolean, .multipicklist].contains($0.kind) }
    return .aggregate(dice.pick(["COUNT", "COUNT_DISTINCT", "MIN", "MAX"]), path)
  }

  /// An aggregate that is a number, so that its order has no open ends.
  private func number(_ operand: Operand) -> Operand {
    guard case .aggregate(let name, let path?) = operand, !path.field.isNumber else {
      return operand
    }
    return .aggregate(name == "COUNT" ? name : "COUNT_DISTINCT", path)
  }

  private mutating func having(_ query: PlainQuery, _ plain: [Operand]) -> Condition {
    var parts = [
      Condition.compare(
        number(aggregate(query.object)), dice.pick(["<", "<=", ">", ">=", "=", "!="]),
        .number(Double(dice.below(5))))
    ]
    if case .path(let path)? = plain.first, dice.chance(40) {
      if query.grouping != .plain, dice.chance(50) {
        parts.append(.compare(.grouping(path), "=", .number(Double(dice.below(2)))))
      } else {
        parts.append(comparison(.path(path), path, query.object))
      }
    }
    if parts.count == 1 { return parts[0] }
    return dice.chance(50) ? .and(parts) : .or(parts)
  }

  // MARK: Paths

  private mutating func path(
    _ object: String, where suits: (PlainField) -> Bool = { _ in true }
  ) -> Path {
    optionalPath(object, where: suits)
      ?? Path(parents: [], field: PlainField(name: "Name", kind: .text))
  }

  private mutating func optionalPath(
    _ object: String, where suits: (PlainField) -> Bool
  ) -> Path? {
    var parents: [PlainField] = []
    var current = object
    while parents.count < 4, dice.chance(30) {
      let references = org.objects[current]?.fields.filter { $0.kind == .reference } ?? []
      let parent = dice.pick(references)
      parents.append(parent)
      if parent.isPolymorphic {
        let name = PlainField(name: "Name", kind: .text)
        return suits(name) ? Path(parents: parents, field: name) : nil
      }
      current = parent.targets[0]
    }
    let fields = org.objects[current]?.fields.filter(suits) ?? []
    return fields.isEmpty ? nil : Path(parents: parents, field: dice.pick(fields))
  }

  private mutating func dateFunction(_ object: String) -> Operand? {
    guard let path = optionalPath(object, where: { $0.kind == .date || $0.kind == .dateTime })
    else { return nil }
    let hasTime = path.field.kind == .dateTime
    let names = Self.dateFunctions + (hasTime ? ["HOUR_IN_DAY", "DAY_ONLY"] : [])
    return .dateFunction(dice.pick(names), path, converted: hasTime && dice.chance(50))
  }

  // MARK: Conditions

  private mutating func addSemiJoins(to query: inout PlainQuery) {
    guard let outer = org.objects[query.object] else { return }
    var parts: [Condition] = []
    for _ in 0..<dice.below(2) + 1 {
      let others = org.objects.values.filter { $0.name != outer.name }.sorted { $0.name < $1.name }
      let inner = dice.pick(others)
      let fields = inner.fields.filter { $0.kind == .reference }
      let field = dice.pick(fields)
      // Its own id, or a reference to what the inner field refers to.
      let own = outer.fields.filter { own in
        own.kind == .id
          ? field.targets.contains(outer.name)
          : own.kind == .reference && !Set(own.targets).isDisjoint(with: field.targets)
      }
      if own.isEmpty { continue }
      parts.append(
        .semiJoin(
          Path(parents: [], field: dice.pick(own)), negated: dice.chance(50), object: inner.name,
          field: field.name, dice.chance(60) ? condition(inner.name, depth: 2) : nil))
    }
    if parts.isEmpty { return }
    query.condition = .and(parts + [condition(query.object, depth: 1)])
  }

  private mutating func condition(_ object: String, depth: Int) -> Condition {
    if depth < 4, dice.chance(45) {
      let parts = (0..<dice.below(3) + 2).map { _ in condition(object, depth: depth + 1) }
      switch dice.below(3) {
      case 0: return .and(parts)
      case 1: return .or(parts)
      default: return .not(condition(object, depth: depth + 1))
      }
    }
    if dice.chance(8), let function = dateFunction(object) {
      if case .dateFunction("DAY_ONLY", _, _) = function {
        let day = dice.pick(OrgGenerator.days)
        return .compare(function, dice.pick(["=", "<", ">="]), .moment(day, written: day))
      }
      return .compare(
        function, dice.pick(["=", "!=", "<", ">="]),
        .number(Double(dice.pick([1, 2, 3, 7, 10, 11, 12, 31, 2023, 2024]))))
    }
    if dice.chance(8), org.objects[object]?.hasPlace == true {
      // No two places lie as far apart as this, to the last digit.
      return .compare(
        .distance(
          latitude: Double(dice.below(160)) - 79.5, longitude: Double(dice.below(340)) - 169.5,
          unit: dice.pick(["mi", "km"])), dice.pick(["<", ">"]),
        .number(Double(dice.below(12_000)) + 0.125))
    }
    let path = path(object)
    let operand =
      path.field.kind == .picklist && dice.chance(25) ? Operand.label(path) : .path(path)
    return comparison(operand, path, object)
  }

  private mutating func comparison(
    _ operand: Operand, _ path: Path, _ object: String
  ) -> Condition {
    let kind = path.field.kind
    if kind == .multipicklist, dice.chance(70) {
      return .includes(
        path, excludes: dice.chance(40),
        (0...dice.below(2)).map { _ in dice.pick(OrgGenerator.tags, dice.below(3) + 1) })
    }
    if kind != .multipicklist, dice.chance(25) {
      return .list(
        operand, negated: dice.chance(40),
        (0...dice.below(5)).map { _ in literal(path, operand, forEquality: true) })
    }
    let comparator =
      switch kind {
      case .boolean, .multipicklist: dice.pick(["=", "!=", "<>"])
      case .text, .exactText, .picklist:
        dice.pick(["=", "!=", "<", "<=", ">", ">=", "LIKE", "LIKE"])
      default: dice.pick(["=", "!=", "<>", "<", "<=", ">", ">="])
      }
    if comparator == "LIKE" { return .compare(operand, comparator, .text(pattern())) }
    return .compare(
      operand, comparator,
      literal(path, operand, forEquality: ["=", "!=", "<>"].contains(comparator)))
  }

  private mutating func literal(
    _ path: Path, _ operand: Operand, forEquality: Bool
  ) -> PlainQuery.Literal {
    let kind = path.field.kind
    if forEquality, kind != .boolean, dice.chance(12) { return .null }
    switch kind {
    case .text, .exactText:
      return .text(
        dice.chance(20) ? dice.pick(OrgGenerator.names).uppercased() : dice.pick(OrgGenerator.names)
      )
    case .picklist:
      if case .label = operand {
        return .text(dice.pick(path.field.options.map(\.label) + ["Other"]))
      }
      return .text(dice.pick(path.field.options.map(\.value) + ["other", "energy"]))
    case .multipicklist:
      return .text(dice.pick(OrgGenerator.tags, dice.below(3) + 1).joined(separator: ";"))
    case .int: return .number(Double(dice.below(6)))
    case .number: return .number(Double(dice.below(40)) / 4)
    case .boolean: return .boolean(dice.chance(50))
    case .id, .reference:
      let id = OrgGenerator.id(dice.below(5), dice.below(30) + 1)
      return dice.chance(50) ? .text(id) : .moment(id, written: "'\(id.prefix(15))'")
    case .time:
      let time = dice.pick(OrgGenerator.times)
      return .moment(time + "Z", written: time + "Z")
    case .date:
      if dice.chance(50) { return dateLiteral(isDate: true) }
      let day = dice.pick(OrgGenerator.days)
      return .moment(day, written: day)
    case .dateTime:
      if dice.chance(50) { return dateLiteral(isDate: false) }
      let day = dice.pick(OrgGenerator.days)
      let time = dice.pick(OrgGenerator.times)
      return .moment("\(day)T\(time)+0000", written: "\(day)T\(time)Z")
    }
  }

  private mutating func pattern() -> String {
    let name = dice.pick(OrgGenerator.names).filter { $0 != "\\" && $0 != "'" }
    let start = dice.below(name.count)
    let part = String(name.dropFirst(start).prefix(dice.below(4) + 1))
    return dice.pick([
      "%\(part)%", "\(part)%", "%\(part)", "_\(part)%", "%\(part)_", part, "%_\(part)%%",
    ])
  }

  private mutating func dateLiteral(isDate: Bool) -> PlainQuery.Literal {
    let n = dice.below(5) + 1
    let unit = dice.pick([
      "DAY", "WEEK", "MONTH", "QUARTER", "YEAR", "FISCAL_QUARTER", "FISCAL_YEAR",
    ])
    let isDay = unit == "DAY"
    let (written, first, count): (String, Int, Int) = dice.pick([
      (isDay ? "TODAY" : "THIS_\(unit)", 0, 1), (isDay ? "YESTERDAY" : "LAST_\(unit)", -1, 1),
      (isDay ? "TOMORROW" : "NEXT_\(unit)", 1, 1), ("N_\(unit)S_AGO:\(n)", -n, 1),
      ("LAST_N_\(unit)S:\(n)", -n, isDay ? n + 1 : n), ("NEXT_N_\(unit)S:\(n)", 1, n),
    ])
    let (start, end) = PlainDates(zone: org.zone).range(
      unit, first: first, count: count, now: EngineUnderTest.now, isDate: isDate)
    return .range(start, end, written: written)
  }
}
