import GRDB

/// Where the platform's own fields lie in an object's rows and what a new row gets: worked out once for
/// an object, since a load of a million records asks for it a million times.
struct RowPlan: Sendable {
  /// What a field has where the caller gives nothing.
  enum Initial: Sendable {
    case value(DatabaseValue)
    /// The acting user.
    case user
  }

  /// Which fields of the row follow from others.
  enum Derivation: Sendable {
    case nothing
    case person
    case opportunity
    case supportCase
    case task
    /// `BodyLength` of an attachment or a document.
    case file
  }

  var id: Int?
  var isDeleted: Int?
  /// `CreatedDate`, `LastModifiedDate`, `SystemModstamp`.
  var stamps: [Int] = []
  /// `CreatedById`, `LastModifiedById`.
  var users: [Int] = []
  /// The name field.
  var name: Int?
  /// A record without a name is called by its id.
  var nameFallsBackToID = false
  /// The places that have a value of their own on create.
  var initials: [(position: Int, value: Initial)] = []
  /// The places that have to be filled on create.
  var required: [Int] = []
  var derivation = Derivation.nothing
  /// The places of fields that derived ones follow from.
  var sources: Set<Int> = []
  /// The fields that the platform counts up, with the form of their numbers.
  var autoNumbers: [(position: Int, form: AutoNumberFormat)] = []

  init(object: String, fields: [FieldSchema], columns: [Int]) {
    for (position, index) in columns.enumerated() {
      let field = fields[index]
      switch field.name {
      case "Id": id = position
      case "IsDeleted": isDeleted = position
      case "CreatedDate", "LastModifiedDate", "SystemModstamp": stamps.append(position)
      case "CreatedById", "LastModifiedById": users.append(position)
      default: break
      }
      if field.nameField, name == nil {
        name = position
        nameFallsBackToID = field.name == "Name" && field.createable && field.type == .string
      }
      if field.isNumbered { autoNumbers.append((position, AutoNumberFormat(field.displayFormat))) }
      if let initial = Self.initial(of: field) { initials.append((position, initial)) }
      if field.isRequired { required.append(position) }
      if DerivedFields.sources.contains(field.name) { sources.insert(position) }
    }
    let names = Set(fields.map(\.name))
    switch object {
    case "Opportunity": derivation = .opportunity
    case "Case": derivation = .supportCase
    case "Task": derivation = .task
    default:
      let isPerson =
        names.isSuperset(of: ["FirstName", "LastName"])
        && fields.contains { $0.compoundFieldName == "Name" && $0.name != "Name" }
      let isFile = names.isSuperset(of: ["Body", "BodyLength"])
      derivation = isPerson ? .person : isFile ? .file : .nothing
    }
    if derivation == .nothing { sources = [] }
  }

  private static func initial(of field: FieldSchema) -> Initial? {
    switch field.defaultValue {
    case .text(let text)?: return .value(text.databaseValue)
    case .number(let number)?:
      return .value(
        field.type.storage == .integer
          ? Int64(exactly: number.rounded(.towardZero))?.databaseValue ?? .null
          : number.databaseValue)
    case .boolean(let flag)?: return .value(flag.databaseValue)
    case nil:
      if let rollUp = field.rollUp, rollUp.operation == .count || rollUp.operation == .sum {
        return .value(field.type.storage == .integer ? 0.databaseValue : 0.0.databaseValue)
      }
      if field.type == .boolean { return .value(false.databaseValue) }
      if field.name == "OwnerId" { return .user }
      return field.picklistValues.first(where: \.defaultValue).map {
        .value($0.value.databaseValue)
      }
    }
  }
}
