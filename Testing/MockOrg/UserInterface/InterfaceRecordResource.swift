import SalesforceSDKCommon

/// `/ui-api/records`: records as pages show them, each field with its value and a text for the eye.
struct InterfaceRecordResource: Resource {
  let call: RESTCall

  private var json: InterfaceRecordJSON { InterfaceRecordJSON(transaction: transaction) }

  func create() throws -> OrgResponse {
    let body = try request.object()
    guard let name = body["apiName"]?.string, let fields = body["fields"], fields.kind == .object
    else { throw ServerError("INVALID_INPUT", "The body has to have 'apiName' and 'fields'.") }
    let object = try transaction.object(named: name)
    let id = try writer(object).create(fields)
    view(id)
    return .json(try json.page(of: InterfaceRecord(object: object, id: id)), status: 201)
  }

  func retrieve() throws -> OrgResponse {
    let record = try InterfaceRecord(call["id"], in: transaction)
    let response = OrgResponse.json(try json.record(record, fields: fields(of: record.object)))
    if request[query: "updateMru"]?.lowercased() == "true" { view(record.id) }
    return response
  }

  func update() throws -> OrgResponse {
    let record = try InterfaceRecord(call["id"], in: transaction)
    let body = try request.object()
    guard let fields = body["fields"], fields.kind == .object else {
      throw ServerError("INVALID_INPUT", "The body has to have an object 'fields'.")
    }
    let changes = try fields.setting(
      [], removing: fields.members.map(\.key).filter { $0.lowercased() == "id" })
    try writer(record.object).update(id: record.id, changes, conditions: Conditions(request))
    view(record.id)
    return .json(try json.page(of: record))
  }

  func delete() throws -> OrgResponse {
    let record = try InterfaceRecord(call["id"], in: transaction)
    try writer(record.object).delete(id: record.id)
    return .empty()
  }

  /// `/ui-api/records/batch/ID,ID`.
  func batch() throws -> OrgResponse {
    let results = call["ids"].split(separator: ",").map { text -> OrgResponse in
      do {
        let record = try InterfaceRecord(String(text), in: transaction)
        return .json(try json.record(record, fields: fields(of: record.object)))
      } catch let error as ServerError {
        return OrgResponse(error)
      } catch {
        return OrgResponse(ServerError.notFound())
      }
    }
    return try .batch(of: results)
  }

  /// The fields that a request names (`Account.Name`), those of its layouts, or an error if it names
  /// neither.
  private func fields(of object: ObjectSchema) throws -> [String] {
    func local(_ name: String) throws(ServerError) -> String {
      let prefix = "\(object.name.lowercased())."
      guard name.lowercased().hasPrefix(prefix) else {
        throw ServerError(
          "INVALID_FIELD", "\(name) does not begin with the object's name \(object.name).")
      }
      return String(name.dropFirst(prefix.count))
    }
    var fields = try request.list("fields").map { try local($0) }
    for name in request.list("optionalFields") {
      guard let name = try? local(name) else { continue }
      let isKnown =
        name.contains(".")
        ? object.parentField(relationshipName: String(name.prefix { $0 != "." })) != nil
        : object.field(named: name) != nil
      if isKnown { fields.append(name) }
    }
    if request[query: "layoutTypes"] != nil {
      fields += InterfaceRecordJSON.layoutFields(of: object)
    }
    guard !fields.isEmpty else {
      throw ServerError(
        "MISSING_PARAMETER", "Specify at least one of fields, optionalFields or layoutTypes.")
    }
    return fields
  }
}

/// A record that the User Interface API shows.
struct InterfaceRecord {
  let object: ObjectSchema
  let id: String
}

extension InterfaceRecord {
  /// The record that an id names; its object follows from the id.
  init(_ text: String, in transaction: OrgTransaction) throws(ServerError) {
    guard let id = RecordID.normalized(text.trimmingBlanks()) else { throw .malformedID(text) }
    guard let object = transaction.schema.object(keyPrefix: id.prefix(3)) else {
      throw .notFound()
    }
    self.init(object: object, id: id)
  }
}
