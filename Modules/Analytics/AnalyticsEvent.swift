public import SalesforceSDKCommon

/// A report of one thing that the SDK or an app did, before it becomes an ``InstrumentationEvent``.
///
/// It contains counts, times and ids of the SDK's own objects, but never records, user names or
/// tokens.
public struct AnalyticsEvent: Sendable, Equatable {
  /// The event's name, such as `syncDown`.
  public let name: String
  /// The type that reports it, such as `SyncManager`. Default: empty.
  public let className: String
  /// Details, such as `{"syncId": 12, "numRecords": 10}`.
  public let attributes: JSONObject
  /// The start time, in milliseconds since 1970.
  public let startTime: Int64
  /// The end time, in milliseconds since 1970; 0 if it has no duration.
  public let endTime: Int64

  /// Creates an event.
  public init(
    name: String, className: String = "", attributes: JSONObject = [:], startTime: Int64,
    endTime: Int64 = 0
  ) {
    self.name = name
    self.className = className
    self.attributes = attributes
    self.startTime = startTime
    self.endTime = endTime
  }
}
