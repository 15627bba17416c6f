import SalesforceSDKCommon
import SmartStore

/// Merges what the server has into dirty entries: entries, base versions and conflicts in one
/// transaction.
struct ConflictMerge: Sendable {
  let soupName: String
  let names: SyncFieldNames
  let syncId: Int64
  let time: Int64
  /// The merge mode that its conflicts name.
  var mergeMode = SyncMergeMode.mergeFields

  /// An entry that was edited, and the server's version of its record.
  struct Pair: Sendable {
    let entryId: Int64
    let id: String
    let entry: JSONSlice
    let remote: RemoteVersion
    /// Whether the record was certainly changed on the server, even if no value differs.
    var isChangedThere = false
    /// Of a parent that is deleted locally: the children on the server that were created or changed there, as
    /// ``SyncKeys/treeChildren`` has them; nil if there are none.
    var changedChildren: JSONObject?
  }

  /// Whether a modification date differs from the one that is known; false if either is not known.
  static func isDateOther(_ date: JSONValue?, than known: JSONValue?) -> Bool {
    guard let date, let known else { return false }
    return !ServerEquality.same(date, known)
  }

  /// The write for one entry.
  private enum Decision {
    case entry(JSONSlice, base: JSONObject)
    case conflict(JSONSlice?, base: JSONObject?, SyncConflict)
    case remove
  }

  /// Merges entries as `transaction` has them. Entries that were created locally are left alone.
  ///
  /// - Returns: The entry ids of the entries that are in conflict.
  @discardableResult
  func apply(
    _ pairs: [Pair], in transaction: borrowing StoreTransaction
  ) throws -> Set<Int64> {
    let known = try ConflictStore.conflicts(of: pairs.map(\.entryId), in: soupName, transaction)
    // Between the edits of two entries that became one no comparison with the server decides.
    let undecided = Set(known.filter { $0.value.kind == .localEdits }.keys)
    let pairs = pairs.filter { !undecided.contains($0.entryId) }
    let store = BaseVersionStore(soupName: soupName)
    let bases = try store.bases(of: pairs.map(\.id), in: transaction)
    let edited = EditedFields(soupName: soupName)
    let edits = try edited.edits(of: pairs.map(\.entryId), in: transaction)
    var written: [JSONSlice] = []
    var clean: [Int64] = []
    var newBases: [String: JSONObject] = [:]
    var removed: [(entryId: Int64, id: String)] = []
    var conflicts: [SyncConflict] = []
    for pair in pairs {
      let base = edits[pair.entryId]?.completing(bases[pair.id], of: pair.entry) ?? bases[pair.id]
      switch try decision(pair, base: base, known: known[pair.entryId]) {
      case .entry(let entry, let base):
        written.append(entry)
        if !RecordFlags(of: entry).local { clean.append(pair.entryId) }
        newBases[pair.id] = base
      case .conflict(let entry, let base, let conflict):
        if let entry { written.append(entry) }
        if let base { newBases[pair.id] = base }
        conflicts.append(conflict)
      case .remove: removed.append((pair.entryId, pair.id))
      }
    }
    if !written.isEmpty { try transaction.upsert(slices: written, soup: soupName) }
    try edited.forget(clean, in: transaction)
    try transaction.remove(entryIds: removed.map(\.entryId), forSoupNamed: soupName)
    try store.save(newBases, in: transaction)
    try store.remove(removed.map(\.id), in: transaction)
    let open = Set(conflicts.map(\.entryId))
    try ConflictStore.remove(
      pairs.map(\.entryId).filter { !open.contains($0) && known[$0]?.kind != .parentMissing },
      of: soupName, in: transaction)
    try ConflictStore.save(conflicts, in: transaction)
    return open.union(undecided)
  }

  private func decision(
    _ pair: Pair, base: JSONObject?, known: SyncConflict?
  ) throws -> Decision {
    let isDeleted = RecordFlags(of: pair.entry).deleted
    switch pair.remote {
    case .gone where isDeleted: return .remove
    case .gone:
      let fields = FieldMerge.changesHere(base: base ?? [:], mine: pair.entry, names: names)
      return .conflict(nil, base: nil, conflict(pair, .deletedThere, fields, theirs: nil))
    case .record(let theirs) where isDeleted: return decision(deleted: pair, base, theirs)
    case .date where isDeleted: return decision(deleted: pair, base, [:])
    case .record(let theirs): return try merged(pair, base, theirs, known)
    case .date: return try merged(pair, base, [:], known)
    }
  }

  /// Decides for an entry that is deleted locally and exists on the server.
  private func decision(
    deleted pair: Pair, _ base: JSONObject?, _ theirs: JSONObject
  ) -> Decision {
    var fields = FieldMerge.changesThere(
      base: base, mine: pair.entry, theirs: theirs, names: names)
    if let children = pair.changedChildren {
      fields.append(SyncConflict.Field(changedChildren: children))
    }
    guard fields.isEmpty, !pair.isChangedThere else {
      return .conflict(nil, base: nil, conflict(pair, .deletedHere, fields, theirs: theirs))
    }
    return .entry(pair.entry, base: Self.overlaid(base, with: theirs))
  }

  private func merged(
    _ pair: Pair, _ base: JSONObject?, _ theirs: JSONObject, _ known: SyncConflict?
  ) throws -> Decision {
    let merge = FieldMerge(base: base, mine: pair.entry, theirs: theirs, names: names)
    var members = merge.taken.map { (key: $0.key, value: $0.value) }
    if !merge.hasLocalChanges {
      members += RecordFlags.clean.members
      let entry = try pair.entry.setting(members, removing: [SyncKeys.lastError])
      return .entry(entry, base: merge.base)
    }
    let entry = try pair.entry.setting(members)
    let fields = merge.conflicts + unseenFields(of: known, pair.entry, theirs)
    if fields.isEmpty { return .entry(entry, base: merge.base) }
    return .conflict(
      entry, base: merge.base,
      conflict(pair, .fields, fields, theirs: Self.overlaid(known?.theirs, with: theirs)))
  }

  /// The fields of an open conflict that stay in it: those of which the server's record says nothing this
  /// time, because another sync with other fields has fetched it, and whose edit was not undone.
  private func unseenFields(
    of known: SyncConflict?, _ entry: JSONSlice, _ theirs: JSONObject
  ) -> [SyncConflict.Field] {
    guard let known, known.kind == .fields, known.mergeMode == .mergeFields else { return [] }
    return known.fields.compactMap { field in
      guard theirs[field.name] == nil, let mine = entry[field.name]?.value,
        !ServerEquality.same(mine, field.base), !ServerEquality.same(mine, field.theirs)
      else { return nil }
      return SyncConflict.Field(
        name: field.name, base: field.base, mine: mine, theirs: field.theirs)
    }
  }

  private func conflict(
    _ pair: Pair, _ kind: SyncConflict.Kind, _ fields: [SyncConflict.Field], theirs: JSONObject?
  ) -> SyncConflict {
    SyncConflict(
      soupName: soupName, entryId: pair.entryId, recordId: pair.id, kind: kind, fields: fields,
      syncId: syncId, mergeMode: mergeMode, time: time, names: names, theirs: theirs)
  }

  /// A base version with some of its fields as the server has them.
  static func overlaid(_ base: JSONObject?, with theirs: JSONObject) -> JSONObject {
    var base = base ?? [:]
    for (key, value) in theirs { base[key] = value }
    return base
  }
}
