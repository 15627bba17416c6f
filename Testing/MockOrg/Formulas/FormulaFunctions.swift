/// The functions of formulas that decide.
enum FormulaLogic {
  static func result(of name: String, _ values: [FormulaValue]) -> FormulaValue? {
    let sql = values.map(\.sql)
    switch (name, values.count) {
    case ("IF", 3):
      return FormulaValue(
        "CASE WHEN \(sql[0]) THEN \(sql[1]) ELSE \(sql[2]) END", kind(of: Array(values.dropFirst()))
      )
    case ("CASE", 4...) where values.count.isMultiple(of: 2):
      var text = "CASE"
      for index in stride(from: 1, to: values.count - 1, by: 2) {
        text += " WHEN \(values[0].filled) IS \(values[index].filled) THEN \(sql[index + 1])"
      }
      let results = stride(from: 2, to: values.count, by: 2).map { values[$0] } + values.suffix(1)
      return FormulaValue("\(text) ELSE \(sql[values.count - 1]) END", kind(of: results))
    case ("IFS", 3...) where !values.count.isMultiple(of: 2):
      var text = "CASE"
      for index in stride(from: 0, to: values.count - 1, by: 2) {
        text += " WHEN \(sql[index]) THEN \(sql[index + 1])"
      }
      let results = stride(from: 1, to: values.count, by: 2).map { values[$0] } + values.suffix(1)
      return FormulaValue("\(text) ELSE \(sql[values.count - 1]) END", kind(of: results))
    case ("AND", 1...): return FormulaValue("(\(sql.joined(separator: " AND ")))", .boolean)
    case ("OR", 1...): return FormulaValue("(\(sql.joined(separator: " OR ")))", .boolean)
    case ("NOT", 1): return FormulaValue("(NOT \(sql[0]))", .boolean)
    case ("ISBLANK", 1), ("ISNULL", 1):
      return FormulaValue(
        values[0].kind == .text ? "(\(values[0].filled) = '')" : "(\(sql[0]) IS NULL)", .boolean)
    case ("BLANKVALUE", 2), ("NULLVALUE", 2):
      let value = values[0].kind == .text ? "NULLIF(\(sql[0]), '')" : sql[0]
      return FormulaValue("IFNULL(\(value), \(sql[1]))", kind(of: values))
    case ("ISPICKVAL", 2):
      return FormulaValue("(\(values[0].filled) IS \(values[1].filled))", .boolean)
    case ("ISNUMBER", 1): return FormulaValue("\(FormulaDatabase.isNumber)(\(sql[0]))", .boolean)
    case ("INCLUDES", 2):
      return FormulaValue(
        "(INSTR(';' || \(values[0].filled) || ';', ';' || \(values[1].filled) || ';') > 0)",
        .boolean)
    case ("CONTAINS", 2):
      return FormulaValue("(INSTR(\(values[0].filled), \(values[1].filled)) > 0)", .boolean)
    case ("BEGINS", 2):
      return FormulaValue("(INSTR(\(values[0].filled), \(values[1].filled)) = 1)", .boolean)
    case ("REGEX", 2):
      return FormulaValue(
        "\(FormulaDatabase.regex)(\(values[0].filled), \(values[1].filled))", .boolean)
    default: return nil
    }
  }

  /// What several results have in common: the first that is not null says it.
  private static func kind(of values: [FormulaValue]) -> FormulaValue.Kind {
    values.first { $0.kind != .null }?.kind ?? .null
  }
}

