import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore

extension InMemoryOrg.State {
  mutating func answer(_ request: InMemoryOrg.Request) throws -> RestResponse {
    let parts = request.line.split(separator: " ", maxSplits: 1).map(String.init)
    let (method, path) = (parts[0], parts[1].replacingPrefix("/{v}", with: ""))
    let place = path.split(separator: "/").map(String.init)
    switch (method, place.first) {
    case ("GET", "query"):
      return ok(try query(request.query["q"] ?? ""))
    case ("GET", "services"):
      return ok(page(path))
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
    clock += 1_000
    return .string(SalesforceDate(milliseconds: clock).text)
  }

  mutating func create(_ type: String, _ fields: JSONObject) -> String {
    lastNumber += 1
    let digits = String(lastNumber)
    let id = "001" + String(repeating: "0", count: 15 - digits.count) + digits
    var record = fields
    let time = tick()
    record["attributes"] = ["type": .string(type)]
    record["Id"] = .string(id)
    record["CreatedDate"] = time
    record["LastModifiedDate"] = time
    objects[type, default: [:]][id] = record
    return id
  }

  mutating func update(_ type: String, _ id: String, _ fields: JSONObject) {
    let time = tick()
    for (key, value) in fields where key != "attributes" && key != "Id" {
      objects[type]?[id]?[key] = value
    }
    objects[type]?[id]?["LastModifiedDate"] = time
  }

  mutating func delete(_ type: String, _ id: String) {
    objects[type]?[id] = nil
    deleted.insert(id)
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

  private mutating func createChecked(_ type: String, _ record: JSONObject) -> JSONValue {
    if let refusal = check(record, isNew: true) { return refusal }
    return success(createAsUser(type, record))
  }

  /// Makes a record for the user whose device it is.
  private mutating func createAsUser(_ type: String, _ record: JSONObject) -> String {
    let id = create(type, record)
    objects[type]?[id]?["CreatedById"] = "005000000000001AAA"
    return id
  }

  private mutating func updateChecked(
    _ type: String, _ id: String, _ record: JSONObject
  ) -> JSONValue {
    if let refusal = check(record, isNew: false) { return refusal }
    guard objects[type]?[id] != nil else { return missing(id) }
    update(type, id, record)
    return success(id)
  }

  private mutating func upsertChecked(
    _ type: String, _ field: String, _ record: JSONObject
  ) -> JSONValue {
    if let refusal = check(record, isNew: false) { return refusal }
    if let found = (objects[type] ?? [:]).first(where: { $0.value[field] == record[field] }) {
      update(type, found.key, record)
      return success(found.key)
    }
    return success(createAsUser(type, record))
  }

  private mutating func deleteChecked(_ id: String) -> JSONValue {
    guard let type = objects.first(where: { $0.value[id] != nil })?.key else { return missing(id) }
    delete(type, id)
    return success(id)
  }

  private func check(_ record: JSONObject, isNew: Bool) -> JSONValue? {
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

  private func missing(_ id: String) -> JSONValue {
    deleted.contains(id)
      ? refusal("ENTITY_IS_DELETED", "entity is deleted")
      : refusal("INVALID_CROSS_REFERENCE_KEY", "invalid cross reference id")
  }

  private func refusal(_ code: String, _ message: String) -> JSONValue {
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

  // MARK: Queries

  private mutating func query(_ soql: String) throws -> JSONValue {
    let fields = soql.between("select ", " from ").split(separator: ",")
      .map { $0.filter { !$0.isWhitespace } }
    let rest = soql.after(" from ")
    let type = String(rest.prefix { $0 != " " })
    let order = rest.contains(" order by ") ? rest.after(" order by ").prefixWord : "Id"
    var condition = rest.contains(" where ") ? rest.after(" where ") : ""
    for end in [" order by ", " limit "] where condition.contains(end) {
      condition = condition.before(end)
    }
    var found = (objects[type] ?? [:]).values.filter { record in
      condition.split(separator: " and ").allSatisfy { holds(String($0), record) }
    }
    found.sort { left, right in
      (left[order]?.string ?? "", left["Id"]?.string ?? "")
        < (right[order]?.string ?? "", right["Id"]?.string ?? "")
    }
    if rest.contains(" limit "), let limit = Int(rest.after(" limit ").prefixWord) {
      found = Array(found.prefix(limit))
    }
    lastNumber += 1
    let cursor = "/services/data/v66.0/query/01g\(lastNumber)"
    totals[cursor] = found.count
    cursors[cursor] = found.map { selecting(fields, from: $0) }
    return page("\(cursor)-0")
  }

  private func page(_ path: String) -> JSONValue {
    let parts = path.split(separator: "-").map(String.init)
    guard parts.count == 2, let all = cursors[parts[0]], let start = Int(parts[1]) else {
      return .object([:])
    }
    let end = min(start + pageSize, all.count)
    return [
      "totalSize": .integer(Int64(all.count)), "done": .bool(end == all.count),
      "nextRecordsUrl": end < all.count ? .string("\(parts[0])-\(end)") : .null,
      "records": .array(all[start..<end].map { .object($0) }),
    ]
  }

  private func holds(_ condition: String, _ record: JSONObject) -> Bool {
    let words = condition.filter { $0 != "(" && $0 != ")" }.split(separator: " ").map(String.init)
    guard words.count >= 3 else { return false }
    let value = record[words[0]]?.string ?? ""
    let wanted = words[2...].joined(separator: " ").filter { $0 != "'" }
    switch words[1] {
    case "=": return value == wanted
    case ">": return value > wanted
    case ">=": return value >= wanted
    default: return false
    }
  }

  private func selecting(_ fields: [String], from record: JSONObject) -> JSONObject {
    var selected: JSONObject = ["attributes": record["attributes"] ?? .null]
    for field in fields { selected[field] = record[field] ?? .null }
    return selected
  }
}

extension String {
  fileprivate func replacingPrefix(_ prefix: String, with other: String) -> String {
    hasPrefix(prefix) ? other + dropFirst(prefix.count) : self
  }

  fileprivate func after(_ text: String) -> String {
    guard let range = firstRange(of: text) else { return "" }
    return String(self[range.upperBound...])
  }

  fileprivate func before(_ text: String) -> String {
    guard let range = firstRange(of: text) else { return self }
    return String(self[..<range.lowerBound])
  }

  fileprivate func between(_ start: String, _ end: String) -> String { after(start).before(end) }

  fileprivate var prefixWord: String { String(prefix { $0 != " " }) }
}
