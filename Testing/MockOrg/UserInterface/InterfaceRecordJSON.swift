import SalesforceSDKCommon

/// Records as the User Interface API shows them.
struct InterfaceRecordJSON {
  let transaction: OrgTransaction

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

  /// A record with the fields of its page.
  func page(of record: InterfaceRecord) throws -> ResponseJSON {
    try self.record(record, fields: Self.layoutFields(of: record.object))
  }

  /// A record with fields of its own and, as `Account.Name`, of its parents.
  func record(_ target: InterfaceRecord, fields: [String]) throws -> ResponseJSON {
    let object = target.object
    let system = ["LastModifiedById", "LastModifiedDate", "SystemModstamp", "RecordTypeId"].filter {
      object.field(named: $0) != nil
    }
    try RecordWriter(transaction: transaction, object: object).existing(target.id)
    let record = try JSONSlice(
      parsing: RecordReader(transaction: transaction).bytes(
        of: object, id: target.id, fields: (["Id"] + fields + system).joined(separator: ",")))
    let modified = record["SystemModstamp"]?.string ?? ""
    return [
      "apiName": .string(object.name), "childRelationships": [:],
      "eTag": ObjectInfoJSON.tag(target.id + modified),
      "fields": members(fields.filter { $0.lowercased() != "id" }, of: record, object),
      "id": .string(target.id),
      "lastModifiedById": .string(orNull: record["LastModifiedById"]?.string),
      "lastModifiedDate": .string(orNull: record["LastModifiedDate"]?.string.map(Self.zulu)),
      "recordTypeId": .string(record["RecordTypeId"]?.string ?? LayoutPlan.masterRecordTypeID),
      "recordTypeInfo": nil, "systemModstamp": .string(Self.zulu(modified)),
      "weakEtag": .integer((DateText.secondsSince1970(modified) ?? 0) * 1000),
    ]
  }

  // MARK: Fields

  /// Fields of a record, and its parents as records inside it.
  private func members(
    _ fields: [String], of record: JSONSlice, _ object: ObjectSchema
  ) -> ResponseJSON {
    var members: [ResponseJSON.Member] = []
    var seen: Set<String> = []
    for name in fields {
      let first = String(name.prefix { $0 != "." })
      guard seen.insert(first.lowercased()).inserted else { continue }
      if name.contains(".") {
        let paths = fields.filter { $0.lowercased().hasPrefix(first.lowercased() + ".") }
        let inner = paths.map { String($0.dropFirst(first.count + 1)) }
        if let parent = parent(first, inner, record, object) { members.append(parent) }
      } else if let field = object.field(named: name) {
        members.append((field.name, value(record[field.name], field)))
      }
    }
    return .object(members)
  }

  /// A parent with some of its fields, as a record inside the record.
  private func parent(
    _ relationship: String, _ fields: [String], _ record: JSONSlice, _ object: ObjectSchema
  ) -> ResponseJSON.Member? {
    guard let field = object.parentField(relationshipName: relationship),
      let name = field.relationshipName
    else { return nil }
    let parent = record[name]
    let itsObject =
      parent?["attributes"]?["type"]?.string.flatMap { transaction.schema.object(named: $0) }
      ?? field.referenceTo.first.flatMap { transaction.schema.object(named: $0) }
    let title = itsObject?.nameField.flatMap { parent?[$0.name]?.string }
    var value = ResponseJSON.null
    if let parent, !parent.isNull, let itsObject {
      let id = parent["attributes"]?["url"]?.string?.split(separator: "/").last.map(String.init)
      value = [
        "apiName": .string(itsObject.name), "childRelationships": [:],
        "fields": members(fields, of: parent, itsObject), "id": .string(orNull: id),
      ]
    }
    return (name, ["displayValue": .string(orNull: title), "value": value])
  }

  private func value(_ value: JSONSlice?, _ field: FieldSchema) -> ResponseJSON {
    let isDate = field.type == .datetime
    return [
      "displayValue": .string(orNull: value.flatMap { Self.displayValue($0, field) }),
      "value": (isDate ? value?.string : nil).map { .string(Self.zulu($0)) }
        ?? value.map { .raw($0) } ?? .null,
    ]
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
