import struct Foundation.Date
import GRDB
import SalesforceSDKCommon

/// Compiles one comparison, after checking that operator and literals suit the field.
///
/// A comparison is true or false for every row: a null equals null, differs from every value, and is
/// neither less nor greater than anything.
struct SOQLComparer {
  let source: SOQLSource
  let options: SOQLOptions

  func compare(
    _ field: SOQLExpression, _ comparator: SOQLComparator, _ values: [SOQLValue]
  ) throws(ServerError) -> SOQLFragment {
    try check(comparator, suits: field)
    switch comparator {
    case .isIn: return try membership(of: field, in: values)
    case .notIn: return try membership(of: field, in: values).negated
    case .includes: return try includes(field, values)
    case .excludes: return try includes(field, values).negated
    default: break
    }
    guard let value = values.first else { return .never }
    switch try operand(value, for: field, comparator) {
    case .null: return comparedToNull(field, comparator)
    case .single(let value, let isASCII):
      return comparison(field, comparator, value, isASCII: isASCII)
    case .range(let start, let end): return inRange(field, comparator, start, end)
    case .pattern(let pattern): return like(field.sql, pattern)
    }
  }

  private func check(
    _ comparator: SOQLComparator, suits field: SOQLExpression
  ) throws(ServerError) {
    let suits =
      switch comparator {
      case _ where field.isDistance: comparator == .less || comparator == .greater
      case .equal, .notEqual: true
      case .isIn, .notIn: field.comparison != .multipicklist
      case .less, .lessOrEqual, .greater, .greaterOrEqual:
        field.comparison != .boolean && field.comparison != .multipicklist
      case .like: field.comparison == .text
      case .includes, .excludes: field.comparison == .multipicklist
      }
    guard suits else {
      throw source.error(
        "INVALID_QUERY_FILTER_OPERATOR", at: field.offset,
        "invalid operator on \(field.type == .reference ? "id" : field.type.rawValue) field")
    }
  }

  // MARK: Values

  /// A literal as its field's type sees it.
  private enum Operand {
    case null
    /// `isASCII` is false for a text with other letters.
    case single(DatabaseValue, isASCII: Bool)
    /// From the first value to just before the second.
    case range(DatabaseValue, DatabaseValue)
    case pattern(SOQLPattern)
  }

  private func operand(
    _ value: SOQLValue, for field: SOQLExpression, _ comparator: SOQLComparator
  ) throws(ServerError) -> Operand {
    switch (value.literal, field.comparison) {
    case (.null, _): return .null
    case (.string(let string), .text), (.string(let string), .multipicklist):
      return try text(string, comparator)
    case (.string(let string), .id): return try id(string, field, value)
    case (.boolean(let value), .boolean): return .single(value.databaseValue, isASCII: true)
    case (.number(let text), .number): return .single(number(text), isASCII: true)
    case (.currency(let amount), .number) where field.type == .currency:
      return .single(number(amount), isASCII: true)
    case (.date(let date), .date): return .single(date.text.databaseValue, isASCII: true)
    case (.dateTime(let milliseconds), .dateTime):
      return .single(
        SOQLDate.timestamp(milliseconds: milliseconds).databaseValue, isASCII: true)
    case (.time(let milliseconds), .time):
      return .single(
        (SOQLDate.timeText(milliseconds: milliseconds) + "Z").databaseValue, isASCII: true)
    case (.dateLiteral(let literal), .date):
      let range = literal.range(today: today)
      return .range(
        range.lowerBound.text.databaseValue, range.upperBound.text.databaseValue)
    case (.dateLiteral(let literal), .dateTime):
      let range = literal.range(today: today)
      return .range(midnight(of: range.lowerBound), midnight(of: range.upperBound))
    default: throw wrongType(field)
    }
  }

  private func text(
    _ string: SOQLString, _ comparator: SOQLComparator
  ) throws(ServerError) -> Operand {
    // The platform keeps no empty texts: they are null. In an order every text stands above one.
    if string.text.isEmpty, ![.less, .lessOrEqual, .greater, .greaterOrEqual].contains(comparator) {
      return .null
    }
    if comparator == .like { return .pattern(string.pattern) }
    if let escape = string.firstPatternEscape {
      throw source.lexicalError(
        at: escape, "unexpected token: '\(source.text(escape..<escape + 1))'")
    }
    return .single(string.text.databaseValue, isASCII: string.text.utf8.allSatisfy { $0 < 0x80 })
  }

  /// An id of 15 or 18 characters, as the 18 that are stored.
  private func id(
    _ string: SOQLString, _ field: SOQLExpression, _ value: SOQLValue
  ) throws(ServerError) -> Operand {
    if string.text.isEmpty { return .null }
    guard let id = RecordID.normalized(string.text) else {
      throw source.error(
        "INVALID_QUERY_FILTER_OPERATOR", at: field.offset, "invalid ID field: \(string.text)")
    }
    return .single(id.databaseValue, isASCII: true)
  }

  private func number(_ text: String) -> DatabaseValue {
    let text = text.hasPrefix("+") ? String(text.dropFirst()) : text
    return Int64(text)?.databaseValue ?? (Double(text) ?? 0).databaseValue
  }

  private func wrongType(_ field: SOQLExpression) -> ServerError {
    let expected =
      switch field.comparison {
      case .text, .multipicklist, .id: "string and should be enclosed in quotes"
      case .boolean: "boolean and should not be enclosed in quotes"
      case .number:
        "\(field.type == .int ? "int" : "double") and should not be enclosed in quotes"
      case .date: "date and should not be enclosed in quotes"
      case .dateTime: "dateTime and should not be enclosed in quotes"
      case .time: "time and should not be enclosed in quotes"
      }
    return source.error(
      "INVALID_FIELD", at: field.offset,
      "value of filter criterion for field '\(field.name)' must be of type \(expected)")
  }

