import Foundation
import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore

extension InMemoryOrg.State {
  mutating func respond(to request: InMemoryOrg.Request) throws -> RestResponse {
    let parts = request.line.split(separator: " ", maxSplits: 1).map(String.init)
    let (method, path) = (parts[0], parts[1].replacingPrefix("/{v}", with: ""))
    let place = path.split(separator: "/").map(String.init)
    if let custom = custom.first(where: { request.line.hasPrefix("\($0.start)") }) {
      let (status, body) = try custom.respond(&self, request)
      return RestResponse(status: status, body: Array(body.text.utf8))
    }
    switch (method, place.first) {
    case ("GET", nil):
      return ok([:])
    case ("GET", "query"):
      return ok(query(request.query["q"] ?? ""))
    case (_, "jobs"):
      return try bulk(method, Array(place.dropFirst()), request)
    case ("GET", "services"):
      return ok(page(path, size: pageSize))
    case ("GET", "search"):
      return ok(search())
    case ("GET", "ui-api") where place.count == 3:
      return ok(["id": "Layout", "objectApiName": .string(place[2]), "sections": []])
    case ("GET", "connect"):
      return ok(primingRecords(request))
    case ("POST", "composite") where place.count == 1:
      return ok(try composite(request))
    case (_, "sobjects") where place.count > 1:
      return try record(
        method, place.dropFirst().map { $0.removingPercentEncoding ?? $0 }, request)
    case ("POST", "composite") where place.count == 2:
      return ok(try write(request) { state, type, record in state.createChecked(type, record) })
    case ("PATCH", "composite") where place.count == 2:
      return ok(
        try write(request) { state, type, record in
          state.updateChecked(type, record["Id"]?.string ?? "", record)
        })
    case ("PATCH", "composite") where place.count == 4:
      return ok(
        try write(request) { state, type, record in
          state.upsertChecked(type, place[3], record)
        })
    case ("POST", "composite") where place.count == 3:
      return ok(try retrieve(place[2], request))
    case ("DELETE", "composite"):
      let ids = (request.query["ids"] ?? "").split(separator: ",").map(String.init)
      return ok(.array(ids.map { deleteChecked($0) }))
    default:
      return RestResponse(
        status: 404, body: Array(#"[{"errorCode":"NOT_FOUND","message":"no such place"}]"#.utf8))
    }
  }

  private func ok(_ json: JSONValue) -> RestResponse {
    RestResponse(status: 200, body: Array(json.text.utf8))
  }

  // MARK: Records

  mutating func tick() -> JSONValue {
    clock += tickLength
    // The platform's dates are whole seconds.
    return .string(SalesforceDate(milliseconds: (clock - lateness) / 1_000 * 1_000).text)
  }

  mutating func create(_ type: String, _ fields: JSONObject) -> String {
    lastNumber += 1
    let digits = String(lastNumber)
    let id = "001" + String(repeating: "0", count: 15 - digits.count) + digits
    var record = fields
    originals[id] = fields
    saving?(type, &record)
    let time = tick()
    record["attributes"] = ["type": .string(type)]
    record["Id"] = .string(id)
    record[idField] = .string(id)
    record["CreatedDate"] = time
    record["LastModifiedDate"] = time
    objects[type, default: [:]][id] = record
    runFlow(type, id, old: nil, new: record)
    return id
  }

  mutating func update(_ type: String, _ id: String, _ fields: JSONObject) {
    var fields = fields
    saving?(type, &fields)
    let old = objects[type]?[id]
    write(type, id, fields)
    if let old { runFlow(type, id, old: old, new: objects[type]?[id]) }
  }

  private mutating func write(_ type: String, _ id: String, _ fields: JSONObject) {
    let time = tick()
    for (key, value) in fields where key != "attributes" && key != "Id" {
      objects[type]?[id]?[key] = value
    }
    objects[type]?[id]?["LastModifiedDate"] = time
  }

  mutating func delete(_ type: String, _ id: String) {
    let old = objects[type]?[id]
    objects[type]?[id] = nil
    deleted.insert(id)
    deletionDates[id] = clock
    bin[id] = old
    for relation in relations where relation.parent == type && relation.cascades {
      for (child, record) in objects[relation.child] ?? [:]
      where record[relation.field]?.string == id {
        delete(relation.child, child)
      }
    }
    if let old { runFlow(type, id, old: old, new: nil) }
  }

  /// Restores a deleted record, and the children that its deletion deleted.
  mutating func restore(_ id: String) {
    guard var record = bin.removeValue(forKey: id),
      let type = record["attributes"]?["type"]?.string
    else { return }
    deleted.remove(id)
    deletionDates[id] = nil
    record["LastModifiedDate"] = tick()
    objects[type, default: [:]][id] = record
    for relation in relations where relation.parent == type && relation.cascades {
      for (child, lost) in bin where lost[relation.field]?.string == id { restore(child) }
    }
    runFlow(type, id, old: nil, new: record)
  }

  private mutating func runFlow(
    _ type: String, _ id: String, old: JSONObject?, new: JSONObject?
  ) {
    guard let flow else { return }
    let change = InMemoryOrg.Change(type: type, id: id, old: old, new: new)
    for update in flow(change) where objects[update.type]?[update.id] != nil {
      write(update.type, update.id, update.fields)
    }
  }

  // MARK: Collections

  private mutating func write(
    _ request: InMemoryOrg.Request,
    _ body: (inout Self, String, JSONObject) -> JSONValue
  ) throws -> JSONValue {
    let records = try JSONValue(parsing: request.body)["records"]?.array ?? []
    guard records.count <= 200 else { return .object(["error": "LIMIT_EXCEEDED"]) }
    return .array(
      records.map { record in
        guard let object = record.object, object.keys.first == "attributes",
          let type = object["attributes"]?["type"]?.string
        else { return refusal("JSON_PARSER_ERROR", "attributes must come first") }
        return body(&self, type, object)
      })
  }

  mutating func createChecked(_ type: String, _ record: JSONObject) -> JSONValue {
    if let refusal = check(type, record, isNew: true) { return refusal }
    return success(createAsUser(type, record))
  }

  /// Creates a record for the user whose device it is.
  private mutating func createAsUser(_ type: String, _ record: JSONObject) -> String {
    let id = create(type, record)
    objects[type]?[id]?["CreatedById"] = "005000000000001AAA"
    return id
  }

  mutating func updateChecked(
    _ type: String, _ id: String, _ record: JSONObject
  ) -> JSONValue {
    if let refusal = check(type, record, isNew: false) { return refusal }
    guard objects[type]?[id] != nil else { return missing(id) }
    update(type, id, record)
    return success(id)
  }

  mutating func upsertChecked(
    _ type: String, _ field: String, _ record: JSONObject
  ) -> JSONValue {
    if let refusal = check(type, record, isNew: false) { return refusal }
    if let found = (objects[type] ?? [:]).first(where: { $0.value[field] == record[field] }) {
      update(type, found.key, record)
      return success(found.key)
    }
    return success(createAsUser(type, record))
  }

  mutating func deleteChecked(_ id: String) -> JSONValue {
    guard let type = objects.first(where: { $0.value[id] != nil })?.key else { return missing(id) }
    delete(type, id)
    return success(id)
  }

  private func check(_ type: String, _ record: JSONObject, isNew: Bool) -> JSONValue? {
    for (key, value) in record where key.hasSuffix("Id") || key.hasSuffix("__c") {
      if let id = value.string, SyncKeys.isLocalId(id) {
        return refusal("MALFORMED_ID", "\(key): id value of incorrect type")
      }
    }
    for relation in relations where relation.child == type {
      guard let parent = record[relation.field]?.string else { continue }
      if deleted.contains(parent) { return refusal("ENTITY_IS_DELETED", "the parent is deleted") }
      if objects[relation.parent]?[parent] == nil {
        return refusal("INVALID_CROSS_REFERENCE_KEY", "there is no such parent")
      }
    }
    if type == "Contact" { return nil }
    if let name = record["Name"] {
      guard let text = name.string, !text.isEmpty else {
        return refusal("REQUIRED_FIELD_MISSING", "Required fields are missing: [Name]")
      }
      if text.count > 255 { return refusal("STRING_TOO_LONG", "Name: data value too large") }
    } else if isNew {
      return refusal("REQUIRED_FIELD_MISSING", "Required fields are missing: [Name]")
    }
    return nil
  }

  private func success(_ id: String) -> JSONValue {
    ["id": .string(id), "success": true, "errors": []]
  }

  func missing(_ id: String) -> JSONValue {
    deleted.contains(id)
      ? refusal("ENTITY_IS_DELETED", "entity is deleted")
      : refusal("INVALID_CROSS_REFERENCE_KEY", "invalid cross reference id")
  }

  func refusal(_ code: String, _ message: String) -> JSONValue {
    [
      "success": false,
      "errors": [["statusCode": .string(code), "message": .string(message), "fields": []]],
    ]
  }

  private func retrieve(_ type: String, _ request: InMemoryOrg.Request) throws -> JSONValue {
    let body = try JSONValue(parsing: request.body)
    let fields = (body["fields"]?.array ?? []).compactMap(\.string)
    return .array(
      (body["ids"]?.array ?? []).map { id in
        guard let record = objects[type]?[id.string ?? ""] else { return .null }
        return .object(selecting(fields + ["Id"], from: record))
      })
  }
}

extension String {
  fileprivate func replacingPrefix(_ prefix: String, with other: String) -> String {
    hasPrefix(prefix) ? other + dropFirst(prefix.count) : self
  }
}
