import GRDB
import SalesforceSDKCommon

/// What became of one record of a request that carries several.
struct RecordResult {
  var id: String?
  var created: Bool?
  var error: ServerError?

  /// Writes the form of collections: errors with `statusCode`.
  func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let id {
      writer.key("id")
      writer.string(id)
    }
    writer.key("success")
    writer.bool(error == nil)
    writer.key("errors")
    writer.beginArray()
    if let error {
      writer.beginObject()
      writer.duplicateResult(of: error)
      writer.key("statusCode")
      writer.string(error.code)
      writer.key("message")
      writer.string(error.message)
      writer.key("fields")
      writer.strings(error.fields ?? [])
      writer.endObject()
    }
    writer.endArray()
    if let created, error == nil {
      writer.key("created")
      writer.bool(created)
    }
    writer.endObject()
  }

  static let rolledBack = ServerError(
    "ALL_OR_NONE_OPERATION_ROLLED_BACK",
    "Record rolled back because not all records were valid and the request was using AllOrNone header",
    fields: [])
}

extension RESTService {
  /// Most records that one call creates, changes or deletes.
  static let collectionLimit = 200
  /// How often the type of record may change in one call, and one more.
  private static let chunkLimit = 10
  /// Most records that one call retrieves.
  static let collectionRetrieveLimit = 2000

  /// Everything under `/composite/sobjects`.
  func collections(_ request: OrgRequest, _ path: [String]) throws -> OrgResponse {
    switch (request.method, path.count) {
    case ("POST", 0): return try collectionCreate(request)
    case ("PATCH", 0): return try collectionUpdate(request)
    case ("DELETE", 0): return try collectionDelete(request)
    case (_, 0): throw ServerError.methodNotAllowed(request.method, allowed: "DELETE,PATCH,POST")
    case ("GET", 1), ("POST", 1):
      return try collectionRetrieve(request, transaction.object(named: path[0]))
    case (_, 1): throw ServerError.methodNotAllowed(request.method, allowed: "GET,HEAD,POST")
    case ("PATCH", 2):
      return try collectionUpsert(request, transaction.object(named: path[0]), field: path[1])
    case (_, 2): throw ServerError.methodNotAllowed(request.method, allowed: "PATCH")
    default: throw ServerError.notFound()
    }
  }

  // MARK: The five calls

  private func collectionCreate(_ request: OrgRequest) throws -> OrgResponse {
    let (records, allOrNone) = try records(of: request)
    return try perform(allOrNone: allOrNone, count: records.count) { index in
      let record = records[index]
      let id = try writer(objectType(of: record), request).create(record)
      return RecordResult(id: id)
    }
  }

  private func collectionUpdate(_ request: OrgRequest) throws -> OrgResponse {
    let (records, allOrNone) = try records(of: request)
    let ids = records.map { record in
      (record["id"] ?? record["Id"])?.string.flatMap { RecordID.normalized($0) }
    }
    let repeated = Self.repeated(ids)
    return try perform(allOrNone: allOrNone, count: records.count) { index in
      let record = records[index]
      let object = try objectType(of: record)
      guard let given = (record["id"] ?? record["Id"])?.string, !given.isEmpty else {
        throw ServerError(
          "MISSING_ARGUMENT", "Id not specified in an update call", fields: ["Id"])
      }
      guard let id = ids[index] else { throw ServerError.malformedID(given) }
      try Self.refuse(id, in: repeated, what: "id")
      guard id.hasPrefix(object.keyPrefix ?? " ") else {
        throw ServerError.malformedID(given)
      }
      let changes = try record.setting([], removing: ["id", "Id", "attributes"])
      try writer(object, request).update(id: id, changes)
      return RecordResult(id: id)
    }
  }

