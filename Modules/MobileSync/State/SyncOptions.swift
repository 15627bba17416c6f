public import SalesforceSDKCommon

/// How a sync runs: the merge mode and, for a sync up, the fields to send.
///
/// JSON: `{"fieldlist": ["Name"], "mergeMode": "OVERWRITE"}`, `fieldlist` only when set.
public struct SyncOptions: Sendable, Equatable {
  /// What happens to a record that was changed on both sides.
  public var mergeMode: SyncMergeMode
  /// The fields that go up, unless the target has lists of its own. Sync up only.
  public var fieldlist: [String]?

  /// Makes options; nothing given means ``SyncMergeMode/overwrite`` and no field list.
  public init(mergeMode: SyncMergeMode = .overwrite, fieldlist: [String]? = nil) {
    self.mergeMode = mergeMode
    self.fieldlist = fieldlist
  }

  /// Reads options. Absent, null or empty options, and an unknown merge mode, mean
  /// ``SyncMergeMode/overwrite``; the latter is logged as a warning.
  public init(json: JSONValue?) {
    self.init()
    if let text = json?["mergeMode"]?.string {
      if let mode = SyncMergeMode(rawValue: text) {
        mergeMode = mode
      } else {
        MobileSyncLogger.log.warning("Unknown merge mode '\(text)' is read as OVERWRITE.")
      }
    }
    fieldlist = json?["fieldlist"]?.array?.compactMap(\.string)
  }

  /// The stored form.
  public var json: JSONObject {
    var object = JSONObject()
    if let fieldlist { object["fieldlist"] = .array(fieldlist.map { .string($0) }) }
    object["mergeMode"] = .string(mergeMode.rawValue)
    return object
  }
}
