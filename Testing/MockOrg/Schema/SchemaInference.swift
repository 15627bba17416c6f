import SalesforceSDKCommon

/// Works out what an org's schema must have been for its data to be what they are.
///
/// Objects and fields without a description are derived from the names and values; fields that
/// are known are widened where the data do not fit them.
struct SchemaInference {
  /// All that is known about the values of one field.
  private struct Evidence {
    var name: String
    var values: [JSONSlice] = []
    /// The objects that the field's references name.
    var parents: Set<String> = []
  }

  private(set) var schema: OrgSchema
  /// The objects that are new or have changed, by name.
  private(set) var changed: Set<String> = []

  init(schema: OrgSchema) { self.schema = schema }

  /// Makes the schema fit the data.
  ///
  /// - Parameter object: Gives the object of the record that a text such as `@Ref` in a record
  ///   refers to; nil if it refers to none.
  /// - Throws: ``MockOrgError`` `invalidData` if a field without a description holds a reference to a
  ///   record that is not in the data.
  mutating func fit(
    _ data: TreeData, object parent: (_ reference: String, _ record: TreeData.Record) -> String?
  ) throws(MockOrgError) {
    var order: [String] = []
    var evidence: [String: [Evidence]] = [:]
    var index: [String: [String: Int]] = [:]
    for record in data.records {
      let key = record.object.lowercased()
      if index[key] == nil {
        index[key] = [:]
        evidence[key] = []
        order.append(record.object)
      }
      func place(_ name: String) -> Int {
        if let place = index[key]?[name.lowercased()] { return place }
        evidence[key]?.append(Evidence(name: name))
        let place = (evidence[key]?.count ?? 1) - 1
        index[key]?[name.lowercased()] = place
        return place
      }
      for (name, value) in record.members {
        let place = place(name)
        if value.isNull { continue }
        if let text = value.string, text.hasPrefix("@"),
          let object = parent(String(text.dropFirst()), record)
        {
          evidence[key]?[place].parents.insert(object)
        } else {
          try checkReference(value, name, record)
          evidence[key]?[place].values.append(value)
        }
      }
      if let (parentIndex, relationship) = record.parent {
        let object = data.records[parentIndex].object
        let field = linkField(of: record.object, to: object, relationship: relationship)
        let place = place(field)
        evidence[key]?[place].parents.insert(object)
      }
    }
    for name in order where schema.object(named: name) == nil {
      insert(Self.blank(name, prefix(name)))
    }
    for name in order { fit(name, evidence[name.lowercased()] ?? []) }
    for name in order { linkParents(of: name) }
  }

  /// A text such as `@Ref` that names no record is a mistake, unless a description says that the field is a
  /// text.
  private func checkReference(
    _ value: JSONSlice, _ field: String, _ record: TreeData.Record
  ) throws(MockOrgError) {
    guard let text = value.string, text.hasPrefix("@"), text.utf8.count > 1,
      text.dropFirst().allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" }),
      schema.object(named: record.object)?.field(named: field) == nil
    else { return }
    throw MockOrgError(
      .invalidData,
      "\(record.file): '\(text)' in \(field) of \(record.object) is the reference of no record in the "
        + "plan. Correct it, or describe the field if it holds a text.")
  }

  /// The reference field by which a record inside another one names it.
  func linkField(of child: String, to parent: String, relationship: String) -> String {
    if let known = schema.object(named: parent)?.childRelationship(named: relationship),
      known.childObject.lowercased() == child.lowercased()
    {
      return known.field
    }
    if let child = schema.object(named: child),
      let field = child.fields.first(where: {
        $0.type == .reference && $0.referenceTo.contains(parent) && $0.createable
      })
    {
      return field.name
    }
    if parent.hasSuffix("__c") { return parent }
    return child.hasSuffix("__c") ? "\(parent)__c" : "\(parent)Id"
  }

