import GRDB
import SalesforceSDKCommon

/// The User Interface API, `/ui-api`: what pages need of objects, layouts and records, in one piece.
extension RESTService {
  /// Everything under `/ui-api`.
  func userInterface(_ request: OrgRequest, _ path: [String]) throws -> OrgResponse {
    let rest = Array(path.dropFirst())
    switch (path.first, rest.count) {
    case ("object-info", _):
      try request.allow("GET,HEAD")
      return try objectInfo(rest)
    case ("layout", 1):
      try request.allow("GET,HEAD")
      let object = try transaction.object(named: rest[0])
      let form = try LayoutForm(request)
      guard
        try form.recordTypeID.map({ id in try recordTypes(of: object).contains { $0.id == id } })
          ?? true
      else { throw ServerError.notFound() }
      return .json { writeLayout(of: object, form, to: &$0) }
    case ("records", 0):
      try request.allow("POST")
      return try createInterfaceRecord(request)
    case ("records", 1): return try interfaceRecord(request, id: rest[0])
    case ("records", 2) where rest[0] == "batch":
      try request.allow("GET,HEAD")
      return try interfaceRecords(request, ids: rest[1])
    case ("record-ui", 1):
      try request.allow("GET,HEAD")
      return try recordInterface(request, ids: rest[0])
    case ("record-defaults", 2) where rest[0] == "create":
      try request.allow("GET,HEAD")
      return try createDefaults(transaction.object(named: rest[1]), request)
    default: throw ServerError.notFound()
    }
  }

  // MARK: Layouts

  /// Which layout a page asks for.
  struct LayoutForm {
    var formFactor = "Large"
    var layoutType = "Full"
    var mode = "View"
    var recordTypeID: String?

    init(_ request: OrgRequest) throws(ServerError) {
      func choice(
        _ name: String, _ known: [String], _ usual: String
      ) throws(ServerError) -> String {
        guard let given = request[query: name] else { return usual }
        guard let value = known.first(where: { $0.lowercased() == given.lowercased() }) else {
          throw ServerError(
            "ILLEGAL_QUERY_PARAMETER_VALUE",
            "\(given) is no value of \(name). Known are \(known.joined(separator: ", "))")
        }
        return value
      }
      formFactor = try choice("formFactor", ["Large", "Medium", "Small"], formFactor)
      layoutType = try choice("layoutType", ["Compact", "Full"], layoutType)
      mode = try choice("mode", ["Create", "Edit", "View"], mode)
      if let text = request[query: "recordTypeId"], !text.isEmpty {
        guard let id = RecordID.normalized(text) else { throw .malformedID(text) }
        recordTypeID = id
      }
    }
  }