  private func collectionUpsert(
    _ request: OrgRequest, _ object: ObjectSchema, field name: String
  ) throws -> OrgResponse {
    guard let field = object.field(named: name), field.externalId || field.idLookup else {
      throw ServerError(
        status: 404, "NOT_FOUND",
        "Provided external ID field does not exist or is not accessible: \(name)")
    }
    let (records, allOrNone) = try records(of: request)
    func key(of record: JSONSlice) -> JSONSlice? {
      record.members.first { $0.key.lowercased() == field.name.lowercased() }?.value
    }
    let repeated = Self.repeated(
      records.map { key(of: $0).flatMap { $0.isNull ? nil : $0.string ?? $0.description } })
    return try perform(allOrNone: allOrNone, count: records.count) { index in
      let record = records[index]
      guard try objectType(of: record).name == object.name else {
        throw ServerError(
          "INVALID_TYPE", "The record's type is not \(object.name), which the URL names.")
      }
      let writer = writer(object, request)
      guard let key = key(of: record), !key.isNull, key.string != "" else {
        if field.type == .id {
          let rest = try record.setting([], removing: ["id", "Id", "attributes"])
          return RecordResult(id: try writer.create(rest), created: true)
        }
        throw ServerError(
          "MISSING_ARGUMENT", "\(field.name) not specified", fields: [field.name])
      }
      try Self.refuse(key.string ?? key.description, in: repeated, what: "external id")
      let value = try FieldRules(object: object, body: request.body).stored(key, in: field)
      let found = try writer.ids(where: field, is: value)
      let names = record.members.map(\.key).filter { $0.lowercased() == field.name.lowercased() }
      let rest = try record.setting([], removing: names + ["attributes"])
      switch found.count {
      case 0:
        if field.type == .id { throw ServerError.invalidCrossReference() }
        let id = try writer.create(rest, externalID: (field, value))
        return RecordResult(id: id, created: true)
      case 1:
        try writer.update(id: found[0], rest)
        return RecordResult(id: found[0], created: false)
      default:
        throw ServerError(
          "DUPLICATE_EXTERNAL_ID",
          "\(field.name): more than one record found for external id field: \(found)", fields: [])
      }
    }
  }

  private func collectionDelete(_ request: OrgRequest) throws -> OrgResponse {
    let given = (request[query: "ids"] ?? "").split(separator: ",").map {
      String($0).trimmingBlanks()
    }
    try Self.checkCount(given.count, limit: Self.collectionLimit)
    let allOrNone = request[query: "allOrNone"]?.lowercased() == "true"
    let ids = given.map { RecordID.normalized($0) }
    try Self.checkChunks(ids.map { String($0?.prefix(3) ?? "") })
    let repeated = Self.repeated(ids)
    return try perform(allOrNone: allOrNone, count: given.count) { index in
      guard let id = ids[index] else { throw ServerError.malformedID(given[index]) }
      try Self.refuse(id, in: repeated, what: "id")
      guard let object = transaction.schema.object(keyPrefix: id.prefix(3)) else {
        throw ServerError.malformedID(given[index])
      }
      try RecordWriter(transaction: transaction, object: object).delete(id: id)
      return RecordResult(id: id)
    }
  }

  private func collectionRetrieve(
    _ request: OrgRequest, _ object: ObjectSchema
  ) throws -> OrgResponse {
    var ids: [String]
    var fields: [String]
    if request.method == "POST" {
      let body = try request.object()
      ids = body["ids"]?.elements.compactMap(\.string) ?? []
      fields = body["fields"]?.elements.compactMap(\.string) ?? []
    } else {
      ids = (request[query: "ids"] ?? "").split(separator: ",").map(String.init)
      fields = (request[query: "fields"] ?? "").split(separator: ",").map(String.init)
    }
    try Self.checkCount(ids.count, limit: Self.collectionRetrieveLimit)
    fields = fields.map { $0.trimmingBlanks() }.filter { !$0.isEmpty }
    if fields.isEmpty {
      throw ServerError("MISSING_ARGUMENT", "The fields parameter is missing or empty.")
    }
    var query = try recordQuery(object, fields: fields.joined(separator: ","))
    let alias = SOQLQuery.rootAlias
    query.restrict(
      to: "\(alias).\"Id\" = ? AND \(alias).\"IsDeleted\" = 0"
        + transaction.schema.andCondition(.read, on: object, as: alias))
    let statement = try transaction.database.cachedStatement(sql: query.sql)
    let json = RecordJSON(transaction: transaction)
    return try .json { writer in
      writer.beginArray()
      for text in ids {
        guard let id = RecordID.normalized(text.trimmingBlanks()) else {
          throw ServerError.malformedID(text)
        }
        var arguments = query
        arguments.conditionArguments.append(id.databaseValue)
        let row = try Row.fetchOne(
          statement, arguments: StatementArguments(arguments.arguments))
        if let row { try json.write(row, as: query.record, to: &writer) } else { writer.null() }
      }
      writer.endArray()
    }
  }

