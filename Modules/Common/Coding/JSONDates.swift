#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The form of a `Date` in JSON.
public struct JSONDates: Sendable, Hashable {
  private enum Form { case salesforce, milliseconds, seconds }
  private let form: Form

  /// As Salesforce writes it, `2026-03-01T08:30:00.000+0000` (see ``SalesforceDate``). Reading
  /// also accepts a date without time (midnight UTC). The default.
  public static let salesforce = JSONDates(form: .salesforce)
  /// A number of milliseconds since 1970.
  public static let milliseconds = JSONDates(form: .milliseconds)
  /// A number of seconds since 1970.
  public static let seconds = JSONDates(form: .seconds)

  /// The date of a value, or nil if it has another form.
  func date(from value: JSONSlice) -> Date? {
    switch form {
    case .salesforce:
      guard let text = value.string else { return nil }
      return SalesforceDate.parse(text)?.date ?? SalesforceDate.parseDay(text)?.date
    case .milliseconds: return value.double.map { Date(timeIntervalSince1970: $0 / 1000) }
    case .seconds: return value.double.map { Date(timeIntervalSince1970: $0) }
    }
  }

  /// The form of a date, or nil if it has none: a time that is not finite, or beyond 64 bits.
  func value(of date: Date) -> JSONValue? {
    let seconds = date.timeIntervalSince1970
    guard seconds.isFinite else { return nil }
    return switch form {
    case .salesforce: .string(SalesforceDate(date).text)
    case .milliseconds: Int64(exactly: (seconds * 1000).rounded()).map { .integer($0) }
    case .seconds: .double(seconds)
    }
  }
}
