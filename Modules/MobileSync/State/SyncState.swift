public import SalesforceSDKCommon

/// The stored state of a sync: its definition and its progress.
///
/// It is a copy, which later progress does not change. JSON, as stored in the soup `syncs_soup`:
///
/// ```json
/// { "_soupEntryId": 12, "type": "syncDown", "name": "mySync", "soupName": "accounts",
///   "target": {}, "options": { "mergeMode": "OVERWRITE" }, "status": "NEW", "progress": 0,
///   "totalSize": -1, "maxTimeStamp": -1, "startTime": 0, "endTime": 0, "error": "" }
/// ```
public struct SyncState: Sendable, Equatable {
  /// The id, which is the entry id of the stored state.
  public internal(set) var id: Int64
  /// The direction.
  public let type: SyncType
  /// The name, unique within the store; nil if the sync has none.
  public let name: String?
  /// The soup that is read or written.
  public let soupName: String
  /// The target as stored. If it names a target that is not registered, the sync can be listed and
  /// deleted but not run.
  public internal(set) var target: JSONObject
  /// Added fields of the target, which the next run fetches for existing records. JSON key
  /// `backfill`, only if there are any; an extension of this package.
  public internal(set) var fieldsToBackfill: [String] = []
  /// The target whose fields the records have, as long as there are ``fieldsToBackfill``. JSON key
  /// `backfilled`.
  var backfilledTarget: JSONObject?
  /// The state of the target between runs, see ``SyncPage/targetState``; nil if there is none. JSON
  /// key `targetState`; an extension of this package.
  public internal(set) var targetState: JSONObject?
  /// The position up to which the target has read the server's changes, see
  /// ``SyncPage/checkpoint``; nil if there is none. JSON key `checkpoint`; an extension of this
  /// package.
  public internal(set) var checkpoint: JSONObject?
  /// The ranges of ids of the first download; nil if it was not split. JSON key `partitions`; an
  /// extension of this package.
  public internal(set) var partitions: SyncPartitions?
  /// The reason, as a sentence, why the first download of many records was not split, if the target
  /// alone does not determine it: see ``SyncReport/serialReason``. JSON key `serialReason`; an
  /// extension of this package.
  var serialReason: String?
  /// Up to when the deletions of the sync's records are known, in milliseconds since 1970 by the server's clock; nil if
  /// the next cleaning of ghosts has to compare ids. JSON key `deletionsUntil`; it is an extension of this package.
  var deletionsUntil: Int64?
  /// Whether the second of the watermark may not have been over when the last run requested its records: the next run
  /// requests that second again. JSON key `openSecond`, only if true; an extension of this package.
  public internal(set) var isSecondOpen = false
  /// The soups that the records are in, as of the watermark; nil before the first page. JSON key `downloaded`, in the
  /// store only.
  var downloaded: DownloadedSoups?
  /// Merge mode and field list.
  public internal(set) var options: SyncOptions
  /// Whether the next call that creates a sync of this name replaces this one: it was created by a
  /// call that also ran it, and no run has transferred a record yet. JSON key `provisional`, only
  /// if true; an extension of this package.
  public internal(set) var isProvisional = false
  /// The probable mistakes in the fields of a sync, in the result of the call that created it; empty in all other
  /// results, and not stored. JSON key `warnings`, only if there are any; an extension of this package.
  public internal(set) var warnings: [SyncFieldWarning] = []
  /// The status of the sync.
  public internal(set) var status: SyncStatus = .new
  /// The progress of the current or last run, in percent; 100 only if the status is done.
  public internal(set) var progress = 0
  /// The number of records to transfer in the current or last run; -1 while it is unknown.
  public internal(set) var totalSize = -1
  /// The watermark: the newest downloaded modification date, in milliseconds since 1970; -1 if
  /// there is none.
  public internal(set) var maxTimeStamp: Int64 = -1
  /// The start of the current or last run, in milliseconds since 1970; 0 if the sync never ran.
  public internal(set) var startTime: Int64 = 0
  /// The end of the last run, in milliseconds since 1970; 0 before and during a run.
  public internal(set) var endTime: Int64 = 0
  /// The error of the last run: `{"code":…,"message":"…","body":…}`; empty if it did not fail.
  public internal(set) var error = ""

  /// A new sync that is not stored yet.
  init(
    type: SyncType, name: String?, soupName: String, target: JSONObject, options: SyncOptions
  ) {
    id = -1
    self.type = type
    self.name = name.flatMap { $0.isEmpty ? nil : $0 }
    self.soupName = soupName
    self.target = target
    self.options = options
  }

