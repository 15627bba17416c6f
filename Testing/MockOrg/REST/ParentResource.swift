import GRDB
import SalesforceSDKCommon

/// `/sobjects/NAME/ID/RELATIONSHIP`: the record's parent.
struct ParentResource: Resource {
  let call: RESTCall

  func retrieve() throws -> OrgResponse {
    let (id, object) = try parent()
    return try retrieve(id, of: object)
  }

  func update() throws -> OrgResponse {
    let (id, object) = try parent()
    return try update(id, of: object)
  }

  func delete() throws -> OrgResponse {
    let (id, object) = try parent()
    return try delete(id, of: object)
  }

  private func parent() throws -> (id: String, object: ObjectSchema) {
    let object = try object
    let child = try existingRecord(of: object)
    guard let field = object.parentField(relationshipName: call["parent"]) else {
      throw ServerError.notFound()
    }
    let statement = try transaction.database.cachedStatement(
      sql: "SELECT \(RecordTable.quoted(field.name)) FROM \(object.table.name) WHERE \"Id\" = ?")
    guard let id = try String.fetchOne(statement, arguments: [child]),
      let parent = transaction.schema.object(keyPrefix: id.prefix(3))
    else { throw ServerError.notFound() }
    return (try parent.recordID(id), parent)
  }
}

extension Resource {
  /// The id of the record in the path, which has to be there.
  func existingRecord(of object: ObjectSchema) throws -> String {
    guard let id = RecordID.normalized(call["record"]) else { throw ServerError.notFound() }
    try RecordWriter(transaction: transaction, object: object).existing(id)
    return id
  }
}
