import SalesforceSDKCommon
public import SmartStore

extension SmartStore {
  /// Returns the open conflicts of a soup, or of the whole store, in the order of their detection.
  ///
  /// Conflicts come from syncs in modes ``SyncMergeMode/mergeFields`` and
  /// ``SyncMergeMode/leaveIfChanged``; ``SyncConflict`` describes which syncs skip their entries. A
  /// conflict of `leaveIfChanged` is no longer listed when its entry is clean, is removed or
  /// belongs to another record.
  ///
  /// - Parameter soupName: nil: all soups.
  /// - Throws: ``SyncError`` `store`.
  public func conflicts(in soupName: String? = nil) async throws -> [SyncConflict] {
    try await SyncManager.storeErrors {
      try await read { reader in
        guard reader.soupExists(forName: MetadataSoup.conflicts.name) else { return [] }
        return try ConflictStore.open(in: soupName, reader)
      }
    }
  }

  /// Resolves a conflict: entry, base version and conflict change in one transaction, which is on
  /// disk when the call returns. The next sync up uploads the result.
  ///
  /// If the server's record has changed again by then, the next sync detects that as for any edit.
  /// If the app has removed the entry since, the conflict ends with any resolution.
  ///
  /// - Parameter conflict: One of ``conflicts(in:)``, as it was listed.
  /// - Throws: ``SyncError`` `conflictChanged` if the conflict has ended or has other values by
  ///   now; then nothing is changed. `invalidResolution` if the resolution does not fit the kind of
  ///   conflict. `store`.
  public func resolve(_ conflict: SyncConflict, _ resolution: SyncResolution) async throws {
    try await SyncManager.storeErrors {
      try await inTransaction { transaction in
        try ConflictResolution(conflict: conflict, choice: resolution.choice).apply(in: transaction)
      }
    }
  }
}

/// The application of a decision about a conflict to the store.
struct ConflictResolution {
  let conflict: SyncConflict
  let choice: SyncResolution.Choice

  func apply(in transaction: borrowing StoreTransaction) throws {
    let before = try transaction.entries([conflict.entryId], of: conflict.soupName).first?.record
    try decide(in: transaction)
    if let before { try noteValues(over: before, in: transaction) }
  }

  /// Notes the values that were given as edits, so that a sync up which does not send one of them leaves it unsynced,
  /// and says so.
  private func noteValues(
    over before: JSONSlice, in transaction: borrowing StoreTransaction
  ) throws {
    guard case .values(let values) = choice,
      let entry = try transaction.entries([conflict.entryId], of: conflict.soupName).first?.record,
      RecordFlags(of: entry).local
    else { return }
    var known = ConflictMerge.overlaid(before.value.object, with: conflict.theirs ?? [:])
    for field in conflict.fields { known[field.name] = field.theirs }
    try EditedFields(soupName: conflict.soupName).note(
      values.filter { conflict.names.isData($0.key) && entry[$0.key] != nil }
        .map { (key: $0.key, value: $0.value) },
      of: conflict.entryId, before: known, isFirst: false, in: transaction)
  }

