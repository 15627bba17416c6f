/// The fields that the platform gives every object.
enum SystemFields {
  /// `Id`.
  static var id: FieldSchema {
    var id = field("Id", "Record ID", .id)
    id.length = 18
    id.idLookup = true
    return id
  }

  /// `OwnerId`, which callers may set.
  static var owner: FieldSchema {
    var owner = user("OwnerId", "Owner ID", "Owner")
    owner.createable = true
    owner.updateable = true
    return owner
  }

  /// `RecordTypeId`, of an object that has record types.
  static var recordType: FieldSchema {
    var type = field("RecordTypeId", "Record Type ID", .reference)
    type.length = 18
    type.referenceTo = ["RecordType"]
    type.relationshipName = "RecordType"
    type.nillable = true
    type.createable = true
    type.updateable = true
    return type
  }

  /// `IsDeleted`.
  static var deleted: FieldSchema {
    var deleted = field("IsDeleted", "Deleted", .boolean)
    deleted.defaultValue = .boolean(false)
    return deleted
  }

  /// Who created and changed a record, and when.
  static var stamps: [FieldSchema] {
    [
      field("CreatedDate", "Created Date", .datetime),
      user("CreatedById", "Created By ID", "CreatedBy"),
      field("LastModifiedDate", "Last Modified Date", .datetime),
      user("LastModifiedById", "Last Modified By ID", "LastModifiedBy"),
      field("SystemModstamp", "System Modstamp", .datetime),
    ]
  }

  /// `fields` with those added that every object has, for descriptions that were cut short: `Id`, and
  /// for a custom object also `IsDeleted` and the stamps.
  static func completing(_ fields: [FieldSchema], custom: Bool) -> [FieldSchema] {
    func missing(_ field: FieldSchema) -> Bool { !fields.contains { $0.name == field.name } }
    let before = missing(id) ? [id] : []
    return before + fields + (custom ? ([deleted] + stamps).filter(missing) : [])
  }

  private static func field(_ name: String, _ label: String, _ type: FieldType) -> FieldSchema {
    var field = FieldSchema(name: name, label: label, type: type)
    field.nillable = false
    field.createable = false
    field.updateable = false
    field.defaultedOnCreate = true
    return field
  }

  private static func user(_ name: String, _ label: String, _ relationship: String) -> FieldSchema {
    var field = field(name, label, .reference)
    field.length = 18
    field.referenceTo = ["User"]
    field.relationshipName = relationship
    return field
  }
}
