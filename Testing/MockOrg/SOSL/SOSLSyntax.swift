/// A search: what to look for, where, and what to show of the records found.
struct SOSLStatement: Sendable {
  var expression: SOSLExpression
  var group = SOSLFieldGroup.all
  /// The objects to look through, each with what stands in its parentheses; empty: all of them.
  var returning: [SOQLStatement] = []
  /// The most records of all objects together.
  var limit: Int?
  /// The most records of one object that sets no limit of its own.
  var defaultLimit: Int?
  /// `WITH METADATA = 'LABELS'`.
  var showsLabels = false
}

/// The fields that a search looks through: the word between IN and FIELDS.
enum SOSLFieldGroup: String, Sendable {
  case all = "ALL"
  case name = "NAME"
  case email = "EMAIL"
  case phone = "PHONE"
  case sidebar = "SIDEBAR"

  /// What the platform counts among the names of an object besides its name field.
  private static let otherNames: [String: Set<String>] = [
    "Account": ["Website", "Site"], "Asset": ["SerialNumber"],
    "Case": ["SuppliedName", "SuppliedCompany", "Subject"], "Contact": ["AssistantName"],
    "Event": ["Subject"], "Lead": ["Company"], "Note": ["Title"], "Task": ["Subject"],
    "User": ["CommunityNickname"],
  ]

  /// The fields of an object that belong to the group.
  func fields(of object: ObjectSchema) -> [FieldSchema] {
    object.fields.filter { field in
      guard Self.isSearchable(field) else { return false }
      switch self {
      case .all: return true
      case .name: return Self.isName(field, of: object)
      case .email: return field.type == .email
      case .phone: return field.type == .phone
      case .sidebar:
        return Self.isName(field, of: object) || field.type == .email || field.type == .phone
      }
    }
  }

  private static func isName(_ field: FieldSchema, of object: ObjectSchema) -> Bool {
    field.nameField || field.compoundFieldName == "Name"
      || otherNames[object.name]?.contains(field.name) == true
  }

  /// Searches look through texts alone; numbers, dates and picklists are found by SOQL.
  private static func isSearchable(_ field: FieldSchema) -> Bool {
    switch field.type {
    case .string, .textarea, .phone, .url, .email, .combobox: field.hasColumn
    default: false
    }
  }
}

/// What stands in the braces of FIND.
indirect enum SOSLExpression: Sendable, Equatable {
  /// A word, or several that have to stand one behind the other.
  case words([SOSLWord])
  case and([SOSLExpression])
  case or([SOSLExpression])
  case not(SOSLExpression)
  /// Finds nothing.
  case nothing
}

/// A word to look for: `*` stands for any number of characters, `?` for one, but at its beginning.
struct SOSLWord: Sendable, Equatable {
  var elements: [Wildcards.Element]

  /// The longest run of ASCII letters and digits in it: what every match contains.
  var longestLiteral: String {
    var longest = ""
    var current = ""
    for element in elements {
      if case .scalar(let scalar) = element, scalar.isASCII {
        current.unicodeScalars.append(scalar)
        if current.count > longest.count { longest = current }
      } else {
        current = ""
      }
    }
    return longest
  }

  /// Whether a folded word of a text has this form.
  func matches(_ word: [Unicode.Scalar]) -> Bool { Wildcards.match(elements, word) { $0 } }
}