  private func decide(in transaction: borrowing StoreTransaction) throws {
    let stored = try MetadataSoup.conflicts.entries([conflict.id], in: transaction).first
      .flatMap { SyncConflict(json: $0.record) }
    let entry = try transaction.entries([conflict.entryId], of: conflict.soupName).first?.record
    guard stored == conflict else {
      throw SyncError(
        .conflictChanged,
        "The conflict of \(conflict.id) is over, or not as it was listed. List the conflicts again."
      )
    }
    guard let entry, entry[conflict.names.id]?.string == conflict.recordId else {
      return try MetadataSoup.conflicts.remove([conflict.id], in: transaction)
    }
    switch (conflict.kind, choice) {
    case (.parentMissing, _):
      try ParentResolution(conflict: conflict, entry: entry).apply(choice, in: transaction)
      return try MetadataSoup.conflicts.remove([conflict.id], in: transaction)
    case (_, .detach), (_, .recreateParent):
      throw SyncError(
        .invalidResolution,
        "The conflict of \(conflict.id) is not about a missing parent. Resolve it as its kind allows."
      )
    case (.inDoubt, .record(let id)):
      // The record may have another entry, and what both were edited to may be a conflict of the one that stays.
      try MetadataSoup.conflicts.remove([conflict.id], in: transaction)
      return try UnacknowledgedCreateResolution(conflict: conflict, entry: entry).adopt(
        id, in: transaction)
    case (.inDoubt, .create):
      try UnacknowledgedCreateResolution(conflict: conflict, entry: entry).create(in: transaction)
      return try MetadataSoup.conflicts.remove([conflict.id], in: transaction)
    case (.inDoubt, _):
      throw SyncError(
        .invalidResolution,
        "The conflict of \(conflict.id) is in doubt. Resolve it with record(_:) or create.")
    case (_, .record), (_, .create):
      throw SyncError(
        .invalidResolution,
        "The conflict of \(conflict.id) is not in doubt. Resolve it with mine, theirs or values(_:)."
      )
    default: break
    }
    if conflict.kind == .localEdits {
      let resolved = try LocalEdits(conflict).resolved(entry, choice)
      try transaction.upsert(slices: [resolved], soup: conflict.soupName)
      return try MetadataSoup.conflicts.remove([conflict.id], in: transaction)
    }
    if conflict.mergeMode == .leaveIfChanged, conflict.kind != .deletedThere {
      try resolveRecord(entry, in: transaction)
      return try MetadataSoup.conflicts.remove([conflict.id], in: transaction)
    }
    let store = BaseVersionStore(soupName: conflict.soupName)
    let base = try store.bases(of: [conflict.recordId], in: transaction)[conflict.recordId]
    var newBase = ConflictMerge.overlaid(base, with: conflict.theirs ?? [:])
    for field in conflict.fields { newBase[field.name] = field.theirs }
    // What the date stands for has been decided upon, also where a sync up did not bring it.
    newBase[conflict.names.modificationDate] = conflict.theirs?[conflict.names.modificationDate]
    // An entry in conflict may have been deleted since: then the deletion is what was decided upon.
    switch conflict.kind {
    case .deletedThere: try resolveDeletedThere(entry, in: transaction)
    case .fields where RecordFlags(of: entry).deleted, .deletedHere:
      try resolveDeletedHere(entry, in: transaction)
      try store.save([conflict.recordId: newBase], in: transaction)
    default:
      try resolveFields(entry, newBase, in: transaction)
      try store.save([conflict.recordId: newBase], in: transaction)
    }
    try MetadataSoup.conflicts.remove([conflict.id], in: transaction)
  }

  private func resolveFields(
    _ entry: JSONSlice, _ base: JSONObject, in transaction: borrowing StoreTransaction
  ) throws {
    var flags = RecordFlags(of: entry)
    let members =
      conflict.fields.map { field in
        switch choice {
        // An entry that a sync has replaced since gets back its former content.
        case .mine: (field.name, flags.local ? entry[field.name]?.value : field.mine)
        case .theirs: (field.name, field.theirs)
        case .values(let values): (field.name, values[field.name] ?? field.theirs)
        case .record, .create, .detach, .recreateParent:
          (field.name, entry[field.name]?.value)
        }
      }
      .map { (key: $0.0, value: $0.1 ?? .null) } + values(besides: conflict.fields)
    flags.local = true
    flags.updated = true
    var decided = try entry.setting(members)
    let rest = FieldMerge.changesHere(base: base, mine: decided, names: conflict.names)
    if rest.isEmpty { flags = .clean }
    decided = try decided.setting(flags.members, removing: [SyncKeys.lastError])
    try transaction.upsert(slices: [decided], soup: conflict.soupName)
  }

