import SalesforceSDKCommon

/// An object as the User Interface API describes it.
struct ObjectInfoJSON {
  let transaction: OrgTransaction

  /// A text that changes when what it stands for changes.
  static func tag(_ text: String) -> ResponseJSON {
    .string(String(Digests.sha256Hex(text).prefix(32)))
  }

  func summary(of object: ObjectSchema) -> ResponseJSON {
    [
      "apiName": .string(object.name), "label": .string(object.label),
      "labelPlural": .string(object.labelPlural),
      "objectInfoUrl": "\(transaction.versionPath)/ui-api/object-info/\(object.name)",
      "keyPrefix": .string(orNull: object.keyPrefix),
    ]
  }

  func object(_ object: ObjectSchema) throws -> ResponseJSON {
    let types = try transaction.recordTypes(of: object)
    return [
      "apiName": .string(object.name), "associateEntityType": nil, "associateParentEntity": nil,
      "childRelationships": .array(object.childRelationships) { child in
        [
          "childObjectApiName": .string(child.childObject), "fieldName": .string(child.field),
          "junctionIdListNames": [], "junctionReferenceTo": [],
          "relationshipName": .string(orNull: child.relationshipName),
        ]
      },
      "compactLayoutable": true, "createable": .bool(object.createable),
      "custom": .bool(object.custom), "deletable": .bool(object.deletable), "feedEnabled": false,
      "layoutable": true, "mruEnabled": true, "queryable": .bool(object.queryable),
      "searchLayoutable": true, "searchable": .bool(object.searchable),
      "updateable": .bool(object.updateable), "defaultRecordTypeId": .string(types[0].id),
      "dependentFields": [:], "eTag": Self.tag("\(object.name) \(object.fields.count)"),
      "fields": .object(object.fields.map { ($0.name, field($0, of: object)) }),
      "keyPrefix": .string(orNull: object.keyPrefix), "label": .string(object.label),
      "labelPlural": .string(object.labelPlural),
      "nameFields": .strings(Self.nameFields(of: object)),
      "recordTypeInfos": .object(
        types.map { type in
          (
            type.id,
            [
              "available": true, "defaultRecordTypeMapping": .bool(type.id == types[0].id),
              "master": .bool(type.isMaster), "name": .string(type.name),
              "recordTypeId": .string(type.id),
            ]
          )
        }),
      "themeInfo": nil,
    ]
  }

  // MARK: Fields

  /// The fields of an object that make its name: a person's first and last name before the whole.
  private static func nameFields(of object: ObjectSchema) -> [String] {
    let parts = object.compoundParts(of: "Name").map(\.field)
    let names = ["FirstName", "LastName"].filter { parts.contains($0) }
    return names + (object.nameField.map { [$0.name] } ?? [])
  }

  private func field(_ field: FieldSchema, of object: ObjectSchema) -> ResponseJSON {
    let component = object.compoundParts(of: field.compoundFieldName ?? "").first {
      $0.field == field.name
    }?.key
    return [
      "apiName": .string(field.name), "calculated": .bool(field.calculated || field.isGenerated),
      "compound": .bool(object.compoundParts(of: field.name).count > 1),
      "createable": .bool(field.createable), "custom": .bool(field.custom),
      "filterable": .bool(!field.isLongText), "highScaleNumber": false, "htmlFormatted": false,
      "nameField": .bool(field.nameField),
      "polymorphicForeignKey": .bool(field.referenceTo.count > 1),
      "reference": .bool(field.type == .reference), "required": .bool(field.isRequired),
      "searchPrefilterable": false,
      "sortable": .bool(field.type.storage != .compound && !field.isLongText),
      "unique": .bool(field.unique), "updateable": .bool(field.updateable),
      "compoundComponentName": .string(orNull: component),
      "compoundFieldName": .string(orNull: field.compoundFieldName), "controllerName": nil,
      "dataType": .string(Self.dataType(of: field.type)),
      "extraTypeInfo": .string(orNull: field.extraTypeInfo.flatMap { Self.extraTypes[$0] }),
      "filteredLookupInfo": nil, "inlineHelpText": .string(orNull: field.helpText),
      "label": .string(field.label), "maskType": nil, "referenceTargetField": nil,
      "relationshipName": .string(orNull: field.relationshipName),
      "length": .integer(field.length), "precision": .integer(field.precision),
      "scale": .integer(field.scale), "controllingFields": [],
      "referenceToInfos": .array(field.referenceTo) { name in
        let names = transaction.schema.object(named: name).map { Self.nameFields(of: $0) }
        return ["apiName": .string(name), "nameFields": .strings(names ?? ["Name"])]
      },
    ]
  }

  /// The extra types of describes by the names that this API has for them.
  private static let extraTypes = [
    "imageurl": "ImageUrl", "personname": "PersonName", "plaintextarea": "PlainTextArea",
    "richtextarea": "RichTextArea", "switchablepersonname": "SwitchablePersonName",
  ]

  /// A field's type by the name that this API has for it.
  private static func dataType(of type: FieldType) -> String {
    switch type {
    case .textarea: "TextArea"
    case .multipicklist: "MultiPicklist"
    case .combobox: "ComboBox"
    case .encryptedstring: "EncryptedString"
    case .datetime: "DateTime"
    case .anyType: "AnyType"
    case .complexvalue: "ComplexValue"
    case .datacategorygroupreference: "DataCategoryGroupReference"
    default: type.rawValue.prefix(1).uppercased() + type.rawValue.dropFirst()
    }
  }
}
