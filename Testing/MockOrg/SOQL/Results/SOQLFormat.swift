import GRDB

import struct Foundation.TimeZone

/// `FORMAT(...)`: a value as a user with the locale `en_US` reads it.
struct SOQLFormat: Sendable {
  let type: FieldType
  /// The digits behind the point of a number.
  var scale = 0
  /// The user's zone.
  let zone: TimeZone

  /// Nil for null.
  func text(_ value: DatabaseValue) -> String? {
    switch value.storage {
    case .null: nil
    case .int64(let number):
      type == .boolean ? (number == 0 ? "false" : "true") : decorated(number: Double(number))
    case .double(let number): decorated(number: number)
    case .string(let text): formatted(text)
    case .blob: nil
    }
  }

  private func decorated(number: Double) -> String? {
    guard number.isFinite else { return nil }
    let digits = type == .currency ? max(scale, 2) : scale
    let sign = number < 0 ? "-" : ""
    let text = Self.grouped(number.magnitude, digits: min(digits, 18))
    return switch type {
    case .currency: sign + "$" + text
    case .percent: sign + text + "%"
    default: sign + text
    }
  }

  /// `1,234.50`.
  private static func grouped(_ number: Double, digits: Int) -> String {
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let scaled = (number * scale).rounded(.toNearestOrAwayFromZero)
    // Beyond this a double has no digits behind the point, and an integer has no place for it.
    guard scaled < 9e18 else { return "\(number)" }
    let all = String(Int64(scaled))
    let padded = String(repeating: "0", count: max(digits + 1 - all.count, 0)) + all
    let whole = padded.dropLast(digits)
    var grouped = ""
    for (index, digit) in whole.enumerated() {
      if index > 0, (whole.count - index).isMultiple(of: 3) { grouped.append(",") }
      grouped.append(digit)
    }
    return digits == 0 ? grouped : grouped + "." + padded.suffix(digits)
  }

  private func formatted(_ text: String) -> String {
    switch type {
    case .date: Self.day(text)
    case .datetime:
      SOQLTimeZone(zone: zone).local(text).map {
        Self.day($0) + ", " + Self.hour($0.dropFirst(11))
      } ?? text
    case .time: Self.hour(text[...])
    default: text
    }
  }

  /// `12/28/2015` of `2015-12-28...`.
  private static func day(_ text: String) -> String {
    let parts = text.prefix(10).split(separator: "-").compactMap { Int($0) }
    return parts.count == 3 ? "\(parts[1])/\(parts[2])/\(parts[0])" : text
  }

  /// `3:31 PM` of `15:31...`.
  private static func hour(_ text: Substring) -> String {
    let parts = text.prefix(5).split(separator: ":")
    guard parts.count == 2, let hour = Int(parts[0]) else { return String(text) }
    return "\((hour + 11) % 12 + 1):\(parts[1]) \(hour < 12 ? "AM" : "PM")"
  }
}
