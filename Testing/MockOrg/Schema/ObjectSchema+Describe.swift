import SalesforceSDKCommon

extension ObjectSchema {
  /// Reads a describe result, whole or with the members left out that have their usual value.
  ///
  /// - Throws: ``MockOrgError`` `invalidSchema` if a name or type is missing or unknown.
  init(describe: JSONSlice) throws(MockOrgError) {
    guard let name = describe["name"]?.string else {
      throw MockOrgError(.invalidSchema, "The description of an object has no name.")
    }
    var fields: [FieldSchema] = []
    for field in describe.list("fields") {
      fields.append(try FieldSchema(describe: field, of: name))
    }
    let label = describe["label"]?.string ?? name
    fields = SystemFields.completing(fields, custom: name.hasSuffix("__c"))
    self.init(
      name: name, label: label, labelPlural: describe["labelPlural"]?.string,
      keyPrefix: describe["keyPrefix"]?.string, fields: fields)
    custom = describe.flag("custom", otherwise: name.hasSuffix("__c"))
    createable = describe.flag("createable", otherwise: true)
    updateable = describe.flag("updateable", otherwise: true)
    deletable = describe.flag("deletable", otherwise: true)
    undeletable = describe.flag("undeletable", otherwise: true)
    queryable = describe.flag("queryable", otherwise: true)
    searchable = describe.flag("searchable", otherwise: true)
    sharing = describe["sharingModel"]?.string.flatMap { MockOrgSharing(sharingModel: $0) }
    for child in describe.list("childRelationships") {
      guard let object = child["childSObject"]?.string, let field = child["field"]?.string else {
        continue
      }
      childRelationships.append(
        ChildRelationship(
          childObject: object, field: field, relationshipName: child["relationshipName"]?.string,
          cascadeDelete: child.flag("cascadeDelete", otherwise: false),
          restrictedDelete: child.flag("restrictedDelete", otherwise: false)))
    }
  }
}

extension FieldSchema {
  /// Reads one element of `fields` of a describe result.
  init(describe: JSONSlice, of object: String) throws(MockOrgError) {
    guard let name = describe["name"]?.string else {
      throw MockOrgError(.invalidSchema, "A field of \(object) has no name.")
    }
    guard let typeName = describe["type"]?.string, let type = FieldType(rawValue: typeName) else {
      throw MockOrgError(
        .invalidSchema,
        "The field \(name) of \(object) has the type '\(describe["type"]?.string ?? "")', "
          + "which no describe result has.")
    }
    self.init(name: name, label: describe["label"]?.string ?? name, type: type)
    length = describe.integer("length") ?? (type == .id || type == .reference ? 18 : 0)
    precision = describe.integer("precision") ?? 0
    scale = describe.integer("scale") ?? 0
    digits = describe.integer("digits") ?? 0
    nillable = describe.flag("nillable", otherwise: true)
    createable = describe.flag("createable", otherwise: true)
    updateable = describe.flag("updateable", otherwise: true)
    defaultedOnCreate = describe.flag("defaultedOnCreate", otherwise: false)
    custom = describe.flag("custom", otherwise: name.hasSuffix("__c"))
    externalId = describe.flag("externalId", otherwise: false)
    idLookup = describe.flag("idLookup", otherwise: type == .id || externalId)
    unique = describe.flag("unique", otherwise: false)
    caseSensitive = describe.flag("caseSensitive", otherwise: false)
    autoNumber = describe.flag("autoNumber", otherwise: false)
    calculated = describe.flag("calculated", otherwise: false)
    nameField = describe.flag("nameField", otherwise: false)
    cascadeDelete = describe.flag("cascadeDelete", otherwise: false)
    restrictedDelete = describe.flag("restrictedDelete", otherwise: false)
    restrictedPicklist = describe.flag("restrictedPicklist", otherwise: false)
    referenceTo = describe.list("referenceTo").compactMap(\.string)
    displayFormat = describe["displayFormat"]?.string
    if let kept = describe["rollUp"],
      let operation = RollUp.Operation(rawValue: kept["operation"]?.string ?? "")
    {
      rollUp = RollUp(
        operation: operation, childObject: kept["childObject"]?.string ?? "",
        reference: kept["reference"]?.string ?? "",
        field: kept["field"]?.string.flatMap { $0.isEmpty ? nil : $0 },
        filters: kept.list("filters").compactMap { filter in
          guard let field = filter["field"]?.string, let value = filter["value"]?.string,
            let operation = RollUpFilter.Operation(rawValue: filter["operation"]?.string ?? "")
          else { return nil }
          return RollUpFilter(field: field, operation: operation, value: value)
        })
    }
    formula = describe["calculatedFormula"]?.string
    formulaTreatsNullAsZero = describe.flag("formulaTreatNullNumberAsZero", otherwise: true)
    helpText = describe["inlineHelpText"]?.string
    relationshipName = describe["relationshipName"]?.string
    compoundFieldName = describe["compoundFieldName"]?.string
    extraTypeInfo = describe["extraTypeInfo"]?.string ?? usualExtraTypeInfo
    picklistValues = describe.list("picklistValues").compactMap { value in
      if let text = value.string { return PicklistValue(value: text, label: text) }
      guard let text = value["value"]?.string else { return nil }
      return PicklistValue(
        value: text, label: value["label"]?.string ?? text,
        active: value.flag("active", otherwise: true),
        defaultValue: value.flag("defaultValue", otherwise: false))
    }
    switch describe["defaultValue"]?.value {
    case .string(let text)?: defaultValue = .text(text)
    case .bool(let flag)?: defaultValue = .boolean(flag)
    case let number?: defaultValue = number.double.map { .number($0) }
    case nil: break
    }
  }
}

extension FieldSchema {
  /// The extra type of a field whose description names none.
  private var usualExtraTypeInfo: String? {
    switch type {
    case .textarea: "plaintextarea"
    case .url where name == "PhotoUrl": "imageurl"
    case .string where compoundFieldName == "Name" && nameField: "switchablepersonname"
    case .string where compoundFieldName == "Name", .picklist where compoundFieldName == "Name":
      "personname"
    default: nil
    }
  }
}

extension JSONSlice {
  /// A member that is true or false; `otherwise` if it is absent or something else.
  fileprivate func flag(_ key: String, otherwise: Bool) -> Bool { self[key]?.bool ?? otherwise }

  /// A length or a number of digits, within what arithmetic with it can stand.
  fileprivate func integer(_ key: String) -> Int? {
    self[key]?.int64.map { Int(min(max($0, 0), Int64(Int32.max))) }
  }

  /// The elements of a member that is an array; none if it is absent or null.
  fileprivate func list(_ key: String) -> [JSONSlice] { self[key].map { Array($0.elements) } ?? [] }
}
