import Foundation
@testable import MockOrgTests

/// Evaluates queries record by record over plain arrays, without any of the engine's code and without SQL.
struct PlainEvaluator {
  typealias Path = PlainQuery.Path
  typealias Record = [String: PlainValue]

  let org: PlainOrg

  /// What stands in `records`.
  func answer(_ query: PlainQuery) -> ResultTree {
    .array(query.isGrouped ? groups(query) : records(query).map { tree($0, query) })
  }

  // MARK: Records

  /// The records that a query finds, in order.
  private func records(
    _ query: PlainQuery, where suits: (Record) -> Bool = { _ in true }
  ) -> [Record] {
    var found = matches(query).filter(suits)
    let row = { (record: Record) in Row(object: query.object, records: [record], totalled: []) }
    found = sorted(found, by: query.order.map { order in { self.sortKey(order, row($0)) } })
    return cut(found, query)
  }

  private func matches(_ query: PlainQuery) -> [Record] {
    (org.objects[query.object]?.records ?? []).filter { record in
      if !query.includesDeleted, record["IsDeleted"] == .boolean(true) { return false }
      if query.isMine, record["OwnerId"] != .text(org.userID) { return false }
      let row = Row(object: query.object, records: [record], totalled: [])
      return query.condition.map { holds($0, row, query.includesDeleted) } ?? true
    }
  }

  private func cut<T>(_ all: [T], _ query: PlainQuery) -> [T] {
    Array(all.dropFirst(query.offset ?? 0).prefix(query.limit ?? .max))
  }

  // MARK: Groups

  /// What conditions and sort keys look at: a record, or the records of a group.
  private struct Row {
    var object: String
    var records: [Record]
    /// The groups that the row adds up.
    var totalled: Set<PlainQuery.Operand>
  }

  private func groups(_ query: PlainQuery) -> [ResultTree] {
    let found = matches(query)
    var rows: [Row] = []
    for set in sets(query) {
      var parts: [[PlainValue]: [Record]] = [:]
      var keys: [[PlainValue]] = []
      for record in found {
        let row = Row(object: query.object, records: [record], totalled: [])
        let key = set.map { groupKey($0, row) }
        if parts[key] == nil { keys.append(key) }
        parts[key, default: []].append(record)
      }
      if query.groups.isEmpty, keys.isEmpty { keys = [[]] }
      rows += keys.map {
        Row(
          object: query.object, records: parts[$0] ?? [],
          totalled: Set(query.groups).subtracting(set))
      }
    }
    if let having = query.having { rows = rows.filter { holds(having, $0, false) } }
    var keys: [(Row) -> SortKey] = query.order.map { order in { self.sortKey(order, $0) } }
    for group in query.groups {
      keys.append { row in
        SortKey(
          value: .number(row.totalled.contains(group) ? 1 : 0), kind: .number, options: [],
          descending: false, nullsLast: false)
      }
      keys.append { self.sortKey(.init(operand: group, descending: false), $0) }
    }
    return cut(sorted(rows, by: keys), query).map { row in
      var members: [String: ResultTree] = ["attributes": .text("AggregateResult")]
      var unnamed = 0
      for case .operand(let operand) in query.items {
        var key = "expr\(unnamed)"
        if case .path(let path) = operand { key = path.field.name } else { unnamed += 1 }
        members[key] = ResultTree(value(operand, row))
      }
      return ResultTree.object(members).folded
    }
  }

  private func sets(_ query: PlainQuery) -> [[PlainQuery.Operand]] {
    let groups = query.groups
    switch query.grouping {
    case .plain: return [groups]
    case .rollup: return (0...groups.count).map { Array(groups.prefix($0)) }
    case .cube:
      return groups.reduce([[]]) { sets, group in sets + sets.map { $0 + [group] } }
    }
  }

  /// What is the same for all records of a group.
  private func groupKey(_ operand: PlainQuery.Operand, _ row: Row) -> PlainValue {
    let value = value(operand, row)
    guard case .text(let text) = value, kind(of: operand) != .exactText else { return value }
    return .text(Self.folded(text))
  }

