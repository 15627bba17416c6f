import SalesforceSDKCommon

/// The XML form of responses, for clients that request it (`Accept: application/xml`), and of bodies.
enum ResponseXML {
  /// Whether a request wants its response in XML.
  static func isWanted(_ request: OrgRequest) -> Bool {
    guard let accept = request.headers["accept"]?.lowercased() else { return false }
    guard let xml = accept.firstRange(of: "application/xml") else { return false }
    // Browsers name XML behind HTML; a client that names JSON first wants JSON.
    guard let json = accept.firstRange(of: "application/json") else {
      return !accept.hasPrefix("text/html")
    }
    return xml.lowerBound < json.lowerBound
  }

  /// The response in XML; one that is not JSON stays as it is.
  static func converted(_ response: OrgResponse) -> OrgResponse {
    guard response.contentType.contains("json"), !response.body.isEmpty,
      let json = try? JSONSlice(parsing: response.body)
    else { return response }
    var response = response
    var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
    append(json, named: rootName(of: json), to: &text)
    response.body = Array(text.utf8)
    response.contentType = "application/xml;charset=UTF-8"
    return response
  }

  /// A value as an element.
  static func element(_ json: JSONSlice, named name: String) -> String {
    var text = ""
    append(json, named: name, to: &text)
    return text
  }

  private static func rootName(of json: JSONSlice) -> String {
    switch json.kind {
    case .array: return json[0]?["errorCode"] != nil ? "Errors" : "Results"
    case .object:
      if let type = json["attributes"]?["type"]?.string { return type }
      if json["totalSize"] != nil { return "QueryResult" }
      if json["sobjects"] != nil { return "DescribeGlobal" }
      if json["fields"] != nil, json["childRelationships"] != nil { return "DescribeSObject" }
      return "Result"
    default: return "Result"
    }
  }

  private static func append(_ json: JSONSlice, named name: String, to text: inout String) {
    switch json.kind {
    case .array:
      // The elements of the root have a name of their own; those of a member repeat the member's.
      let inner = name == "Errors" ? "Error" : name == "Results" ? "Result" : nil
      if inner != nil { text += "<\(name)>" }
      for element in json.elements { append(element, named: inner ?? name, to: &text) }
      if inner != nil { text += "</\(name)>" }
    case .object:
      text += "<\(name)"
      for attribute in ["type", "url"] {
        if let value = json["attributes"]?[attribute]?.string {
          text += " \(attribute)=\"\(XMLText.escaped(value).replacing("\"", with: "&quot;"))\""
        }
      }
      text += ">"
      for (key, value) in json.members where key != "attributes" {
        append(value, named: key, to: &text)
      }
      text += "</\(name)>"
    case .null:
      text += "<\(name) xsi:nil=\"true\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"/>"
    case .string, .number, .bool:
      text += XMLText.element(name, json.string ?? json.description)
    }
  }

  /// The JSON that a body in XML stands for: the root's children are the members, repeated names an
  /// array, texts strings.
  static func json(of root: XMLElement) -> JSONValue {
    if root.children.isEmpty {
      return root.attributes["nil"] == "true" ? .null : .string(root.text)
    }
    var members: [(key: String, value: JSONValue)] = []
    for name in root.children.map(\.name) where !members.contains(where: { $0.key == name }) {
      let values = root.all(name).map { json(of: $0) }
      members.append((name, values.count == 1 ? values[0] : .array(values)))
    }
    return .object(JSONObject(members))
  }
}
