public import SalesforceSDKCommon

/// How a sync runs: the merge mode and, for a sync up, the fields to send.
///
/// JSON: `{"fieldlist": ["Name"], "mergeMode": "OVERWRITE", "fetchModificationDates": true}`,
/// `fieldlist` and `fetchModificationDates`, which is ours and not the platform's, only when set.
public struct SyncOptions: Sendable, Equatable {
  /// What happens to a record that was changed on both sides.
  public var mergeMode: SyncMergeMode
  /// The fields that go up, unless the target has lists of its own. Sync up only.
  public var fieldlist: [String]?
  /// Whether the modification dates that the server gave to sent records are fetched at once. Sync up
  /// only; default: false.
  ///
  /// Without it a record that was sent still carries its old date: in mode
  /// ``SyncMergeMode/leaveIfChanged`` it counts as outdated when it is edited and sent again before a
  /// sync down. It costs one more request per batch and object type.
  public var fetchesModificationDates: Bool

  /// Makes options; nothing given means ``SyncMergeMode/overwrite`` and no field list.
  public init(
    mergeMode: SyncMergeMode = .overwrite, fieldlist: [String]? = nil,
    fetchesModificationDates: Bool = false
  ) {
    self.mergeMode = mergeMode
    self.fieldlist = fieldlist
    self.fetchesModificationDates = fetchesModificationDates
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
    fetchesModificationDates = json?["fetchModificationDates"]?.bool ?? false
  }

  /// The stored form.
  public var json: JSONObject {
    var object = JSONObject()
    if let fieldlist { object["fieldlist"] = .array(fieldlist.map { .string($0) }) }
    object["mergeMode"] = .string(mergeMode.rawValue)
    if fetchesModificationDates { object["fetchModificationDates"] = true }
    return object
  }
}