  // MARK: What they share

  /// Runs `body` for each record and writes the results in order. With `allOrNone` one failure undoes
  /// all; without it the others stand.
  func perform(
    allOrNone: Bool, count: Int, _ body: (Int) throws -> RecordResult
  ) throws -> OrgResponse {
    let results = try self.results(allOrNone: allOrNone || requiresAllOrNone, count: count, body)
    var response = OrgResponse.json { writer in
      writer.beginArray()
      for result in results { result.write(to: &writer) }
      writer.endArray()
    }
    response.hasFailedRecords = results.contains { $0.error != nil }
    return response
  }

  private func results(
    allOrNone: Bool, count: Int, _ body: (Int) throws -> RecordResult
  ) throws -> [RecordResult] {
    var results: [RecordResult] = []
    var failed = false
    try transaction.database.inSavepoint {
      for index in 0..<count {
        do {
          results.append(try transaction.atomically { try body(index) })
        } catch let error as ServerError {
          failed = true
          results.append(RecordResult(error: error))
        }
      }
      return allOrNone && failed ? .rollback : .commit
    }
    if allOrNone && failed {
      for index in results.indices where results[index].error == nil {
        results[index] = RecordResult(error: RecordResult.rolledBack)
      }
    }
    return results
  }

  private func records(of request: OrgRequest) throws(ServerError) -> ([JSONSlice], Bool) {
    let body = try request.object()
    guard let list = body["records"], list.kind == .array else {
      throw .jsonParser("The property 'records' has to be an array at [line:1, column:1]")
    }
    let records = Array(list.elements)
    try Self.checkCount(records.count, limit: Self.collectionLimit)
    if let record = records.first(where: { $0.kind != .object }) {
      let (line, column) = TextPosition.of(offset: record.utf8.startIndex, in: request.body)
      throw .jsonParser("A record has to be a JSON object at [line:\(line), column:\(column)]")
    }
    try Self.checkChunks(
      records.map { $0["attributes"]?["type"]?.string?.lowercased() ?? "" })
    return (records, body["allOrNone"]?.bool ?? false)
  }

  /// Records of one type that stand side by side are worked off together; such runs are few in a call.
  private static func checkChunks(_ types: [String]) throws(ServerError) {
    let chunks = zip(types, types.dropFirst()).count { $0 != $1 } + 1
    if chunks > chunkLimit {
      throw ServerError(
        "LIMIT_EXCEEDED",
        "Cannot have more than \(chunkLimit) chunks in a single operation. Please rearrange the data "
          + "to reduce chunking.")
    }
  }

  private static func checkCount(_ count: Int, limit: Int) throws(ServerError) {
    if count == 0 {
      throw ServerError("MISSING_ARGUMENT", "At least one record is required in this call")
    }
    if count > limit {
      throw ServerError(
        "EXCEEDED_ID_LIMIT",
        "record limit reached. cannot submit more than \(limit) records into this call")
    }
  }

  func objectType(of record: JSONSlice) throws(ServerError) -> ObjectSchema {
    guard let name = record["attributes"]?["type"]?.string else {
      throw ServerError(
        "INVALID_INPUT", "Please provide attributes.type for the record.", fields: [])
    }
    guard let object = transaction.schema.object(named: name) else {
      throw ServerError(
        "INVALID_TYPE",
        "sObject type '\(name)' is not supported. If you are attempting to use a custom object, be "
          + "sure to append the '__c' after the entity name. Please reference your WSDL or the "
          + "describe call for the appropriate names.", fields: [])
    }
    return object
  }

  /// The values that occur more than once.
  private static func repeated(_ values: [String?]) -> Set<String> {
    var seen: Set<String> = []
    var repeated: Set<String> = []
    for case let value? in values where !seen.insert(value).inserted { repeated.insert(value) }
    return repeated
  }

  private static func refuse(
    _ value: String, in repeated: Set<String>, what: String
  ) throws(ServerError) {
    if repeated.contains(value) {
      throw ServerError("DUPLICATE_VALUE", "Duplicate \(what) specified: \(value)", fields: [])
    }
  }
}
