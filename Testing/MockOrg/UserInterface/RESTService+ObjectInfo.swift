import SalesforceSDKCommon

/// `/ui-api/object-info`: objects, their fields and the values of their picklists.
extension RESTService {
  func objectInfo(_ path: [String]) throws -> OrgResponse {
    switch path.count {
    case 0:
      return .json { writer in
        writer.beginObject()
        writer.key("eTag")
        writer.string(Self.tag("objects \(transaction.schema.objects.count)"))
        writer.key("objects")
        writer.beginObject()
        for object in transaction.schema.objects {
          writer.key(object.name)
          writer.beginObject()
          for (key, value) in [
            ("apiName", object.name), ("label", object.label), ("labelPlural", object.labelPlural),
            ("objectInfoUrl", "\(transaction.versionPath)/ui-api/object-info/\(object.name)"),
          ] {
            writer.key(key)
            writer.string(value)
          }
          writer.key("keyPrefix")
          writer.string(orNull: object.keyPrefix)
          writer.endObject()
        }
        writer.endObject()
        writer.endObject()
      }
    case 1:
      let object = try transaction.object(named: path[0])
      return try .json { try writeObjectInfo(object, to: &$0) }
    case 2 where path[0] == "batch": return try objectInfos(path[1])
    case 3 where path[1] == "picklist-values":
      let object = try transaction.object(named: path[0])
      return .json { writer in
        writer.beginObject()
        writer.key("eTag")
        writer.string(Self.tag("picklists \(object.name)"))
        writer.key("picklistFieldValues")
        writer.beginObject()
        for field in object.fields where !field.picklistValues.isEmpty {
          writer.key(field.name)
          writePicklist(field, of: object, recordType: path[2], to: &writer)
        }
        writer.endObject()
        writer.endObject()
      }
    case 4 where path[1] == "picklist-values":
      let object = try transaction.object(named: path[0])
      guard let field = object.field(named: path[3]) else { throw ServerError.notFound() }
      return .json { writePicklist(field, of: object, recordType: path[2], to: &$0) }
    default: throw ServerError.notFound()
    }
  }

  private func objectInfos(_ names: String) throws -> OrgResponse {
    let results = names.split(separator: ",").map { name in
      Result { try transaction.object(named: String(name)) }
    }
    let hasErrors = results.contains { if case .failure = $0 { true } else { false } }
    return try .json { writer in
      writer.beginObject()
      writer.key("hasErrors")
      writer.bool(hasErrors)
      writer.key("results")
      writer.beginArray()
      for result in results {
        writer.beginObject()
        writer.key("result")
        switch result {
        case .success(let object): try writeObjectInfo(object, to: &writer)
        case .failure: writer.raw(try JSONSlice(parsing: OrgResponse(ServerError.notFound()).body))
        }
        writer.key("statusCode")
        if case .success = result { writer.integer(200) } else { writer.integer(404) }
        writer.endObject()
      }
      writer.endArray()
      writer.endObject()
    }
  }

  private func writePicklist(
    _ field: FieldSchema, of object: ObjectSchema, recordType: String, to writer: inout JSONWriter
  ) {
    func write(_ value: PicklistValue) {
      writer.beginObject()
      writer.key("attributes")
      writer.null()
      writer.key("label")
      writer.string(value.label)
      writer.key("validFor")
      writer.beginArray()
      writer.endArray()
      writer.key("value")
      writer.string(value.value)
      writer.endObject()
    }
    writer.beginObject()
    writer.key("controllerValues")
    writer.beginObject()
    writer.endObject()
    writer.key("defaultValue")
    if let value = field.picklistValues.first(where: \.defaultValue) {
      write(value)
    } else {
      writer.null()
    }
    writer.key("eTag")
    writer.string(Self.tag("\(object.name).\(field.name)"))
    writer.key("url")
    writer.string(
      "\(transaction.versionPath)/ui-api/object-info/\(object.name)/picklist-values/\(recordType)/"
        + field.name)
    writer.key("values")
    writer.beginArray()
    for value in field.picklistValues where value.active { write(value) }
    writer.endArray()
    writer.endObject()
  }

