#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// An instant in milliseconds, read and written in the forms the platform uses, without a
/// formatter, a locale or a time zone of the process (CA-26).
public struct SalesforceDate: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// Milliseconds since 1970-01-01T00:00:00Z.
  public let milliseconds: Int64

  /// Creates a date from milliseconds since 1970.
  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// Creates a date, rounded to the nearest millisecond. Dates outside the years 1 to 9999 are
  /// limited to them; a date that is not a number becomes 1970.
  public init(_ date: Date) {
    let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
    self.milliseconds =
      milliseconds.isNaN
      ? 0 : Int64(min(max(milliseconds, -62_135_596_800_000), 253_402_300_799_999))
  }

  /// The same instant as Foundation's type.
  public var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }

  /// Orders by time.
  public static func < (left: SalesforceDate, right: SalesforceDate) -> Bool {
    left.milliseconds < right.milliseconds
  }

  // MARK: ISO 8601

  /// Reads `yyyy-MM-dd'T'HH:mm:ss[.fraction](Z|±HHmm|±HH:mm)`; nil for anything else, including a
  /// day or a second that does not exist. Digits beyond the millisecond are dropped.
  public static func parse(_ text: String) -> SalesforceDate? {
    var reader = DateReader(text)
    guard let day = reader.day(), reader.take("T") || reader.take("t"),
      let hour = reader.number(digits: 2), hour < 24, reader.take(":"),
      let minute = reader.number(digits: 2), minute < 60, reader.take(":"),
      let second = reader.number(digits: 2), second < 60
    else { return nil }
    var milliseconds = ((day * 24 + hour) * 60 + minute) * 60_000 + second * 1000
    if reader.take(".") {
      guard let fraction = reader.fraction() else { return nil }
      milliseconds += fraction
    }
    guard let offset = reader.zone(), reader.isAtEnd else { return nil }
    return SalesforceDate(milliseconds: Int64(milliseconds - offset * 60_000))
  }

  /// Reads `yyyy-MM-dd` as midnight UTC; nil for anything else.
  public static func parseDay(_ text: String) -> SalesforceDate? {
    var reader = DateReader(text)
    guard let day = reader.day(), reader.isAtEnd else { return nil }
    return SalesforceDate(milliseconds: Int64(day) * 86_400_000)
  }

  /// Returns the milliseconds of an ISO text, or -1 if it is not one.
  public static func milliseconds(of text: String) -> Int64 { parse(text)?.milliseconds ?? -1 }

  /// Returns the ISO text of milliseconds since 1970, or nil if they are negative.
  public static func text(ofMilliseconds milliseconds: Int64) -> String? {
    milliseconds < 0 ? nil : SalesforceDate(milliseconds: milliseconds).text
  }

  /// `2026-03-01T08:30:00.000+0000`, as the platform's records have it.
  public var text: String { iso(zone: "+0000") }

  /// `2026-03-01T08:30:00.000Z`, as SOQL literals have it.
  public var soqlText: String { iso(zone: "Z") }

  /// `2026-03-01`, the day in UTC.
  public var dayText: String {
    let (year, month, day) = CivilCalendar.date(ofDay: days)
    return "\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2))"
  }

  /// As ``text``.
  public var description: String { text }

  // MARK: RFC 1123

  /// `Sun, 01 Mar 2026 08:30:00 GMT`, as HTTP headers have it: English in every locale.
  public var httpText: String {
    let (year, month, day) = CivilCalendar.date(ofDay: days)
    // 1970-01-01 was a Thursday.
    let weekday = Self.weekdays[((days + 4) % 7 + 7) % 7]
    return "\(weekday), \(pad(day, 2)) \(Self.months[month - 1]) \(pad(year, 4)) \(clock) GMT"
  }

  /// Reads an HTTP date in its RFC 1123 form; nil for anything else. The name of the weekday is
  /// not compared with the date.
  public static func parseHTTP(_ text: String) -> SalesforceDate? {
    var reader = DateReader(text)
    guard weekdays.contains(where: { reader.take($0) }), reader.take(", "),
      let day = reader.number(digits: 2), reader.take(" "),
      let month = months.firstIndex(where: { reader.take($0) }), reader.take(" "),
      let year = reader.number(digits: 4), reader.take(" "),
      let hour = reader.number(digits: 2), hour < 24, reader.take(":"),
      let minute = reader.number(digits: 2), minute < 60, reader.take(":"),
      let second = reader.number(digits: 2), second < 60, reader.take(" GMT"), reader.isAtEnd,
      year >= 1,
      let days = CivilCalendar.day(year: year, month: month + 1, day: day)
    else { return nil }
    return SalesforceDate(
      milliseconds: Int64(((days * 24 + hour) * 60 + minute) * 60 + second) * 1000)
  }

  private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  // MARK: Parts

  /// Whole days since 1970, rounded down.
  private var days: Int {
    let (quotient, rest) = milliseconds.quotientAndRemainder(dividingBy: 86_400_000)
    return Int(rest < 0 ? quotient - 1 : quotient)
  }

  private var millisecondOfDay: Int64 {
    let rest = milliseconds % 86_400_000
    return rest < 0 ? rest + 86_400_000 : rest
  }

  private var clock: String {
    let seconds = Int(millisecondOfDay / 1000)
    return "\(pad(seconds / 3600, 2)):\(pad(seconds / 60 % 60, 2)):\(pad(seconds % 60, 2))"
  }

  private func iso(zone: String) -> String {
    "\(dayText)T\(clock).\(pad(Int(millisecondOfDay % 1000), 3))\(zone)"
  }

  private func pad(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}

/// Reads the parts of a date's text from the left.
private struct DateReader {
  private var rest: Substring.UTF8View

  init(_ text: String) { rest = text[...].utf8 }

  var isAtEnd: Bool { rest.isEmpty }

  /// Passes over `text` if it stands here.
  mutating func take(_ text: String) -> Bool {
    guard rest.starts(with: text.utf8) else { return false }
    rest = rest.dropFirst(text.utf8.count)
    return true
  }

  /// A number of exactly so many digits.
  mutating func number(digits: Int) -> Int? {
    var value = 0
    for _ in 0..<digits {
      guard let byte = rest.first, byte &- 0x30 < 10 else { return nil }
      value = value * 10 + Int(byte - 0x30)
      rest = rest.dropFirst()
    }
    return value
  }

  /// `yyyy-MM-dd` as the number of the day.
  mutating func day() -> Int? {
    guard let year = number(digits: 4), take("-"), let month = number(digits: 2), take("-"),
      let day = number(digits: 2), year >= 1
    else { return nil }
    return CivilCalendar.day(year: year, month: month, day: day)
  }

  /// The digits behind the point, as milliseconds.
  mutating func fraction() -> Int? {
    var value = 0
    var count = 0
    while let byte = rest.first, byte &- 0x30 < 10 {
      if count < 3 { value = value * 10 + Int(byte - 0x30) }
      count += 1
      rest = rest.dropFirst()
    }
    guard count > 0 else { return nil }
    for _ in min(count, 3)..<3 { value *= 10 }
    return value
  }

  /// `Z`, `±HHmm` or `±HH:mm` in minutes east of UTC.
  mutating func zone() -> Int? {
    if take("Z") || take("z") { return 0 }
    let sign: Int
    if take("+") {
      sign = 1
    } else if take("-") {
      sign = -1
    } else {
      return nil
    }
    guard let hours = number(digits: 2), hours < 24 else { return nil }
    _ = take(":")
    guard let minutes = number(digits: 2), minutes < 60 else { return nil }
    return sign * (hours * 60 + minutes)
  }
}
