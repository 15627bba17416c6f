import SalesforceSDKCommon
import SmartStore

/// Writes the local changes of one soup: reads an entry as it is now, and sets the flags that a sync up reads.
struct RecordEditor {
  let soupName: String
  let idField: String

  private var edited: EditedFields { EditedFields(soupName: soupName) }

  // MARK: Changes

  func create(
    _ fields: JSONObject, type: String, in transaction: borrowing StoreTransaction
  ) throws -> JSONValue {
    try checkSoup(in: transaction)
    var record = fields
    let id = record[idField] ?? .null
    if id == .null {
      record[idField] = .string(SyncKeys.newLocalId())
    } else {
      guard let id = id.string, SyncKeys.isLocalId(id) else {
        throw refusal("a new record gets its \(idField) from the server", "Leave \(idField) out.")
      }
      if try entry(id, in: transaction) != nil {
        throw refusal("an entry has the \(idField) '\(id)' already", "Edit that entry.")
      }
    }
    var attributes = record[SyncKeys.attributes]?.object ?? [:]
    attributes[SyncKeys.type] = .string(type)
    record[SyncKeys.attributes] = .object(attributes)
    try checkType(record[SyncKeys.attributes])
    for key in [SyncKeys.syncId, SyncKeys.lastError] { record.removeValue(forKey: key) }
    let flags = RecordFlags(local: true, created: true, updated: false, deleted: false)
    for (key, value) in flags.members { record[key] = value }
    let created = try transaction.create(entry: .object(record), inSoupNamed: soupName)
    if let entryId = created[SyncKeys.soupEntryId]?.int64 {
      let given = fields.filter { $0.key != idField && !SyncKeys.neverSent.contains($0.key) }
      try edited.note(
        given.map { (key: $0.key, value: $0.value) }, of: entryId, before: [:], isFirst: true,
        in: transaction)
    }
    return created
  }

  func edit(
    _ id: String, in transaction: borrowing StoreTransaction,
    _ body: (inout JSONObject) throws -> Void
  ) throws -> JSONValue {
    let (entryId, entry) = try existing(id, in: transaction)
    try checkType(entry[SyncKeys.attributes]?.value)
    var flags = RecordFlags(of: entry)
    if flags.deleted {
      throw refusal(
        "the record '\(id)' is deleted locally", "Undo the deletion with undoEdit first.")
    }
    let before = entry.value.object ?? [:]
    var record = before
    try body(&record)
    let changes = try changes(from: before, to: record)
    if changes.isEmpty { return entry.value }
    try edited.note(changes, of: entryId, before: before, isFirst: !flags.local, in: transaction)
    flags.local = true
    flags.updated = !flags.created
    return try write(entry, changes, flags, entryId, in: transaction)
  }

  func delete(_ id: String, in transaction: borrowing StoreTransaction) throws {
    let (entryId, entry) = try existing(id, in: transaction)
    try checkType(entry[SyncKeys.attributes]?.value)
    var flags = RecordFlags(of: entry)
    if flags.deleted { return }
    flags.local = true
    flags.deleted = true
    _ = try write(entry, [], flags, entryId, in: transaction)
  }

  func undo(_ id: String, in transaction: borrowing StoreTransaction) throws {
    var (entryId, entry) = try existing(id, in: transaction)
    if let conflict = try conflict(of: entryId, in: transaction) {
      if conflict.kind == .inDoubt { throw inDoubt(id) }
      // A conflict holds server values that the base version does not have.
      try ConflictResolution(conflict: conflict, choice: .theirs).apply(in: transaction)
      guard let resolved = try transaction.entries([entryId], of: soupName).first else { return }
      entry = resolved.record
    }
    let flags = RecordFlags(of: entry)
    guard flags.local else { return }
    if flags.created {
      if try isUnacknowledged(entryId, in: transaction) { throw inDoubt(id) }
      try edited.forget([entryId], in: transaction)
      return try transaction.remove(entryIds: [entryId], forSoupNamed: soupName)
    }
    let edits = try edited.edits(of: [entryId], in: transaction)[entryId]
    // A sync up has left these edits out, and the server has everything else.
    let left = edits.flatMap { edits in
      edits.isKept && !flags.deleted
        ? edits.before.filter { edits.names(in: entry).contains($0.key) } : nil
    }
    let base =
      try baseVersion(id: entry[idField]?.string ?? id, in: transaction)
      ?? left.map { JSONObject($0) }
    guard base != nil || (flags.deleted && !flags.updated) else {
      throw SyncError(
        .cannotUndo,
        "Cannot undo the edit of '\(id)' in soup '\(soupName)': no base version is kept, since its syncs are "
          + "in mode OVERWRITE. Run a new sync down of the soup in that mode: it downloads every record again and "
          + "replaces the entry.")
    }
    try edited.forget([entryId], in: transaction)
    let members = (base ?? [:]).filter { !SyncKeys.neverSent.contains($0.key) && $0.key != idField }
    _ = try write(
      entry, members.map { (key: $0.key, value: $0.value) }, .clean, entryId, in: transaction)
  }

