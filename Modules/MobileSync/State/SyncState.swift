public import SalesforceSDKCommon

/// The stored state of a sync: its definition and its progress.
///
/// It is a copy; later progress does not reach it. JSON, as stored in the soup `syncs_soup`:
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
  /// The target as stored. It may name a target that is not registered here: then the sync can be
  /// listed and deleted but not run.
  public internal(set) var target: JSONObject
  /// Fields that were added to the target and that the next run fetches for the records that are there
  /// already. JSON key `backfill`, only when there are some; it is ours and not the platform's.
  public internal(set) var fieldsToBackfill: [String] = []
  /// The target whose fields the records have, as long as there are ``fieldsToBackfill``. JSON key
  /// `backfilled`.
  var backfilledTarget: JSONObject?
  /// What the target keeps between runs, see ``SyncPage/targetState``; nil if nothing. JSON key `targetState`; it is
  /// ours and not the platform's.
  public internal(set) var targetState: JSONObject?
  /// Up to where the target has read the server's changes, see ``SyncPage/checkpoint``; nil if it says nothing. JSON
  /// key `checkpoint`; it is ours and not the platform's.
  public internal(set) var checkpoint: JSONObject?
  /// The ranges of ids in which the first download came, or comes; nil if it was not split. JSON key `partitions`; it
  /// is ours and not the platform's.
  public internal(set) var partitions: SyncPartitions?
  /// Why the first download of many records was not split, as a sentence, where the target alone does not tell: see
  /// ``SyncReport/serialReason``. JSON key `serialReason`; it is ours and not the platform's.
  var serialReason: String?
  /// Up to when the deletions of the sync's records are known, in milliseconds since 1970 by the server's clock; nil if
  /// the next cleaning of ghosts has to compare ids. JSON key `deletionsUntil`; it is ours and not the platform's.
  var deletionsUntil: Int64?
  /// Merge mode and field list.
  public let options: SyncOptions
  /// Whether the sync was created by a call that also ran it, and no run has moved a record yet: the next
  /// call that creates a sync of this name replaces it. JSON key `provisional`, only when true; it is ours
  /// and not the platform's.
  public internal(set) var isProvisional = false
  /// Where the sync stands.
  public internal(set) var status: SyncStatus = .new
  /// How much of the current or last run is done, in percent; 100 only when the status is done.
  public internal(set) var progress = 0
  /// How many records the current or last run has to move; -1 while unknown.
  public internal(set) var totalSize = -1
  /// The newest modification date that has been brought down, in milliseconds since 1970; -1 if
  /// none.
  public internal(set) var maxTimeStamp: Int64 = -1
  /// When the current or last run started, in milliseconds since 1970; 0 if never.
  public internal(set) var startTime: Int64 = 0
  /// When the last run ended, in milliseconds since 1970; 0 before and during a run.
  public internal(set) var endTime: Int64 = 0
  /// Why the last run failed: `{"code":…,"message":"…","body":…}`; empty if it did not.
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
    if let serialReason { object["serialReason"] = .string(serialReason) }
    return object
  }

  // MARK: Changes

  /// A run is submitted.
  ///
  /// A sync that was interrupted asks again for the records that carry exactly the saved date: its
  /// last page may have held only some of them.
  mutating func submit(at time: Int64) {
    if status == .stopped || status == .failed || status == .running { goOn() }
    status = .running
    progress = 0
    totalSize = -1
    startTime = time
    endTime = 0
    error = ""
  }

  /// The run was interrupted and goes on after all, with what it has saved.
  mutating func goOn() {
    maxTimeStamp = max(maxTimeStamp - 1, -1)
    progress = 0
    totalSize = -1
  }

  /// The run ends. Progress stays where it is unless everything was done.
  mutating func finish(_ status: SyncStatus, error: String = "", at time: Int64) {
    precondition(status.isTerminal, "a run cannot end as \(status)")
    self.status = status
    self.error = error
    endTime = max(time, startTime)
    if status == .done { progress = 100 }
  }
}
