/// The layout of an object as the User Interface API gives it.
struct InterfaceLayoutJSON {
  private let object: ObjectSchema
  private let plan: LayoutPlan

  init(_ object: ObjectSchema) {
    self.object = object
    plan = LayoutPlan(object)
  }

  func layout(_ form: LayoutForm) -> ResponseJSON {
    let isCompact = form.layoutType == "Compact"
    let sections =
      isCompact
      ? [LayoutPlan.Section(heading: object.label, fields: plan.compactFields, columns: 1)]
      : plan.sections
    return [
      "eTag": ObjectInfoJSON.tag("\(plan.id)\(form.layoutType)\(form.mode)\(object.fields.count)"),
      "id": .string(isCompact ? plan.compactID : plan.id), "layoutType": .string(form.layoutType),
      "mode": .string(form.mode), "objectApiName": .string(object.name),
      "recordTypeId": .string(form.recordTypeID ?? LayoutPlan.masterRecordTypeID),
      "saveOptions": [],
      "sections": .array(sections.enumerated()) { index, section in
        let rows = plan.rows(of: section)
        return [
          "collapsible": .bool(!isCompact), "columns": .integer(section.columns),
          "heading": .string(section.heading),
          "id": .string(RecordID.make(prefix: "01B", number: index + 1)),
          "layoutRows": .array(rows) { row in ["layoutItems": .array(row) { item($0) }] },
          "rows": .integer(rows.count), "useHeading": .bool(!isCompact),
        ]
      },
    ]
  }

  private func item(_ field: FieldSchema) -> ResponseJSON {
    [
      "editableForNew": .bool(field.createable), "editableForUpdate": .bool(field.updateable),
      "label": .string(field.label),
      "layoutComponents": .array(plan.parts(of: field)) { part in
        [
          "apiName": .string(part.name), "componentType": "Field", "label": .string(part.label),
        ]
      },
      "lookupIdApiName": .string(orNull: field.type == .reference ? "Id" : nil),
      "required": .bool(field.isRequired), "sortable": false,
    ]
  }
}
