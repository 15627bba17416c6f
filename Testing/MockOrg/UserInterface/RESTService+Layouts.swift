import GRDB
import SalesforceSDKCommon

/// `/sobjects/NAME/describe/layouts` and the compact layouts.
extension RESTService {
  /// The record types of an object, the master last.
  func recordTypes(of object: ObjectSchema) throws -> [LayoutPlan.RecordType] {
    guard let types = transaction.schema.object(named: "RecordType"),
      ["SobjectType", "DeveloperName", "IsActive"].allSatisfy({ types.field(named: $0) != nil })
    else { return [.master] }
    let statement = try transaction.database.cachedStatement(
      sql: """
        SELECT "Id", "Name", "DeveloperName", "IsActive" FROM \(types.table.name) \
        WHERE "SobjectType" = ? AND "IsDeleted" = 0 ORDER BY rowid
        """)
    let rows = try Row.fetchAll(statement, arguments: [object.name])
    return rows.map {
      LayoutPlan.RecordType(
        id: $0[0], name: $0[1] ?? "", developerName: $0[2] ?? "", isActive: $0[3] ?? true)
    } + [.master]
  }

  // MARK: Layouts

  /// `/describe/layouts`, and with a record type the one layout that it has.
  func layouts(_ object: ObjectSchema, recordType id: String?) throws -> OrgResponse {
    let plan = LayoutPlan(object)
    let types = try recordTypes(of: object)
    if let id {
      guard let wanted = RecordID.normalized(id), types.contains(where: { $0.id == wanted }) else {
        throw ServerError.notFound()
      }
      return .json { write(plan, to: &$0) }
    }
    return .json { writer in
      writer.beginObject()
      writer.key("layouts")
      writer.beginArray()
      write(plan, to: &writer)
      writer.endArray()
      writer.key("recordTypeMappings")
      writer.beginArray()
      for type in types {
        writer.beginObject()
        for (key, value) in [
          ("active", type.isActive), ("available", !type.isMaster || types.count == 1),
          ("defaultRecordTypeMapping", type.id == types[0].id), ("master", type.isMaster),
        ] {
          writer.key(key)
          writer.bool(value)
        }
        for (key, value) in [
          ("developerName", type.developerName), ("layoutId", plan.id), ("name", type.name),
          ("recordTypeId", type.id),
        ] {
          writer.key(key)
          writer.string(value)
        }
        writer.key("picklistsForRecordType")
        writer.null()
        writer.key("urls")
        writer.beginObject()
        writer.key("layout")
        writer.string(
          "\(transaction.versionPath)/sobjects/\(object.name)/describe/layouts/\(type.id)")
        writer.endObject()
        writer.endObject()
      }
      writer.endArray()
      writer.key("recordTypeSelectorRequired")
      writer.beginArray()
      writer.bool(types.count > 2)
      writer.endArray()
      writer.endObject()
    }
  }

  private func write(_ plan: LayoutPlan, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("buttonLayoutSection")
    writer.beginObject()
    writer.key("detailButtons")
    writer.beginArray()
    writer.endArray()
    writer.endObject()
    for key in ["detailLayoutSections", "editLayoutSections"] {
      writer.key(key)
      writer.beginArray()
      for (index, section) in plan.sections.enumerated() {
        write(section, number: index, of: plan, to: &writer)
      }
      writer.endArray()
    }
    for key in ["feedView", "highlightsPanelLayoutSection"] {
      writer.key(key)
      writer.null()
    }
    writer.key("id")
    writer.string(plan.id)
    for key in ["multirowEditLayoutSections", "offlineLinks"] {
      writer.key(key)
      writer.beginArray()
      writer.endArray()
    }
    writer.key("quickActionList")
    writer.beginObject()
    writer.key("quickActionListItems")
    writer.beginArray()
    writer.endArray()
    writer.endObject()
    writer.key("relatedContent")
    writer.null()
    for key in ["relatedLists", "saveOptions"] {
      writer.key(key)
      writer.beginArray()
      writer.endArray()
    }
    writer.endObject()
  }

