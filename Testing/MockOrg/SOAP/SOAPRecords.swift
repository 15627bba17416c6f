import SalesforceSDKCommon

/// The XML that SOAP gives for records: those of a partner client name their type and id in elements, those
/// of an enterprise client have a type of their own.
struct SOAPRecords {
  private let form: SOAPCall.Form

  init(_ form: SOAPCall.Form) { self.form = form }

  /// A page of a query, or the children of a record.
  func queryResult(_ json: JSONSlice, named name: String) -> String {
    var text = "<\(name) xsi:type=\"QueryResult\">"
    text += XMLText.element("done", String(json["done"]?.bool ?? true))
    text +=
      json["nextRecordsUrl"]?.string.flatMap { $0.split(separator: "/").last }.map {
        XMLText.element("queryLocator", String($0))
      } ?? "<queryLocator xsi:nil=\"true\"/>"
    for record in json["records"]?.elements.map({ $0 }) ?? [] {
      text += self.record(record, named: "records")
    }
    return text + XMLText.element("size", json["totalSize"]?.description ?? "0") + "</\(name)>"
  }

  func record(_ json: JSONSlice, named name: String) -> String {
    guard !json.isNull else { return "<\(name) xsi:nil=\"true\"/>" }
    let type = json["attributes"]?["type"]?.string ?? "sObject"
    var text: String
    switch form {
    case .partner:
      text = "<\(name) xsi:type=\"sf:sObject\">" + XMLText.element("sf:type", type)
      text += member("Id", json["Id"])
    case .enterprise: text = "<\(name) xsi:type=\"sf:\(type)\">"
    }
    for (key, value) in json.members where key != "attributes" { text += member(key, value) }
    return text + "</\(name)>"
  }

  private func member(_ key: String, _ value: JSONSlice?) -> String {
    let name = "sf:\(key)"
    guard let value, !value.isNull else { return "<\(name) xsi:nil=\"true\"/>" }
    guard value.kind == .object else {
      return XMLText.element(name, value.string.map(Self.dateTime) ?? value.description)
    }
    if value["records"] != nil { return queryResult(value, named: name) }
    if value["attributes"] != nil { return record(value, named: name) }
    let parts = value.members.map { part in
      part.value.isNull
        ? "<\(part.key) xsi:nil=\"true\"/>"
        : XMLText.element(part.key, part.value.string ?? part.value.description)
    }
    return "<\(name)>\(parts.joined())</\(name)>"
  }

  /// Datetimes end with `Z` here and with `+0000` in REST.
  private static func dateTime(_ text: String) -> String {
    let isDateTime =
      text.utf8.count == 28 && text.hasSuffix("+0000") && text.dropFirst(10).first == "T"
    return isDateTime ? text.dropLast(5) + "Z" : text
  }
}
