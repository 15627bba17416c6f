import GRDB

/// `/recent?limit=N`: the records of all objects that the user has seen last.
struct RecentResource: Resource {
  private static let greatestLimit = 200
  let call: RESTCall

  func list() throws -> OrgResponse {
    var limit = Self.greatestLimit
    if let text = request[query: "limit"] {
      guard let number = Int(text), number > 0 else {
        throw ServerError("INVALID_LIMIT", "The limit parameter has to be a positive number.")
      }
      limit = min(number, Self.greatestLimit)
    }
    let records = try RecentRecord.all(limit: limit, transaction, org.recents)
    return .json(.array(records) { $0.json(transaction) })
  }
}

/// A record in a list for a user to choose from.
struct RecentRecord {
  let object: ObjectSchema
  let id: String
  let nameField: String?
  let name: String?

  /// The records that the user has seen last and that are still there.
  static func all(
    of object: ObjectSchema? = nil, limit: Int, _ transaction: OrgTransaction,
    _ recents: RecentItems
  ) throws -> [RecentRecord] {
    var records: [RecentRecord] = []
    for id in recents.items(of: transaction.userID) where records.count < limit {
      guard let itsObject = transaction.schema.object(keyPrefix: id.prefix(3)),
        object == nil || itsObject.name == object?.name
      else { continue }
      let nameField = itsObject.nameField?.name
      let column = nameField.map { RecordTable.quoted($0) } ?? "NULL"
      let statement = try transaction.database.cachedStatement(
        sql: """
          SELECT \(column) FROM \(itsObject.table.name) AS t0 WHERE "Id" = ? AND "IsDeleted" = 0\
          \(transaction.schema.andCondition(.read, on: itsObject, as: "t0"))
          """)
      guard let row = try Row.fetchOne(statement, arguments: [id]) else { continue }
      records.append(
        RecentRecord(object: itsObject, id: id, nameField: nameField, name: row[0]))
    }
    return records
  }

  func json(_ transaction: OrgTransaction) -> ResponseJSON {
    var json: ResponseJSON = [
      "attributes": [
        "type": .string(object.name),
        "url": "\(transaction.versionPath)/sobjects/\(object.name)/\(id)",
      ],
      "Id": .string(id),
    ]
    if let nameField { json.append(.object([(nameField, .string(orNull: name))])) }
    return json
  }
}
