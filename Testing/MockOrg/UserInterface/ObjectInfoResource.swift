/// `/ui-api/object-info`: objects, their fields and the values of their picklists.
struct ObjectInfoResource: Resource {
  let call: RESTCall

  private var json: ObjectInfoJSON { ObjectInfoJSON(transaction: transaction) }

  func all() -> OrgResponse {
    let objects = transaction.schema.objects
    return .json([
      "eTag": ObjectInfoJSON.tag("objects \(objects.count)"),
      "objects": .object(objects.map { ($0.name, json.summary(of: $0)) }),
    ])
  }

  func one() throws -> OrgResponse { .json(try json.object(object)) }

  /// `/ui-api/object-info/batch/A,B`.
  func batch() throws -> OrgResponse {
    let results = try call["names"].split(separator: ",").map { name in
      do {
        return OrgResponse.json(try json.object(transaction.object(named: String(name))))
      } catch let error as ServerError {
        return OrgResponse(error)
      }
    }
    return try .batch(of: results)
  }

  // MARK: Picklists

  /// `/ui-api/object-info/NAME/picklist-values/RECORDTYPE`.
  func picklists() throws -> OrgResponse {
    let object = try object
    let fields = object.fields.filter { !$0.picklistValues.isEmpty }
    return .json([
      "eTag": ObjectInfoJSON.tag("picklists \(object.name)"),
      "picklistFieldValues": .object(fields.map { ($0.name, picklist($0, of: object)) }),
    ])
  }

  /// `/ui-api/object-info/NAME/picklist-values/RECORDTYPE/FIELD`.
  func picklist() throws -> OrgResponse {
    let object = try object
    guard let field = object.field(named: call["field"]) else { throw ServerError.notFound() }
    return .json(picklist(field, of: object))
  }

  private func picklist(_ field: FieldSchema, of object: ObjectSchema) -> ResponseJSON {
    func value(_ value: PicklistValue) -> ResponseJSON {
      [
        "attributes": nil, "label": .string(value.label), "validFor": [],
        "value": .string(value.value),
      ]
    }
    let path = "ui-api/object-info/\(object.name)/picklist-values/\(call["recordType"])"
    return [
      "controllerValues": [:],
      "defaultValue": field.picklistValues.first(where: \.defaultValue).map(value) ?? .null,
      "eTag": ObjectInfoJSON.tag("\(object.name).\(field.name)"),
      "url": .string(url("\(path)/\(field.name)")),
      "values": .array(field.picklistValues.filter(\.active), value),
    ]
  }
}
