import SalesforceSDKCommon

/// The union of several entries of one record, decided from their values alone.
///
/// A field that no entry has edited takes the value of the entry that was downloaded last. One
/// edited value stays unsynced. Of several different ones, the entry gets the latest, and the
/// others are ``collisions``: none is dropped silently. A deletion and an edit collide in the same
/// way.
struct EntryMerge: Sendable {
  /// One of the entries.
  struct Version: Sendable {
    let entryId: Int64
    let entry: JSONSlice
    /// The values that the entry was edited from, if they differ from the base version: the sent
    /// values of an unacknowledged create, or no values for an entry that was created locally.
    var origin: JSONObject?
    /// Whether the server has just accepted the entry.
    var isAccepted = false

    var flags: RecordFlags { RecordFlags(of: entry) }
    var isEdited: Bool { flags.local || isAccepted }
    var lastModified: Int64 { entry[SyncKeys.soupLastModified]?.int64 ?? -1 }
  }

  /// A value that an entry has and the base version, or what the entry was edited from, has not.
  private struct Edit {
    let version: Version
    let value: JSONValue
  }

  /// The entry that stays: the oldest, which the app has known longest.
  let survivor: Version
  /// The others.
  let others: [Version]
  /// The entry as it is to be stored.
  let entry: JSONSlice
  /// The new base version, for soups that keep it.
  let base: JSONObject
  /// The fields that several entries have edited differently.
  let collisions: [SyncConflict.Field]
  /// Whether the entry equals the server's record.
  let isClean: Bool

  /// Merges entries.
  ///
  /// - Parameters:
  ///   - versions: Two entries or more.
  ///   - id: The record's id.
  ///   - common: The record's base version; nil if it is not known. Then every value of an edited entry counts as
  ///     edited, unless a downloaded entry has it too.
  init(_ versions: [Version], id: String, names: SyncFieldNames, common: JSONObject?) throws {
    let byAge = versions.sorted { $0.entryId < $1.entryId }
    let byTime = versions.sorted {
      ($0.lastModified, $0.entryId) < ($1.lastModified, $1.entryId)
    }
    let edited = byTime.filter(\.isEdited)
    let clean = byTime.filter { !$0.isEdited }
    // The values of a downloaded entry are newer than those that a create has sent.
    let sent = edited.filter { $0.origin != nil }
    let known = edited.filter { $0.origin == nil }
    var values = Self.overlaid((sent + known + clean).map(\.entry), names.isShared)
    let downloaded = Self.overlaid(clean.map(\.entry), names.isData)
    let server = Self.overlaid(
      (clean + edited.filter { !$0.flags.local }).map(\.entry), names.isData)
    // An edit of this very record is based on its own date, whatever another entry has seen since.
    let dates = edited.filter { $0.origin == nil && !$0.isAccepted }
      .compactMap { $0.entry[names.modificationDate] }
    if let date = dates.min(by: { Self.date($0) < Self.date($1) }) {
      values[names.modificationDate] = date.value
    }
    var base = common ?? downloaded
    var collisions: [SyncConflict.Field] = []
    var isPending = false
    let edits = Self.edits(edited, common, downloaded, names)
    let editedNames = Set(edits.map(\.key))
    for (key, value) in downloaded where !editedNames.contains(key) { base[key] = value }
    for (key, edits) in edits {
      guard let latest = edits.last else { continue }
      values[key] = latest.value
      let origin = latest.version.origin
      if let origin { base[key] = origin[key] ?? .null }
      if let other = edits.last(where: { !ServerEquality.same($0.value, latest.value) }) {
        collisions.append(
          SyncConflict.Field(
            name: key, base: (origin ?? common)?[key], mine: latest.value, theirs: other.value))
      }
      isPending = isPending || !ServerEquality.same(latest.value, server[key])
    }
    let isDeleted = edited.contains(where: \.flags.deleted)
    let isKept = edited.contains { !$0.flags.deleted }
    if isDeleted, isKept {
      collisions.append(
        SyncConflict.Field(
          name: SyncKeys.locallyDeleted, base: false, mine: false, theirs: true))
    }
    isClean =
      !isDeleted && !isPending && collisions.isEmpty
      && !edited.contains { $0.isAccepted && $0.flags.local }
    var flags = RecordFlags.clean
    if !isClean {
      let isNew = clean.isEmpty && edited.allSatisfy { $0.flags.created && !$0.isAccepted }
      flags = RecordFlags(
        local: true, created: isNew, updated: isKept && !isNew, deleted: isDeleted && !isKept)
    }
    let error = isClean ? nil : edited.last { $0.entry[SyncKeys.lastError] != nil }
    self.survivor = byAge[0]
    self.others = Array(byAge.dropFirst())
    self.base = base
    self.collisions = collisions
    let kept = survivor.entry
    var members = values.filter { $0.value != kept[$0.key]?.value } + flags.members
    members.append((key: names.id, value: .string(id)))
    if let text = error?.entry[SyncKeys.lastError]?.value {
      members.append((key: SyncKeys.lastError, value: text))
    }
    entry = try kept.setting(members, removing: [SyncKeys.lastError])
  }

  /// The edits of the entries, field by field, the latest edit last.
  private static func edits(
    _ edited: [Version], _ common: JSONObject?, _ downloaded: JSONObject, _ names: SyncFieldNames
  ) -> [(key: String, edits: [Edit])] {
    var edits: [String: [Edit]] = [:]
    var order: [String] = []
    for version in edited where !version.flags.deleted {
      for (key, slice) in version.entry.members where names.isData(key) {
        let value = slice.value
        let before = version.origin ?? common ?? downloaded
        if before[key] != nil || version.origin != nil || common != nil,
          ServerEquality.same(value, before[key])
        {
          continue
        }
        if edits[key] == nil { order.append(key) }
        edits[key, default: []].append(Edit(version: version, value: value))
      }
    }
    return order.map { ($0, edits[$0] ?? []) }
  }

  /// The members of several entries, those of a later one in the places of an earlier one's.
  private static func overlaid(
    _ entries: [JSONSlice], _ isWanted: (String) -> Bool
  ) -> JSONObject {
    var members = JSONObject()
    for entry in entries {
      for (key, value) in entry.members where isWanted(key) { members[key] = value.value }
    }
    return members
  }

  private static func date(_ value: JSONSlice) -> Int64 { ServerDate.milliseconds(of: value) ?? -1 }
}

extension SyncFieldNames {
  /// Whether entries of one record have the member in common.
  fileprivate func isShared(_ key: String) -> Bool {
    isData(key) || isServers(key) || key == SyncKeys.attributes || key == SyncKeys.syncId
  }
}