  /// An object without any fields of its own, for records that are to be generated.
  mutating func insertObject(named name: String, fields: [FieldSchema]) {
    let blank = Self.blank(name, prefix(name))
    insert(Self.rebuilt(blank, fields: blank.fields + fields))
    linkParents(of: name)
  }

  /// Takes up objects from their descriptions. A description of the parent that lacks the relationship to one of them
  /// gets it, with the name that the platform proposes.
  mutating func takeUp(described objects: [ObjectSchema]) {
    for object in objects { insert(object) }
    for object in objects { linkParents(of: object.name) }
  }

  /// Takes up objects as their project defines them: new fields are added, known ones replaced.
  mutating func takeUp(_ objects: [SourceObject]) {
    for source in objects {
      let known = schema.object(named: source.name) ?? Self.blank(source.name, prefix(source.name))
      var fields = known.fields
      for field in source.fields + [source.nameField].compactMap(\.self) {
        if let index = fields.firstIndex(where: { $0.name == field.name }) {
          fields[index] = field
        } else {
          fields.append(field)
        }
      }
      if !source.recordTypes.isEmpty, !fields.contains(where: { $0.name == "RecordTypeId" }) {
        fields.append(SystemFields.recordType)
      }
      // A record of a master belongs to whom the master belongs.
      if source.fields.contains(where: { $0.type == .reference && $0.cascadeDelete && !$0.nillable }
      ) {
        fields.removeAll { $0.name == "OwnerId" }
      }
      var object = Self.rebuilt(known, fields: fields)
      if let label = source.label, !label.isEmpty { object.label = label }
      if let label = source.labelPlural, !label.isEmpty { object.labelPlural = label }
      if let sharing = source.sharing { object.sharing = sharing }
      insert(object)
    }
    for source in objects {
      for relationship in source.relationships {
        guard var parent = schema.object(named: relationship.parent) else { continue }
        parent.childRelationships.removeAll {
          $0.childObject == source.name && $0.field == relationship.field
        }
        parent.childRelationships.append(
          ChildRelationship(
            childObject: source.name, field: relationship.field,
            relationshipName: relationship.name.map { "\($0)__r" },
            cascadeDelete: relationship.cascadeDelete,
            restrictedDelete: relationship.restrictedDelete))
        insert(parent)
      }
    }
  }

  // MARK: Objects

  private mutating func insert(_ object: ObjectSchema) {
    schema.insert(object)
    changed.insert(object.name)
  }

  /// Key prefixes of standard objects that the package does not describe.
  private static let standardPrefixes = [
    "Order": "801", "OrderItem": "802", "Contract": "800", "Quote": "0Q0", "Solution": "501",
    "Attachment": "00P", "Note": "002", "WorkOrder": "0WO", "WorkType": "08q",
    "ServiceAppointment": "08p", "ServiceTerritory": "0Hh", "Individual": "0PK",
    "OperatingHours": "0OH", "CampaignMember": "00v", "OpportunityLineItem": "00k",
    "ContentVersion": "068", "ContentDocument": "069", "CaseComment": "00a", "Location": "131",
  ]

  /// A key prefix that no object has yet: `a00`, `a01`, ... for custom objects.
  private func prefix(_ name: String) -> String {
    if let known = Self.standardPrefixes[name], schema.object(keyPrefix: known) == nil {
      return known
    }
    let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
    let first: Character = name.hasSuffix("__c") ? "a" : "9"
    for second in digits {
      for third in digits {
        let prefix = String([first, second, third])
        if schema.object(keyPrefix: prefix) == nil { return prefix }
      }
    }
    return "zzz"
  }

  /// An object with the fields that every object has.
  private static func blank(_ name: String, _ prefix: String) -> ObjectSchema {
    let label = label(of: name)
    var nameField = FieldSchema(name: "Name", label: "\(label) Name", type: .string)
    nameField.length = name.hasSuffix("__c") ? 80 : 255
    nameField.nameField = true
    nameField.idLookup = true
    nameField.defaultedOnCreate = true
    var object = ObjectSchema(
      name: name, label: label, labelPlural: plural(label), keyPrefix: prefix,
      fields: [SystemFields.id, SystemFields.owner, SystemFields.deleted, nameField]
        + SystemFields.stamps)
    object.custom = name.hasSuffix("__c")
    return object
  }