/// The functions of formulas that make texts.
enum FormulaTexts {
  static func result(of name: String, _ values: [FormulaValue]) -> FormulaValue? {
    let sql = values.map(\.sql)
    let first = values.first?.filled ?? ""
    func swift(_ function: String) -> FormulaValue {
      FormulaValue("\(function)(\(first))", .text)
    }
    switch (name, values.count) {
    case ("TEXT", 1): return text(of: values[0])
    case ("LEN", 1): return FormulaValue("LENGTH(\(first))", .number)
    // A second argument names a language.
    case ("UPPER", 1...2): return FormulaValue("UPPER(\(first))", .text)
    case ("LOWER", 1...2): return FormulaValue("LOWER(\(first))", .text)
    case ("INITCAP", 1): return swift(FormulaDatabase.capitalized)
    case ("REVERSE", 1): return swift(FormulaDatabase.reversed)
    case ("HTMLENCODE", 1): return swift(FormulaDatabase.htmlEncoded)
    case ("URLENCODE", 1): return swift(FormulaDatabase.urlEncoded)
    case ("CASESAFEID", 1): return swift(FormulaDatabase.longID)
    case ("TRIM", 1): return FormulaValue("TRIM(\(first))", .text)
    case ("LEFT", 2): return FormulaValue("SUBSTR(\(first), 1, MAX(\(sql[1]), 0))", .text)
    case ("RIGHT", 2):
      return FormulaValue(
        "CASE WHEN \(sql[1]) > 0 THEN SUBSTR(\(first), -(\(sql[1]))) ELSE '' END", .text)
    case ("MID", 3): return FormulaValue("SUBSTR(\(first), \(sql[1]), MAX(\(sql[2]), 0))", .text)
    case ("LPAD", 2...3), ("RPAD", 2...3):
      let padding = values.count == 3 ? values[2].filled : "' '"
      return FormulaValue(
        "\(FormulaDatabase.padded)(\(first), \(sql[1]), \(padding), \(name == "LPAD" ? 1 : 0))",
        .text)
    case ("SUBSTITUTE", 3):
      return FormulaValue("REPLACE(\(first), \(values[1].filled), \(values[2].filled))", .text)
    case ("FIND", 2): return FormulaValue("INSTR(\(values[1].filled), \(first))", .number)
    case ("FIND", 3):
      let rest = "SUBSTR(\(values[1].filled), \(sql[2]))"
      return FormulaValue(
        "CASE INSTR(\(rest), \(first)) WHEN 0 THEN 0 ELSE INSTR(\(rest), \(first)) + \(sql[2]) - 1 END",
        .number)
    case ("VALUE", 1):
      return FormulaValue(
        "CASE WHEN \(FormulaDatabase.isNumber)(\(sql[0])) THEN CAST(\(sql[0]) AS REAL) END", .number
      )
    case ("ASCII", 1): return FormulaValue("UNICODE(\(sql[0]))", .number)
    case ("CHR", 1): return FormulaValue("CHAR(\(sql[0]))", .text)
    case ("BR", 0): return FormulaValue("CHAR(10)", .text)
    case ("PICKLISTCOUNT", 1):
      return FormulaValue(
        "CASE \(first) WHEN '' THEN 0 ELSE LENGTH(\(first)) - LENGTH(REPLACE(\(first), ';', '')) + 1 END",
        .number)
    case ("HYPERLINK", 2...3):
      let target = values.count == 3 ? values[2].filled : "'_blank'"
      return FormulaValue(
        "('<a href=\"' || \(first) || '\" target=\"' || \(target) || '\">' || \(values[1].filled) || '</a>')",
        .text)
    case ("IMAGE", 2...4):
      var tag = "'<img src=\"' || \(first) || '\" alt=\"' || \(values[1].filled) || '\"'"
      for (attribute, value) in zip(["height", "width"], sql.dropFirst(2)) {
        tag += " || ' \(attribute)=\"' || CAST(\(value) AS INTEGER) || '\"'"
      }
      return FormulaValue("(\(tag) || '/>')", .text)
    default: return nil
    }
  }

  private static func text(of value: FormulaValue) -> FormulaValue {
    let sql = value.sql
    switch value.kind {
    case .number:
      // A whole number is shown without a point.
      return FormulaValue(
        "CASE WHEN \(sql) = CAST(\(sql) AS INTEGER) "
          + "THEN CAST(CAST(\(sql) AS INTEGER) AS TEXT) ELSE CAST(\(sql) AS TEXT) END", .text)
    case .dateTime:
      return FormulaValue("REPLACE(SUBSTR(\(sql), 1, 19) || 'Z', 'T', ' ')", .text)
    case .date, .time: return FormulaValue(sql, .text)
    default: return FormulaValue(value.filled, .text)
    }
  }
}

/// The functions of formulas that reckon.
enum FormulaNumbers {
  /// What Swift works out, by the names of formulas, each of one number.
  private static let single: Set<String> = [
    "ACOS", "ASIN", "ATAN", "COS", "EXP", "LN", "LOG", "SIN", "SQRT", "TAN",
  ]

  static func result(of name: String, _ values: [FormulaValue]) -> FormulaValue? {
    let sql = values.map(\.sql)
    func number(_ sql: String) -> FormulaValue { FormulaValue(sql, .number) }
    let whole = sql.first.map { "CAST(\($0) AS INTEGER)" } ?? ""
    switch (name, values.count) {
    case (let name, 1) where single.contains(name):
      return number("\(FormulaDatabase.math)('\(name)', \(sql[0]))")
    case ("ATAN2", 2): return number("\(FormulaDatabase.math)('ATAN2', \(sql[0]), \(sql[1]))")
    case ("PI", 0): return number("\(Double.pi)")
    case ("ROUND", 2): return number("\(FormulaDatabase.math)('ROUND', \(sql[0]), \(sql[1]))")
    case ("TRUNC", 1): return number(whole)
    case ("TRUNC", 2): return number("\(FormulaDatabase.math)('TRUNC', \(sql[0]), \(sql[1]))")
    case ("ABS", 1): return number("ABS(\(sql[0]))")
    // These two look at the number without its sign; the two with an M in front do not.
    case ("FLOOR", 1): return number(whole)
    case ("CEILING", 1):
      return number("(\(whole) + (\(sql[0]) > \(whole)) - (\(sql[0]) < \(whole)))")
    case ("MFLOOR", 1): return number("(\(whole) - (\(sql[0]) < \(whole)))")
    case ("MCEILING", 1): return number("(\(whole) + (\(sql[0]) > \(whole)))")
    case ("MOD", 2): return number("\(FormulaDatabase.math)('MOD', \(sql[0]), \(sql[1]))")
    // With one argument SQLite's functions of these names would be aggregates.
    case ("MAX", 2...), ("MIN", 2...): return number("\(name)(\(sql.joined(separator: ", ")))")
    default: return nil
    }
  }
}