  private var zone: SOQLTimeZone { SOQLTimeZone(zone: options.timeZone) }

  /// The user's day.
  private var today: SOQLDate { zone.day(of: options.now) }

  /// The instant at which a day of the user begins.
  private func midnight(of date: SOQLDate) -> DatabaseValue {
    SOQLDate.timestamp(milliseconds: zone.start(of: date)).databaseValue
  }

  // MARK: SQL

  /// The field's SQL with the collation that the comparison needs.
  private func sql(_ field: SOQLExpression, isASCII: Bool) -> String {
    switch field.comparison {
    case .text, .multipicklist:
      if field.caseSensitive { return "\(field.sql) COLLATE BINARY" }
      if !isASCII { return "\(field.sql) COLLATE \(SOQLDatabase.collation)" }
      return field.isColumn ? field.sql : "\(field.sql) COLLATE NOCASE"
    // The field of an absent parent counts as false.
    case .boolean: return "IFNULL(\(field.sql), 0)"
    default: return field.sql
    }
  }

  private func comparedToNull(
    _ field: SOQLExpression, _ comparator: SOQLComparator
  ) -> SOQLFragment {
    switch comparator {
    case .equal, .like: SOQLFragment("\(field.sql) IS NULL")
    case .notEqual: SOQLFragment("\(field.sql) IS NOT NULL")
    default: .never
    }
  }

  private func comparison(
    _ field: SOQLExpression, _ comparator: SOQLComparator, _ value: DatabaseValue, isASCII: Bool
  ) -> SOQLFragment {
    let comparator = comparator == .notEqual ? "IS NOT" : comparator.rawValue
    return SOQLFragment("\(sql(field, isASCII: isASCII)) \(comparator) ?", [value])
  }

  private func inRange(
    _ field: SOQLExpression, _ comparator: SOQLComparator, _ start: DatabaseValue,
    _ end: DatabaseValue
  ) -> SOQLFragment {
    switch comparator {
    case .less: SOQLFragment("\(field.sql) < ?", [start])
    case .lessOrEqual: SOQLFragment("\(field.sql) < ?", [end])
    case .greater: SOQLFragment("\(field.sql) >= ?", [end])
    case .greaterOrEqual: SOQLFragment("\(field.sql) >= ?", [start])
    case .notEqual: inRange(field, .equal, start, end).negated
    default: SOQLFragment("(\(field.sql) >= ? AND \(field.sql) < ?)", [start, end])
    }
  }

  private func like(_ sql: String, _ pattern: SOQLPattern) -> SOQLFragment {
    let text = pattern.sqlText.databaseValue
    return pattern.suitsSQLite
      ? SOQLFragment("\(sql) LIKE ? ESCAPE '\\'", [text])
      : SOQLFragment("\(SOQLDatabase.like)(\(sql), ?)", [text])
  }

  private func membership(
    of field: SOQLExpression, in values: [SOQLValue]
  ) throws(ServerError) -> SOQLFragment {
    var alternatives: [SOQLFragment] = []
    var singles: [DatabaseValue] = []
    var isASCII = true
    for value in values {
      switch try operand(value, for: field, .isIn) {
      case .null:
        if !alternatives.contains(where: { $0.arguments.isEmpty }) {
          alternatives.append(SOQLFragment("\(field.sql) IS NULL"))
        }
      case .single(let value, let valueIsASCII):
        singles.append(value)
        isASCII = isASCII && valueIsASCII
      case .range(let start, let end): alternatives.append(inRange(field, .equal, start, end))
      case .pattern: break
      }
    }
    if !singles.isEmpty {
      let list = list(Array(Set(singles)))
      alternatives.append(
        SOQLFragment("\(sql(field, isASCII: isASCII)) IN (\(list.sql))", list.arguments))
    }
    return alternatives.isEmpty ? .never : .joined(alternatives, by: "OR")
  }

  /// What stands inside the parentheses of IN.
  ///
  /// SQLite limits the number of question marks, so a long list becomes one JSON array.
  private func list(_ values: [DatabaseValue]) -> SOQLFragment {
    guard values.count > 100 else {
      return SOQLFragment(
        Array(repeating: "?", count: values.count).joined(separator: ", "), values)
    }
    var array = JSONWriter()
    array.beginArray()
    for value in values {
      switch value.storage {
      case .int64(let number): array.integer(number)
      // An infinite number equals no stored one and has no JSON form.
      case .double(let number): try? array.double(number)
      default: array.string(String.fromDatabaseValue(value) ?? "")
      }
    }
    array.endArray()
    let text = String(decoding: array.bytes, as: UTF8.self)
    return SOQLFragment("SELECT value FROM json_each(?)", [text.databaseValue])
  }

  /// Whether all the values of one literal (`'A;B'`) are selected, for any of the literals.
  private func includes(
    _ field: SOQLExpression, _ values: [SOQLValue]
  ) throws(ServerError) -> SOQLFragment {
    var alternatives: [SOQLFragment] = []
    for value in values {
      if case .null = value.literal {
        alternatives.append(SOQLFragment("\(field.sql) IS NULL"))
        continue
      }
      guard case .string(let string) = value.literal else { throw wrongType(field) }
      let parts = string.text.split(separator: ";").map { part in
        var pattern = SOQLPattern()
        pattern.append("%", escaped: false)
        for scalar in ";\(part);".unicodeScalars { pattern.append(scalar, escaped: true) }
        pattern.append("%", escaped: false)
        return like("(';' || \(field.sql) || ';')", pattern)
      }
      alternatives.append(parts.isEmpty ? .never : .joined(parts, by: "AND"))
    }
    return .joined(alternatives, by: "OR")
  }
}