  private func aggregate(_ name: String, _ path: Path?, _ row: Row) -> PlainValue {
    guard let path else { return .number(Double(row.records.count)) }
    let values = row.records.map { value(path, of: $0) }.filter { $0 != .null }
    let numbers = values.compactMap { if case .number(let number) = $0 { number } else { nil } }
    switch name {
    case "COUNT": return .number(Double(values.count))
    case "COUNT_DISTINCT":
      let keys = values.map { value -> PlainValue in
        guard case .text(let text) = value, path.field.kind != .exactText else { return value }
        return .text(Self.folded(text))
      }
      return .number(Double(Set(keys).count))
    case "SUM": return numbers.isEmpty ? .null : .number(numbers.reduce(0, +))
    case "AVG":
      return numbers.isEmpty ? .null : .number(numbers.reduce(0, +) / Double(numbers.count))
    default:
      let sign = name == "MIN" ? 1 : -1
      let options = path.field.kind == .picklist ? path.field.options.map(\.value) : []
      return values.min {
        let ranks = (Self.rank($0, among: options), Self.rank($1, among: options))
        let order =
          ranks.0 == ranks.1 ? Self.compare($0, $1, path.field.kind) : ranks.0 - ranks.1
        return order * sign < 0
      } ?? .null
    }
  }

  /// The place of a value in its picklist; values that it does not list come last.
  private static func rank(_ value: PlainValue, among options: [String]) -> Int {
    guard case .text(let text) = value else { return 0 }
    return options.firstIndex { folded($0) == folded(text) } ?? options.count
  }

  // MARK: Values

  private func value(_ operand: PlainQuery.Operand, _ row: Row) -> PlainValue {
    if row.totalled.contains(operand) { return .null }
    switch operand {
    case .aggregate(let name, let path): return aggregate(name, path, row)
    case .grouping(let path): return .number(row.totalled.contains(.path(path)) ? 1 : 0)
    default: break
    }
    guard let record = row.records.first else { return .null }
    switch operand {
    case .path(let path): return value(path, of: record)
    case .label(let path):
      let value = value(path, of: record)
      guard case .text(let text) = value else { return value }
      return .text(
        path.field.options.first { Self.folded($0.value) == Self.folded(text) }?.label ?? text)
    case .dateFunction(let name, let path, let converted):
      guard case .text(let text) = value(path, of: record) else { return .null }
      return PlainDates(zone: converted ? org.zone : "GMT").value(name, text)
    case .distance(let latitude, let longitude, let unit):
      guard case .number(let a) = record["Place__Latitude__s"] ?? .null,
        case .number(let b) = record["Place__Longitude__s"] ?? .null
      else { return .null }
      let angle = Self.angle((a, b), (latitude, longitude))
      return .number(angle * 6371.0088 / (unit == "mi" ? 1.609344 : 1))
    case .aggregate, .grouping: return .null
    }
  }

  /// The spherical law of cosines.
  private static func angle(_ a: (Double, Double), _ b: (Double, Double)) -> Double {
    let r = Double.pi / 180
    let cosine =
      sin(a.0 * r) * sin(b.0 * r) + cos(a.0 * r) * cos(b.0 * r) * cos((a.1 - b.1) * r)
    return acos(min(max(cosine, -1), 1))
  }

  private func value(_ path: Path, of record: Record) -> PlainValue {
    var record = record
    for parent in path.parents {
      guard
        let next = org.record(record[parent.name] ?? .null, among: parent.targets)
      else { return .null }
      record = next.1
    }
    return record[path.field.name] ?? .null
  }

  private func kind(of operand: PlainQuery.Operand) -> PlainField.Kind {
    switch operand {
    case .path(let path): path.field.kind
    case .label: .text
    case .dateFunction(let name, _, _): name == "DAY_ONLY" ? .date : .number
    case .aggregate(let name, let path):
      name == "MIN" || name == "MAX" ? path?.field.kind ?? .number : .number
    case .grouping, .distance: .number
    }
  }

  // MARK: Order