  /// Reads a stored sync. An unknown status reads as failed; absent numbers as those of a new sync.
  ///
  /// - Throws: ``SyncError`` `invalidState` without an id, a soup name, one of the two types, or with
  ///   options that cannot be read.
  public init(json: JSONSlice) throws(SyncError) {
    guard let id = json[SyncKeys.soupEntryId]?.int64 else {
      throw SyncError(.invalidState, "A stored sync has no id.")
    }
    guard let type = json["type"]?.string.flatMap(SyncType.init(rawValue:)) else {
      throw SyncError(
        .invalidState, "The stored sync \(id) is neither a syncDown nor a syncUp. Delete it.")
    }
    guard let soupName = json["soupName"]?.string else {
      throw SyncError(.invalidState, "The stored sync \(id) names no soup. Delete it.")
    }
    let options: SyncOptions
    do {
      options = try SyncOptions(json: json["options"]?.value)
    } catch {
      throw SyncError(
        .invalidState,
        "The options of the stored sync \(id) cannot be read. Delete the sync and create it again.",
        cause: error)
    }
    self.init(
      type: type, name: json["name"]?.string, soupName: soupName,
      target: json["target"]?.value.object ?? [:], options: options)
    self.id = id
    status = json["status"]?.string.flatMap(SyncStatus.init(rawValue:)) ?? .failed
    progress = json["progress"]?.int64.map(Int.init(clamping:)) ?? 0
    totalSize = json["totalSize"]?.int64.map(Int.init(clamping:)) ?? -1
    maxTimeStamp = max(json["maxTimeStamp"]?.int64 ?? -1, -1)
    startTime = json["startTime"]?.int64 ?? 0
    endTime = json["endTime"]?.int64 ?? 0
    error = json["error"]?.string ?? ""
    isProvisional = json["provisional"]?.bool ?? false
    fieldsToBackfill = json["backfill"]?.elements.compactMap(\.string) ?? []
    backfilledTarget = json["backfilled"]?.value.object
    targetState = json["targetState"]?.value.object
    checkpoint = json["checkpoint"]?.value.object
    partitions = json["partitions"].flatMap(SyncPartitions.init(json:))
    serialReason = json["serialReason"]?.string
    deletionsUntil = json["deletionsUntil"]?.int64
    isSecondOpen = json["openSecond"]?.bool ?? false
    downloaded = json["downloaded"].flatMap(DownloadedSoups.init(json:))
  }

  /// The stored form, with what concerns the store alone.
  var storedJSON: JSONObject {
    var object = json
    object["warnings"] = nil
    if let downloaded { object["downloaded"] = .object(downloaded.json) }
    return object
  }

  /// The stored form.
  public var json: JSONObject {
    var object = JSONObject()
    if id >= 0 { object[SyncKeys.soupEntryId] = .integer(id) }
    object["type"] = .string(type.rawValue)
    if let name { object["name"] = .string(name) }
    object["soupName"] = .string(soupName)
    object["target"] = .object(target)
    object["options"] = .object(options.json)
    object["status"] = .string(status.rawValue)
    object["progress"] = .integer(Int64(progress))
    object["totalSize"] = .integer(Int64(totalSize))
    object["maxTimeStamp"] = .integer(maxTimeStamp)
    object["startTime"] = .integer(startTime)
    object["endTime"] = .integer(endTime)
    object["error"] = .string(error)
    if isProvisional { object["provisional"] = true }
    if !fieldsToBackfill.isEmpty {
      object["backfill"] = .array(fieldsToBackfill.map { .string($0) })
      if let backfilledTarget { object["backfilled"] = .object(backfilledTarget) }
    }
    if let targetState { object["targetState"] = .object(targetState) }
    if let checkpoint { object["checkpoint"] = .object(checkpoint) }
    if let partitions { object["partitions"] = .object(partitions.json) }
    if let deletionsUntil { object["deletionsUntil"] = .integer(deletionsUntil) }
    if isSecondOpen { object["openSecond"] = true }
    if !warnings.isEmpty { object["warnings"] = .array(warnings.map { .object($0.json) }) }
    if let serialReason { object["serialReason"] = .string(serialReason) }
    return object
  }

  /// The date after which the next run requests records. Dates are whole seconds.
  var start: Int64 {
    let start = options.start(after: maxTimeStamp)
    return isSecondOpen && maxTimeStamp > 0 ? min(start, maxTimeStamp - 1) : start
  }

  /// Whether the other sync does the same: same type, soup, target and options.
  package func isDefined(as other: SyncState) -> Bool {
    type == other.type && soupName == other.soupName && target == other.target
      && options == other.options
  }

  // MARK: Changes

  /// A run is submitted.
  ///
  /// A sync that was interrupted asks again for the records that carry exactly the saved date: its
  /// last page may have held only some of them.
  mutating func submit(at time: Int64) {
    if status == .stopped || status == .failed || status == .running { resume() }
    status = .running
    progress = 0
    totalSize = -1
    startTime = time
    endTime = 0
    error = ""
  }

  /// The run was interrupted and continues with its saved records. Its progress does not fall.
  mutating func resume() {
    maxTimeStamp = max(maxTimeStamp - 1, -1)
    totalSize = -1
  }

  /// A part of the run is done: the progress rises, unless an interrupted part of the same run has reached more.
  mutating func advance(to progress: Int) { self.progress = max(self.progress, progress) }

  /// The run ends. Progress stays where it is unless everything was done.
  mutating func finish(_ status: SyncStatus, error: String = "", at time: Int64) {
    precondition(status.isTerminal, "a run cannot end as \(status)")
    self.status = status
    self.error = error
    endTime = max(time, startTime)
    if status == .done { progress = 100 }
  }
}
