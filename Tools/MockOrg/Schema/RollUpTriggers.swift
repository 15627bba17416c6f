import GRDB

/// Keeps roll-up summary fields: SQLite works them out again whenever a child changes.
struct RollUpTriggers {
  private let schema: OrgSchema

  init(_ schema: OrgSchema) { self.schema = schema }

  /// Makes the triggers that are not there yet.
  func create(_ database: Database) throws {
    for object in schema.objects {
      for field in object.fields {
        guard let rollUp = field.rollUp,
          let child = schema.object(named: rollUp.childObject),
          let reference = child.field(named: rollUp.reference)
        else { continue }
        for sql in statements(of: object, field, rollUp, child, reference) {
          try database.execute(sql: sql)
        }
      }
    }
  }

  private func statements(
    of object: ObjectSchema, _ field: FieldSchema, _ rollUp: RollUp, _ child: ObjectSchema,
    _ reference: FieldSchema
  ) -> [String] {
    let key = RecordTable.quoted(reference.name)
    let value: String
    switch (rollUp.operation, rollUp.field.flatMap { child.field(named: $0) }) {
    case (.count, _): value = "COUNT(*)"
    // The platform gives 0 for a sum of nothing, and nothing for its extremes.
    case (.sum, let field?): value = "IFNULL(SUM(\(RecordTable.quoted(field.name))), 0)"
    case (.min, let field?): value = "MIN(\(RecordTable.quoted(field.name)))"
    case (.max, let field?): value = "MAX(\(RecordTable.quoted(field.name)))"
    default: return []
    }
    func update(_ row: String) -> String {
      """
      UPDATE \(object.table.name) SET \(RecordTable.quoted(field.name)) = \
      (SELECT \(value) FROM \(child.table.name) WHERE \(key) = \(row).\(key) AND "IsDeleted" = 0) \
      WHERE "Id" = \(row).\(key);
      """
    }
    func trigger(_ event: String, _ body: String) -> String {
      let name = RecordTable.quoted("\(object.name).\(field.name) \(child.name) \(event)")
      return """
        CREATE TRIGGER IF NOT EXISTS \(name) AFTER \(event) ON \(child.table.name) BEGIN \(body) END
        """
    }
    return [
      trigger("INSERT", update("NEW")), trigger("DELETE", update("OLD")),
      trigger("UPDATE", update("OLD") + " " + update("NEW")),
    ]
  }
}