  private struct SortKey {
    var value: PlainValue
    var kind: PlainField.Kind
    var options: [String]
    var descending: Bool
    var nullsLast: Bool
  }

  private func sortKey(_ order: PlainQuery.Order, _ row: Row) -> SortKey {
    var options: [String] = []
    if case .path(let path) = order.operand { options = path.field.options.map(\.value) }
    if kind(of: order.operand) != .picklist { options = [] }
    return SortKey(
      value: value(order.operand, row), kind: kind(of: order.operand),
      options: options.map(Self.folded), descending: order.descending,
      nullsLast: order.nullsLast ?? false)
  }

  private func sorted<T>(_ rows: [T], by keys: [(T) -> SortKey]) -> [T] {
    let keyed = rows.map { row in keys.map { $0(row) } }
    return rows.indices.sorted { a, b in
      for (x, y) in zip(keyed[a], keyed[b]) {
        let order = Self.order(x, y)
        if order != 0 { return order < 0 }
      }
      return a < b
    }.map { rows[$0] }
  }

  private static func order(_ a: SortKey, _ b: SortKey) -> Int {
    if a.value == .null || b.value == .null {
      return a.value == b.value ? 0 : ((a.value == .null) != a.nullsLast ? -1 : 1)
    }
    var order = 0
    if !a.options.isEmpty, case .text(let x) = a.value, case .text(let y) = b.value {
      func rank(_ text: String) -> Int {
        a.options.firstIndex(of: folded(text)) ?? a.options.count
      }
      order = rank(x) - rank(y)
    }
    if order == 0 { order = compare(a.value, b.value, a.kind) }
    return a.descending ? -order : order
  }

