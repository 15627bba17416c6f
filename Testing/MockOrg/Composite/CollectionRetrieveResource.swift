import GRDB
import SalesforceSDKCommon

/// `/composite/sobjects/NAME`: reads several records of one object, null in the place of one that is not there.
struct CollectionRetrieveResource: Resource {
  /// Most records that one call retrieves.
  private static let limit = 2000
  let call: RESTCall

  /// Ids and fields are parameters of the URL.
  func retrieve() throws -> OrgResponse {
    func list(_ name: String) -> [String] {
      (request[query: name] ?? "").split(separator: ",").map(String.init)
    }
    return try records(list("ids"), fields: list("fields"))
  }

  /// Ids and fields are members of the body.
  func retrieveByBody() throws -> OrgResponse {
    let body = try request.object()
    func list(_ name: String) -> [String] { body[name]?.elements.compactMap(\.string) ?? [] }
    return try records(list("ids"), fields: list("fields"))
  }

  private func records(_ ids: [String], fields: [String]) throws -> OrgResponse {
    let object = try object
    try RecordCollection.checkCount(ids.count, limit: Self.limit)
    let fields = fields.map { $0.trimmingBlanks() }.filter { !$0.isEmpty }
    if fields.isEmpty {
      throw ServerError("MISSING_ARGUMENT", "The fields parameter is missing or empty.")
    }
    var query = try RecordReader(transaction: transaction).query(
      of: object, fields: fields.joined(separator: ","))
    let alias = SOQLQuery.rootAlias
    query.restrict(
      to: "\(alias).\"Id\" = ? AND \(alias).\"IsDeleted\" = 0"
        + transaction.schema.andCondition(.read, on: object, as: alias))
    let statement = try transaction.database.cachedStatement(sql: query.sql)
    let json = RecordJSON(transaction: transaction)
    var writer = JSONWriter()
    writer.beginArray()
    for text in ids {
      guard let id = RecordID.normalized(text.trimmingBlanks()) else {
        throw ServerError.malformedID(text)
      }
      var arguments = query
      arguments.conditionArguments.append(id.databaseValue)
      let row = try Row.fetchOne(statement, arguments: StatementArguments(arguments.arguments))
      if let row { try json.write(row, as: query.record, to: &writer) } else { writer.null() }
    }
    writer.endArray()
    return OrgResponse(status: 200, body: writer.bytes)
  }
}
