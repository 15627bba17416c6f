import SalesforceSDKCommon
import SmartStore

/// Brings a decision about a create whose response was lost into the store.
struct DoubtResolution {
  let conflict: SyncConflict
  let row: JSONSlice

  private var names: RecordNames { conflict.names }

  /// The server does not have the record: nothing has to be looked for any more.
  func create(in transaction: borrowing StoreTransaction) throws {
    try OutcomeStore.forget([conflict.id], in: transaction)
  }

  /// The server's record with this id is the one of the entry.
  func adopt(_ id: String, in transaction: borrowing StoreTransaction) throws {
    guard !id.isEmpty, !SyncKeys.isLocalId(id) else {
      throw SyncError(
        .invalidResolution, "'\(id)' is not an id of the server. Give the id of a record there.")
    }
    try OutcomeStore.forget([conflict.id], in: transaction)
    let theirs = conflict.candidates.first { $0.id == id }?.values
    let store = BaseStore(soupName: conflict.soupName)
    let double = try double(of: id, in: transaction)
    var flags = RecordFlags(of: row)
    let edited = Set(
      conflict.fields.filter { !FieldEquality.same(row[$0.name]?.value, $0.base) }.map(\.name))
    var members: [(key: String, value: JSONValue)] = []
    var isEdited = !edited.isEmpty
    if let double {
      // It was downloaded later than the candidate was found, or edited.
      members = double.record.members.filter { key, _ in
        key == SyncKeys.syncId
          || (!SyncKeys.neverSent.contains(key) && !edited.contains(key) && key != names.idField)
      }.map { (key: $0.key, value: $0.value.value) }
      let others = RecordFlags(of: double.record)
      isEdited = isEdited || (others.local && !others.deleted)
      flags.deleted = flags.deleted || others.deleted
      try transaction.remove(entryIds: [double.id], forSoupNamed: conflict.soupName)
      try ConflictStore.remove([double.id], of: conflict.soupName, in: transaction)
    } else if let theirs {
      for (name, value) in theirs where names.isData(name) && !edited.contains(name) {
        members.append((name, value))
      }
      try store.save([id: theirs], in: transaction)
    } else {
      // Nothing is known of a record that was no candidate: all of the entry is uploaded.
      isEdited = true
    }
    members.append((names.idField, .string(id)))
    flags.created = false
    flags.updated = isEdited && !flags.deleted
    flags.local = flags.updated || flags.deleted
    try transaction.upsert(
      slices: [try row.setting(members + flags.members, removing: [SyncKeys.lastError])],
      soup: conflict.soupName)
    try RecordOwners(soupName: conflict.soupName, syncId: RecordOwners.madeHere)
      .add([(id: id, syncId: RecordOwners.madeHere)], in: transaction)
    try follow(id, in: transaction)
  }

  /// Another entry of the soup that has the id.
  private func double(
    of id: String, in transaction: borrowing StoreTransaction
  ) throws -> (id: Int64, record: JSONSlice)? {
    let records = SoupRecords(soupName: conflict.soupName, idField: names.idField)
    let ids = try records.entryIds(of: [id], in: transaction)
    return try transaction.entries(Array(ids.values), of: conflict.soupName)
      .first { $0.id != conflict.entryId }
  }

  /// Puts the server's id wherever unsynced entries refer to the record by its local id.
  private func follow(_ id: String, in transaction: borrowing StoreTransaction) throws {
    guard SyncKeys.isLocalId(conflict.recordId) else { return }
    let ids = [conflict.recordId: id]
    try LocalIds.save(ids, in: transaction)
    for soup in transaction.allSoupNames() where !SideSoup.isOwn(soup) {
      guard
        try transaction.indices(forSoupNamed: soup).contains(where: { $0.path == SyncKeys.local })
      else { continue }
      let records = SoupRecords(soupName: soup, idField: SyncKeys.soupEntryId)
      let rows = try transaction.entries(
        try records.dirty(in: transaction).map(\.entryId), of: soup)
      let idField = soup == conflict.soupName ? names.idField : SyncKeys.defaultIdField
      let rewritten = try rows.compactMap {
        try LocalIds.rewritten($0.record, idField: idField, with: ids)
      }
      if !rewritten.isEmpty { try transaction.upsert(slices: rewritten, soup: soup) }
    }
  }
}
