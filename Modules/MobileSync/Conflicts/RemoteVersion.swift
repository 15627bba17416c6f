import SalesforceSDKCommon

/// The server's version of a record, as far as it is known.
enum RemoteVersion: Sendable {
  /// Fields of the record; the modification date may be among them.
  case record(JSONObject)
  /// Only the modification date, in milliseconds since 1970.
  case date(Int64)
  /// The record no longer exists.
  case gone
}
