import struct Foundation.TimeZone

/// A value in SQL with what is needed to compare, order and show it.
struct SOQLExpression {
  /// How values of a type are written and compared.
  enum Comparison {
    case text, multipicklist, id, boolean, number, date, dateTime, time
  }

  var sql: String
  var type: FieldType
  /// What tells it from others among groups, where different functions have the same SQL.
  var groupKey: String?
  /// What messages call it.
  var name: String
  var offset: Int
  /// Whether `sql` brings the collation of texts along.
  var isColumn = false
  var caseSensitive = false
  /// The values of a picklist in their order, by which it sorts.
  var picklistValues: [String] = []
  /// The digits behind the point, as `FORMAT` shows them.
  var scale = 0
  /// Only `<` and `>` compare it: a distance.
  var isDistance = false

  /// What tells the expression from the others of GROUP BY.
  var identity: String { groupKey ?? sql }

  var comparison: Comparison {
    switch type {
    case .string, .textarea, .phone, .url, .email, .combobox, .encryptedstring, .picklist, .base64,
      .anyType, .complexvalue, .datacategorygroupreference, .address, .location:
      .text
    case .multipicklist: .multipicklist
    case .id, .reference: .id
    case .boolean: .boolean
    case .int, .long, .double, .currency, .percent: .number
    case .date: .date
    case .datetime: .dateTime
    case .time: .time
    }
  }

  init(
    sql: String, type: FieldType, name: String, offset: Int, isColumn: Bool = false
  ) {
    self.sql = sql
    self.type = type
    self.name = name
    self.offset = offset
    self.isColumn = isColumn
  }

  init(_ field: SOQLField) {
    self.init(
      sql: field.sql, type: field.schema.type, name: field.schema.name, offset: field.offset,
      isColumn: field.isColumn)
    caseSensitive = field.schema.caseSensitive
    scale = field.schema.scale
    if field.schema.type == .picklist {
      picklistValues = field.schema.picklistValues.map(\.value)
    }
  }
}

/// A function of a date, for GROUP BY, WHERE and HAVING.
enum SOQLDateFunction: String {
  case calendarMonth = "CALENDAR_MONTH"
  case calendarQuarter = "CALENDAR_QUARTER"
  case calendarYear = "CALENDAR_YEAR"
  case dayInMonth = "DAY_IN_MONTH"
  case dayInWeek = "DAY_IN_WEEK"
  case dayInYear = "DAY_IN_YEAR"
  case dayOnly = "DAY_ONLY"
  case fiscalMonth = "FISCAL_MONTH"
  case fiscalQuarter = "FISCAL_QUARTER"
  case fiscalYear = "FISCAL_YEAR"
  case hourInDay = "HOUR_IN_DAY"
  case weekInMonth = "WEEK_IN_MONTH"
  case weekInYear = "WEEK_IN_YEAR"

  var resultType: FieldType { self == .dayOnly ? .date : .int }

  /// `HOUR_IN_DAY` and `DAY_ONLY` say nothing about a date without a time.
  func takes(_ type: FieldType) -> Bool {
    switch self {
    case .hourInDay, .dayOnly: type == .datetime
    default: type == .datetime || type == .date
    }
  }

  /// The function of a stored date or datetime, by the clocks of `zone`.
  func sql(_ value: String, zone: TimeZone) -> String {
    // SQLite does not read the zone as it is stored; without one it counts in UTC.
    let argument =
      zone == .gmt
      ? "substr(\(value), 1, 19)"
      : "\(SOQLDatabase.local)(\(value), \(SOQLFragment.quoted(zone.identifier)))"
    func part(_ format: String) -> String {
      "CAST(strftime('\(format)', \(argument)) AS INTEGER)"
    }
    return switch self {
    case .calendarYear, .fiscalYear: part("%Y")
    case .calendarMonth, .fiscalMonth: part("%m")
    case .calendarQuarter, .fiscalQuarter: "((\(part("%m")) + 2) / 3)"
    case .dayInMonth: part("%d")
    case .dayInWeek: "(\(part("%w")) + 1)"
    case .dayInYear: part("%j")
    case .dayOnly: "date(\(argument))"
    case .hourInDay: part("%H")
    case .weekInMonth: "((\(part("%d")) + 6) / 7)"
    case .weekInYear: "((\(part("%j")) + 6) / 7)"
    }
  }
}
