import Foundation

@testable import SalesforceMockOrg

/// A query as the differential test makes it: it can be written as SOQL, and answered record by record
/// from plain arrays, without any of the engine's code.
struct NaiveQuery {
  struct Field {
    enum Kind { case text, exactText, picklist, multipicklist, number, boolean, date, dateTime, id }
    var name: String
    var kind: Kind
  }

  /// A field behind parents: `["Parent", "Owner"]` and `Name`.
  struct Path {
    var parents: [String]
    var field: Field
    var text: String { (parents + [field.name]).joined(separator: ".") }
  }

  indirect enum Condition {
    case and([Condition]), or([Condition]), not(Condition)
    case compare(Path, String, Literal)
    case list(Path, negated: Bool, [Literal])
    case includes(Path, excludes: Bool, [[String]])
    case semiJoin(negated: Bool, Condition)
  }

  enum Literal {
    case null
    case text(String)
    case number(Double, written: String)
    case boolean(Bool)
    /// As stored, and as written.
    case moment(String, written: String)
    /// As stored: the first moment and the first after; and as written.
    case range(String, String, written: String)

    var soql: String {
      switch self {
      case .null: "null"
      case .text(let text):
        "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
      case .number(_, let written), .moment(_, let written), .range(_, _, let written): written
      case .boolean(let boolean): boolean ? "TRUE" : "false"
      }
    }
  }

  var condition: Condition?
  var order: [(path: Path, descending: Bool, nullsLast: Bool?)] = []
  var limit: Int?
  var offset: Int?
  var includesDeleted = false

  func soql(_ select: String) -> String {
    var text = "SELECT \(select) FROM Account"
    if let condition { text += " WHERE " + Self.soql(condition, nested: false) }
    if !order.isEmpty {
      text +=
        " ORDER BY "
        + order.map { item in
          item.path.text + (item.descending ? " DESC" : "")
            + (item.nullsLast.map { $0 ? " NULLS LAST" : " NULLS FIRST" } ?? "")
        }.joined(separator: ", ")
    }
    if let limit { text += " LIMIT \(limit)" }
    if let offset { text += " OFFSET \(offset)" }
    if includesDeleted { text += " ALL ROWS" }
    return text
  }

  private static func soql(_ condition: Condition, nested: Bool = true) -> String {
    func joined(_ parts: [Condition], _ word: String) -> String {
      let text = parts.map { soql($0) }.joined(separator: " \(word) ")
      return nested ? "(\(text))" : text
    }
    switch condition {
    case .and(let parts): return joined(parts, "AND")
    case .or(let parts): return joined(parts, "OR")
    case .not(let inner): return "(NOT \(soql(inner)))"
    case .compare(let path, let comparator, let literal):
      return "\(path.text) \(comparator) \(literal.soql)"
    case .list(let path, let negated, let literals):
      return "\(path.text) \(negated ? "NOT IN" : "IN") "
        + "(\(literals.map(\.soql).joined(separator: ", ")))"
    case .includes(let path, let excludes, let sets):
      return "\(path.text) \(excludes ? "EXCLUDES" : "INCLUDES") "
        + "(\(sets.map { "'\($0.joined(separator: ";"))'" }.joined(separator: ", ")))"
    case .semiJoin(let negated, let inner):
      return "Id \(negated ? "NOT IN" : "IN") (SELECT AccountId FROM Contact WHERE \(soql(inner)))"
    }
  }

  // MARK: Answers

  /// The ids of the accounts that the query finds, in its order.
  func ids(in data: NaiveData) -> [String] {
    var found = data.accounts.filter { record in
      if !includesDeleted, record["IsDeleted"] == .boolean(true) { return false }
      return condition.map { Self.holds($0, for: record, includesDeleted, data) } ?? true
    }
    // Sorting by the last key first and stably leaves the first key in charge.
    for item in order.reversed() {
      let keyed = found.map { (record: $0, value: data.value(item.path, of: $0)) }
      found = keyed.enumerated().sorted { a, b in
        let order = Self.order(
          a.element.value, b.element.value, item.path.field.kind,
          descending: item.descending, nullsLast: item.nullsLast ?? false)
        return order == 0 ? a.offset < b.offset : order < 0
      }.map(\.element.record)
    }
    let start = min(offset ?? 0, found.count)
    return found[start..<min(start + (limit ?? .max - start), found.count)].compactMap {
      if case .text(let id)? = $0["Id"] { id } else { nil }
    }
  }

  private static func order(
    _ a: TestValue, _ b: TestValue, _ kind: Field.Kind, descending: Bool, nullsLast: Bool
  ) -> Int {
    if a == .null || b == .null {
      return a == b ? 0 : ((a == .null) != nullsLast ? -1 : 1)
    }
    let order: Int
    if kind == .picklist, case .text(let x) = a, case .text(let y) = b {
      let values = SOQLTestOrg.industries
      let left = values.firstIndex { $0.lowercased() == x.lowercased() } ?? values.count
      let right = values.firstIndex { $0.lowercased() == y.lowercased() } ?? values.count
      order = left == right ? compare(a, b, kind, folding: false) : left - right
    } else {
      order = compare(a, b, kind, folding: false)
    }
    return descending ? -order : order
  }

