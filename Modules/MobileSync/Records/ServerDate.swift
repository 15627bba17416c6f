import SalesforceSDKCommon

/// Dates as the server writes them.
enum ServerDate {
  /// Milliseconds since 1970 of a date and time with a zone; nil for anything else.
  static func milliseconds(of value: JSONSlice?) -> Int64? {
    guard let text = value?.string else { return nil }
    return SalesforceDate.parse(text)?.milliseconds
  }
}
