@testable import MockOrgTests

/// A value as the evaluation over plain arrays has it.
enum PlainValue: Hashable {
  case null
  case text(String)
  case number(Double)
  case boolean(Bool)
}

/// A field as the evaluation over plain arrays knows it; nothing of the engine's schema.
struct PlainField: Hashable {
  enum Kind: CaseIterable {
    case text, exactText, picklist, multipicklist, int, number, boolean, date, dateTime, time, id
    case reference
  }

  var name: String
  var kind: Kind
  /// The values of a picklist, in order, with their labels.
  var options: [(value: String, label: String)] = []
  /// The objects that a reference may name.
  var targets: [String] = []
  /// What queries call the parent.
  var relationship = ""

  var isPolymorphic: Bool { targets.count > 1 }
  var isGroupable: Bool { ![.number, .dateTime, .time, .multipicklist].contains(kind) }
  var isNumber: Bool { kind == .number || kind == .int }

  static func == (a: PlainField, b: PlainField) -> Bool { a.name == b.name }
  func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// An object and its records.
struct PlainObject {
  var name: String
  /// The first three characters of its ids.
  var prefix = ""
  var fields: [PlainField]
  /// Relationships to children: what queries call them, the object and its reference field.
  var children: [(relationship: String, object: String, field: String)] = []
  var records: [[String: PlainValue]] = []
  /// Whether it has a field `Place__c` with a latitude and a longitude.
  var hasPlace = false

  func field(_ name: String) -> PlainField? { fields.first { $0.name == name } }
}

/// All objects of an org, and who asks when and where.
struct PlainOrg {
  var objects: [String: PlainObject]
  var userID: String
  var zone: String

  /// The record with an id among some objects, and which of them it belongs to.
  func record(_ id: PlainValue, among targets: [String]) -> (object: String, [String: PlainValue])?
  {
    guard id != .null else { return nil }
    for target in targets {
      if let record = objects[target]?.records.first(where: { $0["Id"] == id }) {
        return (target, record)
      }
    }
    return nil
  }
}

/// A query that can be written as SOQL and evaluated over plain arrays.
struct PlainQuery {
  /// A field behind parents.
  struct Path: Hashable {
    var parents: [PlainField]
    var field: PlainField

    var text: String { (parents.map(\.relationship) + [field.name]).joined(separator: ".") }
  }

  enum Operand: Hashable {
    case path(Path)
    case label(Path)
    case dateFunction(String, Path, converted: Bool)
    /// Nil: `COUNT()`.
    case aggregate(String, Path?)
    case grouping(Path)
    case distance(latitude: Double, longitude: Double, unit: String)

    var text: String {
      switch self {
      case .path(let path): path.text
      case .label(let path): "toLabel(\(path.text))"
      case .dateFunction(let name, let path, let converted):
        converted ? "\(name)(convertTimezone(\(path.text)))" : "\(name)(\(path.text))"
      case .aggregate(let name, let path): "\(name)(\(path?.text ?? ""))"
      case .grouping(let path): "GROUPING(\(path.text))"
      case .distance(let latitude, let longitude, let unit):
        "DISTANCE(Place__c, GEOLOCATION(\(latitude), \(longitude)), '\(unit)')"
      }
    }
  }

  enum Literal {
    case null
    case text(String)
    case number(Double)
    case boolean(Bool)
    /// As stored and as written.
    case moment(String, written: String)
    /// As stored: the first moment and the first behind the range; and as written.
    case range(String, String, written: String)
  }

  indirect enum Condition {
    case and([Condition]), or([Condition]), not(Condition)
    case compare(Operand, String, Literal)
    case list(Operand, negated: Bool, [Literal])
    case includes(Path, excludes: Bool, [[String]])
    case semiJoin(Path, negated: Bool, object: String, field: String, Condition?)
  }

  enum Item {
    case operand(Operand)
    case children(relationship: String, PlainQuery)
    case typeOf(PlainField, [(object: String, fields: [PlainField])], otherwise: [PlainField])
  }

  struct Order {
    var operand: Operand
    var descending: Bool
    var nullsLast: Bool?
  }

  enum Grouping: String { case plain = "", rollup = "ROLLUP", cube = "CUBE" }

  var object: String
  var items: [Item] = []
  var isMine = false
  var condition: Condition?
  var groups: [Operand] = []
  var grouping = Grouping.plain
  var having: Condition?
  var order: [Order] = []
  var limit: Int?
  var offset: Int?
  var includesDeleted = false

  var isGrouped: Bool {
    !groups.isEmpty
      || items.contains { if case .operand(.aggregate) = $0 { true } else { false } }
  }
}

// MARK: Text

extension PlainQuery {
  var soql: String { soql(selecting: items.map(Self.soql).joined(separator: ", ")) }

  func soql(selecting list: String) -> String {
    var text = "SELECT \(list) FROM \(object)"
    if isMine { text += " USING SCOPE mine" }
    if let condition { text += " WHERE " + Self.soql(condition, nested: false) }
    if !groups.isEmpty {
      let list = groups.map(\.text).joined(separator: ", ")
      text += " GROUP BY " + (grouping == .plain ? list : "\(grouping.rawValue)(\(list))")
    }
    if let having { text += " HAVING " + Self.soql(having, nested: false) }
    if !order.isEmpty {
      text +=
        " ORDER BY "
        + order.map { item in
          item.operand.text + (item.descending ? " DESC" : "")
            + (item.nullsLast.map { $0 ? " NULLS LAST" : " NULLS FIRST" } ?? "")
        }.joined(separator: ", ")
    }
    if let limit { text += " LIMIT \(limit)" }
    if let offset { text += " OFFSET \(offset)" }
    if includesDeleted { text += " ALL ROWS" }
    return text
  }

  private static func soql(_ item: Item) -> String {
    switch item {
    case .operand(let operand): operand.text
    case .children(let relationship, var query):
      {
        query.object = relationship
        return "(\(query.soql))"
      }()
    case .typeOf(let field, let branches, let otherwise):
      "TYPEOF \(field.relationship) "
        + branches.map { branch in
          "WHEN \(branch.object) THEN \(branch.fields.map(\.name).joined(separator: ", ")) "
        }.joined()
        + (otherwise.isEmpty ? "" : "ELSE \(otherwise.map(\.name).joined(separator: ", ")) ")
        + "END"
    }
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
    case .compare(let operand, let comparator, let literal):
      return "\(operand.text) \(comparator) \(soql(literal))"
    case .list(let operand, let negated, let literals):
      return "\(operand.text) \(negated ? "NOT IN" : "IN") "
        + "(\(literals.map(soql).joined(separator: ", ")))"
    case .includes(let path, let excludes, let sets):
      let texts = sets.map { soql(.text($0.joined(separator: ";"))) }
      return "\(path.text) \(excludes ? "EXCLUDES" : "INCLUDES") (\(texts.joined(separator: ", ")))"
    case .semiJoin(let path, let negated, let object, let field, let condition):
      let filter = condition.map { " WHERE \(soql($0, nested: false))" } ?? ""
      return "\(path.text) \(negated ? "NOT IN" : "IN") (SELECT \(field) FROM \(object)\(filter))"
    }
  }

  private static func soql(_ literal: Literal) -> String {
    switch literal {
    case .null: return "null"
    case .text(let text):
      return "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    case .number(let number):
      return number == number.rounded() ? String(Int(number)) : "\(number)"
    case .boolean(let boolean): return boolean ? "TRUE" : "false"
    case .moment(_, let written), .range(_, _, let written): return written
    }
  }
}
