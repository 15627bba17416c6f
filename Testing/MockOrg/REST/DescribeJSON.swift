import GRDB
import SalesforceSDKCommon

/// Writes describe results: what the schema knows, and for the rest what follows from a field's type.
struct DescribeJSON {
  let versionPath: String
  /// Also what no client is shown and the org has to know again: forms of auto numbers, roll-ups.
  var isKept = false

  /// An object as the global describe shows it.
  func writeSummary(of object: ObjectSchema, to writer: inout JSONWriter) {
    writer.beginObject()
    writeCommonMembers(of: object, to: &writer)
    writer.endObject()
  }

  /// An object with its fields and child relationships.
  func write(
    _ object: ObjectSchema, recordTypes: [LayoutPlan.RecordType] = [.master],
    to writer: inout JSONWriter
  ) {
    writer.beginObject()
    writer.key("actionOverrides")
    writer.beginArray()
    writer.endArray()
    writer.key("childRelationships")
    writer.beginArray()
    for child in object.childRelationships { write(child, to: &writer) }
    writer.endArray()
    flags([("compactLayoutable", true)], to: &writer)
    writer.key("fields")
    writer.beginArray()
    for field in object.fields { write(field, to: &writer) }
    writer.endArray()
    flags(
      [("listviewable", false), ("lookupLayoutable", false), ("searchLayoutable", true)],
      to: &writer)
    writer.key("namedLayoutInfos")
    writer.beginArray()
    writer.endArray()
    writer.key("networkScopeFieldName")
    writer.null()
    writer.key("recordTypeInfos")
    writer.beginArray()
    for type in recordTypes {
      write(
        type, of: object, isDefault: type.id == recordTypes[0].id,
        isAvailable: !type.isMaster || recordTypes.count == 1, to: &writer)
    }
    writer.endArray()
    for name in Self.interfaceMembers {
      writer.key(name)
      writer.null()
    }
    writer.key("sobjectDescribeOption")
    writer.string("FULL")
    writer.key("supportedScopes")
    writer.beginArray()
    for (scope, label) in SOQLFilterScope.listed(for: object) {
      writer.beginObject()
      writer.key("label")
      writer.string(label)
      writer.key("name")
      writer.string(scope.name)
      writer.endObject()
    }
    writer.endArray()
    writeCommonMembers(of: object, to: &writer)
    if isKept {
      writer.key("sharingModel")
      writer.string(orNull: object.sharing?.model)
    }
    writer.endObject()
  }

  /// What a describe says of Apex interfaces; no object of the org has any.
  private static let interfaceMembers = [
    "defaultImplementation", "extendedBy", "extendsInterfaces", "implementedBy",
    "implementsInterfaces",
  ]

  private func writeCommonMembers(of object: ObjectSchema, to writer: inout JSONWriter) {
    flags(
      [
        ("activateable", false), ("createable", object.createable), ("custom", object.custom),
        ("customSetting", false), ("deepCloneable", false), ("deletable", object.deletable),
        ("deprecatedAndHidden", false), ("feedEnabled", false), ("hasSubtypes", false),
        ("isInterface", false), ("isSubtype", false),
      ], to: &writer)
    for (key, value) in [
      ("associateEntityType", nil), ("associateParentEntity", nil), ("keyPrefix", object.keyPrefix),
      ("label", object.label), ("labelPlural", object.labelPlural),
    ] as [(String, String?)] {
      writer.key(key)
      writer.string(orNull: value)
    }
    flags(
      [
        ("layoutable", true), ("mergeable", false), ("mruEnabled", true),
        ("queryable", object.queryable), ("replicateable", true), ("retrieveable", true),
        ("searchable", object.searchable), ("triggerable", true),
        ("undeletable", object.undeletable), ("updateable", object.updateable),
      ], to: &writer)
    writer.key("name")
    writer.string(object.name)
    writer.key("urls")
    writer.beginObject()
    let base = "\(versionPath)/sobjects/\(object.name)"
    for (key, value) in [
      ("describe", "\(base)/describe"), ("rowTemplate", "\(base)/{ID}"), ("sobject", base),
    ] {
      writer.key(key)
      writer.string(value)
    }
    writer.endObject()
  }

