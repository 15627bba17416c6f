import SalesforceSDKCommon

/// The server's version of a record, as far as it is known.
enum RemoteVersion: Sendable {
  /// Fields of the record; the modification date may be among them.
  case record(JSONObject)
  /// The modification date alone, in milliseconds since 1970.
  case date(Int64)
  /// The record does not exist any more.
  case gone
}