  func writeLayout(of object: ObjectSchema, _ form: LayoutForm, to writer: inout JSONWriter) {
    let plan = LayoutPlan(object)
    let isCompact = form.layoutType == "Compact"
    let sections =
      isCompact
      ? [LayoutPlan.Section(heading: object.label, fields: plan.compactFields, columns: 1)]
      : plan.sections
    writer.beginObject()
    writer.key("eTag")
    writer.string(Self.tag("\(plan.id)\(form.layoutType)\(form.mode)\(object.fields.count)"))
    for (key, value) in [
      ("id", isCompact ? plan.compactID : plan.id), ("layoutType", form.layoutType),
      ("mode", form.mode), ("objectApiName", object.name),
      ("recordTypeId", form.recordTypeID ?? LayoutPlan.masterRecordTypeID),
    ] {
      writer.key(key)
      writer.string(value)
    }
    writer.key("saveOptions")
    writer.beginArray()
    writer.endArray()
    writer.key("sections")
    writer.beginArray()
    for (index, section) in sections.enumerated() {
      let rows = plan.rows(of: section)
      writer.beginObject()
      writer.key("collapsible")
      writer.bool(!isCompact)
      writer.key("columns")
      writer.integer(section.columns)
      writer.key("heading")
      writer.string(section.heading)
      writer.key("id")
      writer.string(RecordID.make(prefix: "01B", number: index + 1))
      writer.key("layoutRows")
      writer.beginArray()
      for row in rows {
        writer.beginObject()
        writer.key("layoutItems")
        writer.beginArray()
        for field in row { writeInterfaceItem(field, of: plan, to: &writer) }
        writer.endArray()
        writer.endObject()
      }
      writer.endArray()
      writer.key("rows")
      writer.integer(rows.count)
      writer.key("useHeading")
      writer.bool(!isCompact)
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
  }

  private func writeInterfaceItem(
    _ field: FieldSchema, of plan: LayoutPlan, to writer: inout JSONWriter
  ) {
    writer.beginObject()
    writer.key("editableForNew")
    writer.bool(field.createable)
    writer.key("editableForUpdate")
    writer.bool(field.updateable)
    writer.key("label")
    writer.string(field.label)
    writer.key("layoutComponents")
    writer.beginArray()
    for part in plan.parts(of: field) {
      writer.beginObject()
      for (key, value) in [
        ("apiName", part.name), ("componentType", "Field"), ("label", part.label),
      ] {
        writer.key(key)
        writer.string(value)
      }
      writer.endObject()
    }
    writer.endArray()
    writer.key("lookupIdApiName")
    writer.string(orNull: field.type == .reference ? "Id" : nil)
    writer.key("required")
    writer.bool(field.isRequired)
    writer.key("sortable")
    writer.bool(false)
    writer.endObject()
  }

  // MARK: Several things in one response

  /// `/record-ui/ID,ID`: records with the layouts and descriptions to show them.
  private func recordInterface(_ request: OrgRequest, ids: String) throws -> OrgResponse {
    let records = try ids.split(separator: ",").map { try interfaceTarget(String($0)) }
    let form = try LayoutForm(request)
    let types = (request[query: "layoutTypes"] ?? form.layoutType).split(separator: ",")
    let modes = (request[query: "modes"] ?? form.mode).split(separator: ",")
    var objects: [ObjectSchema] = []
    for record in records where !objects.contains(where: { $0.name == record.object.name }) {
      objects.append(record.object)
    }
    return try .json { writer in
      writer.beginObject()
      writer.key("eTag")
      writer.string(Self.tag(ids))
      writer.key("layoutUserStates")
      writer.beginObject()
      writer.endObject()
      writer.key("layouts")
      writer.beginObject()
      for object in objects {
        writer.key(object.name)
        writer.beginObject()
        writer.key(LayoutPlan.masterRecordTypeID)
        writer.beginObject()
        for type in types {
          writer.key(String(type))
          writer.beginObject()
          for mode in modes {
            var form = form
            form.layoutType = String(type)
            form.mode = String(mode)
            writer.key(String(mode))
            writeLayout(of: object, form, to: &writer)
          }
          writer.endObject()
        }
        writer.endObject()
        writer.endObject()
      }
      writer.endObject()
      writer.key("objectInfos")
      writer.beginObject()
      for object in objects {
        writer.key(object.name)
        try writeObjectInfo(object, to: &writer)
      }
      writer.endObject()
      writer.key("records")
      writer.beginObject()
      for record in records {
        writer.key(record.id)
        try writeInterfaceRecord(
          record, fields: Self.layoutFields(of: record.object), to: &writer)
      }
      writer.endObject()
      writer.endObject()
    }
  }

  /// `/record-defaults/create/NAME`: what a page for a new record begins with.
  private func createDefaults(
    _ object: ObjectSchema, _ request: OrgRequest
  ) throws -> OrgResponse {
    var form = try LayoutForm(request)
    form.mode = "Create"
    return try .json { writer in
      writer.beginObject()
      writer.key("layout")
      writeLayout(of: object, form, to: &writer)
      writer.key("objectInfos")
      writer.beginObject()
      writer.key(object.name)
      try writeObjectInfo(object, to: &writer)
      writer.endObject()
      writer.key("record")
      writer.beginObject()
      writer.key("apiName")
      writer.string(object.name)
      writer.key("childRelationships")
      writer.beginObject()
      writer.endObject()
      writer.key("fields")
      writer.beginObject()
      for field in object.fields where field.createable {
        writer.key(field.name)
        writer.beginObject()
        writer.key("displayValue")
        writer.null()
        writer.key("value")
        switch field.defaultValue {
        case .text(let text)?: writer.string(text)
        case .number(let number)?:
          RecordJSON.write(number.databaseValue, type: field.type, to: &writer)
        case .boolean(let flag)?: writer.bool(flag)
        case nil:
          if field.type == .boolean {
            writer.bool(false)
          } else if field.name == "OwnerId" {
            writer.string(transaction.userID)
          } else {
            writer.string(orNull: field.picklistValues.first(where: \.defaultValue)?.value)
          }
        }
        writer.endObject()
      }
      writer.endObject()
      writer.key("id")
      writer.null()
      writer.key("recordTypeId")
      writer.string(form.recordTypeID ?? LayoutPlan.masterRecordTypeID)
      writer.endObject()
      writer.endObject()
    }
  }

  /// A text that changes when what it stands for changes.
  static func tag(_ text: String) -> String {
    String(Digests.sha256Hex(text).prefix(32))
  }
}
