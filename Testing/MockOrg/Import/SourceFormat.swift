import Foundation

/// The definitions of an object in a project's source format: `objects/NAME/NAME.object-meta.xml` with
/// `fields/*.field-meta.xml` and `recordTypes/*.recordType-meta.xml` in the same folder.
struct SourceObject {
  /// A record type that the object has.
  struct RecordType: Sendable {
    var developerName: String
    var label: String
    var isActive: Bool
    var description: String?
  }

  /// What a reference field says about its parent.
  struct Relationship {
    var field: String
    var parent: String
    var name: String?
    var cascadeDelete: Bool
    var restrictedDelete: Bool
  }

  let name: String
  private(set) var label: String?
  private(set) var labelPlural: String?
  private(set) var sharing: MockOrgSharing?
  /// The name field, where the object's own definition describes it.
  private(set) var nameField: FieldSchema?
  private(set) var fields: [FieldSchema] = []
  private(set) var relationships: [Relationship] = []
  private(set) var recordTypes: [RecordType] = []

  /// All objects below a folder: the project's, a package's or `objects` itself.
  ///
  /// - Throws: ``MockOrgError`` `unreadable` if there is no folder `objects`, `invalidSchema` if a file
  ///   is no definition.
  static func all(in folder: URL) throws(MockOrgError) -> [SourceObject] {
    let folders = try objectFolders(below: folder)
    guard !folders.isEmpty else {
      throw MockOrgError(
        .unreadable,
        "\(folder.path) has no folder 'objects' with definitions. Name a project in source format.")
    }
    let valueSets = try valueSets(below: folder)
    var objects: [SourceObject] = []
    for folder in folders {
      objects.append(try SourceObject(folder: folder, valueSets: valueSets))
    }
    return objects
  }

  /// The picklists that fields share: `globalValueSets/*.globalValueSet-meta.xml`, by name.
  private static func valueSets(
    below folder: URL
  ) throws(MockOrgError) -> [String: [PicklistValue]] {
    let ending = ".globalValueSet-meta.xml"
    let files = FileManager.default.enumerator(
      at: folder, includingPropertiesForKeys: nil, options: [.skipsHiddenFiles])
    var sets: [String: [PicklistValue]] = [:]
    while let file = files?.nextObject() as? URL {
      guard file.lastPathComponent.hasSuffix(ending) else { continue }
      let root = try read(file, root: "GlobalValueSet")
      sets[String(file.lastPathComponent.dropLast(ending.count))] =
        root.all("customValue").map { PicklistValue($0) }
    }
    return sets
  }

  /// The folders within an object's, with how the files end that count there.
  private static let parts = [
    ("fields", ".field-meta.xml"), ("recordTypes", ".recordType-meta.xml"),
  ]

  private static func objectFolders(below folder: URL) throws(MockOrgError) -> [URL] {
    guard
      let files = FileManager.default.enumerator(
        at: folder, includingPropertiesForKeys: nil, options: [.skipsHiddenFiles])
    else { throw MockOrgError(.unreadable, "Cannot read the folder \(folder.path).") }
    var folders: Set<URL> = []
    for case let file as URL in files where file.pathExtension == "xml" {
      let parent = file.deletingLastPathComponent()
      if file.lastPathComponent.hasSuffix(".object-meta.xml") {
        folders.insert(parent)
      } else if Self.parts.contains(where: { folder, ending in
        parent.lastPathComponent == folder && file.lastPathComponent.hasSuffix(ending)
      }) {
        folders.insert(parent.deletingLastPathComponent())
      }
    }
    return folders.sorted { $0.lastPathComponent < $1.lastPathComponent }
  }

  private init(folder: URL, valueSets: [String: [PicklistValue]]) throws(MockOrgError) {
    name = folder.lastPathComponent
    let definition = folder.appending(path: "\(name).object-meta.xml")
    if FileManager.default.fileExists(atPath: definition.path) {
      let root = try Self.read(definition, root: "CustomObject")
      label = root["label"]?.text
      labelPlural = root["pluralLabel"]?.text
      sharing = root["sharingModel"].flatMap { MockOrgSharing(sharingModel: $0.text) }
      if let field = root["nameField"] {
        nameField = try SourceField(field, of: name, file: definition, isName: true).schema
      }
    }
    // A standard field's file says only what differs from the platform's own definition.
    for file in Self.files(in: folder.appending(path: "fields"), ending: "__c.field-meta.xml") {
      let field = try SourceField(
        Self.read(file, root: "CustomField"), of: name, file: file, isName: false,
        valueSets: valueSets)
      fields.append(contentsOf: field.parts + [field.schema])
      if let relationship = field.relationship { relationships.append(relationship) }
    }
    for file in Self.files(
      in: folder.appending(path: "recordTypes"), ending: ".recordType-meta.xml")
    {
      let root = try Self.read(file, root: "RecordType")
      recordTypes.append(
        RecordType(
          developerName: root["fullName"]?.text ?? "", label: root["label"]?.text ?? "",
          isActive: root["active"]?.text != "false", description: root["description"]?.text))
    }
  }