  /// Letters of ASCII in lower case, all others as they are.
  static func folded(_ text: String) -> String {
    var folded = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      let text = String(scalar)
      folded.append(contentsOf: (scalar.isASCII ? text.lowercased() : text).unicodeScalars)
    }
    return String(folded)
  }

  /// Letters of ASCII in lower case, all others in upper case.
  private static func foldedWidely(_ text: String) -> String {
    var folded = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      let text = String(scalar)
      folded.append(
        contentsOf: (scalar.isASCII ? text.lowercased() : text.uppercased()).unicodeScalars)
    }
    return String(folded)
  }

  private static func compare(_ a: PlainValue, _ b: PlainValue, _ kind: PlainField.Kind) -> Int {
    switch (a, b) {
    case (.text(let a), .text(let b)):
      let folds = [.text, .picklist, .multipicklist].contains(kind)
      let (x, y) = (Array((folds ? folded(a) : a).utf8), Array((folds ? folded(b) : b).utf8))
      return x == y ? 0 : x.lexicographicallyPrecedes(y) ? -1 : 1
    case (.number(let a), .number(let b)): return a == b ? 0 : a < b ? -1 : 1
    case (.boolean(let a), .boolean(let b)): return a == b ? 0 : a ? 1 : -1
    default: return 0
    }
  }

  // MARK: Conditions

  private func holds(_ condition: PlainQuery.Condition, _ row: Row, _ all: Bool) -> Bool {
    switch condition {
    case .and(let parts): return parts.allSatisfy { holds($0, row, all) }
    case .or(let parts): return parts.contains { holds($0, row, all) }
    case .not(let part): return !holds(part, row, all)
    case .compare(let operand, let comparator, let literal):
      return holds(value(operand, row), kind(of: operand), comparator, literal)
    case .list(let operand, let negated, let literals):
      let value = value(operand, row)
      return negated != literals.contains { holds(value, kind(of: operand), "=", $0) }
    case .includes(let path, let excludes, let sets):
      guard case .text(let text) = value(.path(path), row) else { return excludes }
      let chosen = Set(Self.folded(text).split(separator: ";").map(String.init))
      return excludes
        != sets.contains { set in set.allSatisfy { chosen.contains(Self.folded($0)) } }
    case .semiJoin(let path, let negated, let object, let field, let inner):
      let value = value(.path(path), row)
      let found = (org.objects[object]?.records ?? []).contains { record in
        let row = Row(object: object, records: [record], totalled: [])
        return record[field] == value && value != .null
          && (all || record["IsDeleted"] != .boolean(true))
          && (inner.map { holds($0, row, all) } ?? true)
      }
      return negated != found
    }
  }

  private func holds(
    _ value: PlainValue, _ kind: PlainField.Kind, _ comparator: String,
    _ literal: PlainQuery.Literal
  ) -> Bool {
    // The boolean of an absent parent counts as false.
    let value = kind == .boolean && value == .null ? .boolean(false) : value
    func decided(_ order: Int?) -> Bool {
      switch comparator {
      case "=": order == 0
      case "!=", "<>": order != 0
      case "<": (order ?? 0) < 0
      case "<=": order.map { $0 <= 0 } ?? false
      case ">": (order ?? 0) > 0
      default: order.map { $0 >= 0 } ?? false
      }
    }
    func against(_ other: PlainValue) -> Bool {
      decided(value == .null ? nil : Self.compare(value, other, kind))
    }
    switch literal {
    case .null: return comparator == "=" ? value == .null : value != .null
    case .text(let text):
      if comparator == "LIKE" {
        guard case .text(let value) = value else { return false }
        return Self.like(Array(value.lowercased())[...], Array(text.lowercased())[...])
      }
      // A text with letters beyond ASCII is compared without regard to their case too.
      guard case .text(let own) = value, kind != .exactText, !text.allSatisfy(\.isASCII) else {
        return against(.text(text))
      }
      return decided(
        Self.compare(.text(Self.foldedWidely(own)), .text(Self.foldedWidely(text)), .exactText))
    case .number(let number): return against(.number(number))
    case .boolean(let boolean): return against(.boolean(boolean))
    case .moment(let moment, _): return against(.text(moment))
    case .range(let start, let end, _):
      guard case .text(let moment) = value else { return decided(nil) }
      return decided(moment < start ? -1 : moment >= end ? 1 : 0)
    }
  }

  private static func like(_ text: ArraySlice<Character>, _ pattern: ArraySlice<Character>) -> Bool
  {
    guard let first = pattern.first else { return text.isEmpty }
    if first == "%" {
      return (text.startIndex...text.endIndex).contains { like(text[$0...], pattern.dropFirst()) }
    }
    guard let character = text.first, first == "_" || first == character else { return false }
    return like(text.dropFirst(), pattern.dropFirst())
  }

  // MARK: Results

  private func tree(_ record: Record, _ query: PlainQuery) -> ResultTree {
    var tree: [String: ResultTree] = ["attributes": .text(query.object)]
    let row = Row(object: query.object, records: [record], totalled: [])
    for item in query.items {
      switch item {
      case .operand(let operand):
        switch operand {
        case .path(let path), .label(let path):
          insert(ResultTree(value(operand, row)), path, record, query.object, into: &tree)
        default: continue
        }
      case .children(let relationship, let inner):
        tree[relationship] = children(relationship, inner, of: record, query)
      case .typeOf(let field, let branches, let otherwise):
        tree[field.relationship] = variant(field, branches, otherwise, of: record)
      }
    }
    return .object(tree)
  }

  /// Puts a value below the parents of its path; an absent parent is null as a whole.
  private func insert(
    _ value: ResultTree, _ path: Path, _ record: Record, _ object: String,
    into tree: inout [String: ResultTree]
  ) {
    guard let parent = path.parents.first else {
      tree[path.field.name] = value
      return
    }
    guard let (target, next) = org.record(record[parent.name] ?? .null, among: parent.targets)
    else {
      tree[parent.relationship] = .null
      return
    }
    var inner: [String: ResultTree] = ["attributes": .text(target)]
    if case .object(let known)? = tree[parent.relationship] { inner = known }
    let rest = Path(parents: Array(path.parents.dropFirst()), field: path.field)
    insert(value, rest, next, target, into: &inner)
    tree[parent.relationship] = .object(inner)
  }

  private func children(
    _ relationship: String, _ inner: PlainQuery, of record: Record, _ outer: PlainQuery
  ) -> ResultTree {
    guard
      let child = org.objects[outer.object]?.children.first(where: {
        $0.relationship == relationship
      })
    else { return .null }
    var query = inner
    query.object = child.object
    query.includesDeleted = outer.includesDeleted
    let found = records(query) { $0[child.field] == record["Id"] }
    guard !found.isEmpty else { return .null }
    return .object([
      "totalSize": .number(Double(found.count)), "done": .boolean(true),
      "records": .array(found.map { tree($0, query) }),
    ])
  }

  private func variant(
    _ field: PlainField, _ branches: [(object: String, fields: [PlainField])],
    _ otherwise: [PlainField], of record: Record
  ) -> ResultTree {
    guard let (target, parent) = org.record(record[field.name] ?? .null, among: field.targets)
    else {
      return .null
    }
    let fields = branches.first { $0.object == target }?.fields ?? otherwise
    if fields.isEmpty { return .null }
    var tree: [String: ResultTree] = ["attributes": .text(target)]
    for field in fields { tree[field.name] = ResultTree(parent[field.name] ?? .null) }
    return .object(tree)
  }
}

