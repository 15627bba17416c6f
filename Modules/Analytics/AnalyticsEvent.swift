public import SalesforceSDKCommon

/// A report of one thing that the SDK or an app did, before it becomes an ``InstrumentationEvent``.
///
/// It holds counts, ids of the SDK's own objects and times; never records, names of users or tokens.
public struct AnalyticsEvent: Sendable, Equatable {
  /// What happened, such as `syncDown`.
  public let name: String
  /// The type that reports it, such as `SyncManager`. Default: empty.
  public let className: String
  /// Details, such as `{"syncId": 12, "numRecords": 10}`.
  public let attributes: JSONObject
  /// When it began, in milliseconds since 1970.
  public let startTime: Int64
  /// When it ended, in milliseconds since 1970; 0 if it has no length.
  public let endTime: Int64

  /// Makes an event.
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
