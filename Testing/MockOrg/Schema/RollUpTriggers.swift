import GRDB

/// Keeps roll-up summary fields: SQLite works them out again whenever a child changes.
struct RollUpTriggers {
  private let schema: OrgSchema

  init(_ schema: OrgSchema) { self.schema = schema }

  /// Makes the triggers, and works out the fields of the records that are there.
  ///
  /// - Parameter names: The objects that are new or have changed; nil: only those triggers are made that
  ///   are not there yet.
  func create(_ database: Database, changed names: Set<String>? = nil) throws {
    for object in schema.objects {
      for field in object.fields {
        guard let rollUp = field.rollUp, let child = schema.object(named: rollUp.childObject),
          let reference = child.field(named: rollUp.reference),
          let sum = RollUpSum(object: object, field: field, rollUp, child, reference)
        else { continue }
        let isChanged = names.map { $0.contains(object.name) || $0.contains(child.name) } ?? false
        for (name, sql) in sum.triggers {
          if isChanged { try database.execute(sql: "DROP TRIGGER IF EXISTS \(name)") }
          try database.execute(sql: sql)
        }
        if isChanged { try database.execute(sql: sum.updateOfAll) }
      }
    }
  }
}

/// One roll-up summary field.
private struct RollUpSum {
  let object: ObjectSchema
  let field: FieldSchema
  let child: ObjectSchema
  private let key: String
  /// The aggregate, and which children it counts.
  private let value: String
  private let condition: String

  /// Nil if the field cannot be worked out: the child has no such field, or no column holds it.
  init?(
    object: ObjectSchema, field: FieldSchema, _ rollUp: RollUp, _ child: ObjectSchema,
    _ reference: FieldSchema
  ) {
    self.object = object
    self.field = field
    self.child = child
    key = RecordTable.quoted(reference.name)
    let summed = rollUp.field.flatMap { child.field(named: $0) }
    let column = summed.flatMap { $0.hasColumn ? RecordTable.quoted($0.name) : nil }
    switch (rollUp.operation, column) {
    case (.count, _): value = "COUNT(*)"
    // The platform gives 0 for a sum of nothing, and nothing for its extremes.
    case (.sum, let column?): value = "IFNULL(SUM(\(column)), 0)"
    case (.min, let column?): value = "MIN(\(column))"
    case (.max, let column?): value = "MAX(\(column))"
    default: return nil
    }
    var conditions = ["\"IsDeleted\" = 0"]
    for filter in rollUp.filters {
      guard let sql = filter.sql(of: child) else { return nil }
      conditions.append(sql)
    }
    condition = conditions.joined(separator: " AND ")
  }

  private func update(_ row: String) -> String {
    """
    UPDATE \(object.table.name) SET \(RecordTable.quoted(field.name)) = \(sum(of: "\(row).\(key)")) \
    WHERE "Id" = \(row).\(key);
    """
  }

  private func sum(of parent: String) -> String {
    "(SELECT \(value) FROM \(child.table.name) WHERE \(key) = \(parent) AND \(condition))"
  }

  /// Works the field out for every parent.
  var updateOfAll: String {
    "UPDATE \(object.table.name) SET \(RecordTable.quoted(field.name)) = "
      + sum(of: "\(object.table.name).\"Id\"")
  }

  var triggers: [(name: String, sql: String)] {
    [
      ("INSERT", update("NEW")), ("DELETE", update("OLD")),
      ("UPDATE", update("OLD") + " " + update("NEW")),
    ].map { event, body in
      let name = RecordTable.quoted("\(object.name).\(field.name) \(child.name) \(event)")
      let sql = """
        CREATE TRIGGER IF NOT EXISTS \(name) AFTER \(event) ON \(child.table.name) BEGIN \(body) END
        """
      return (name, sql)
    }
  }
}

extension RollUpFilter {
  /// The condition on a child's columns; nil if the child has no such column.
  func sql(of child: ObjectSchema) -> String? {
    guard let field = child.field(named: field), field.hasColumn else { return nil }
    let column = RecordTable.quoted(field.name)
    let texts = value.split(separator: ",", omittingEmptySubsequences: false).map {
      String($0).trimmingBlanks()
    }
    func any(_ conditions: [String], _ joint: String = " OR ") -> String {
      "(\(conditions.joined(separator: joint)))"
    }
    func compared(_ sign: String) -> String { "\(column) \(sign) \(literal(texts[0], field))" }
    func pattern(_ text: String, _ isPrefix: Bool) -> String {
      let place = "INSTR(LOWER(IFNULL(\(column), '')), LOWER(\(SOQLFragment.quoted(text))))"
      return isPrefix ? "\(place) = 1" : "\(place) > 0"
    }
    func selected(_ text: String) -> String {
      "INSTR(';' || IFNULL(\(column), '') || ';', \(SOQLFragment.quoted(";\(text);"))) > 0"
    }
    switch operation {
    case .equals: return any(texts.map { "\(column) IS \(literal($0, field))" })
    case .notEqual: return any(texts.map { "\(column) IS NOT \(literal($0, field))" }, " AND ")
    case .lessThan: return compared("<")
    case .greaterThan: return compared(">")
    case .lessOrEqual: return compared("<=")
    case .greaterOrEqual: return compared(">=")
    case .contains: return any(texts.map { pattern($0, false) })
    case .notContain: return "NOT \(any(texts.map { pattern($0, false) }))"
    case .startsWith: return any(texts.map { pattern($0, true) })
    case .includes: return any(value.split(separator: ";").map { selected(String($0)) })
    case .excludes:
      return "NOT \(any(value.split(separator: ";").map { selected(String($0)) }))"
    }
  }

  /// A value as the field's column has it; an empty one is null.
  private func literal(_ text: String, _ field: FieldSchema) -> String {
    if text.isEmpty { return "NULL" }
    switch field.type.storage {
    case .integer where field.type == .boolean:
      return ["true", "1"].contains(text.lowercased()) ? "1" : "0"
    case .integer, .real: return Double(text).map { "\($0)" } ?? "NULL"
    case .exact:
      let stored: String? =
        switch field.type {
        case .date: DateText.parseDate(text)
        case .datetime: DateText.parseDateTime(text)
        case .id, .reference: RecordID.normalized(text)
        default: text
        }
      return stored.map(SOQLFragment.quoted) ?? "NULL"
    case .text, .compound: return SOQLFragment.quoted(text)
    }
  }
}