  private static func files(in folder: URL, ending: String) -> [URL] {
    let files = try? FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    return (files ?? []).filter { $0.lastPathComponent.hasSuffix(ending) }
      .sorted { $0.lastPathComponent < $1.lastPathComponent }
  }

  private static func read(_ file: URL, root name: String) throws(MockOrgError) -> XMLElement {
    let bytes = try NamedFile.read(file)
    guard let root = XMLElement(parsing: bytes), root.name == name else {
      throw MockOrgError(.invalidSchema, "\(file.lastPathComponent) is no \(name).")
    }
    return root
  }
}

/// The definition of one field.
struct SourceField {
  let schema: FieldSchema
  /// The fields that keep the parts of a location or an address.
  private(set) var parts: [FieldSchema] = []
  private(set) var relationship: SourceObject.Relationship?

  /// - Throws: ``MockOrgError`` `invalidSchema` if the type is unknown.
  init(
    _ definition: XMLElement, of object: String, file: URL, isName: Bool,
    valueSets: [String: [PicklistValue]] = [:]
  ) throws(MockOrgError) {
    func text(_ name: String) -> String? { definition[name]?.text }
    func flag(_ name: String) -> Bool { text(name) == "true" }
    func number(_ name: String) -> Int? { text(name).flatMap { Int($0) } }
    let name = isName ? "Name" : text("fullName") ?? ""
    let typeName = text("type") ?? (isName ? "Text" : "")
    guard !name.isEmpty, let type = Self.types[typeName] else {
      throw MockOrgError(
        .invalidSchema, "\(file.lastPathComponent) has the type '\(typeName)', which no field has.")
    }
    var field = FieldSchema(
      name: name, label: text("label") ?? SchemaInference.label(of: name), type: type)
    field.custom = name.hasSuffix("__c")
    field.length = number("length") ?? Self.usualLengths[typeName] ?? (isName ? 80 : 0)
    if type == .boolean { field.nillable = false }
    if [.double, .currency, .percent].contains(type) {
      field.precision = number("precision") ?? 18
      field.scale = number("scale") ?? 0
    }
    field.nillable = type != .boolean && !flag("required") && typeName != "MasterDetail" && !isName
    field.unique = flag("unique")
    field.caseSensitive = flag("caseSensitive")
    field.externalId = flag("externalId")
    field.idLookup = field.externalId || field.unique || isName
    field.helpText = text("inlineHelpText")
    field.displayFormat = text("displayFormat")
    field.nameField = isName
    if typeName == "AutoNumber" {
      field.autoNumber = true
      field.length = 30
    }
    if let formula = text("formula") {
      field.formula = formula
      field.formulaTreatsNullAsZero = text("formulaTreatBlanksAs") != "BlankAsBlank"
      field.calculated = true
    }
    if let default_ = text("defaultValue") { field.defaultValue = Self.value(default_, type) }
    if isName { field.defaultedOnCreate = true }
    if field.autoNumber || field.formula != nil || typeName == "Summary" {
      field.createable = false
      field.updateable = false
      field.nillable = field.formula != nil || typeName == "Summary"
    }
    Self.addPicklist(to: &field, definition, valueSets)
    Self.addRollUp(to: &field, definition)
    // A hierarchy leads from users to users.
    let parent = typeName == "Hierarchy" ? object : text("referenceTo")
    if type == .reference, let parent {
      field.referenceTo = [parent]
      field.relationshipName = SchemaInference.relationshipName(of: name)
      field.length = 18
      let constraint = text("deleteConstraint")
      field.cascadeDelete = typeName == "MasterDetail" || constraint == "Cascade"
      field.restrictedDelete = constraint == "Restrict"
      field.updateable = typeName != "MasterDetail" || flag("reparentableMasterDetail")
      relationship = SourceObject.Relationship(
        field: name, parent: parent, name: text("relationshipName"),
        cascadeDelete: field.cascadeDelete, restrictedDelete: field.restrictedDelete)
    }
    if type == .location || type == .address {
      field.createable = false
      field.updateable = false
      parts = Self.parts(of: field)
    }
    schema = field
  }

