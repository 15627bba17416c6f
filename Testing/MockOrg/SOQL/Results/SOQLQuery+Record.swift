import Synchronization

extension SOQLQuery {
  /// A query of all fields of an object, or of some, without a condition: what a single record's
  /// resource reads.
  init(allFieldsOf object: ObjectSchema, only chosen: [FieldSchema]? = nil) {
    var columns = ["\(Self.rootAlias).\"Id\""]
    var members: [SOQLRecordShape.Member] = []
    func column(of field: FieldSchema) -> Int {
      if field.type == .id { return 0 }
      columns.append(object.sql(of: field, as: Self.rootAlias))
      return columns.count - 1
    }
    for field in chosen ?? object.fields {
      if !field.isCompound {
        members.append(.field(key: field.name, column: column(of: field), type: field.type))
      } else {
        let parts = object.compoundParts(of: field.name).compactMap { part in
          object.field(named: part.field).map {
            SOQLRecordShape.CompoundColumn(key: part.key, column: column(of: $0), type: $0.type)
          }
        }
        members.append(.compound(key: field.name, parts: parts))
      }
    }
    self.init(
      kind: .records, object: object.name, columns: columns,
      from: "\(object.table.name) AS \(Self.rootAlias)",
      record: SOQLRecordShape(type: .named(object.name), id: 0, members: members))
  }
}

/// The query that reads one record of an object with all its fields, made when it is first asked for: its
/// text names every column, and single records are what clients ask for most.
final class RecordRetrieval: Sendable {
  private let state = Mutex<(query: SOQLQuery, sql: String)?>(nil)

  /// The query and its SQL; the record's id is its one argument.
  func query(of object: ObjectSchema) -> (query: SOQLQuery, sql: String) {
    state.withLock { state in
      if let state { return state }
      var query = SOQLQuery(allFieldsOf: object)
      query.condition = "\(SOQLQuery.rootAlias).\"Id\" = ?"
      let made = (query: query, sql: query.sql)
      state = made
      return made
    }
  }
}
