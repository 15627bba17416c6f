import GRDB
import SalesforceSDKCommon

/// `/sobjects/NAME/ID/RELATIONSHIP`: the record's children, as a query gives them.
struct ChildrenResource: Resource {
  let call: RESTCall

  func list() throws -> OrgResponse {
    let object = try object
    let parent = try existingRecord(of: object)
    guard let relationship = object.childRelationship(named: call["relationship"]),
      let child = transaction.schema.object(named: relationship.childObject),
      let reference = child.field(named: relationship.field), reference.hasColumn
    else { throw ServerError.notFound() }
    var query = try RecordReader(transaction: transaction)
      .query(of: child, fields: request[query: "fields"])
    let alias = SOQLQuery.rootAlias
    query.restrict(
      to: "\(alias).\(RecordTable.quoted(reference.name)) = ? AND \(alias).\"IsDeleted\" = 0"
        + transaction.schema.andCondition(.read, on: child, as: alias),
      [parent.databaseValue])
    query.order = "\(alias).rowid"
    return OrgResponse(
      status: 200,
      body: try QueryRunner(transaction: transaction, cursors: org.cursors)
        .firstPage(of: query, batchSize: 2000))
  }
}
