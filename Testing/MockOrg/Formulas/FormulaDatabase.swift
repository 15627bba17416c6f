import Foundation
import GRDB
import SalesforceSDKCommon

/// What formulas need of a database connection beyond SQLite itself.
enum FormulaDatabase {
  /// The org's time as a stored datetime.
  static let now = "FORMULA_NOW"
  /// A function of numbers, by its name in formulas.
  static let math = "FORMULA_MATH"
  static let power = "FORMULA_POWER"
  static let isNumber = "FORMULA_ISNUMBER"
  static let regex = "FORMULA_REGEX"
  static let capitalized = "FORMULA_INITCAP"
  static let reversed = "FORMULA_REVERSE"
  static let htmlEncoded = "FORMULA_HTMLENCODE"
  static let urlEncoded = "FORMULA_URLENCODE"
  static let longID = "FORMULA_CASESAFEID"
  /// A text, a length, what fills it up, and whether that stands in front.
  static let padded = "FORMULA_PAD"
  static let date = "FORMULA_DATE"
  static let addMonths = "FORMULA_ADDMONTHS"
  static let dateValue = "FORMULA_DATEVALUE"
  static let dateTimeValue = "FORMULA_DATETIMEVALUE"
  static let timeValue = "FORMULA_TIMEVALUE"
  /// A number about a date, by its name in formulas.
  static let partOfDate = "FORMULA_DATEPART"

  /// Adds the functions. All but the time are pure, so that columns may use them.
  static func prepare(_ database: Database, clock: MockOrgClock) {
    database.add(
      function: DatabaseFunction(now, argumentCount: 0, pure: false) { _ in
        DateText.dateTime(clock.now)
      })
    addNumbers(to: database)
    addTexts(to: database)
    addDates(to: database)
  }

  private static func add(
    _ name: String, _ count: Int?, to database: Database,
    _ function: @escaping @Sendable ([DatabaseValue]) -> (any DatabaseValueConvertible)?
  ) {
    database.add(
      function: DatabaseFunction(name, argumentCount: count, pure: true) { values in
        function(values)
      })
  }

  /// A function of one text.
  private static func add(
    _ name: String, to database: Database,
    text function: @escaping @Sendable (String) -> (any DatabaseValueConvertible)?
  ) {
    add(name, 1, to: database) { String.fromDatabaseValue($0[0]).flatMap(function) }
  }

  private static func addNumbers(to database: Database) {
    add(math, nil, to: database) { values in
      guard let name = values.first.flatMap({ String.fromDatabaseValue($0) }) else { return nil }
      let numbers = values.dropFirst().compactMap { Double.fromDatabaseValue($0) }
      guard numbers.count == values.count - 1,
        let result = number(name, numbers), result.isFinite
      else { return nil }
      return result
    }
    add(power, 2, to: database) { values in
      guard let base = Double.fromDatabaseValue(values[0]),
        let exponent = Double.fromDatabaseValue(values[1])
      else { return nil }
      let result = pow(base, exponent)
      return result.isFinite ? result : nil
    }
    add(isNumber, 1, to: database) { values in
      String.fromDatabaseValue(values[0]).flatMap { Double($0.trimmingBlanks()) }?.isFinite ?? false
    }
  }

  private static func number(_ name: String, _ numbers: [Double]) -> Double? {
    switch (name, numbers.count) {
    case ("ACOS", 1): return acos(numbers[0])
    case ("ASIN", 1): return asin(numbers[0])
    case ("ATAN", 1): return atan(numbers[0])
    case ("ATAN2", 2): return atan2(numbers[0], numbers[1])
    case ("COS", 1): return cos(numbers[0])
    case ("EXP", 1): return exp(numbers[0])
    case ("LN", 1): return log(numbers[0])
    case ("LOG", 1): return log10(numbers[0])
    case ("SIN", 1): return sin(numbers[0])
    case ("SQRT", 1): return numbers[0].squareRoot()
    case ("TAN", 1): return tan(numbers[0])
    case ("MOD", 2):
      // The result has the divisor's sign.
      return numbers[0] - numbers[1] * (numbers[0] / numbers[1]).rounded(.down)
    case ("ROUND", 2), ("TRUNC", 2):
      let unit = pow(10, numbers[1].rounded(.towardZero))
      let rule: FloatingPointRoundingRule =
        name == "ROUND" ? .toNearestOrAwayFromZero : .towardZero
      return (numbers[0] * unit).rounded(rule) / unit
    default: return nil
    }
  }