  /// - Parameter folding: Letters outside ASCII are compared without regard to case too.
  private static func compare(
    _ a: TestValue, _ b: TestValue, _ kind: Field.Kind, folding: Bool
  ) -> Int {
    switch (a, b) {
    case (.text(let a), .text(let b)):
      switch kind {
      case .text, .picklist, .multipicklist:
        let (x, y) = (key(a, folding: folding), key(b, folding: folding))
        return x == y ? 0 : x.lexicographicallyPrecedes(y) ? -1 : 1
      default:
        let (x, y) = (Array(a.utf8), Array(b.utf8))
        return x == y ? 0 : x.lexicographicallyPrecedes(y) ? -1 : 1
      }
    case (.number(let a), .number(let b)): return a == b ? 0 : a < b ? -1 : 1
    case (.boolean(let a), .boolean(let b)): return a == b ? 0 : a ? 1 : -1
    default: return 0
    }
  }

  private static func key(_ text: String, folding: Bool) -> [UInt32] {
    text.unicodeScalars.flatMap { scalar -> [UInt32] in
      if scalar.isASCII { return String(scalar).lowercased().unicodeScalars.map(\.value) }
      return folding ? String(scalar).uppercased().unicodeScalars.map(\.value) : [scalar.value]
    }
  }

  private static func holds(
    _ condition: Condition, for record: TestRecord, _ includesDeleted: Bool, _ data: NaiveData
  ) -> Bool {
    func inner(_ condition: Condition) -> Bool {
      holds(condition, for: record, includesDeleted, data)
    }
    switch condition {
    case .and(let parts): return parts.allSatisfy(inner)
    case .or(let parts): return parts.contains(where: inner)
    case .not(let part): return !inner(part)
    case .compare(let path, let comparator, let literal):
      return holds(data.value(path, of: record), path.field.kind, comparator, literal)
    case .list(let path, let negated, let literals):
      let value = data.value(path, of: record)
      return negated != literals.contains { holds(value, path.field.kind, "=", $0) }
    case .includes(let path, let excludes, let sets):
      guard case .text(let text) = data.value(path, of: record) else { return excludes }
      let selected = Set(text.lowercased().split(separator: ";").map(String.init))
      return excludes != sets.contains { $0.allSatisfy { selected.contains($0.lowercased()) } }
    case .semiJoin(let negated, let condition):
      let found = data.contacts.contains { contact in
        contact["AccountId"] == record["Id"]
          && (includesDeleted || contact["IsDeleted"] != .boolean(true))
          && holds(condition, for: contact, includesDeleted, data)
      }
      return negated != found
    }
  }

  private static func holds(
    _ value: TestValue, _ kind: Field.Kind, _ comparator: String, _ literal: Literal
  ) -> Bool {
    // The boolean of an absent parent is false.
    let value = kind == .boolean && value == .null ? .boolean(false) : value
    func decided(_ order: Int?) -> Bool {
      switch comparator {
      case "=": order == 0
      case "!=", "<>": order != 0
      case "<": (order ?? 0) < 0
      case "<=": order.map { $0 <= 0 } ?? false
      case ">": (order ?? 0) > 0
      case ">=": order.map { $0 >= 0 } ?? false
      default: false
      }
    }
    switch literal {
    case .null:
      return switch comparator {
      case "=", "LIKE": value == .null
      case "!=", "<>": value != .null
      default: false
      }
    case .text(let text):
      if comparator == "LIKE" {
        guard case .text(let value) = value else { return false }
        return like(Array(value.lowercased())[...], Array(text.lowercased())[...])
      }
      let folding = !text.allSatisfy(\.isASCII)
      return decided(
        value == .null ? nil : compare(value, .text(text), kind, folding: folding))
    case .number(let number, _):
      return decided(value == .null ? nil : compare(value, .number(number), kind, folding: false))
    case .boolean(let boolean):
      return decided(compare(value, .boolean(boolean), kind, folding: false))
    case .moment(let moment, _):
      return decided(value == .null ? nil : compare(value, .text(moment), kind, folding: false))
    case .range(let start, let end, _):
      guard case .text(let moment) = value else { return decided(nil) }
      return decided(moment < start ? -1 : moment >= end ? 1 : 0)
    }
  }

  private static func like(_ text: ArraySlice<Character>, _ pattern: ArraySlice<Character>) -> Bool
  {
    guard let first = pattern.first else { return text.isEmpty }
    if first == "%" {
      return (text.startIndex...text.endIndex).contains {
        like(text[$0...], pattern.dropFirst())
      }
    }
    guard let character = text.first, first == "_" || first == character else { return false }
    return like(text.dropFirst(), pattern.dropFirst())
  }
}

/// The records of a differential test.
struct NaiveData {
  var accounts: [TestRecord]
  var contacts: [TestRecord]
  var users: [TestRecord]

  func value(_ path: NaiveQuery.Path, of record: TestRecord) -> TestValue {
    var record = record
    for parent in path.parents {
      guard let id = record[parent + "Id"], id != .null,
        let next = (accounts + users).first(where: { $0["Id"] == id })
      else { return .null }
      record = next
    }
    return record[path.field.name] ?? .null
  }
}