  private func write(
    _ entry: JSONSlice, _ members: [(key: String, value: JSONValue)], _ flags: RecordFlags,
    _ entryId: Int64, in transaction: borrowing StoreTransaction
  ) throws -> JSONValue {
    let removed = flags.local ? [] : [SyncKeys.lastError]
    let changed = try entry.setting(members + flags.members, removing: removed)
    try transaction.update(slice: changed, soup: soupName, entryId: entryId)
    return try transaction.entries([entryId], of: soupName).first?.record.value ?? changed.value
  }

  /// The members that differ. One that is absent afterwards becomes null, since a member that an entry lacks is
  /// not uploaded.
  private func changes(
    from before: JSONObject, to after: JSONObject
  ) throws -> [(key: String, value: JSONValue)] {
    var changes: [(key: String, value: JSONValue)] = []
    for (key, value) in after where before[key] != value { changes.append((key, value)) }
    for (key, _) in before where after[key] == nil { changes.append((key, .null)) }
    for (key, _) in changes where key == idField || SyncKeys.neverSent.contains(key) {
      throw refusal("'\(key)' is kept by sync and cannot be edited", "Leave it as it is.")
    }
    return changes
  }

  // MARK: Reading

  /// The entry with this id. A local id also finds the entry after its record has got an id from the server.
  private func existing(
    _ id: String, in transaction: borrowing StoreTransaction
  ) throws -> (id: Int64, record: JSONSlice) {
    try checkSoup(in: transaction)
    if let found = try entry(id, in: transaction) { return found }
    if SyncKeys.isLocalId(id), transaction.soupExists(forName: MetadataSoup.ids.name),
      let serverId = try LocalIdIndex.serverIds(of: [id], in: transaction)[id],
      let found = try entry(serverId, in: transaction)
    {
      return found
    }
    throw SyncError(
      .recordNotFound,
      "Soup '\(soupName)' has no entry whose \(idField) is '\(id)'. Query the soup again.")
  }

  private func entry(
    _ id: String, in transaction: borrowing StoreTransaction
  ) throws -> (id: Int64, record: JSONSlice)? {
    let records = SyncSoup(soupName: soupName, idField: idField)
    let ids = try records.entryIds(of: [id], in: transaction)
    return try transaction.entries(Array(ids.values), of: soupName).first
  }

  private func conflict(
    of entryId: Int64, in transaction: borrowing StoreTransaction
  ) throws -> SyncConflict? {
    guard transaction.soupExists(forName: MetadataSoup.conflicts.name) else { return nil }
    return try ConflictStore.conflicts(of: [entryId], in: soupName, transaction)[entryId]
  }

  private func isUnacknowledged(
    _ entryId: Int64, in transaction: borrowing StoreTransaction
  ) throws -> Bool {
    guard transaction.soupExists(forName: OutcomeStore.soupName) else { return false }
    return try OutcomeStore.isUnacknowledged("\(soupName)/\(entryId)", in: transaction)
  }

  private func baseVersion(
    id: String, in transaction: borrowing StoreTransaction
  ) throws -> JSONObject? {
    guard transaction.soupExists(forName: MetadataSoup.bases.name) else { return nil }
    return try BaseVersionStore(soupName: soupName).bases(of: [id], in: transaction)[id]
  }

  // MARK: Refusals

  /// An entry of a soup without these indexes would never be uploaded.
  private func checkSoup(in transaction: borrowing StoreTransaction) throws {
    let paths = Set(try transaction.indices(forSoupNamed: soupName).map(\.path))
    for path in [idField, SyncKeys.local] where !paths.contains(path) {
      throw refusal("the soup has no index on '\(path)'", "Register or alter it with that index.")
    }
  }

  private func checkType(_ attributes: JSONValue?) throws {
    guard let type = attributes?[SyncKeys.type]?.string, !type.isEmpty else {
      throw refusal("the record has no object type", "Set attributes.type, such as 'Account'.")
    }
  }

  private func refusal(_ reason: String, _ remedy: String) -> SyncError {
    SyncError(.invalidEdit, "Cannot edit soup '\(soupName)': \(reason). \(remedy)")
  }

  private func inDoubt(_ id: String) -> SyncError {
    SyncError(
      .cannotUndo,
      "Cannot undo the creation of '\(id)' in soup '\(soupName)': it was sent, and the response was lost. "
        + "Run its sync up first.")
  }
}
