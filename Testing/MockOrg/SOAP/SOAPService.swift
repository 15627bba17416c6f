import SalesforceSDKCommon

/// The SOAP calls for records, queries and descriptions. Each is translated into the request of the REST API
/// that does the same, so that both have the same rules.
struct SOAPService {
  /// The calls that need a session and that the org knows.
  static let calls: Set<String> = [
    "create", "update", "upsert", "delete", "query", "queryAll", "queryMore", "retrieve", "search",
    "describeGlobal", "describeSObject", "describeSObjects",
  ]

  let rest: RESTService
  let call: SOAPCall

  func respond() throws -> OrgResponse {
    do {
      return call.response(try result())
    } catch let error as ServerError {
      return SOAPCall.fault(error.code, "\(error.code): \(error.message)", form: call.form)
    }
  }

  private func result() throws -> String {
    let element = call.element
    func text(_ name: String) -> String { element[name]?.text ?? "" }
    switch call.name {
    case "create": return try save("POST", "composite/sobjects")
    case "update": return try save("PATCH", "composite/sobjects")
    case "upsert":
      let type = element.all("sObjects").first.map(typeName) ?? ""
      return try save("PATCH", "composite/sobjects/\(type)/\(text("externalIDFieldName"))")
    case "delete":
      let ids = (element.all("ids") + element.all("ID")).map(\.text).joined(separator: ",")
      return results(
        try send(
          "DELETE", "composite/sobjects",
          query: [("ids", ids), ("allOrNone", String(call.allOrNone))]))
    case "query", "queryAll":
      return SOAPRecords(call.form).queryResult(
        try send("GET", call.name, query: [("q", text("queryString"))]), named: "result")
    case "queryMore":
      return SOAPRecords(call.form).queryResult(
        try send("GET", "query/\(text("queryLocator"))"), named: "result")
    case "retrieve":
      let fields = text("fieldList").split(separator: ",").map {
        JSONValue.string(String($0).trimmingBlanks())
      }
      let ids = element.all("ids").map { JSONValue.string($0.text) }
      let records = try send(
        "POST", "composite/sobjects/\(text("sObjectType"))",
        body: .object(JSONObject([("ids", .array(ids)), ("fields", .array(fields))])))
      return records.elements.map { SOAPRecords(call.form).record($0, named: "result") }.joined()
    case "search":
      let found = try send("GET", "search", query: [("q", text("searchString"))])
      let records = (found["searchRecords"]?.elements.map { $0 } ?? []).map {
        "<searchRecords>\(SOAPRecords(call.form).record($0, named: "record"))</searchRecords>"
      }
      return "<result>\(records.joined())</result>"
    case "describeGlobal": return ResponseXML.element(try send("GET", "sobjects"), named: "result")
    default:
      return try (element.all("sObjectType") + element.all("sObjects")).map {
        ResponseXML.element(try send("GET", "sobjects/\($0.text)/describe"), named: "result")
      }.joined()
    }
  }

  /// Sends a request of the REST API.
  ///
  /// - Throws: The first of its errors.
  private func send(
    _ method: String, _ path: String, query: [(name: String, value: String)] = [],
    body: JSONValue? = nil
  ) throws -> JSONSlice {
    var request = OrgRequest(method: method, target: "")
    request.query = query
    request.body = Array((body?.text ?? "").utf8)
    if let size = call.batchSize { request.headers["sforce-query-options"] = "batchSize=\(size)" }
    let response = try rest.respond(
      to: request,
      path: path.split(separator: "/", omittingEmptySubsequences: false).map(String.init))
    let json = try JSONSlice(parsing: response.body)
    guard response.status < 400 else {
      throw ServerError(
        json[0]?["errorCode"]?.string ?? "UNKNOWN_EXCEPTION", json[0]?["message"]?.string ?? "")
    }
    return json
  }

  // MARK: Records in a call

  private func save(_ method: String, _ path: String) throws -> String {
    let records = call.element.all("sObjects").map(record)
    return results(
      try send(
        method, path,
        body: .object(
          JSONObject([("allOrNone", .bool(call.allOrNone)), ("records", .array(records))]))))
  }

  /// The name that a record gives its object, in either form.
  private func typeName(_ record: XMLElement) -> String {
    let type = record["type"]?.text ?? record.attributes["type"] ?? ""
    return type.split(separator: ":").last.map(String.init) ?? ""
  }

  private func record(_ element: XMLElement) -> JSONValue {
    let type = typeName(element)
    let object = rest.transaction.schema.object(named: type)
    var members: [(key: String, value: JSONValue)] = [
      ("attributes", .object(JSONObject([("type", .string(type))])))
    ]
    for child in element.children where child.name != "type" {
      if child.name == "fieldsToNull" {
        members.append((child.text, .null))
      } else if child.attributes["nil"] != "true",
        !members.contains(where: { $0.key == child.name })
      {
        members.append((child.name, value(of: child, object?.field(named: child.name))))
      }
    }
    return .object(JSONObject(members))
  }

  /// XML has texts alone; what they mean is the field's to say. A parent is named by its external id.
  private func value(of element: XMLElement, _ field: FieldSchema?) -> JSONValue {
    if !element.children.isEmpty {
      return .object(
        JSONObject(
          element.children.filter { $0.name != "type" }.map {
            (key: $0.name, value: JSONValue.string($0.text))
          }))
    }
    switch field?.type {
    case .boolean?:
      return ["true", "1"].contains(element.text)
        ? .bool(true)
        : ["false", "0"].contains(element.text) ? .bool(false) : .string(element.text)
    case let type? where type.storage == .integer || type.storage == .real:
      return (try? JSONValue(parsing: element.text)) ?? .string(element.text)
    default: return .string(element.text)
    }
  }

  /// What became of each record.
  private func results(_ json: JSONSlice) -> String {
    json.elements.map { result in
      var text = "<result>"
      if call.name == "upsert" {
        text += XMLText.element("created", String(result["created"]?.bool ?? false))
      }
      for error in result["errors"]?.elements.map({ $0 }) ?? [] {
        text += "<errors>"
        for field in error["fields"]?.elements.map({ $0 }) ?? [] {
          text += XMLText.element("fields", field.string ?? "")
        }
        text += XMLText.element("message", error["message"]?.string ?? "")
        text += XMLText.element("statusCode", error["statusCode"]?.string ?? "") + "</errors>"
      }
      text += result["id"]?.string.map { XMLText.element("id", $0) } ?? "<id xsi:nil=\"true\"/>"
      return text + XMLText.element("success", String(result["success"]?.bool ?? false))
        + "</result>"
    }.joined()
  }
}
