import GRDB

extension OrgTransaction {
  /// The record types of an object, the master last.
  func recordTypes(of object: ObjectSchema) throws -> [LayoutPlan.RecordType] {
    guard let types = schema.object(named: "RecordType"),
      ["SobjectType", "DeveloperName", "IsActive"].allSatisfy({ types.field(named: $0) != nil })
    else { return [.master] }
    let statement = try database.cachedStatement(
      sql: """
        SELECT "Id", "Name", "DeveloperName", "IsActive" FROM \(types.table.name) \
        WHERE "SobjectType" = ? AND "IsDeleted" = 0 ORDER BY rowid
        """)
    let rows = try Row.fetchAll(statement, arguments: [object.name])
    return rows.map {
      LayoutPlan.RecordType(
        id: $0[0], name: $0[1] ?? "", developerName: $0[2] ?? "", isActive: $0[3] ?? true)
    } + [.master]
  }
}
