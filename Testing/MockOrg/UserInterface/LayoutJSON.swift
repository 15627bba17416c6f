/// The layouts of an object, as its descriptions show them.
struct LayoutJSON {
  private let object: ObjectSchema
  private let plan: LayoutPlan
  private let versionPath: String

  init(_ object: ObjectSchema, versionPath: String) {
    self.object = object
    plan = LayoutPlan(object)
    self.versionPath = versionPath
  }

  private var describePath: String { "\(versionPath)/sobjects/\(object.name)/describe" }

  // MARK: Layouts

  /// The object's layout, and which record types have it: all of them.
  func all(for types: [LayoutPlan.RecordType]) -> ResponseJSON {
    [
      "layouts": [layout],
      "recordTypeMappings": .array(types) { type in
        [
          "active": .bool(type.isActive), "available": .bool(!type.isMaster || types.count == 1),
          "defaultRecordTypeMapping": .bool(type.id == types[0].id),
          "master": .bool(type.isMaster), "developerName": .string(type.developerName),
          "layoutId": .string(plan.id), "name": .string(type.name),
          "recordTypeId": .string(type.id), "picklistsForRecordType": nil,
          "urls": ["layout": "\(describePath)/layouts/\(type.id)"],
        ]
      },
      "recordTypeSelectorRequired": [.bool(types.count > 2)],
    ]
  }

  var layout: ResponseJSON {
    let sections = ResponseJSON.array(plan.sections.enumerated()) {
      section($0.element, number: $0.offset)
    }
    return [
      "buttonLayoutSection": ["detailButtons": []],
      "detailLayoutSections": sections, "editLayoutSections": sections,
      "feedView": nil, "highlightsPanelLayoutSection": nil, "id": .string(plan.id),
      "multirowEditLayoutSections": [], "offlineLinks": [],
      "quickActionList": ["quickActionListItems": []], "relatedContent": nil, "relatedLists": [],
      "saveOptions": [],
    ]
  }

  private func section(_ section: LayoutPlan.Section, number: Int) -> ResponseJSON {
    let rows = plan.rows(of: section)
    return [
      "collapsed": false, "columns": .integer(section.columns),
      "heading": .string(section.heading),
      "layoutRows": .array(rows) { row in
        ["layoutItems": .array(row) { item($0) }, "numItems": .integer(row.count)]
      },
      "layoutSectionId": .string(RecordID.make(prefix: "01B", number: number + 1)),
      "parentLayoutId": .string(plan.id), "rows": .integer(rows.count),
      "tabOrder": "LeftToRight", "useCollapsibleSection": false, "useHeading": true,
    ]
  }

  private func item(_ field: FieldSchema) -> ResponseJSON {
    [
      "editableForNew": .bool(field.createable), "editableForUpdate": .bool(field.updateable),
      "label": .string(field.label),
      "layoutComponents": .array(plan.parts(of: field).enumerated()) { index, part in
        [
          "details": DescribeJSON(versionPath: versionPath).field(part),
          "displayLines": .integer(part.type == .textarea ? 2 : 1),
          "tabOrder": .integer(index + 1), "type": "Field", "value": .string(part.name),
        ]
      },
      "placeholder": false, "required": .bool(field.isRequired),
    ]
  }

  // MARK: Compact layouts

  /// The object's compact layout, and that the master record type has it.
  var allCompact: ResponseJSON {
    [
      "compactLayouts": [compact], "defaultCompactLayoutId": .string(plan.compactID),
      "recordTypeCompactLayoutMappings": [
        [
          "available": true, "compactLayoutId": .string(plan.compactID),
          "compactLayoutName": "SYSTEM",
          "recordTypeId": .string(LayoutPlan.masterRecordTypeID), "recordTypeName": "Master",
        ]
      ],
      "urls": ["primary": "\(describePath)/compactLayouts/primary"],
    ]
  }

  var compact: ResponseJSON {
    [
      "actions": [], "fieldItems": .array(plan.compactFields) { item($0) },
      "id": .string(plan.compactID), "imageItems": [], "label": "System Default",
      "name": "SYSTEM", "objectType": .string(object.name),
    ]
  }
}
