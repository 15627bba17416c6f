import SalesforceSDKCommon

/// A day of the Gregorian calendar, between the years 1 and 9999.
struct SOQLDate: Sendable, Hashable, Comparable {
  static let millisecondsPerDay: Int64 = 86_400_000
  /// 0001-01-01 and 9999-12-31.
  private static let bounds = -719_162...2_932_896

  /// The days since 1970-01-01.
  let daysSince1970: Int

  /// Days outside the calendar become its first or last day.
  init(daysSince1970: Int) {
    self.daysSince1970 = min(max(daysSince1970, Self.bounds.lowerBound), Self.bounds.upperBound)
  }

  /// Nil if there is no such day.
  init?(year: Int, month: Int, day: Int) {
    guard (1...9999).contains(year),
      let days = CivilCalendar.day(year: year, month: month, day: day)
    else { return nil }
    daysSince1970 = days
  }

  /// The first day of a month that may lie in another year: month 13 is January of the next.
  init(firstOfMonth month: Int, year: Int) {
    let months = min(max(year, -100_000), 100_000) * 12 + min(max(month, -1_000_000), 1_000_000) - 1
    let year = Int((Double(months) / 12).rounded(.down))
    let days = CivilCalendar.day(year: year, month: months - year * 12 + 1, day: 1)
    self.init(daysSince1970: days ?? 0)
  }

  static func < (a: SOQLDate, b: SOQLDate) -> Bool { a.daysSince1970 < b.daysSince1970 }

  var year: Int { civil.year }
  var month: Int { civil.month }
  var day: Int { civil.day }

  /// 0 for Sunday.
  var weekday: Int { ((daysSince1970 + 4) % 7 + 7) % 7 }

  /// The day `days` later; the calendar's last day if there is none.
  func adding(days: Int) -> SOQLDate {
    let (sum, overflow) = daysSince1970.addingReportingOverflow(days)
    return SOQLDate(daysSince1970: overflow ? (days < 0 ? .min : .max) : sum)
  }

  /// `yyyy-MM-dd`, which sorts by time.
  var text: String {
    let (year, month, day) = civil
    return Self.padded(year, 4) + "-" + Self.padded(month, 2) + "-" + Self.padded(day, 2)
  }

  private static func padded(_ value: Int, _ width: Int) -> String {
    let digits = String(value)
    return String(repeating: "0", count: max(width - digits.utf8.count, 0)) + digits
  }

  /// An instant as datetimes are stored: `yyyy-MM-ddTHH:mm:ss.SSS+0000`.
  static func timestamp(milliseconds: Int64) -> String {
    let day = Int((Double(milliseconds) / Double(millisecondsPerDay)).rounded(.down))
    let date = SOQLDate(daysSince1970: day)
    let rest = Int(
      min(max(milliseconds - Int64(date.daysSince1970) * millisecondsPerDay, 0), 86_399_999))
    return date.text + "T" + timeText(milliseconds: rest) + "+0000"
  }

  /// `HH:mm:ss.SSS`.
  static func timeText(milliseconds: Int) -> String {
    padded(milliseconds / 3_600_000, 2) + ":" + padded(milliseconds / 60_000 % 60, 2) + ":"
      + padded(milliseconds / 1000 % 60, 2) + "." + padded(milliseconds % 1000, 3)
  }

  private var civil: (year: Int, month: Int, day: Int) { CivilCalendar.date(ofDay: daysSince1970) }
}