  /// The object with other fields and all else as it is.
  private static func rebuilt(_ object: ObjectSchema, fields: [FieldSchema]) -> ObjectSchema {
    var new = ObjectSchema(
      name: object.name, label: object.label, labelPlural: object.labelPlural,
      keyPrefix: object.keyPrefix, fields: fields)
    new.custom = object.custom
    new.createable = object.createable
    new.updateable = object.updateable
    new.deletable = object.deletable
    new.undeletable = object.undeletable
    new.queryable = object.queryable
    new.searchable = object.searchable
    new.childRelationships = object.childRelationships
    new.sharing = object.sharing
    return new
  }

  // MARK: Fields

  private mutating func fit(_ name: String, _ evidence: [Evidence]) {
    guard let object = schema.object(named: name) else { return }
    var fields = object.fields
    var isChanged = false
    for evidence in evidence {
      guard let index = object.index(ofField: evidence.name) else {
        if evidence.parents.isEmpty,
          object.parentField(relationshipName: evidence.name) != nil
        {
          continue
        }
        fields.append(field(from: evidence))
        isChanged = true
        continue
      }
      if widen(&fields[index], evidence) { isChanged = true }
    }
    let known = fields.map(\.name)
    for name in known where name.hasSuffix("__Latitude__s") {
      let base = String(name.dropLast("__Latitude__s".count))
      let compound = "\(base)__c"
      if known.contains(compound) { continue }
      for part in ["\(base)__Latitude__s", "\(base)__Longitude__s"] {
        guard let index = fields.firstIndex(where: { $0.name == part }) else { continue }
        fields[index].compoundFieldName = compound
        fields[index].precision = 18
        fields[index].scale = 15
      }
      var field = FieldSchema(name: compound, label: Self.label(of: compound), type: .location)
      field.createable = false
      field.updateable = false
      field.custom = true
      fields.append(field)
      isChanged = true
    }
    if isChanged { insert(Self.rebuilt(object, fields: fields)) }
  }

  /// A field without a description.
  private func field(from evidence: Evidence) -> FieldSchema {
    let name = evidence.name
    var field = FieldSchema(name: name, label: Self.label(of: name), type: .string)
    field.custom = name.hasSuffix("__c") || name.hasSuffix("__s")
    if !evidence.parents.isEmpty {
      field.type = .reference
      field.length = 18
      field.referenceTo = evidence.parents.sorted()
      field.relationshipName = Self.relationshipName(of: name)
      return field
    }
    field.type = Self.type(of: evidence.values, named: name)
    switch field.type {
    case .double:
      field.precision = 18
      // Whole numbers in the data do not say that the field takes no others.
      field.scale = max(2, evidence.values.map(Self.decimals).max() ?? 0)
    case .boolean:
      field.nillable = false
      field.defaultedOnCreate = true
      field.defaultValue = .boolean(false)
    case .textarea: field.length = 32768
    case .phone: field.length = 40
    case .email: field.length = 80
    case .string, .url: field.length = 255
    default: break
    }
    return field
  }

  /// Makes a known field take the values; true if it had to change.
  private func widen(_ field: inout FieldSchema, _ evidence: Evidence) -> Bool {
    var isChanged = false
    if field.type == .reference {
      for parent in evidence.parents where !field.referenceTo.contains(parent) {
        field.referenceTo.append(parent)
        isChanged = true
      }
    }
    guard field.type.isText else { return isChanged }
    for text in evidence.values.compactMap(\.string) {
      if field.length > 0, text.unicodeScalars.count > field.length {
        field.length = text.unicodeScalars.count
        isChanged = true
      }
      if field.restrictedPicklist, !text.isEmpty,
        !field.picklistValues.contains(where: { $0.value.lowercased() == text.lowercased() })
      {
        field.picklistValues.append(PicklistValue(value: text, label: text))
        isChanged = true
      }
    }
    return isChanged
  }

