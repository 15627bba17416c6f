import GRDB
import SalesforceSDKCommon

extension RESTService {
  /// Everything under `/sobjects/NAME`.
  func sObject(_ request: OrgRequest, object: ObjectSchema, _ path: [String]) throws -> OrgResponse
  {
    switch path.count {
    case 0: return try objectResource(request, object)
    case 1... where path[0] == "describe":
      try request.allow("GET,HEAD")
      return try descriptions(request, object, Array(path.dropFirst()))
    case 1 where path[0] == "updated" || path[0] == "deleted":
      try request.allow("GET,HEAD")
      return try changes(request, object, deleted: path[0] == "deleted")
    case 1 where path[0].lowercased() == "id" && request.method == "POST":
      return try createdRecord(request, object)
    case 1: return try record(request, object, id: path[0])
    case 2 where object.name == "User" && path[1].lowercased() == "password":
      return try password(request, userID: path[0])
    case 2 where path[0].lowercased() == "id": return try recordByID(request, object, id: path[1])
    case 2:
      if object.field(named: path[1])?.type == .base64, request.method == "GET",
        let id = RecordID.normalized(path[0]), object.field(named: path[0]) == nil
      {
        return try blob(request, object, id: id, field: path[1])
      }
      if RecordID.normalized(path[0]) != nil, object.field(named: path[0]) == nil {
        return try related(request, object, Array(path))
      }
      return try recordByExternalID(request, object, field: path[0], value: path[1])
    default: return try related(request, object, path)
    }
  }

  /// `/describe`, and the layouts below it.
  private func descriptions(
    _ request: OrgRequest, _ object: ObjectSchema, _ path: [String]
  ) throws -> OrgResponse {
    switch (path.first, path.count) {
    case (nil, _): return try describedSince(request) { try describe(object) }
    case ("layouts", 1...2):
      return try describedSince(request) {
        try layouts(object, recordType: path.count > 1 ? path[1] : nil)
      }
    case ("compactLayouts", 1...2):
      return try describedSince(request) {
        try compactLayouts(object, path.count > 1 ? path[1] : nil)
      }
    default: throw ServerError.notFound()
    }
  }

  /// `/sobjects/NAME/ID/RELATIONSHIP`: the record's parent, or its children as a query gives them.
  private func related(
    _ request: OrgRequest, _ object: ObjectSchema, _ path: [String]
  ) throws -> OrgResponse {
    guard path.count == 2, let id = RecordID.normalized(path[0]) else {
      throw ServerError.notFound()
    }
    try RecordWriter(transaction: transaction, object: object).existing(id)
    if let field = object.parentField(relationshipName: path[1]) {
      let statement = try transaction.database.cachedStatement(
        sql: "SELECT \(RecordTable.quoted(field.name)) FROM \(object.table.name) WHERE \"Id\" = ?")
      guard let parentID = try String.fetchOne(statement, arguments: [id]),
        let parent = transaction.schema.object(keyPrefix: parentID.prefix(3))
      else { throw ServerError.notFound() }
      return try record(request, parent, id: parentID)
    }
    guard let child = object.childRelationship(named: path[1]),
      let childObject = transaction.schema.object(named: child.childObject)
    else { throw ServerError.notFound() }
    try request.allow("GET,HEAD")
    guard let reference = childObject.field(named: child.field), reference.hasColumn else {
      throw ServerError.notFound()
    }
    var query = try recordQuery(childObject, fields: request[query: "fields"])
    let alias = SOQLQuery.rootAlias
    query.restrict(
      to: "\(alias).\(RecordTable.quoted(reference.name)) = ? AND \(alias).\"IsDeleted\" = 0"
        + transaction.schema.andCondition(.read, on: childObject, as: alias),
      [id.databaseValue])
    query.order = "\(alias).rowid"
    return OrgResponse(
      status: 200,
      body: try QueryRunner(transaction: transaction, cursors: cursors)
        .firstPage(of: query, batchSize: 2000))
  }

  private func objectResource(_ request: OrgRequest, _ object: ObjectSchema) throws -> OrgResponse {
    switch request.method {
    case "GET", "HEAD": return try basicInformation(object)
    case "POST": return try createdRecord(request, object)
    default: throw ServerError.methodNotAllowed(request.method, allowed: "GET,HEAD,POST")
    }
  }

  private func createdRecord(_ request: OrgRequest, _ object: ObjectSchema) throws -> OrgResponse {
    let id = try writer(object, request).create(members(of: request, for: object))
    org.recents.view(id, by: transaction.userID)
    return created(id, object)
  }