  func writeObjectInfo(_ object: ObjectSchema, to writer: inout JSONWriter) throws {
    let types = try recordTypes(of: object)
    writer.beginObject()
    writer.key("apiName")
    writer.string(object.name)
    for key in ["associateEntityType", "associateParentEntity"] {
      writer.key(key)
      writer.null()
    }
    writer.key("childRelationships")
    writer.beginArray()
    for child in object.childRelationships {
      writer.beginObject()
      writer.key("childObjectApiName")
      writer.string(child.childObject)
      writer.key("fieldName")
      writer.string(child.field)
      for key in ["junctionIdListNames", "junctionReferenceTo"] {
        writer.key(key)
        writer.beginArray()
        writer.endArray()
      }
      writer.key("relationshipName")
      writer.string(orNull: child.relationshipName)
      writer.endObject()
    }
    writer.endArray()
    for (key, value) in [
      ("compactLayoutable", true), ("createable", object.createable), ("custom", object.custom),
      ("deletable", object.deletable), ("feedEnabled", false), ("layoutable", true),
      ("mruEnabled", true), ("queryable", object.queryable), ("searchLayoutable", true),
      ("searchable", object.searchable), ("updateable", object.updateable),
    ] {
      writer.key(key)
      writer.bool(value)
    }
    writer.key("defaultRecordTypeId")
    writer.string(types[0].id)
    writer.key("dependentFields")
    writer.beginObject()
    writer.endObject()
    writer.key("eTag")
    writer.string(Self.tag("\(object.name) \(object.fields.count)"))
    writer.key("fields")
    writer.beginObject()
    for field in object.fields {
      writer.key(field.name)
      write(field, of: object, to: &writer)
    }
    writer.endObject()
    for (key, value) in [
      ("keyPrefix", object.keyPrefix), ("label", object.label), ("labelPlural", object.labelPlural),
    ] {
      writer.key(key)
      writer.string(orNull: value)
    }
    writer.key("nameFields")
    writer.strings(Self.nameFields(of: object))
    writer.key("recordTypeInfos")
    writer.beginObject()
    for type in types {
      writer.key(type.id)
      writer.beginObject()
      for (key, value) in [
        ("available", true), ("defaultRecordTypeMapping", type.id == types[0].id),
        ("master", type.isMaster),
      ] {
        writer.key(key)
        writer.bool(value)
      }
      writer.key("name")
      writer.string(type.name)
      writer.key("recordTypeId")
      writer.string(type.id)
      writer.endObject()
    }
    writer.endObject()
    writer.key("themeInfo")
    writer.null()
    writer.endObject()
  }

  /// The fields of an object that make its name: a person's first and last name before the whole.
  private static func nameFields(of object: ObjectSchema) -> [String] {
    let parts = object.compoundParts(of: "Name").map(\.field)
    let names = ["FirstName", "LastName"].filter { parts.contains($0) }
    return names + (object.nameField.map { [$0.name] } ?? [])
  }

  private func write(
    _ field: FieldSchema, of object: ObjectSchema, to writer: inout JSONWriter
  ) {
    let isLongText = field.type == .textarea && field.length > 255
    writer.beginObject()
    writer.key("apiName")
    writer.string(field.name)
    for (key, value) in [
      ("calculated", field.calculated || field.isGenerated),
      ("compound", object.compoundParts(of: field.name).count > 1),
      ("createable", field.createable), ("custom", field.custom), ("filterable", !isLongText),
      ("highScaleNumber", false), ("htmlFormatted", false), ("nameField", field.nameField),
      ("polymorphicForeignKey", field.referenceTo.count > 1),
      ("reference", field.type == .reference), ("required", field.isRequired),
      ("searchPrefilterable", false),
      ("sortable", field.type.storage != .compound && !isLongText), ("unique", field.unique),
      ("updateable", field.updateable),
    ] {
      writer.key(key)
      writer.bool(value)
    }
    let key = object.compoundParts(of: field.compoundFieldName ?? "").first {
      $0.field == field.name
    }?.key
    for (key, value) in [
      ("compoundComponentName", key), ("compoundFieldName", field.compoundFieldName),
      ("controllerName", nil), ("dataType", Self.dataType(of: field.type)),
      ("extraTypeInfo", field.extraTypeInfo.flatMap { Self.extraTypes[$0] }),
      ("filteredLookupInfo", nil), ("inlineHelpText", field.helpText), ("label", field.label),
      ("maskType", nil), ("referenceTargetField", nil),
      ("relationshipName", field.relationshipName),
    ] as [(String, String?)] {
      writer.key(key)
      writer.string(orNull: value)
    }
    for (key, value) in [
      ("length", field.length), ("precision", field.precision), ("scale", field.scale),
    ] {
      writer.key(key)
      writer.integer(value)
    }
    writer.key("controllingFields")
    writer.beginArray()
    writer.endArray()
    writer.key("referenceToInfos")
    writer.beginArray()
    for name in field.referenceTo {
      writer.beginObject()
      writer.key("apiName")
      writer.string(name)
      writer.key("nameFields")
      writer.strings(
        transaction.schema.object(named: name).map { Self.nameFields(of: $0) } ?? ["Name"])
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
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