  private func write(
    _ type: LayoutPlan.RecordType, of object: ObjectSchema, isDefault: Bool, isAvailable: Bool,
    to writer: inout JSONWriter
  ) {
    writer.beginObject()
    flags(
      [
        ("active", type.isActive), ("available", isAvailable),
        ("defaultRecordTypeMapping", isDefault), ("master", type.isMaster),
      ],
      to: &writer)
    for (key, value) in [
      ("developerName", type.developerName), ("name", type.name), ("recordTypeId", type.id),
    ] {
      writer.key(key)
      writer.string(value)
    }
    writer.key("urls")
    writer.beginObject()
    writer.key("layout")
    writer.string("\(versionPath)/sobjects/\(object.name)/describe/layouts/\(type.id)")
    writer.endObject()
    writer.endObject()
  }

  private func write(_ child: ChildRelationship, to writer: inout JSONWriter) {
    writer.beginObject()
    flags(
      [
        ("cascadeDelete", child.cascadeDelete), ("deprecatedAndHidden", false),
        ("restrictedDelete", child.restrictedDelete),
      ], to: &writer)
    for (key, value) in [
      ("childSObject", child.childObject), ("field", child.field),
      ("relationshipName", child.relationshipName),
    ] as [(String, String?)] {
      writer.key(key)
      writer.string(orNull: value)
    }
    for key in ["junctionIdListNames", "junctionReferenceTo"] {
      writer.key(key)
      writer.beginArray()
      writer.endArray()
    }
    writer.endObject()
  }

  // MARK: Fields

  func write(_ field: FieldSchema, to writer: inout JSONWriter) {
    let type = field.type
    let isCompound = type.storage == .compound
    let isLongText = type == .textarea && field.length > 255
    let isPolymorphic = field.referenceTo.count > 1
    writer.beginObject()
    flags(
      [
        ("aggregatable", type != .boolean && !isCompound && !isLongText),
        ("aiPredictionField", false), ("autoNumber", field.isNumbered),
        ("calculated", field.calculated), ("cascadeDelete", field.cascadeDelete),
        ("caseSensitive", field.caseSensitive), ("createable", field.createable),
        ("custom", field.custom), ("defaultedOnCreate", field.defaultedOnCreate),
        ("dependentPicklist", false), ("deprecatedAndHidden", false),
        ("displayLocationInDecimal", type == .location), ("encrypted", false),
        ("externalId", field.externalId), ("filterable", !isLongText),
        (
          "formulaTreatNullNumberAsZero", field.formula != nil && field.formulaTreatsNullAsZero
        ),
        ("groupable", Self.isGroupable(type) && !isLongText), ("highScaleNumber", false),
        ("htmlFormatted", false), ("idLookup", field.idLookup), ("nameField", field.nameField),
        ("namePointing", isPolymorphic), ("nillable", field.nillable),
        ("permissionable", field.nillable && (field.createable || field.updateable)),
        ("polymorphicForeignKey", isPolymorphic), ("queryByDistance", isCompound),
        ("restrictedDelete", field.restrictedDelete),
        ("restrictedPicklist", field.restrictedPicklist), ("searchPrefilterable", false),
        ("sortable", !isCompound && !isLongText), ("unique", field.unique),
        ("updateable", field.updateable), ("writeRequiresMasterRead", false),
      ], to: &writer)
    for (key, value) in [
      ("byteLength", type == .id || type == .reference ? field.length : field.length * 3),
      ("digits", field.digits), ("length", field.length), ("precision", field.precision),
      ("scale", field.scale),
    ] {
      writer.key(key)
      writer.integer(value)
    }
    for (key, value) in [
      ("calculatedFormula", field.formula), ("compoundFieldName", field.compoundFieldName),
      ("controllerName", nil), ("defaultValueFormula", nil),
      ("extraTypeInfo", field.extraTypeInfo), ("filteredLookupInfo", nil),
      ("inlineHelpText", field.helpText), ("label", field.label), ("mask", nil), ("maskType", nil),
      ("name", field.name), ("referenceTargetField", nil),
      ("relationshipName", field.relationshipName), ("relationshipOrder", nil),
      ("soapType", Self.soapType(of: type)), ("type", type.rawValue),
    ] as [(String, String?)] {
      writer.key(key)
      writer.string(orNull: value)
    }
    writer.key("defaultValue")
    switch field.defaultValue {
    case .text(let text)?: writer.string(text)
    case .number(let number)?:
      RecordJSON.write(number.databaseValue, type: type, to: &writer)
    case .boolean(let flag)?: writer.bool(flag)
    case nil: if type == .boolean { writer.bool(false) } else { writer.null() }
    }
    if isKept { writeKept(field, to: &writer) }
    writer.key("picklistValues")
    writer.beginArray()
    for value in field.picklistValues { write(value, to: &writer) }
    writer.endArray()
    writer.key("referenceTo")
    writer.strings(field.referenceTo)
    writer.endObject()
  }