  private func record(
    _ request: OrgRequest, _ object: ObjectSchema, id text: String
  ) throws -> OrgResponse {
    guard ["GET", "HEAD", "PATCH", "DELETE"].contains(request.method) else {
      throw ServerError.methodNotAllowed(request.method, allowed: "DELETE,GET,HEAD,PATCH")
    }
    let id = try recordID(text, of: object)
    switch request.method {
    case "PATCH":
      let members = try members(of: request, for: object)
      if members["Id"] != nil {
        throw ServerError(
          "INVALID_FIELD", "The Id field should not be specified in the sobject data.",
          fields: ["Id"])
      }
      try writer(object, request).update(
        id: id, members, conditions: Conditions(request))
      org.recents.view(id, by: transaction.userID)
      return .empty()
    case "DELETE":
      try writer(object, request).delete(id: id, conditions: Conditions(request))
      return .empty()
    default:
      return try retrieve(object, id: id, request)
    }
  }

  /// The 18-character id of one of the object's records.
  func recordID(_ text: String, of object: ObjectSchema) throws(ServerError) -> String {
    guard let id = RecordID.normalized(text), id.hasPrefix(object.keyPrefix ?? " ") else {
      throw ServerError(
        status: 404, "NOT_FOUND",
        "Provided external ID field does not exist or is not accessible: \(text)")
    }
    return id
  }

  // MARK: Reading

  /// One record as a request asks for it, unless the client has its present state.
  private func retrieve(
    _ object: ObjectSchema, id: String, _ request: OrgRequest
  ) throws -> OrgResponse {
    let stamp = try RecordWriter(transaction: transaction, object: object).existing(id) ?? ""
    let modified = DateText.secondsSince1970(stamp) ?? 0
    let tag = RecordWriter.tag(id: id, stamp: stamp)
    let conditions = try Conditions(request)
    try conditions.check(modified: modified, tag: tag)
    org.recents.view(id, by: transaction.userID)
    if conditions.isFresh(modified: modified, tag: tag) {
      return conditions.applied(to: .empty(304), modified: modified, tag: tag)
    }
    let response = try retrieve(object, id: id, fields: request[query: "fields"])
    return conditions.applied(to: response, modified: modified, tag: tag)
  }

  /// One record with all its fields or those of a comma-separated list.
  func retrieve(_ object: ObjectSchema, id: String, fields: String?) throws -> OrgResponse {
    let query: SOQLQuery
    let sql: String
    if fields == nil {
      (query, sql) = object.retrieval.query(of: object)
    } else {
      var chosen = try recordQuery(object, fields: fields)
      chosen.condition = "\(SOQLQuery.rootAlias).\"Id\" = ?"
      query = chosen
      sql = chosen.sql
    }
    let statement = try transaction.database.cachedStatement(sql: sql)
    let rows = try Row.fetchCursor(
      statement,
      arguments: StatementArguments(
        query.fromArguments + [id.databaseValue]))
    guard try rows.next() != nil else { throw ServerError.notFound() }
    // The row is good while its cursor lives: without the cursor, the statement is reset.
    return try withExtendedLifetime((statement, rows)) {
      try .json { writer in
        try RecordJSON(transaction: transaction).write(
          StatementRow(statement), as: query.record, to: &writer)
      }
    }
  }

  /// The query that reads all fields of an object's records, or those of a comma-separated list.
  func recordQuery(_ object: ObjectSchema, fields: String?) throws -> SOQLQuery {
    let names = (fields ?? "").split(separator: ",").map { String($0).trimmingBlanks() }
      .filter { !$0.isEmpty }
    if names.isEmpty { return SOQLQuery(allFieldsOf: object) }
    var chosen: [FieldSchema] = []
    for name in names {
      if name.contains(".") {
        return try SOQLQuery(
          fields: names, of: object, schema: transaction.schema,
          options: try transaction.soqlOptions(includeDeleted: true))
      }
      guard let field = object.field(named: name) else {
        throw ServerError.unknownField(name, of: object.name)
      }
      if !chosen.contains(where: { $0.name == field.name }) { chosen.append(field) }
    }
    if !chosen.contains(where: { $0.type == .id }), let id = object.field(named: "Id") {
      chosen.append(id)
    }
    return SOQLQuery(allFieldsOf: object, only: chosen)
  }

