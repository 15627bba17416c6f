/// Where an object's fields stand on a page: made from the schema alone, since the org keeps no layouts
/// that an administrator has drawn. The same schema always gives the same page.
struct LayoutPlan {
  struct Section {
    var heading: String
    /// The fields from left to right and top to bottom. A compound field stands for its parts.
    var fields: [FieldSchema]
    var columns = 2
  }

  let object: ObjectSchema
  let sections: [Section]
  /// The fields of the compact layout: the name and what tells records apart at a glance.
  let compactFields: [FieldSchema]

  /// The layout's id, the same in every response.
  var id: String { RecordID.make(prefix: "00h", number: number) }
  /// The compact layout's id.
  var compactID: String { RecordID.make(prefix: "0AH", number: number) }
  /// The id that stands for the record type of objects without any.
  static let masterRecordTypeID = "012000000000000AAA"

  /// A number that follows from the object's name.
  private var number: Int {
    Int(object.name.utf8.reduce(UInt32(5381)) { ($0 &* 33) ^ UInt32($1) } % 1_000_000) + 1
  }

  init(_ object: ObjectSchema) {
    self.object = object
    let stamps: Set<String> = [
      "CreatedDate", "LastModifiedDate", "SystemModstamp", "LastActivityDate", "LastViewedDate",
      "LastReferencedDate",
    ]
    func isShown(_ field: FieldSchema) -> Bool {
      field.type != .id && !stamps.contains(field.name) && field.name != "IsDeleted"
        && field.type != .base64 && field.name != "MasterRecordId"
    }
    var main: [FieldSchema] = []
    var addresses: [FieldSchema] = []
    var descriptions: [FieldSchema] = []
    var people: [FieldSchema] = []
    for field in object.fields where isShown(field) {
      // The parts of a compound field stand in its place.
      if let compound = field.compoundFieldName, compound != field.name,
        object.field(named: compound) != nil
      {
        continue
      }
      if field.name == "CreatedById" || field.name == "LastModifiedById" {
        people.append(field)
      } else if field.type == .address {
        addresses.append(field)
      } else if field.type == .textarea && field.length > 255 {
        descriptions.append(field)
      } else {
        main.append(field)
      }
    }
    if let name = main.firstIndex(where: \.nameField) { main.insert(main.remove(at: name), at: 0) }
    var sections = [Section(heading: "\(object.label) Information", fields: main)]
    if !addresses.isEmpty {
      sections.append(Section(heading: "Address Information", fields: addresses))
    }
    if !descriptions.isEmpty {
      sections.append(
        Section(heading: "Description Information", fields: descriptions, columns: 1))
    }
    if !people.isEmpty { sections.append(Section(heading: "System Information", fields: people)) }
    self.sections = sections.filter { !$0.fields.isEmpty }

    let glance: Set<FieldType> = [
      .phone, .email, .picklist, .date, .datetime, .currency, .reference, .url,
    ]
    compactFields = Array(
      (main.filter(\.nameField)
        + main.filter { !$0.nameField && $0.name != "RecordTypeId" && glance.contains($0.type) })
        .prefix(5))
  }

  /// The fields that a place of the layout shows: the parts of a compound field, or the field itself.
  func parts(of field: FieldSchema) -> [FieldSchema] {
    let parts = object.compoundParts(of: field.name).compactMap { object.field(named: $0.field) }
    guard field.type.storage == .compound || (field.nameField && parts.count > 1) else {
      return [field]
    }
    return parts
  }

  /// The rows of a section: as many fields side by side as it has columns.
  func rows(of section: Section) -> [[FieldSchema]] {
    stride(from: 0, to: section.fields.count, by: section.columns).map {
      Array(section.fields[$0..<min($0 + section.columns, section.fields.count)])
    }
  }

  /// The record types of an object as its descriptions list them.
  struct RecordType: Sendable {
    var id: String
    var name: String
    var developerName: String
    var isActive = true
    var isMaster = false

    static let master = RecordType(
      id: masterRecordTypeID, name: "Master", developerName: "Master", isMaster: true)
  }
}
