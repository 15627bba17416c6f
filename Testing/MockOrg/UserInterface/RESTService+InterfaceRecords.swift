import GRDB
import SalesforceSDKCommon

/// `/ui-api/records`: records as pages show them, each field with its value and a text for the eye.
extension RESTService {
  struct InterfaceTarget {
    let object: ObjectSchema
    let id: String
  }

  /// The record that an id names.
  func interfaceTarget(_ text: String) throws(ServerError) -> InterfaceTarget {
    guard let id = RecordID.normalized(text.trimmingBlanks()) else { throw .malformedID(text) }
    guard let object = transaction.schema.object(keyPrefix: id.prefix(3)) else {
      throw .notFound()
    }
    return InterfaceTarget(object: object, id: id)
  }

  func interfaceRecord(_ request: OrgRequest, id: String) throws -> OrgResponse {
    let target = try interfaceTarget(id)
    switch request.method {
    case "GET", "HEAD":
      let fields = try fields(of: target.object, request)
      let response = try OrgResponse.json {
        try writeInterfaceRecord(target, fields: fields, to: &$0)
      }
      if request[query: "updateMru"]?.lowercased() == "true" {
        org.recents.view(target.id, by: transaction.userID)
      }
      return response
    case "PATCH":
      let body = try request.object()
      guard let fields = body["fields"], fields.kind == .object else {
        throw ServerError("INVALID_INPUT", "The body has to have an object 'fields'.")
      }
      let changes = try fields.setting(
        [], removing: fields.members.map(\.key).filter { $0.lowercased() == "id" })
      let since = try Conditions(request)
      let writer = writer(target.object, request)
      try writer.update(id: target.id, changes, conditions: since)
      org.recents.view(target.id, by: transaction.userID)
      return try .json {
        try writeInterfaceRecord(
          target, fields: Self.layoutFields(of: target.object), to: &$0)
      }
    case "DELETE":
      try writer(target.object, request).delete(id: target.id)
      return .empty()
    default:
      throw ServerError.methodNotAllowed(request.method, allowed: "DELETE,GET,HEAD,PATCH")
    }
  }

  func createInterfaceRecord(_ request: OrgRequest) throws -> OrgResponse {
    let body = try request.object()
    guard let name = body["apiName"]?.string, let fields = body["fields"], fields.kind == .object
    else { throw ServerError("INVALID_INPUT", "The body has to have 'apiName' and 'fields'.") }
    let object = try transaction.object(named: name)
    let id = try writer(object, request).create(fields)
    org.recents.view(id, by: transaction.userID)
    return try .json(201) {
      try writeInterfaceRecord(
        InterfaceTarget(object: object, id: id), fields: Self.layoutFields(of: object), to: &$0)
    }
  }

  func interfaceRecords(_ request: OrgRequest, ids: String) throws -> OrgResponse {
    let results = ids.split(separator: ",").map { text -> OrgResponse in
      do {
        let target = try interfaceTarget(String(text))
        let fields = try fields(of: target.object, request)
        return try .json { try writeInterfaceRecord(target, fields: fields, to: &$0) }
      } catch let error as ServerError {
        return OrgResponse(error)
      } catch {
        return OrgResponse(ServerError.notFound())
      }
    }
    return try .batch(of: results)
  }

  // MARK: Fields

  /// The fields that a request names (`Account.Name`), those of its layouts, or an error if it names
  /// neither.
  private func fields(of object: ObjectSchema, _ request: OrgRequest) throws -> [String] {
    func names(_ parameter: String) -> [String] {
      (request[query: parameter] ?? "").split(separator: ",").map {
        String($0).trimmingBlanks()
      }
    }
    func local(_ name: String) throws(ServerError) -> String {
      let prefix = "\(object.name.lowercased())."
      guard name.lowercased().hasPrefix(prefix) else {
        throw ServerError(
          "INVALID_FIELD", "\(name) does not begin with the object's name \(object.name).")
      }
      return String(name.dropFirst(prefix.count))
    }
    var fields = try names("fields").map { try local($0) }
    for name in names("optionalFields") {
      guard let name = try? local(name) else { continue }
      let isKnown =
        name.contains(".")
        ? object.parentField(relationshipName: String(name.prefix { $0 != "." })) != nil
        : object.field(named: name) != nil
      if isKnown { fields.append(name) }
    }
    if request[query: "layoutTypes"] != nil { fields += Self.layoutFields(of: object) }
    guard !fields.isEmpty else {
      throw ServerError(
        "MISSING_PARAMETER", "Specify at least one of fields, optionalFields or layoutTypes.")
    }
    return fields
  }

  /// The fields of an object's page.
  static func layoutFields(of object: ObjectSchema) -> [String] {
    let plan = LayoutPlan(object)
    var names: [String] = []
    for section in plan.sections {
      for part in section.fields.flatMap({ plan.parts(of: $0) }) where !names.contains(part.name) {
        names.append(part.name)
      }
    }
    for name in ["CreatedDate", "LastModifiedDate", "SystemModstamp"]
    where object.field(named: name) != nil {
      names.append(name)
    }
    return names
  }

  // MARK: Writing

