/// A query as written: names are not resolved, literals have no type yet.
struct SOQLStatement: Sendable {
  var select: [SOQLSelectItem]
  var object: SOQLName
  /// What the query calls the object besides its name (`FROM Account a`).
  var alias: String?
  /// More names behind FROM: `FROM Contact c, c.Account a`.
  var relatedAliases: [(path: SOQLPath, alias: String)] = []
  var condition: SOQLCondition?
  var groups: [SOQLOperand] = []
  var having: SOQLCondition?
  var order: [SOQLOrderItem] = []
  var limit: Int?
  var offset: Int?
  /// `ALL ROWS`: deleted records too.
  var allRows = false
}

/// A name and where it stands.
struct SOQLName: Sendable {
  var text: String
  var offset: Int
}

/// Names with dots between them, such as `Account.Owner.Name`.
struct SOQLPath: Sendable {
  var names: [String]
  var offset: Int

  var text: String { names.joined(separator: ".") }
}

enum SOQLSelectItem: Sendable {
  case operand(SOQLOperand, alias: String?)
  /// `FIELDS(ALL)` and its like.
  case fields(SOQLFieldSet, offset: Int)
  /// `(SELECT ... FROM Contacts)`.
  case children(SOQLStatement)
}

/// The argument of `FIELDS(...)`.
enum SOQLFieldSet: String, Sendable {
  case all = "ALL"
  case standard = "STANDARD"
  case custom = "CUSTOM"
}

/// What stands left of an operator, in SELECT, in GROUP BY or in ORDER BY.
indirect enum SOQLOperand: Sendable {
  case field(SOQLPath)
  /// A function of at most one operand; the name as written.
  case function(SOQLName, SOQLOperand?)

  var offset: Int {
    switch self {
    case .field(let path): path.offset
    case .function(let name, _): name.offset
    }
  }
}

struct SOQLOrderItem: Sendable {
  var operand: SOQLOperand
  var descending = false
  /// Nulls stand first unless the query says `NULLS LAST`, in either direction.
  var nullsLast = false
}

indirect enum SOQLCondition: Sendable {
  case and([SOQLCondition])
  case or([SOQLCondition])
  case not(SOQLCondition)
  case comparison(SOQLComparison)
  /// `path IN (SELECT ...)` or, negated, `NOT IN`.
  case semiJoin(SOQLPath, negated: Bool, SOQLStatement)
}

struct SOQLComparison: Sendable {
  var operand: SOQLOperand
  var comparator: SOQLComparator
  /// One value; any number of them for IN, NOT IN, INCLUDES and EXCLUDES.
  var values: [SOQLValue]
}

enum SOQLComparator: String, Sendable {
  case equal = "="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  case like = "LIKE"
  case isIn = "IN"
  case notIn = "NOT IN"
  case includes = "INCLUDES"
  case excludes = "EXCLUDES"
}

/// A literal and where it stands.
struct SOQLValue: Sendable {
  enum Literal: Sendable {
    case null
    case boolean(Bool)
    /// As written.
    case number(String)
    case string(SOQLString)
    case date(SOQLDate)
    case dateTime(milliseconds: Int64)
    case time(milliseconds: Int)
    case dateLiteral(SOQLDateLiteral)
  }

  var literal: Literal
  var offset: Int
}