  private func basicInformation(_ object: ObjectSchema) throws -> OrgResponse {
    let recent = try recentRecords(of: object, limit: 200)
    return .json { writer in
      writer.beginObject()
      writer.key("objectDescribe")
      DescribeJSON(versionPath: transaction.versionPath).writeSummary(of: object, to: &writer)
      writer.key("recentItems")
      writer.beginArray()
      for record in recent { writeRecent(record, idKey: "Id", to: &writer) }
      writer.endArray()
      writer.endObject()
    }
  }

  // MARK: Upsert

  private func recordByID(
    _ request: OrgRequest, _ object: ObjectSchema, id: String
  ) throws -> OrgResponse {
    if request.method == "POST" { return try createdRecord(request, object) }
    return try record(request, object, id: id)
  }

  private func recordByExternalID(
    _ request: OrgRequest, _ object: ObjectSchema, field name: String, value text: String
  ) throws -> OrgResponse {
    guard let field = object.field(named: name), field.externalId || field.idLookup else {
      throw ServerError(
        status: 404, "NOT_FOUND",
        "Provided external ID field does not exist or is not accessible: \(name)")
    }
    guard ["GET", "HEAD", "PATCH", "DELETE"].contains(request.method) else {
      throw ServerError.methodNotAllowed(request.method, allowed: "DELETE,GET,HEAD,PATCH,POST")
    }
    let writer = writer(object, request)
    let value = try externalValue(text, of: field, in: object)
    let found = try writer.ids(where: field, is: value)
    if found.count > 1 { return multipleChoices(found, object) }
    switch request.method {
    case "PATCH":
      let members = try members(of: request, for: object)
      if members.members.contains(where: { $0.key.lowercased() == field.name.lowercased() }) {
        throw ServerError(
          "INVALID_FIELD",
          "The \(field.name) field should not be specified in the sobject data.",
          fields: [field.name])
      }
      guard let id = found.first else {
        if request[query: "updateOnly"]?.lowercased() == "true" { throw ServerError.notFound() }
        let id = try writer.create(members, externalID: (field, value))
        org.recents.view(id, by: transaction.userID)
        return created(id, object, isUpsert: true)
      }
      try writer.update(id: id, members, conditions: Conditions(request))
      org.recents.view(id, by: transaction.userID)
      return updated(id)
    case "DELETE":
      guard let id = found.first else { throw ServerError.notFound() }
      try writer.delete(id: id)
      return .empty()
    default:
      guard let id = found.first else { throw ServerError.notFound() }
      return try retrieve(object, id: id, request)
    }
  }

  /// The stored form of an external id as a URL gives it.
  func externalValue(
    _ text: String, of field: FieldSchema, in object: ObjectSchema
  ) throws(ServerError) -> DatabaseValue {
    let rules = FieldRules(object: object, body: [])
    if field.type.storage == .text { return try rules.stored(text: text, in: field) }
    guard let slice = try? JSONSlice(parsing: JSONValue.string(text).text) else {
      throw .notFound()
    }
    return try rules.stored(slice, in: field)
  }

  private func created(_ id: String, _ object: ObjectSchema, isUpsert: Bool = false) -> OrgResponse
  {
    var response = OrgResponse.json(201) { Self.write(id, created: isUpsert ? true : nil, to: &$0) }
    response.headers.append(
      ("Location", "\(transaction.versionPath)/sobjects/\(object.name)/\(id)"))
    return response
  }

  private func updated(_ id: String) -> OrgResponse {
    .json { Self.write(id, created: false, to: &$0) }
  }

  /// The response to a change that worked; upserts report whether they created the record.
  private static func write(_ id: String, created: Bool?, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("id")
    writer.string(id)
    writer.key("success")
    writer.bool(true)
    writer.key("errors")
    writer.beginArray()
    writer.endArray()
    if let created {
      writer.key("created")
      writer.bool(created)
    }
    writer.endObject()
  }

  /// An external id that several records have: the list of them, status 300.
  private func multipleChoices(_ ids: [String], _ object: ObjectSchema) -> OrgResponse {
    .json(300) { writer in
      writer.strings(ids.map { "\(transaction.versionPath)/sobjects/\(object.name)/\($0)" })
    }
  }

  /// A writer of an object's records whose errors point into the request's body.
  func writer(_ object: ObjectSchema, _ request: OrgRequest) -> RecordWriter {
    var transaction = transaction
    transaction.body = request.body
    return RecordWriter(transaction: transaction, object: object)
  }
}
