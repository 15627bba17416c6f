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
    guard (1...9999).contains(year), (1...12).contains(month),
      (1...Self.length(ofMonth: month, in: year)).contains(day)
    else { return nil }
    daysSince1970 = Self.days(year: year, month: month, day: day)
  }

  /// The first day of a month that may lie in another year: month 13 is January of the next.
  init(firstOfMonth month: Int, year: Int) {
    let months = min(max(year, -100_000), 100_000) * 12 + min(max(month, -1_000_000), 1_000_000) - 1
    let year = Int((Double(months) / 12).rounded(.down))
    self.init(daysSince1970: Self.days(year: year, month: months - year * 12 + 1, day: 1))
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

  // The proleptic Gregorian calendar in eras of 400 years that begin in March, so that the leap day is
  // the last of its year.

  private static func days(year: Int, month: Int, day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  private var civil: (year: Int, month: Int, day: Int) {
    let days = daysSince1970 + 719_468
    let era = (days >= 0 ? days : days - 146_096) / 146_097
    let dayOfEra = days - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }

  private static func length(ofMonth month: Int, in year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}