  private static func addTexts(to database: Database) {
    add(regex, 2, to: database) { values in
      guard let text = String.fromDatabaseValue(values[0]),
        let pattern = String.fromDatabaseValue(values[1]), let regex = try? Regex(pattern)
      else { return nil }
      return (try? regex.wholeMatch(in: text)) != nil
    }
    add(capitalized, to: database, text: { $0.capitalized })
    add(reversed, to: database, text: { String($0.reversed()) })
    add(htmlEncoded, to: database, text: { LoginPage.escaped($0) })
    add(urlEncoded, to: database, text: { PercentEncoding.encode($0) })
    add(longID, to: database, text: { SalesforceId($0)?.text ?? $0 })
    add(padded, 4, to: database, padding)
  }

  /// A text filled up to a length, or cut to it, at its beginning or its end.
  private static func padding(_ values: [DatabaseValue]) -> String? {
    guard let text = String.fromDatabaseValue(values[0]),
      let length = wholeNumber(values[1]), (0...4000).contains(length),
      let filler = String.fromDatabaseValue(values[2])
    else { return nil }
    let missing = length - text.count
    if missing <= 0 { return String(text.prefix(length)) }
    guard !filler.isEmpty else { return text }
    let filling = String(
      String(repeating: filler, count: missing / filler.count + 1).prefix(missing))
    return Bool.fromDatabaseValue(values[3]) == true ? filling + text : text + filling
  }

  private static func wholeNumber(_ value: DatabaseValue) -> Int? {
    switch value.storage {
    case .int64(let number): Int(exactly: number)
    case .double(let number): Int(exactly: number.rounded())
    default: nil
    }
  }

  private static func addDates(to database: Database) {
    add(date, 3, to: database) { values in
      let parts = values.compactMap { Double.fromDatabaseValue($0) }.compactMap {
        Int(exactly: $0.rounded(.towardZero))
      }
      guard parts.count == 3 else { return nil }
      return SOQLDate(year: parts[0], month: parts[1], day: parts[2])?.text
    }
    add(addMonths, 2, to: database) { values in
      guard let date = day(values[0]),
        let months = Double.fromDatabaseValue(values[1]).flatMap({
          Int(exactly: $0.rounded(.towardZero))
        }), abs(months) < 120_000
      else { return nil }
      let first = SOQLDate(firstOfMonth: date.month + months, year: date.year)
      let last = SOQLDate(firstOfMonth: first.month + 1, year: first.year).adding(days: -1)
      // The last day of a month stays the last day.
      let isLast = date.adding(days: 1).month != date.month
      return first.adding(days: isLast ? last.day - 1 : min(date.day, last.day) - 1).text
    }
    add(dateValue, to: database, text: { DateText.parseDate($0) })
    add(
      dateTimeValue, to: database,
      text: { text in
        // Formulas know the form with a blank alone.
        DateText.parseDateTime(text.replacing(" ", with: "T", maxReplacements: 1))
      })
    add(timeValue, to: database, text: { DateText.parseTime($0) })
    add(partOfDate, 2, to: database) { values in
      guard let name = String.fromDatabaseValue(values[0]), let date = day(values[1]) else {
        return nil
      }
      let firstOfYear = SOQLDate(firstOfMonth: 1, year: date.year)
      // An ISO week belongs to the year of its Thursday.
      let thursday = date.adding(days: 3 - (date.weekday + 6) % 7)
      switch name {
      case "WEEKDAY": return date.weekday + 1
      case "DAYOFYEAR": return date.daysSince1970 - firstOfYear.daysSince1970 + 1
      case "ISOYEAR": return thursday.year
      case "ISOWEEK":
        let first = SOQLDate(firstOfMonth: 1, year: thursday.year)
        return (thursday.daysSince1970 - first.daysSince1970) / 7 + 1
      default: return nil
      }
    }
  }

  /// The day of a stored date or datetime.
  private static func day(_ value: DatabaseValue) -> SOQLDate? {
    let parts = (String.fromDatabaseValue(value) ?? "").prefix(10).split(separator: "-")
      .compactMap { Int($0) }
    return parts.count == 3 ? SOQLDate(year: parts[0], month: parts[1], day: parts[2]) : nil
  }
}
