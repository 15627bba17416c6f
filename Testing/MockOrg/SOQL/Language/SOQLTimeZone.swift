import struct Foundation.Date
import struct Foundation.TimeZone

/// Days and hours as a user's zone has them, with its summer time.
struct SOQLTimeZone {
  let zone: TimeZone

  /// The day of an instant.
  func day(of instant: Date) -> SOQLDate {
    let seconds = instant.timeIntervalSince1970 + Double(zone.secondsFromGMT(for: instant))
    return SOQLDate(daysSince1970: Int((seconds / 86_400).rounded(.down)))
  }

  /// The instant at which a day begins, in milliseconds since 1970.
  func start(of day: SOQLDate) -> Int64 {
    let seconds = Double(day.daysSince1970) * 86_400
    func midnight(asFrom instant: Double) -> Double {
      seconds - Double(zone.secondsFromGMT(for: Date(timeIntervalSince1970: instant)))
    }
    // The distance from UTC holds for the requested instant, so it is found by iteration. Where the
    // clock skips midnight the two results alternate, and the day begins at the later one.
    let second = midnight(asFrom: midnight(asFrom: seconds))
    return Int64(max(second, midnight(asFrom: second))) * 1000
  }

  /// A stored datetime as the clocks of the zone show it, `yyyy-MM-ddTHH:mm:ss`; nil if it is none.
  func local(_ dateTime: String) -> String? {
    guard let seconds = DateText.secondsSince1970(dateTime) else { return nil }
    let offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
    return String(DateText.dateTime(secondsSince1970: seconds + offset).prefix(19))
  }
}