  private func write(
    _ section: LayoutPlan.Section, number: Int, of plan: LayoutPlan, to writer: inout JSONWriter
  ) {
    let rows = plan.rows(of: section)
    writer.beginObject()
    writer.key("collapsed")
    writer.bool(false)
    writer.key("columns")
    writer.integer(section.columns)
    writer.key("heading")
    writer.string(section.heading)
    writer.key("layoutRows")
    writer.beginArray()
    for row in rows {
      writer.beginObject()
      writer.key("layoutItems")
      writer.beginArray()
      for field in row { writeItem(field, of: plan, to: &writer) }
      writer.endArray()
      writer.key("numItems")
      writer.integer(row.count)
      writer.endObject()
    }
    writer.endArray()
    writer.key("layoutSectionId")
    writer.string(RecordID.make(prefix: "01B", number: number + 1))
    writer.key("parentLayoutId")
    writer.string(plan.id)
    writer.key("rows")
    writer.integer(rows.count)
    writer.key("tabOrder")
    writer.string("LeftToRight")
    writer.key("useCollapsibleSection")
    writer.bool(false)
    writer.key("useHeading")
    writer.bool(true)
    writer.endObject()
  }

  private func writeItem(
    _ field: FieldSchema, of plan: LayoutPlan, to writer: inout JSONWriter
  ) {
    writer.beginObject()
    for (key, value) in [
      ("editableForNew", field.createable), ("editableForUpdate", field.updateable),
    ] {
      writer.key(key)
      writer.bool(value)
    }
    writer.key("label")
    writer.string(field.label)
    writer.key("layoutComponents")
    writer.beginArray()
    for (index, part) in plan.parts(of: field).enumerated() {
      writer.beginObject()
      writer.key("details")
      DescribeJSON(versionPath: transaction.versionPath).write(part, to: &writer)
      writer.key("displayLines")
      writer.integer(part.type == .textarea ? 2 : 1)
      writer.key("tabOrder")
      writer.integer(index + 1)
      writer.key("type")
      writer.string("Field")
      writer.key("value")
      writer.string(part.name)
      writer.endObject()
    }
    writer.endArray()
    writer.key("placeholder")
    writer.bool(false)
    writer.key("required")
    writer.bool(field.isRequired)
    writer.endObject()
  }

  // MARK: Compact layouts

  /// `/describe/compactLayouts`, `/describe/compactLayouts/primary` and with a record type.
  func compactLayouts(_ object: ObjectSchema, _ name: String?) throws -> OrgResponse {
    let plan = LayoutPlan(object)
    guard let name else {
      return .json { writer in
        writer.beginObject()
        writer.key("compactLayouts")
        writer.beginArray()
        writeCompact(plan, to: &writer)
        writer.endArray()
        writer.key("defaultCompactLayoutId")
        writer.string(plan.compactID)
        writer.key("recordTypeCompactLayoutMappings")
        writer.beginArray()
        writer.beginObject()
        writer.key("available")
        writer.bool(true)
        for (key, value) in [
          ("compactLayoutId", plan.compactID), ("compactLayoutName", "SYSTEM"),
          ("recordTypeId", LayoutPlan.masterRecordTypeID), ("recordTypeName", "Master"),
        ] {
          writer.key(key)
          writer.string(value)
        }
        writer.endObject()
        writer.endArray()
        writer.key("urls")
        writer.beginObject()
        writer.key("primary")
        writer.string(
          "\(transaction.versionPath)/sobjects/\(object.name)/describe/compactLayouts/primary")
        writer.endObject()
        writer.endObject()
      }
    }
    let types = try recordTypes(of: object).map(\.id)
    guard name == "primary" || RecordID.normalized(name).map(types.contains) == true else {
      throw ServerError.notFound()
    }
    return .json { writeCompact(plan, to: &$0) }
  }

  /// `/compactLayouts?q=Account,Contact`: the primary compact layout of each.
  func compactLayouts(_ request: OrgRequest) throws -> OrgResponse {
    let names = (request[query: "q"] ?? "").split(separator: ",").map {
      String($0).trimmingBlanks()
    }
    guard !names.isEmpty else {
      throw ServerError("MISSING_ARGUMENT", "The q parameter has to name objects.")
    }
    let objects = try names.map { try transaction.object(named: $0) }
    return .json { writer in
      writer.beginObject()
      for object in objects {
        writer.key(object.name)
        writeCompact(LayoutPlan(object), to: &writer)
      }
      writer.endObject()
    }
  }

  private func writeCompact(_ plan: LayoutPlan, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("actions")
    writer.beginArray()
    writer.endArray()
    writer.key("fieldItems")
    writer.beginArray()
    for field in plan.compactFields { writeItem(field, of: plan, to: &writer) }
    writer.endArray()
    writer.key("id")
    writer.string(plan.compactID)
    writer.key("imageItems")
    writer.beginArray()
    writer.endArray()
    for (key, value) in [
      ("label", "System Default"), ("name", "SYSTEM"), ("objectType", plan.object.name),
    ] {
      writer.key(key)
      writer.string(value)
    }
    writer.endObject()
  }
}
