import SalesforceSDKCommon

extension DescribeJSON {
  /// A field, as a describe lists it and a layout shows it.
  func field(_ field: FieldSchema) -> ResponseJSON {
    var json = abilities(of: field)
    json.append(form(of: field))
    if isKept { json.append(keptMembers(of: field)) }
    json.append([
      "picklistValues": .array(field.picklistValues) { value in
        [
          "active": .bool(value.active), "defaultValue": .bool(value.defaultValue),
          "label": .string(value.label), "validFor": nil, "value": .string(value.value),
        ]
      },
      "referenceTo": .strings(field.referenceTo),
    ])
    return json
  }

  /// What can be done with a field.
  private func abilities(of field: FieldSchema) -> ResponseJSON {
    let type = field.type
    let isCompound = type.storage == .compound
    let isPolymorphic = field.referenceTo.count > 1
    let treatsNullAsZero = field.formula != nil && field.formulaTreatsNullAsZero
    return [
      "aggregatable": .bool(type != .boolean && !isCompound && !field.isLongText),
      "aiPredictionField": false, "autoNumber": .bool(field.isNumbered),
      "calculated": .bool(field.calculated), "cascadeDelete": .bool(field.cascadeDelete),
      "caseSensitive": .bool(field.caseSensitive), "createable": .bool(field.createable),
      "custom": .bool(field.custom), "defaultedOnCreate": .bool(field.defaultedOnCreate),
      "dependentPicklist": false, "deprecatedAndHidden": false,
      "displayLocationInDecimal": .bool(type == .location), "encrypted": false,
      "externalId": .bool(field.externalId), "filterable": .bool(!field.isLongText),
      "formulaTreatNullNumberAsZero": .bool(treatsNullAsZero),
      "groupable": .bool(Self.isGroupable(type) && !field.isLongText), "highScaleNumber": false,
      "htmlFormatted": false, "idLookup": .bool(field.idLookup),
      "nameField": .bool(field.nameField), "namePointing": .bool(isPolymorphic),
      "nillable": .bool(field.nillable),
      "permissionable": .bool(Self.isPermissionable(field)),
      "polymorphicForeignKey": .bool(isPolymorphic), "queryByDistance": .bool(isCompound),
      "restrictedDelete": .bool(field.restrictedDelete),
      "restrictedPicklist": .bool(field.restrictedPicklist),
      "searchPrefilterable": .bool(Self.isSearchPrefilterable(field)),
      "sortable": .bool(!isCompound && !field.isLongText), "unique": .bool(field.unique),
      "updateable": .bool(field.updateable), "writeRequiresMasterRead": false,
    ]
  }

  /// What a field holds.
  private func form(of field: FieldSchema) -> ResponseJSON {
    let type = field.type
    return [
      "byteLength": .integer(
        type == .id || type == .reference ? field.length : field.length * 3),
      "digits": .integer(field.digits), "length": .integer(field.length),
      "precision": .integer(field.precision), "scale": .integer(field.scale),
      "calculatedFormula": .string(orNull: field.formula),
      "compoundFieldName": .string(orNull: field.compoundFieldName), "controllerName": nil,
      "defaultValueFormula": nil, "extraTypeInfo": .string(orNull: field.extraTypeInfo),
      "filteredLookupInfo": nil, "inlineHelpText": .string(orNull: field.helpText),
      "label": .string(field.label), "mask": nil, "maskType": nil, "name": .string(field.name),
      "referenceTargetField": nil, "relationshipName": .string(orNull: field.relationshipName),
      "relationshipOrder": nil, "soapType": .string(Self.soapType(of: type)),
      "type": .string(type.rawValue),
      "defaultValue": field.defaultValue?.json ?? (type == .boolean ? .bool(false) : .null),
    ]
  }

  private func keptMembers(of field: FieldSchema) -> ResponseJSON {
    var json: ResponseJSON = ["displayFormat": .string(orNull: field.displayFormat)]
    guard let rollUp = field.rollUp else { return json }
    json.append([
      "rollUp": [
        "operation": .string(rollUp.operation.rawValue), "childObject": .string(rollUp.childObject),
        "reference": .string(rollUp.reference), "field": .string(rollUp.field ?? ""),
        "filters": .array(rollUp.filters) { filter in
          [
            "field": .string(filter.field), "operation": .string(filter.operation.rawValue),
            "value": .string(filter.value),
          ]
        },
      ]
    ])
    return json
  }

  /// Whether profiles can hide a field: what every record needs is shown to everyone, and parts of a name go with it.
  private static func isPermissionable(_ field: FieldSchema) -> Bool {
    if field.name == "RecordTypeId" || field.compoundFieldName == "Name" { return false }
    return field.type.storage == .compound || (field.custom && field.calculated)
      || (field.nillable && (field.createable || field.updateable))
  }

  /// Whether a search can be narrowed to the records of a parent.
  private static func isSearchPrefilterable(_ field: FieldSchema) -> Bool {
    field.type == .reference && field.name != "MasterRecordId"
      && !field.referenceTo.contains { ["User", "RecordType"].contains($0) }
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

extension FieldSchema.Default {
  var json: ResponseJSON {
    switch self {
    case .text(let text): .string(text)
    case .number(let number): .double(number)
    case .boolean(let flag): .bool(flag)
    }
  }
}