  /// Resolves a conflict that is about the record as a whole: what the server has is known and agreed on from
  /// here on, so that the entry may be sent until the server's record changes again.
  private func resolveRecord(
    _ entry: JSONSlice, in transaction: borrowing StoreTransaction
  ) throws {
    let store = BaseVersionStore(soupName: conflict.soupName)
    let base = try store.bases(of: [conflict.recordId], in: transaction)[conflict.recordId]
    let theirs = conflict.theirs ?? [:]
    var flags = RecordFlags(of: entry)
    // An entry that becomes clean without the server's values is not based on its date.
    let isSeen = theirs.contains { conflict.names.isData($0.key) }
    if isSeen || !flags.local {
      try store.save(
        [conflict.recordId: ConflictMerge.overlaid(base, with: theirs)], in: transaction)
    } else if choice != .theirs {
      // The decision covers values that are not known, up to this date.
      try store.save([conflict.recordId: theirs], in: transaction)
    }
    guard flags.local else { return }
    var members = theirs.filter { conflict.names.isData($0.key) && entry[$0.key] != nil }
      .map { (key: $0.key, value: $0.value) }
    switch choice {
    case .mine:
      // The base version of a field tells which side changed it; without one it counts as changed
      // locally.
      let isFromThere = Set(
        conflict.fields.filter { field in
          field.base.map { ServerEquality.same(entry[field.name]?.value, $0) } ?? false
        }.map(\.name))
      members = flags.deleted ? [] : members.filter { isFromThere.contains($0.key) }
    case .theirs:
      flags = .clean
      members += try undoneEdits(of: entry, except: members, in: transaction)
    case .values:
      let values = values()
      let given = Set(values.map(\.key))
      members = members.filter { !given.contains($0.key) } + values
      flags = RecordFlags(local: true, created: false, updated: true, deleted: false)
    case .record, .create, .detach, .recreateParent: return
    }
    let resolved = try entry.setting(members + flags.members, removing: [SyncKeys.lastError])
    try transaction.upsert(slices: [resolved], soup: conflict.soupName)
  }

  private func resolveDeletedHere(
    _ entry: JSONSlice, in transaction: borrowing StoreTransaction
  ) throws {
    var members = (conflict.theirs ?? [:]).map { (key: $0.key, value: $0.value) }
    switch choice {
    case .mine, .record, .create, .detach, .recreateParent: return
    case .theirs:
      members += try undoneEdits(of: entry, except: members, in: transaction)
      members += RecordFlags.clean.members
    case .values(let values):
      members = members.filter { values[$0.key] == nil } + self.values()
      members += RecordFlags(local: true, created: false, updated: true, deleted: false).members
    }
    try transaction.upsert(
      slices: [try entry.setting(members, removing: [SyncKeys.lastError])], soup: conflict.soupName)
  }

  private func resolveDeletedThere(
    _ entry: JSONSlice, in transaction: borrowing StoreTransaction
  ) throws {
    try BaseVersionStore(soupName: conflict.soupName).remove([conflict.recordId], in: transaction)
    if choice == .theirs || (choice == .mine && RecordFlags(of: entry).deleted) {
      try transaction.remove(entryIds: [conflict.entryId], forSoupNamed: conflict.soupName)
      return
    }
    // Its id stays until the server returns a new one, so that references to it are updated then.
    var members = RecordFlags(local: true, created: true, updated: false, deleted: false).members
    if case .values = choice { members = values() + members }
    try transaction.upsert(
      slices: [
        try entry.setting(members, removing: [SyncKeys.lastError, conflict.names.modificationDate])
      ], soup: conflict.soupName)
  }

  /// The values before the edits of fields that the server's version does not have, such as one that no sync downloads;
  /// what is noted of the edits ends.
  private func undoneEdits(
    of entry: JSONSlice, except members: [(key: String, value: JSONValue)],
    in transaction: borrowing StoreTransaction
  ) throws -> [(key: String, value: JSONValue)] {
    let edited = EditedFields(soupName: conflict.soupName)
    guard let edits = try edited.edits(of: [conflict.entryId], in: transaction)[conflict.entryId]
    else { return [] }
    try edited.forget([conflict.entryId], in: transaction)
    let undone = edits.names(in: entry).subtracting(members.map(\.key))
    return edits.before.filter { undone.contains($0.key) }.map { (key: $0.key, value: $0.value) }
  }

  /// The values that were given, but for those of fields that are decided already.
  private func values(
    besides fields: [SyncConflict.Field] = []
  ) -> [(key: String, value: JSONValue)] {
    guard case .values(let values) = choice else { return [] }
    let decided = Set(fields.map(\.name))
    return values.filter {
      !decided.contains($0.key) && !SyncKeys.neverSent.contains($0.key)
        && $0.key != conflict.names.id
    }
    .map { (key: $0.key, value: $0.value) }
  }
}
