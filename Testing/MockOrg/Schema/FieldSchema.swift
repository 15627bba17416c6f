/// One value of a picklist.
struct PicklistValue: Sendable, Hashable {
  var value: String
  var label: String
  var active = true
  var defaultValue = false
}

/// What the org knows about one field of an object.
struct FieldSchema: Sendable {
  /// What a record gets where neither the caller nor the platform gives a value.
  enum Default: Sendable, Hashable {
    case text(String)
    case number(Double)
    case boolean(Bool)
  }

  /// The API name, in the case in which responses give it. It is also the column's name.
  var name: String
  var label: String
  var type: FieldType
  /// The longest text in characters; 0 where the type has no length.
  var length = 0
  /// All digits of a number, those after the point included; 0 where the type has none.
  var precision = 0
  /// The digits after the point.
  var scale = 0
  /// The digits of an `int`.
  var digits = 0
  var nillable = true
  var createable = true
  var updateable = true
  /// The platform gives a value on create: the field is not required although it is not nillable.
  var defaultedOnCreate = false
  var custom = false
  var externalId = false
  var idLookup = false
  var unique = false
  var caseSensitive = false
  var autoNumber = false
  var calculated = false
  /// The object's name field.
  var nameField = false
  /// Deleting the parent deletes the record that refers to it.
  var cascadeDelete = false
  /// The parent cannot be deleted while a record refers to it.
  var restrictedDelete = false
  /// A picklist that refuses values which it does not list.
  var restrictedPicklist = false
  /// The objects that a reference may name; several for a polymorphic one (`OwnerId`: Group, User).
  var referenceTo: [String] = []
  /// What SOQL calls the parent (`Owner` of `OwnerId`, `Broker__r` of `Broker__c`).
  var relationshipName: String?
  var picklistValues: [PicklistValue] = []
  /// How an auto number is shown (`A-{0000}`); nil for the standard objects' form.
  var displayFormat: String?
  /// The formula that gives the value, in the platform's formula language.
  var formula: String?
  /// A formula counts a number that is missing as 0.
  var formulaTreatsNullAsZero = true
  /// The formula reaches beyond the record (parents, the time), so that queries work it out instead of the
  /// table; the object's schema finds out.
  var isComputed = false
  /// What the records of a child object add up to.
  var rollUp: RollUp?
  /// What a page shows to who asks what the field means.
  var helpText: String?
  /// What a describe adds to the type: `plaintextarea`, `personname`, `imageurl` and the like.
  var extraTypeInfo: String?
  var defaultValue: Default?
  /// The compound field that this field is a part of (`BillingAddress` of `BillingCity`, `Name` of
  /// `LastName`).
  var compoundFieldName: String?

  /// Whether the reference may name records of `object`: what may belong to records of many objects may belong to
  /// custom ones too.
  func canReference(_ object: ObjectSchema) -> Bool {
    referenceTo.contains(object.name) || referenceTo.count > 2 && object.custom
  }

  /// Whether a caller has to give a value on create.
  var isRequired: Bool {
    !nillable && createable && !defaultedOnCreate && defaultValue == nil && type != .boolean
  }

  /// Whether the platform counts the values up: an auto number, or a name such as `CaseNumber`.
  var isNumbered: Bool {
    autoNumber || (nameField && type == .string && !createable && !nillable && name != "Name")
  }

  /// Whether SQLite works the value out from the record's other columns.
  var isGenerated: Bool { formula != nil }

  /// Whether the value is made of other fields (address, location).
  var isCompound: Bool { type.storage == .compound }

  /// Whether the object's table has a column for this field.
  var hasColumn: Bool { !isCompound && !isComputed }
}

/// A part of a compound field as a response shows it: `city` of `BillingAddress` from `BillingCity`.
struct CompoundPart: Sendable, Hashable {
  /// The member's name in the response.
  var key: String
  /// The API name of the field that holds the part.
  var field: String
}

/// A roll-up summary field: what the records that refer to a record add up to.
struct RollUp: Sendable, Hashable {
  enum Operation: String, Sendable {
    case count, sum, min, max
  }

  var operation: Operation
  /// The object whose records are counted, and its reference to the parent.
  var childObject: String
  var reference: String
  /// The child's field that is added up; nil for a count.
  var field: String?
  /// Which children count: those for which all of these hold.
  var filters: [RollUpFilter] = []
}

/// A condition on the children of a roll-up.
struct RollUpFilter: Sendable, Hashable {
  /// By the names of the metadata.
  enum Operation: String, Sendable {
    case equals, notEqual, lessThan, greaterThan, lessOrEqual, greaterOrEqual, contains, notContain
    case startsWith, includes, excludes
  }

  var field: String
  var operation: Operation
  /// As the definition has it: values stand behind each other with commas.
  var value: String
}