/// Functions of dates by Foundation's calendar.
struct PlainDates {
  private var calendar = Calendar(identifier: .gregorian)

  init(zone: String) {
    calendar.firstWeekday = 1
    calendar.timeZone = TimeZone(identifier: zone) ?? .gmt
  }

  /// `CALENDAR_YEAR` and its like of a stored date or datetime.
  func value(_ function: String, _ text: String) -> PlainValue {
    var calendar = calendar
    if text.count == 10 { calendar.timeZone = .gmt }
    let text = text.count == 10 ? text + "T00:00:00Z" : String(text.prefix(19)) + "Z"
    guard let date = try? Date(text, strategy: .iso8601) else { return .null }
    let parts = calendar.dateComponents([.year, .month, .day, .hour, .weekday], from: date)
    guard let year = parts.year, let month = parts.month, let day = parts.day,
      let dayInYear = calendar.ordinality(of: .day, in: .year, for: date)
    else { return .null }
    func number(_ value: Int) -> PlainValue { .number(Double(value)) }
    switch function {
    case "CALENDAR_YEAR", "FISCAL_YEAR": return number(year)
    case "CALENDAR_QUARTER", "FISCAL_QUARTER": return number((month - 1) / 3 + 1)
    case "CALENDAR_MONTH", "FISCAL_MONTH": return number(month)
    case "DAY_IN_MONTH": return number(day)
    case "DAY_IN_WEEK": return number(parts.weekday ?? 0)
    case "DAY_IN_YEAR": return number(dayInYear)
    case "WEEK_IN_MONTH": return number((day - 1) / 7 + 1)
    case "WEEK_IN_YEAR": return number((dayInYear - 1) / 7 + 1)
    case "HOUR_IN_DAY": return number(parts.hour ?? 0)
    default:
      func padded(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
      return .text("\(year)-\(padded(month))-\(padded(day))")
    }
  }

  /// A date literal: as stored for a date or a datetime, the first moment and the first behind it.
  func range(
    _ unit: String, first: Int, count: Int, now: Date, isDate: Bool
  ) -> (String, String) {
    let (component, factor): (Calendar.Component, Int) =
      switch unit {
      case "DAY": (.day, 1)
      case "WEEK": (.weekOfYear, 1)
      case "MONTH": (.month, 1)
      case "QUARTER", "FISCAL_QUARTER": (.month, 3)
      default: (.year, 1)
      }
    var begin = calendar.dateInterval(of: component, for: now)?.start ?? now
    if factor == 3 {
      let month = calendar.component(.month, from: begin)
      begin = calendar.date(byAdding: .month, value: -((month - 1) % 3), to: begin) ?? begin
    }
    func stored(_ offset: Int) -> String {
      let date = calendar.date(byAdding: component, value: offset * factor, to: begin) ?? begin
      if isDate {
        guard case .text(let day) = value("DAY_ONLY", date.ISO8601Format()) else { return "" }
        return day
      }
      return date.ISO8601Format().dropLast() + ".000+0000"
    }
    return (stored(first), stored(first + count))
  }
}
