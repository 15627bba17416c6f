public import SalesforceSDKCommon

/// The options of a sync: the merge mode and, for a sync up, the fields to upload.
///
/// JSON: `{"fieldlist": ["Name"], "mergeMode": "OVERWRITE", "fetchModificationDates": true,
/// "lateCommitWindowMilliseconds": 10000}`, each except the merge mode only if it is set. The last
/// two are extensions of this package.
public struct SyncOptions: Sendable, Equatable {
  /// The handling of a record that was changed on both sides.
  public var mergeMode: SyncMergeMode
  /// The fields to upload, unless the target has its own lists. Sync up only.
  public var fieldlist: [String]?
  /// Whether a sync up fetches the new modification dates of the records that it sent. Default:
  /// false.
  ///
  /// Otherwise the entries keep their old dates: in mode ``SyncMergeMode/leaveIfChanged``, an entry
  /// that is edited and sent again before a sync down becomes a conflict. Fetching costs one more
  /// request per batch and object type.
  public var fetchesModificationDates: Bool

  /// The time before the watermark that a sync down requests again. Sync down only; default: zero.
  ///
  /// If a server transaction takes long to commit, its records have dates before those of records
  /// that were readable earlier, and a sync down that requests only newer records misses them. With
  /// a window, each run downloads the records of that time again. A record that has not changed on
  /// the server replaces no edit, in any merge mode.
  public var lateCommitWindow: Duration

  /// Creates options. The caller has to choose the merge mode, because no mode suits every soup.
  public init(
    mergeMode: SyncMergeMode, fieldlist: [String]? = nil,
    fetchesModificationDates: Bool = false, lateCommitWindow: Duration = .zero
  ) {
    self.mergeMode = mergeMode
    self.fieldlist = fieldlist
    self.fetchesModificationDates = fetchesModificationDates
    self.lateCommitWindow = max(lateCommitWindow, .zero)
  }

  /// Reads options. If the JSON has no merge mode, the platform's default applies:
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

  /// The start date of a run whose watermark is `maxTimeStamp`.
  func start(after maxTimeStamp: Int64) -> Int64 {
    let window = lateCommitWindowMilliseconds
    return maxTimeStamp > 0 && window > 0 ? max(maxTimeStamp - window, 0) : maxTimeStamp
  }
}
