import SalesforceSDKCommon

/// Describe results: what the schema knows, and for the rest what follows from a field's type.
struct DescribeJSON {
  let versionPath: String
  /// Where the org's own pages are; empty where no client sees the description.
  var baseURL = ""
  /// Also what no client is shown and the org has to know again: forms of auto numbers, roll-ups.
  var isKept = false

  /// All objects, each by its ``summary(of:)``.
  func global(of schema: OrgSchema) -> ResponseJSON {
    [
      "encoding": "UTF-8", "maxBatchSize": 200,
      "sobjects": .array(schema.objects) { summary(of: $0) },
    ]
  }

  /// An object as the global describe shows it.
  func summary(of object: ObjectSchema) -> ResponseJSON {
    let base = "\(versionPath)/sobjects/\(object.name)"
    return [
      "activateable": false, "createable": .bool(object.createable), "custom": .bool(object.custom),
      "customSetting": false, "deepCloneable": false, "deletable": .bool(object.deletable),
      "deprecatedAndHidden": false, "feedEnabled": false, "hasSubtypes": false,
      "isInterface": false, "isSubtype": false, "associateEntityType": nil,
      "associateParentEntity": nil, "keyPrefix": .string(orNull: object.keyPrefix),
      "label": .string(object.label), "labelPlural": .string(object.labelPlural),
      "layoutable": true, "mergeable": false, "mruEnabled": true,
      "queryable": .bool(object.queryable), "replicateable": true, "retrieveable": true,
      "searchable": .bool(object.searchable), "triggerable": true,
      "undeletable": .bool(object.undeletable), "updateable": .bool(object.updateable),
      "name": .string(object.name),
      "urls": [
        "compactLayouts": "\(base)/describe/compactLayouts", "rowTemplate": "\(base)/{ID}",
        "approvalLayouts": "\(base)/describe/approvalLayouts", "listviews": "\(base)/listviews",
        "describe": "\(base)/describe", "quickActions": "\(base)/quickActions",
        "layouts": "\(base)/describe/layouts", "sobject": .string(base),
      ],
    ]
  }

  /// The addresses of an object's pages, which only its own description has.
  private func pages(of object: ObjectSchema) -> ResponseJSON {
    [
      "uiDetailTemplate": "\(baseURL)/{ID}", "uiEditTemplate": "\(baseURL)/{ID}/e",
      "uiNewRecord": "\(baseURL)/\(object.keyPrefix ?? "")/e",
    ]
  }

  /// An object with its fields and child relationships.
  func object(
    _ object: ObjectSchema, recordTypes types: [LayoutPlan.RecordType] = [.master]
  ) -> ResponseJSON {
    var json: ResponseJSON = [
      "actionOverrides": [],
      "childRelationships": .array(object.childRelationships) { child($0) },
      "compactLayoutable": true, "fields": .array(object.fields) { field($0) },
      "listviewable": nil, "lookupLayoutable": nil, "searchLayoutable": true,
      "namedLayoutInfos": [], "networkScopeFieldName": nil,
      "recordTypeInfos": .array(types) {
        recordType(
          $0, of: object, isDefault: $0.id == types[0].id,
          isAvailable: !$0.isMaster || types.count == 1)
      },
      // No object of the org has Apex interfaces.
      "defaultImplementation": nil, "extendedBy": nil, "extendsInterfaces": nil,
      "implementedBy": nil, "implementsInterfaces": nil, "sobjectDescribeOption": "FULL",
      "supportedScopes": .array(SOQLFilterScope.listed(for: object)) { scope, label in
        ["label": .string(label), "name": .string(scope.name)]
      },
    ]
    json.append(summary(of: object).adding(pages(of: object), to: "urls"))
    if isKept { json.append(["sharingModel": .string(orNull: object.sharing?.model)]) }
    return json
  }

  private func recordType(
    _ type: LayoutPlan.RecordType, of object: ObjectSchema, isDefault: Bool, isAvailable: Bool
  ) -> ResponseJSON {
    [
      "active": .bool(type.isActive), "available": .bool(isAvailable),
      "defaultRecordTypeMapping": .bool(isDefault), "master": .bool(type.isMaster),
      "developerName": .string(type.developerName), "name": .string(type.name),
      "recordTypeId": .string(type.id),
      "urls": ["layout": "\(versionPath)/sobjects/\(object.name)/describe/layouts/\(type.id)"],
    ]
  }

  private func child(_ child: ChildRelationship) -> ResponseJSON {
    [
      "cascadeDelete": .bool(child.cascadeDelete), "deprecatedAndHidden": false,
      "restrictedDelete": .bool(child.restrictedDelete), "childSObject": .string(child.childObject),
      "field": .string(child.field), "relationshipName": .string(orNull: child.relationshipName),
      "junctionIdListNames": [], "junctionReferenceTo": [],
    ]
  }
}