  private static func type(of values: [JSONSlice], named name: String) -> FieldType {
    guard let first = values.first else { return .string }
    if values.allSatisfy({ $0.kind == .bool }) { return .boolean }
    if values.allSatisfy({ $0.kind == .number }) { return .double }
    guard values.allSatisfy({ $0.kind == .string }) else {
      return first.kind == .object || first.kind == .array ? .textarea : .string
    }
    let texts = values.compactMap(\.string).filter { !$0.isEmpty }
    if texts.isEmpty { return .string }
    if texts.allSatisfy({ $0.utf8.count == 10 && DateText.parseDate($0) != nil }) { return .date }
    if texts.allSatisfy({ $0.utf8.count > 10 && DateText.parseDateTime($0) != nil }) {
      return .datetime
    }
    if texts.contains(where: { $0.unicodeScalars.count > 255 || $0.contains("\n") }) {
      return .textarea
    }
    let lowercase = name.lowercased()
    if lowercase.contains("email"), texts.allSatisfy({ $0.contains("@") }) { return .email }
    if texts.allSatisfy({ $0.hasPrefix("https://") || $0.hasPrefix("http://") }) { return .url }
    if lowercase.contains("phone"), texts.allSatisfy({ $0.utf8.count <= 40 }) { return .phone }
    return .string
  }

  /// The digits behind the point of a number as it is written.
  private static func decimals(_ value: JSONSlice) -> Int {
    let text = value.description.prefix { $0 != "e" && $0 != "E" }
    guard let point = text.firstIndex(of: ".") else { return 0 }
    return min(15, text[point...].utf8.count - 1)
  }

  // MARK: Relationships

  /// Gives the parents of an object's references the relationship back to it.
  private mutating func linkParents(of name: String) {
    guard let child = schema.object(named: name) else { return }
    for field in child.fields where field.type == .reference {
      for parentName in field.referenceTo where !["User", "RecordType"].contains(parentName) {
        guard var parent = schema.object(named: parentName),
          !parent.childRelationships.contains(where: {
            $0.childObject == child.name && $0.field == field.name
          })
        else { continue }
        let base = child.labelPlural.filter { $0.isLetter || $0.isNumber }
        let suffix = field.custom ? "__r" : ""
        var relationship = base + suffix
        var number = 1
        while parent.childRelationship(named: relationship) != nil {
          relationship = "\(base)\(number)\(suffix)"
          number += 1
        }
        parent.childRelationships.append(
          ChildRelationship(
            childObject: child.name, field: field.name, relationshipName: relationship,
            cascadeDelete: field.cascadeDelete, restrictedDelete: field.restrictedDelete))
        insert(parent)
      }
    }
  }

  /// `Broker__r` of `Broker__c`, `Account` of `AccountId`.
  static func relationshipName(of field: String) -> String {
    if field.hasSuffix("__c") { return "\(field.dropLast(3))__r" }
    return field.hasSuffix("Id") ? String(field.dropLast(2)) : field
  }

  /// `Product Family` of `Product_Family__c`.
  static func label(of name: String) -> String {
    var name = Substring(name)
    for suffix in ["__c", "__s"] where name.hasSuffix(suffix) { name = name.dropLast(3) }
    if let range = name.firstRange(of: "__") { name = name[range.upperBound...] }
    return String(name.map { $0 == "_" ? " " : $0 })
  }

  static func plural(_ label: String) -> String {
    let lowercase = label.lowercased()
    if lowercase.hasSuffix("y"), let before = lowercase.dropLast().last, !"aeiou".contains(before) {
      return "\(label.dropLast())ies"
    }
    if ["s", "x", "ch", "sh"].contains(where: lowercase.hasSuffix) { return "\(label)es" }
    return "\(label)s"
  }
}
