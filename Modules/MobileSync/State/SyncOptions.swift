public import SalesforceSDKCommon

/// The options of a sync: the merge mode and, for a sync up, the fields to upload.
///
/// JSON: `{"fieldlist": ["Name"], "mergeMode": "OVERWRITE", "fetchModificationDates": true,
/// "lateCommitWindowMilliseconds": 10000}`, each but the merge mode only when set. The last two are
/// ours and not the platform's.
public struct SyncOptions: Sendable, Equatable {
  /// What happens to a record that was changed on both sides.
  public var mergeMode: SyncMergeMode
  /// The fields that are uploaded, unless the target has lists of its own. Sync up only.
  public var fieldlist: [String]?
  /// Whether the modification dates that the server gave to sent records are fetched at once. Sync up
  /// only; default: false.
  ///
  /// Without it a record that was sent still carries its old date: in mode
  /// ``SyncMergeMode/leaveIfChanged`` it counts as outdated when it is edited and sent again before a
  /// sync down. It costs one more request per batch and object type.
  public var fetchesModificationDates: Bool

  /// How far a sync down looks back behind the newest date that it has seen. Sync down only; default:
  /// zero.
  ///
  /// A transaction that takes long to commit leaves records whose dates lie before those of records
  /// that could be read earlier: a sync down that asks only for newer ones never sees them. It costs
  /// that the records of the window come again with every run. Those that have not changed on the server since
  /// replace no edit, in any merge mode.
  public var lateCommitWindow: Duration

  /// Makes options. The caller chooses the merge mode: no mode suits every soup.
  public init(
    mergeMode: SyncMergeMode, fieldlist: [String]? = nil,
    fetchesModificationDates: Bool = false, lateCommitWindow: Duration = .zero
  ) {
    self.mergeMode = mergeMode
    self.fieldlist = fieldlist
    self.fetchesModificationDates = fetchesModificationDates
    self.lateCommitWindow = max(lateCommitWindow, .zero)
  }

  /// Reads options. Where the JSON names no merge mode, the platform's default holds:
  /// ``SyncMergeMode/overwrite``.
  ///
  /// - Parameter json: An object; nil or null reads as an empty one.
  /// - Throws: ``SyncError`` `invalidOptions` if it is not an object, or if `mergeMode` is not the text
  ///   of a known mode.
  public init(json: JSONValue?) throws(SyncError) {
    let json = json == .null ? nil : json
    if let json, json.object == nil {
      throw SyncError(
        .invalidOptions,
        "Cannot read sync options: they are not an object. Write one, such as "
          + #"{"mergeMode": "LEAVE_IF_CHANGED"}."#)
    }
    self.init(mergeMode: try SyncMergeMode(json: json?["mergeMode"]) ?? .overwrite)
    fieldlist = json?["fieldlist"]?.array?.compactMap(\.string)
    fetchesModificationDates = json?["fetchModificationDates"]?.bool ?? false
    lateCommitWindow = .milliseconds(max(json?["lateCommitWindowMilliseconds"]?.int64 ?? 0, 0))
  }

  /// The stored form.
  public var json: JSONObject {
    var object = JSONObject()
    if let fieldlist { object["fieldlist"] = .array(fieldlist.map { .string($0) }) }
    object["mergeMode"] = .string(mergeMode.rawValue)
    if fetchesModificationDates { object["fetchModificationDates"] = true }
    let window = lateCommitWindowMilliseconds
    if window > 0 { object["lateCommitWindowMilliseconds"] = .integer(window) }
    return object
  }

  /// The window, cut to whole milliseconds.
  private var lateCommitWindowMilliseconds: Int64 {
    let parts = lateCommitWindow.components
    return min(parts.seconds, 1 << 40) * 1_000 + parts.attoseconds / 1_000_000_000_000_000
  }

  /// Since when a run is to ask that has seen everything up to `maxTimeStamp`.
  func start(after maxTimeStamp: Int64) -> Int64 {
    let window = lateCommitWindowMilliseconds
    return maxTimeStamp > 0 && window > 0 ? max(maxTimeStamp - window, 0) : maxTimeStamp
  }
}