  private func writeKept(_ field: FieldSchema, to writer: inout JSONWriter) {
    writer.key("displayFormat")
    writer.string(orNull: field.displayFormat)
    guard let rollUp = field.rollUp else { return }
    writer.key("rollUp")
    writer.beginObject()
    for (key, value) in [
      ("operation", rollUp.operation.rawValue), ("childObject", rollUp.childObject),
      ("reference", rollUp.reference), ("field", rollUp.field ?? ""),
    ] {
      writer.key(key)
      writer.string(value)
    }
    writer.key("filters")
    writer.beginArray()
    for filter in rollUp.filters {
      writer.beginObject()
      for (key, value) in [
        ("field", filter.field), ("operation", filter.operation.rawValue), ("value", filter.value),
      ] {
        writer.key(key)
        writer.string(value)
      }
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
  }

  private func write(_ value: PicklistValue, to writer: inout JSONWriter) {
    writer.beginObject()
    flags([("active", value.active), ("defaultValue", value.defaultValue)], to: &writer)
    writer.key("label")
    writer.string(value.label)
    writer.key("validFor")
    writer.null()
    writer.key("value")
    writer.string(value.value)
    writer.endObject()
  }

  private func flags(_ flags: [(String, Bool)], to writer: inout JSONWriter) {
    for (key, value) in flags {
      writer.key(key)
      writer.bool(value)
    }
  }

  private static func isGroupable(_ type: FieldType) -> Bool {
    switch type {
    case .double, .currency, .percent, .datetime, .time, .address, .location, .combobox, .base64,
      .multipicklist:
      false
    default: true
    }
  }

  private static func soapType(of type: FieldType) -> String {
    switch type {
    case .id, .reference: "tns:ID"
    case .boolean: "xsd:boolean"
    case .int: "xsd:int"
    case .long: "xsd:long"
    case .double, .currency, .percent: "xsd:double"
    case .date: "xsd:date"
    case .datetime: "xsd:dateTime"
    case .time: "xsd:time"
    case .base64: "xsd:base64Binary"
    case .address: "urn:address"
    case .location: "urn:location"
    case .anyType: "xsd:anyType"
    default: "xsd:string"
    }
  }
}

extension RESTService {
  /// The names, prefixes and abilities of all objects.
  func globalDescribe() -> OrgResponse {
    let describe = DescribeJSON(versionPath: transaction.versionPath)
    return .json { writer in
      writer.beginObject()
      writer.key("encoding")
      writer.string("UTF-8")
      writer.key("maxBatchSize")
      writer.integer(200)
      writer.key("sobjects")
      writer.beginArray()
      for object in transaction.schema.objects {
        describe.writeSummary(of: object, to: &writer)
      }
      writer.endArray()
      writer.endObject()
    }
  }

  /// All that the org knows about one object, the record types that its users have included.
  func describe(_ object: ObjectSchema) throws -> OrgResponse {
    let types = try recordTypes(of: object)
    return .json {
      DescribeJSON(versionPath: transaction.versionPath).write(object, recordTypes: types, to: &$0)
    }
  }
}
