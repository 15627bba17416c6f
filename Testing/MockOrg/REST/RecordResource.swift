import SalesforceSDKCommon

/// `/sobjects/NAME` and `/sobjects/NAME/ID`: one record.
struct RecordResource: Resource {
  let call: RESTCall

  func create() throws -> OrgResponse {
    let object = try object
    let id = try writer(object).create(request.members(for: object))
    view(id)
    return created(id, object)
  }

  func retrieve() throws -> OrgResponse {
    let object = try object
    return try retrieve(object.recordID(call["id"]), of: object)
  }

  func update() throws -> OrgResponse {
    let object = try object
    return try update(object.recordID(call["id"]), of: object)
  }

  func delete() throws -> OrgResponse {
    let object = try object
    return try delete(object.recordID(call["id"]), of: object)
  }
}

/// What resources do with the one record that they lead to.
extension Resource {
  /// One record as the request asks for it, unless the client has its present state.
  func retrieve(_ id: String, of object: ObjectSchema) throws -> OrgResponse {
    let stamp = try RecordWriter(transaction: transaction, object: object).existing(id) ?? ""
    let modified = DateText.secondsSince1970(stamp) ?? 0
    let tag = RecordWriter.tag(id: id, stamp: stamp)
    let conditions = try Conditions(request)
    try conditions.check(modified: modified, tag: tag)
    view(id)
    if conditions.isFresh(modified: modified, tag: tag) {
      return conditions.applied(to: .empty(304), modified: modified, tag: tag)
    }
    let record = try RecordReader(transaction: transaction).bytes(
      of: object, id: id, fields: request[query: "fields"])
    return conditions.applied(
      to: OrgResponse(status: 200, body: record), modified: modified, tag: tag)
  }

  func update(_ id: String, of object: ObjectSchema) throws -> OrgResponse {
    let members = try request.members(for: object)
    if members["Id"] != nil {
      throw ServerError(
        "INVALID_FIELD", "The Id field should not be specified in the sobject data.",
        fields: ["Id"])
    }
    try writer(object).update(id: id, members, conditions: Conditions(request))
    view(id)
    return .empty()
  }

  func delete(_ id: String, of object: ObjectSchema) throws -> OrgResponse {
    try writer(object).delete(id: id, conditions: Conditions(request))
    return .empty()
  }

  /// The response to a request that created a record.
  func created(_ id: String, _ object: ObjectSchema, isUpsert: Bool = false) -> OrgResponse {
    let result = RecordResult(id: id, created: isUpsert ? true : nil)
    var response = OrgResponse.json(result.json, status: 201)
    response.headers.append(("Location", url("sobjects/\(object.name)/\(id)")))
    return response
  }
}
