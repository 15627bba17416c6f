/// `/ui-api/layout`, `/ui-api/record-ui` and `/ui-api/record-defaults`: what a page needs to show or make records.
struct InterfacePageResource: Resource {
  let call: RESTCall

  private var objectInfo: ObjectInfoJSON { ObjectInfoJSON(transaction: transaction) }

  /// `/ui-api/layout/NAME`.
  func layout() throws -> OrgResponse {
    let object = try object
    let form = try LayoutForm(request)
    if let id = form.recordTypeID {
      guard try transaction.recordTypes(of: object).contains(where: { $0.id == id }) else {
        throw ServerError.notFound()
      }
    }
    return .json(InterfaceLayoutJSON(object).layout(form))
  }

  /// `/ui-api/record-ui/ID,ID`: records with the layouts and descriptions to show them.
  func records() throws -> OrgResponse {
    let json = InterfaceRecordJSON(transaction: transaction)
    let records = try call["ids"].split(separator: ",").map {
      try InterfaceRecord(String($0), in: transaction)
    }
    let form = try LayoutForm(request)
    var objects: [ObjectSchema] = []
    for record in records where !objects.contains(where: { $0.name == record.object.name }) {
      objects.append(record.object)
    }
    return .json([
      "eTag": ObjectInfoJSON.tag(call["ids"]), "layoutUserStates": [:],
      "layouts": .object(
        objects.map { ($0.name, [LayoutPlan.masterRecordTypeID: layouts(of: $0, form)]) }),
      "objectInfos": .object(try objects.map { ($0.name, try objectInfo.object($0)) }),
      "records": .object(
        try records.map {
          ($0.id, try json.record($0, fields: InterfaceRecordJSON.layoutFields(of: $0.object)))
        }),
    ])
  }

  /// The layouts of each type and mode that the request names.
  private func layouts(of object: ObjectSchema, _ usual: LayoutForm) -> ResponseJSON {
    let types = (request[query: "layoutTypes"] ?? usual.layoutType).split(separator: ",")
    let modes = (request[query: "modes"] ?? usual.mode).split(separator: ",")
    let json = InterfaceLayoutJSON(object)
    return .object(
      types.map { type in
        let layouts = modes.map { mode -> ResponseJSON.Member in
          var form = usual
          form.layoutType = String(type)
          form.mode = String(mode)
          return (String(mode), json.layout(form))
        }
        return (String(type), .object(layouts))
      })
  }

  /// `/ui-api/record-defaults/create/NAME`: what a page for a new record begins with.
  func createDefaults() throws -> OrgResponse {
    let object = try object
    var form = try LayoutForm(request)
    form.mode = "Create"
    let fields = object.fields.filter(\.createable)
    return .json([
      "layout": InterfaceLayoutJSON(object).layout(form),
      "objectInfos": .object([(object.name, try objectInfo.object(object))]),
      "record": [
        "apiName": .string(object.name), "childRelationships": [:],
        "fields": .object(fields.map { ($0.name, ["displayValue": nil, "value": initial($0)]) }),
        "id": nil, "recordTypeId": .string(form.recordTypeID ?? LayoutPlan.masterRecordTypeID),
      ],
    ])
  }

  private func initial(_ field: FieldSchema) -> ResponseJSON {
    if let value = field.defaultValue { return value.json }
    if field.type == .boolean { return false }
    if field.name == "OwnerId" { return .string(transaction.userID) }
    return .string(orNull: field.picklistValues.first(where: \.defaultValue)?.value)
  }
}