  func writeInterfaceRecord(
    _ target: InterfaceTarget, fields: [String], to writer: inout JSONWriter
  ) throws {
    let object = target.object
    let system = ["LastModifiedById", "LastModifiedDate", "SystemModstamp", "RecordTypeId"].filter {
      object.field(named: $0) != nil
    }
    try RecordWriter(transaction: transaction, object: object).existing(target.id)
    let response = try retrieve(
      object, id: target.id, fields: (["Id"] + fields + system).joined(separator: ","))
    let record = try JSONSlice(parsing: response.body)
    let modified = record["SystemModstamp"]?.string ?? ""
    writer.beginObject()
    writer.key("apiName")
    writer.string(object.name)
    writer.key("childRelationships")
    writer.beginObject()
    writer.endObject()
    writer.key("eTag")
    writer.string(Self.tag(target.id + modified))
    writer.key("fields")
    writer.beginObject()
    var written: Set<String> = []
    for name in fields where name.lowercased() != "id" {
      let first = String(name.prefix { $0 != "." })
      guard written.insert(first.lowercased()).inserted else { continue }
      if name.contains(".") {
        let paths = fields.filter { $0.lowercased().hasPrefix(first.lowercased() + ".") }
        writeParent(
          first, paths.map { String($0.dropFirst(first.count + 1)) }, record, object, to: &writer)
      } else if let field = object.field(named: name) {
        writer.key(field.name)
        write(record[field.name], field, to: &writer)
      }
    }
    writer.endObject()
    writer.key("id")
    writer.string(target.id)
    writer.key("lastModifiedById")
    writer.string(orNull: record["LastModifiedById"]?.string)
    writer.key("lastModifiedDate")
    writer.string(orNull: record["LastModifiedDate"]?.string.map(Self.zulu))
    writer.key("recordTypeId")
    writer.string(record["RecordTypeId"]?.string ?? LayoutPlan.masterRecordTypeID)
    writer.key("recordTypeInfo")
    writer.null()
    writer.key("systemModstamp")
    writer.string(Self.zulu(modified))
    writer.key("weakEtag")
    writer.integer((DateText.secondsSince1970(modified) ?? 0) * 1000)
    writer.endObject()
  }

  /// A parent with some of its fields, as a record inside the record.
  private func writeParent(
    _ relationship: String, _ paths: [String], _ record: JSONSlice, _ object: ObjectSchema,
    to writer: inout JSONWriter
  ) {
    guard let field = object.parentField(relationshipName: relationship),
      let name = field.relationshipName
    else { return }
    writer.key(name)
    writer.beginObject()
    writer.key("displayValue")
    let parent = record[name]
    let itsObject =
      parent?["attributes"]?["type"]?.string.flatMap { transaction.schema.object(named: $0) }
      ?? field.referenceTo.first.flatMap { transaction.schema.object(named: $0) }
    let title = itsObject?.nameField.flatMap { parent?[$0.name]?.string }
    writer.string(orNull: title)
    writer.key("value")
    if let parent, !parent.isNull, let itsObject {
      writer.beginObject()
      writer.key("apiName")
      writer.string(itsObject.name)
      writer.key("childRelationships")
      writer.beginObject()
      writer.endObject()
      writer.key("fields")
      writer.beginObject()
      var written: Set<String> = []
      for path in paths {
        let first = String(path.prefix { $0 != "." })
        guard written.insert(first.lowercased()).inserted else { continue }
        if path.contains(".") {
          let inner = paths.filter { $0.lowercased().hasPrefix(first.lowercased() + ".") }
          writeParent(
            first, inner.map { String($0.dropFirst(first.count + 1)) }, parent, itsObject,
            to: &writer)
        } else if let field = itsObject.field(named: path) {
          writer.key(field.name)
          write(parent[field.name], field, to: &writer)
        }
      }
      writer.endObject()
      writer.key("id")
      writer.string(
        orNull: parent["attributes"]?["url"]?.string?.split(separator: "/").last.map(String.init))
      writer.endObject()
    } else {
      writer.null()
    }
    writer.endObject()
  }

  private func write(_ value: JSONSlice?, _ field: FieldSchema, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("displayValue")
    writer.string(orNull: value.flatMap { Self.displayValue($0, field) })
    writer.key("value")
    if let value, field.type == .datetime, let text = value.string {
      writer.string(Self.zulu(text))
    } else if let value {
      writer.raw(value)
    } else {
      writer.null()
    }
    writer.endObject()
  }

  /// The text that a page shows where it differs from the value.
  private static func displayValue(_ value: JSONSlice, _ field: FieldSchema) -> String? {
    switch field.type {
    case .picklist, .combobox:
      guard let text = value.string else { return nil }
      return field.picklistValues.first { $0.value == text }?.label ?? text
    case .multipicklist: return value.string
    case .date, .datetime:
      guard let text = value.string, text.count >= 10, let month = Int(text.dropFirst(5).prefix(2)),
        let day = Int(text.dropFirst(8).prefix(2))
      else { return nil }
      let date = "\(month)/\(day)/\(text.prefix(4))"
      guard field.type == .datetime, let hour = Int(text.dropFirst(11).prefix(2)) else {
        return date
      }
      let minute = text.dropFirst(14).prefix(2)
      return "\(date), \((hour + 11) % 12 + 1):\(minute) \(hour < 12 ? "AM" : "PM")"
    case .int, .long, .double: return value.numberText
    case .currency: return value.numberText.map { "$\($0)" }
    case .percent: return value.numberText.map { "\($0)%" }
    default: return nil
    }
  }

  /// This API writes UTC as `Z`.
  private static func zulu(_ text: String) -> String {
    text.hasSuffix("+0000") ? text.dropLast(5) + "Z" : text
  }
}