/// The functions and operators of formulas that have to do with time. Days begin at midnight UTC, as in an
/// org whose zone is that.
enum FormulaDates {
  /// - Parameter knowsTime: Whether the expression may depend on the time of the query.
  static func result(
    of name: String, _ values: [FormulaValue], knowsTime: Bool
  ) -> FormulaValue? {
    let sql = values.map(\.sql)
    func part(_ start: Int, _ length: Int) -> FormulaValue {
      FormulaValue("CAST(SUBSTR(\(sql[0]), \(start), \(length)) AS INTEGER)", .number)
    }
    switch (name, values.count) {
    case ("NOW", 0): return knowsTime ? FormulaValue("\(FormulaDatabase.now)()", .dateTime) : nil
    case ("TODAY", 0):
      return knowsTime ? FormulaValue("SUBSTR(\(FormulaDatabase.now)(), 1, 10)", .date) : nil
    case ("TIMENOW", 0):
      return knowsTime
        ? FormulaValue("(SUBSTR(\(FormulaDatabase.now)(), 12, 12) || 'Z')", .time) : nil
    case ("YEAR", 1): return part(1, 4)
    case ("MONTH", 1): return part(6, 2)
    case ("DAY", 1): return part(9, 2)
    case ("HOUR", 1): return part(1, 2)
    case ("MINUTE", 1): return part(4, 2)
    case ("SECOND", 1): return part(7, 2)
    case ("MILLISECOND", 1): return part(10, 3)
    case ("WEEKDAY", 1), ("DAYOFYEAR", 1), ("ISOWEEK", 1), ("ISOYEAR", 1):
      return FormulaValue("\(FormulaDatabase.partOfDate)('\(name)', \(sql[0]))", .number)
    case ("DATE", 3):
      return FormulaValue("\(FormulaDatabase.date)(\(sql.joined(separator: ", ")))", .date)
    case ("ADDMONTHS", 2):
      let date = "\(FormulaDatabase.addMonths)(SUBSTR(\(sql[0]), 1, 10), \(sql[1]))"
      return values[0].kind == .dateTime
        ? FormulaValue("(\(date) || SUBSTR(\(sql[0]), 11))", .dateTime) : FormulaValue(date, .date)
    case ("DATEVALUE", 1):
      return FormulaValue("\(FormulaDatabase.dateValue)(SUBSTR(\(sql[0]), 1, 10))", .date)
    case ("DATETIMEVALUE", 1):
      return FormulaValue("\(FormulaDatabase.dateTimeValue)(\(sql[0]))", .dateTime)
    case ("TIMEVALUE", 1):
      let text = values[0].kind == .dateTime ? "(SUBSTR(\(sql[0]), 12, 12) || 'Z')" : sql[0]
      return FormulaValue("\(FormulaDatabase.timeValue)(\(text))", .time)
    case ("UNIXTIMESTAMP", 1):
      return FormulaValue(
        "CAST(strftime('%s', SUBSTR(\(sql[0]), 1, 19)) AS INTEGER)", .number)
    case ("FROMUNIXTIME", 1): return FormulaValue(instant("\(sql[0])"), .dateTime)
    default: return nil
    }
  }

  /// A date moved by days, or the days between two; nil if neither side is a date.
  static func moved(_ left: FormulaValue, _ sign: String, _ right: FormulaValue) -> FormulaValue? {
    switch (left.kind, sign, right.kind) {
    case (.date, _, .number): return days(left.sql, sign, right.sql)
    case (.number, "+", .date): return days(right.sql, sign, left.sql)
    case (.dateTime, _, .number): return seconds(left.sql, sign, right.sql)
    case (.number, "+", .dateTime): return seconds(right.sql, sign, left.sql)
    case (.date, "-", .date), (.dateTime, "-", .dateTime), (.date, "-", .dateTime),
      (.dateTime, "-", .date):
      return FormulaValue("(\(julianDay(left)) - \(julianDay(right)))", .number)
    default: return nil
    }
  }

  private static func days(_ date: String, _ sign: String, _ number: String) -> FormulaValue {
    FormulaValue(
      "date(\(date), CAST(CAST(\(sign)(\(number)) AS INTEGER) AS TEXT) || ' days')", .date)
  }

  private static func seconds(_ date: String, _ sign: String, _ number: String) -> FormulaValue {
    FormulaValue(
      instant(
        "CAST(strftime('%s', SUBSTR(\(date), 1, 19)) AS INTEGER) \(sign) CAST(ROUND((\(number)) * 86400.0) AS INTEGER)"
      ), .dateTime)
  }

  private static func julianDay(_ value: FormulaValue) -> String {
    // SQLite does not know the zone's form that datetimes are stored in.
    "julianday(SUBSTR(\(value.sql), 1, 23))"
  }

  /// Seconds since 1970 as a stored datetime.
  private static func instant(_ seconds: String) -> String {
    "strftime('%Y-%m-%dT%H:%M:%S.000+0000', \(seconds), 'unixepoch')"
  }
}
