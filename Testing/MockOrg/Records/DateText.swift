import SalesforceSDKCommon

import struct Foundation.Date
import struct Foundation.TimeInterval

/// The texts that dates, datetimes and times have in the org, made without a formatter.
enum DateText {
  /// `yyyy-MM-ddTHH:mm:ss.000+0000` of an instant, its fraction of a second cut off.
  static func dateTime(_ date: Date) -> String {
    let seconds = Int(date.timeIntervalSince1970.rounded(.down))
    return dateTime(secondsSince1970: seconds)
  }

  static func dateTime(secondsSince1970 seconds: Int) -> String {
    let days = floorDivide(seconds, 86400)
    let time = seconds - days * 86400
    var bytes: [UInt8] = []
    bytes.reserveCapacity(28)
    append(CivilCalendar.date(ofDay: days), to: &bytes)
    bytes.append(UInt8(ascii: "T"))
    appendPadded(time / 3600, 2, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    appendPadded(time / 60 % 60, 2, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    appendPadded(time % 60, 2, to: &bytes)
    bytes.append(contentsOf: ".000+0000".utf8)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// `yyyy-MM-dd` of an instant in UTC.
  static func date(_ date: Date) -> String { String(dateTime(date).prefix(10)) }

  /// The stored form of a date, or nil if `text` is none.
  static func parseDate(_ text: String) -> String? {
    var scanner = Scanner(text)
    guard let days = scanner.date(), scanner.isAtEnd else { return nil }
    return String(dateTime(secondsSince1970: days * 86400).prefix(10))
  }

  /// The stored form of a datetime, in UTC and whole seconds, or nil if `text` is none.
  ///
  /// `yyyy-MM-dd` alone is midnight UTC; a time may lack seconds, fraction and zone.
  static func parseDateTime(_ text: String) -> String? {
    secondsSince1970(text).map(dateTime(secondsSince1970:))
  }

  /// The whole seconds of a datetime text.
  static func secondsSince1970(_ text: String) -> Int? {
    var scanner = Scanner(text)
    guard let days = scanner.date() else { return nil }
    if scanner.isAtEnd { return days * 86400 }
    guard scanner.take("T") || scanner.take("t"),
      let time = scanner.time()
    else { return nil }
    guard let offset = scanner.zone(), scanner.isAtEnd else { return nil }
    return days * 86400 + time / 1000 - offset
  }

  /// The stored form of a time, `HH:mm:ss.SSSZ`, or nil if `text` is none.
  static func parseTime(_ text: String) -> String? {
    var scanner = Scanner(text)
    guard let time = scanner.time(), let offset = scanner.zone(), scanner.isAtEnd else {
      return nil
    }
    let day = 86_400_000
    let milliseconds = ((time - offset * 1000) % day + day) % day
    var bytes: [UInt8] = []
    appendPadded(milliseconds / 3_600_000, 2, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    appendPadded(milliseconds / 60000 % 60, 2, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    appendPadded(milliseconds / 1000 % 60, 2, to: &bytes)
    bytes.append(UInt8(ascii: "."))
    appendPadded(milliseconds % 1000, 3, to: &bytes)
    bytes.append(UInt8(ascii: "Z"))
    return String(decoding: bytes, as: UTF8.self)
  }

  private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// The form of HTTP headers: `Sun, 06 Nov 1994 08:49:37 GMT`.
  static func http(secondsSince1970 seconds: Int) -> String {
    let days = floorDivide(seconds, 86400)
    let (year, month, day) = CivilCalendar.date(ofDay: days)
    let weekday = ((days % 7) + 7) % 7
    let time = dateTime(secondsSince1970: seconds).dropFirst(11).prefix(8)
    return
      "\(weekdays[weekday]), \(day < 10 ? "0" : "")\(day) \(months[month - 1]) \(year) \(time) GMT"
  }

  /// A date in a year that the platform does not know, as its errors write it
  /// (`Sat Jan 01 00:00:00 GMT 1600`); nil if `text` is another date, or none.
  static func unknownDay(_ text: String) -> String? {
    let parts = text.split(separator: "-", maxSplits: 1)
    guard parts.count == 2, (4...5).contains(parts[0].utf8.count), let year = Int(parts[0]),
      year > 0
    else { return nil }
    // The calendar repeats itself after 400 years.
    let known = String(2000 + year % 400) + "-" + parts[1]
    guard let seconds = secondsSince1970(known) else { return nil }
    let words = http(secondsSince1970: seconds).split(separator: " ")
    return "\(words[0].dropLast()) \(words[2]) \(words[1]) \(words[4]) GMT \(parts[0])"
  }

  /// The seconds of an HTTP date, or nil if `text` is none.
  static func parseHTTP(_ text: String) -> Int? {
    let words = text.split(separator: " ")
    guard words.count == 6, words[5] == "GMT", let day = Int(words[1]), let year = Int(words[3]),
      (1...9999).contains(year),
      let month = months.firstIndex(of: String(words[2]))
    else { return nil }
    var scanner = Scanner(String(words[4]))
    guard let time = scanner.time(), scanner.isAtEnd,
      let days = CivilCalendar.day(year: year, month: month + 1, day: day)
    else { return nil }
    return days * 86400 + time / 1000
  }

  private static func floorDivide(_ a: Int, _ b: Int) -> Int {
    a >= 0 ? a / b : -((-a + b - 1) / b)
  }

  private static func append(_ date: (year: Int, month: Int, day: Int), to bytes: inout [UInt8]) {
    appendPadded(date.year, 4, to: &bytes)
    bytes.append(UInt8(ascii: "-"))
    appendPadded(date.month, 2, to: &bytes)
    bytes.append(UInt8(ascii: "-"))
    appendPadded(date.day, 2, to: &bytes)
  }

  private static func appendPadded(_ number: Int, _ width: Int, to bytes: inout [UInt8]) {
    var divisor = 1
    for _ in 1..<width { divisor *= 10 }
    while divisor > 0 {
      bytes.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
      divisor /= 10
    }
  }

  /// Reads the parts of a date text from left to right.
  private struct Scanner {
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    var isAtEnd: Bool { position == bytes.count }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
      guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
      position += 1
      return true
    }

    private mutating func number(digits: Int) -> Int? {
      guard position + digits <= bytes.count else { return nil }
      var number = 0
      for byte in bytes[position..<position + digits] {
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
        number = number * 10 + Int(byte - UInt8(ascii: "0"))
      }
      position += digits
      return number
    }

    /// Days since 1970; the platform knows the years 1700 to 4000.
    mutating func date() -> Int? {
      guard let year = number(digits: 4), (1700...4000).contains(year), take("-"),
        let month = number(digits: 2), take("-"), let day = number(digits: 2)
      else { return nil }
      return CivilCalendar.day(year: year, month: month, day: day)
    }

    /// Milliseconds of the day.
    mutating func time() -> Int? {
      guard let hour = number(digits: 2), hour < 24, take(":"), let minute = number(digits: 2),
        minute < 60
      else { return nil }
      var milliseconds = (hour * 60 + minute) * 60000
      if take(":") {
        guard let second = number(digits: 2), second < 60 else { return nil }
        milliseconds += second * 1000
        if take(".") {
          var unit = 100
          guard let first = number(digits: 1) else { return nil }
          milliseconds += first * unit
          while let digit = number(digits: 1) {
            unit /= 10
            milliseconds += digit * unit
          }
        }
      }
      return milliseconds
    }

    /// Seconds east of UTC: `Z`, `+hh:mm`, `+hhmm`, or nothing for UTC.
    mutating func zone() -> Int? {
      if isAtEnd || take("Z") || take("z") { return 0 }
      let sign: Int
      if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
      guard let hours = number(digits: 2), hours < 24 else { return nil }
      _ = take(":")
      guard let minutes = number(digits: 2), minutes < 60 else { return nil }
      return sign * (hours * 3600 + minutes * 60)
    }
  }
}
