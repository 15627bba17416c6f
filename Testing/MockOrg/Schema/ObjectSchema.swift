/// A relationship from a parent object to the records that refer to it.
struct ChildRelationship: Sendable, Hashable {
  /// The object whose records refer to the parent.
  var childObject: String
  /// The reference field of the child.
  var field: String
  /// What SOQL calls the children (`Contacts`, `Properties__r`); nil: not to be queried.
  var relationshipName: String?
  var cascadeDelete = false
  var restrictedDelete = false
}

/// What the org knows about one object.
///
/// Its records lie in one SQLite table, named by the quoted API name: an ordinary rowid table (rowids
/// ascend in the order of creation, and a record keeps its rowid), one column per field that
/// ``FieldSchema/hasColumn``, named by the quoted API name. ``FieldType/Storage`` says how values lie
/// in it. Every table has the columns `Id` (unique), `IsDeleted` and `SystemModstamp`.
struct ObjectSchema: Sendable {
  let name: String
  var label: String
  var labelPlural: String
  /// The first three characters of its ids; nil for an object whose records cannot be addressed.
  var keyPrefix: String?
  var custom = false
  var createable = true
  var updateable = true
  var deletable = true
  var undeletable = true
  var queryable = true
  var searchable = true
  /// In describe order. ``init(name:label:labelPlural:keyPrefix:fields:)`` indexes them by name.
  let fields: [FieldSchema]
  var childRelationships: [ChildRelationship] = []
  /// What everybody may do with records of others; nil where nothing says so.
  var sharing: MockOrgSharing?

  /// The table that holds the object's records.
  let table: RecordTable
  /// The formulas that no column holds, by field.
  var formulas: [String: FormulaText] = [:] {
    didSet { retrieval = RecordRetrieval() }
  }
  /// Reads one record with all fields.
  private(set) var retrieval = RecordRetrieval()

  private let indexByName: [String: Int]
  private let indexByLowercaseName: [String: Int]
  private let indexByRelationshipName: [String: Int]
  private let compounds: [String: [CompoundPart]]

  init(
    name: String, label: String, labelPlural: String? = nil, keyPrefix: String?,
    fields: [FieldSchema]
  ) {
    let fields = Formula.markingComputed(fields)
    self.name = name
    self.label = label
    self.labelPlural = labelPlural ?? label + "s"
    self.keyPrefix = keyPrefix
    self.fields = fields
    var byName: [String: Int] = [:]
    var byLowercaseName: [String: Int] = [:]
    var byRelationship: [String: Int] = [:]
    var compounds: [String: [CompoundPart]] = [:]
    for (index, field) in fields.enumerated() {
      byName[field.name] = index
      byLowercaseName[field.name.lowercased()] = index
      if let relationship = field.relationshipName {
        byRelationship[relationship.lowercased()] = index
      }
      if let compound = field.compoundFieldName, compound != field.name {
        compounds[compound, default: []].append(
          CompoundPart(
            key: Self.compoundKey(of: field.name, in: compound), field: field.name))
      }
    }
    indexByName = byName
    indexByLowercaseName = byLowercaseName
    indexByRelationshipName = byRelationship
    // Responses show the parts in the order of their names.
    self.compounds = compounds.mapValues { $0.sorted { $0.key < $1.key } }
    table = RecordTable(object: name, fields: fields)
  }

  /// The object with other fields and without formulas.
  func with(fields: [FieldSchema]) -> ObjectSchema {
    var copy = ObjectSchema(
      name: name, label: label, labelPlural: labelPlural, keyPrefix: keyPrefix, fields: fields)
    copy.custom = custom
    copy.createable = createable
    copy.updateable = updateable
    copy.deletable = deletable
    copy.undeletable = undeletable
    copy.queryable = queryable
    copy.searchable = searchable
    copy.childRelationships = childRelationships
    copy.sharing = sharing
    return copy
  }

  /// The object with what a newer description has besides.
  func completed(by newer: ObjectSchema) -> ObjectSchema {
    let fields = newer.fields.filter { index(ofField: $0.name) == nil }
    let children = newer.childRelationships.filter { child in
      !childRelationships.contains {
        $0.childObject == child.childObject && $0.field == child.field
      }
    }
    var copy = fields.isEmpty ? self : with(fields: self.fields + fields)
    copy.childRelationships += children
    return copy
  }

  /// The field of a name in whatever case.
  func field(named name: String) -> FieldSchema? {
    index(ofField: name).map { fields[$0] }
  }

  /// The index in `fields` of a name in whatever case.
  func index(ofField name: String) -> Int? {
    indexByName[name] ?? indexByLowercaseName[name.lowercased()]
  }

  /// What reads a field's value: its column, or its formula; NULL for a compound field.
  ///
  /// - Parameter alias: What the statement calls the object's table.
  func sql(of field: FieldSchema, as alias: String) -> String {
    if field.isComputed { return formulas[field.name]?.sql(as: alias) ?? "NULL" }
    return field.hasColumn ? "\(alias).\(RecordTable.quoted(field.name))" : "NULL"
  }

  /// The reference field whose parent SOQL calls `name`, in whatever case.
  func parentField(relationshipName name: String) -> FieldSchema? {
    indexByRelationshipName[name.lowercased()].map { fields[$0] }
  }

  /// The relationship whose children SOQL calls `name`, in whatever case.
  func childRelationship(named name: String) -> ChildRelationship? {
    let name = name.lowercased()
    return childRelationships.first { $0.relationshipName?.lowercased() == name }
  }

  /// The parts of a compound field, sorted by key; empty if `name` is no compound field.
  func compoundParts(of name: String) -> [CompoundPart] { compounds[name] ?? [] }

  /// The name field (`Name`, `CaseNumber`, `Subject`).
  var nameField: FieldSchema? { fields.first(where: \.nameField) }

  /// `BillingPostalCode` in `BillingAddress` is `postalCode`; `Location__Latitude__s` in `Location__c`
  /// is `latitude`.
  private static func compoundKey(of field: String, in compound: String) -> String {
    var key = Substring(field)
    var prefix = Substring(compound)
    if prefix.hasSuffix("__c") {
      prefix = prefix.dropLast(3)
    } else if prefix.hasSuffix("Address") {
      prefix = prefix.dropLast("Address".count)
    }
    if !prefix.isEmpty, key.hasPrefix(prefix) { key = key.dropFirst(prefix.count) }
    while key.hasPrefix("_") { key = key.dropFirst() }
    if key.hasSuffix("__s") { key = key.dropLast(3) }
    return key.prefix(1).lowercased() + key.dropFirst()
  }
}