  /// The fields that keep the parts of a compound one.
  private static func parts(of field: FieldSchema) -> [FieldSchema] {
    let texts = [
      ("Street", 255), ("City", 40), ("StateCode", 10), ("PostalCode", 20), ("CountryCode", 10),
      ("GeocodeAccuracy", 40),
    ]
    let lengths = field.type == .address ? texts : []
    return (lengths + [("Latitude", 0), ("Longitude", 0)]).map { part, length in
      var schema = FieldSchema(
        name: "\(field.name.dropLast(3))__\(part)__s", label: "\(field.label) (\(part))",
        type: length > 0 ? .string : .double)
      schema.custom = true
      schema.length = length
      if length == 0 { (schema.precision, schema.scale) = (18, 15) }
      schema.compoundFieldName = field.name
      return schema
    }
  }

  private static let types: [String: FieldType] = [
    "Address": .address, "AutoNumber": .string, "Checkbox": .boolean, "Currency": .currency,
    "Date": .date,
    "DateTime": .datetime, "Email": .email, "EncryptedText": .encryptedstring, "Html": .textarea,
    "Location": .location, "LongTextArea": .textarea, "Lookup": .reference,
    "MasterDetail": .reference, "MultiselectPicklist": .multipicklist, "Number": .double,
    "Percent": .percent, "Phone": .phone, "Picklist": .picklist, "Summary": .double,
    "Text": .string, "TextArea": .textarea, "Time": .time, "Url": .url,
    "ExternalLookup": .string, "IndirectLookup": .string, "Hierarchy": .reference,
    "MetadataRelationship": .string,
  ]

  /// The lengths of types whose definitions do not say theirs.
  private static let usualLengths = [
    "Email": 80, "Phone": 40, "Url": 255, "TextArea": 255, "Picklist": 255,
    "MultiselectPicklist": 4099, "LongTextArea": 32_768, "Html": 32_768,
    "MetadataRelationship": 255,
  ]

  /// A default that is a plain value; one that is a formula is not computed here.
  private static func value(_ text: String, _ type: FieldType) -> FieldSchema.Default? {
    switch type {
    case .boolean: return .boolean(text == "true")
    case .int, .long, .double, .currency, .percent: return Double(text).map { .number($0) }
    default:
      guard let first = text.first, first == "\"" || first == "'", text.last == first,
        text.count >= 2
      else { return nil }
      return .text(String(text.dropFirst().dropLast()))
    }
  }

  private static func addPicklist(
    to field: inout FieldSchema, _ definition: XMLElement,
    _ valueSets: [String: [PicklistValue]]
  ) {
    guard let set = definition["valueSet"] else { return }
    if let name = set["valueSetName"]?.text {
      // A set that the project does not hold, such as a standard one, refuses nothing.
      field.picklistValues = valueSets[name] ?? []
      field.restrictedPicklist = valueSets[name] != nil
      return
    }
    field.restrictedPicklist = set["restricted"]?.text == "true"
    field.picklistValues = (set["valueSetDefinition"]?.all("value") ?? []).map { PicklistValue($0) }
  }

  private static func addRollUp(to field: inout FieldSchema, _ definition: XMLElement) {
    guard
      let operation = definition["summaryOperation"].flatMap({ RollUp.Operation(rawValue: $0.text) }
      ),
      let key = definition["summaryForeignKey"]?.text.split(separator: "."), key.count == 2
    else { return }
    let summed = definition["summarizedField"]?.text.split(separator: ".").last.map(String.init)
    field.rollUp = RollUp(
      operation: operation, childObject: String(key[0]), reference: String(key[1]), field: summed,
      filters: definition.all("summaryFilterItems").compactMap { item in
        guard let field = item["field"]?.text.split(separator: ".").last,
          let operation = RollUpFilter.Operation(rawValue: item["operation"]?.text ?? "")
        else { return nil }
        return RollUpFilter(
          field: String(field), operation: operation, value: item["value"]?.text ?? "")
      })
    if field.precision == 0 {
      field.precision = 18
      field.scale = operation == .count ? 0 : 2
    }
  }
}

extension PicklistValue {
  /// A value as a field's or a shared set's definition has it.
  fileprivate init(_ definition: XMLElement) {
    let name = definition["fullName"]?.text ?? ""
    self.init(
      value: name, label: definition["label"]?.text ?? name,
      active: definition["isActive"]?.text != "false",
      defaultValue: definition["default"]?.text == "true")
  }
}
