/// A query as written: names are not resolved, literals have no type yet.
struct SOQLStatement: Sendable {
  var select: [SOQLSelectItem]
  var object: SOQLName
  /// What the query calls the object besides its name (`FROM Account a`).
  var alias: String?
  /// More names behind FROM: `FROM Contact c, c.Account a`.
  var relatedAliases: [(path: SOQLPath, alias: String)] = []
  /// The name behind `USING SCOPE`.
  var scope: SOQLName?
  /// The conditions of `WITH DATA CATEGORY`.
  var dataCategories: [SOQLDataCategory] = []
  var condition: SOQLCondition?
  var groups: [SOQLOperand] = []
  var grouping = SOQLGrouping.plain
  var having: SOQLCondition?
  var order: [SOQLOrderItem] = []
  var limit: Int?
  var offset: Int?
  /// `ALL ROWS`: deleted records too.
  var allRows = false
  /// `FOR VIEW`: the records of the result count as viewed.
  var marksViewed = false
  /// `FOR REFERENCE`: the records of the result count as referenced.
  var marksReferenced = false
}

/// Which rows of totals `GROUP BY` adds.
enum SOQLGrouping: Sendable {
  case plain
  /// One for every beginning of the list of groups.
  case rollup
  /// One for every part of the list of groups.
  case cube
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
  case typeOf(SOQLTypeOf)
}

/// `TYPEOF What WHEN Account THEN Phone ELSE Name END`: fields of a parent by the object that it is.
struct SOQLTypeOf: Sendable {
  struct Branch: Sendable {
    var object: SOQLName
    var fields: [SOQLPath]
  }

  var relationship: SOQLPath
  var branches: [Branch]
  var otherwise: [SOQLPath] = []
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
  case distance(SOQLDistance)

  var offset: Int {
    switch self {
    case .field(let path): path.offset
    case .function(let name, _): name.offset
    case .distance(let distance): distance.name.offset
    }
  }
}

/// `DISTANCE(Location__c, GEOLOCATION(37.775, -122.418), 'mi')`.
struct SOQLDistance: Sendable {
  enum Place: Sendable {
    case field(SOQLPath)
    /// In degrees.
    case point(latitude: Double, longitude: Double)
  }

  enum Unit: String, Sendable {
    case miles = "mi"
    case kilometers = "km"
  }

  var name: SOQLName
  var from: Place
  var to: Place
  var unit: Unit
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
    /// `USD5000`: the amount as written.
    case currency(String)
    case string(SOQLString)
    case date(SOQLDate)
    case dateTime(milliseconds: Int64)
    case time(milliseconds: Int)
    case dateLiteral(SOQLDateLiteral)
  }

  var literal: Literal
  var offset: Int
}
