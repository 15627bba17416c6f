import Foundation
import SalesforceSDKCommon
import SmartStore

/// The application of a decision about an unacknowledged create to the store.
struct UnacknowledgedCreateResolution {
  let conflict: SyncConflict
  let entry: JSONSlice

  private var names: SyncFieldNames { conflict.names }

  /// The server does not have the record: no search is needed any more.
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
    let sent = JSONObject(conflict.fields.map { (key: $0.name, value: $0.base ?? .null) })
    let known = try BaseVersionStore(soupName: conflict.soupName).bases(of: [id], in: transaction)[
      id]
    let union = EntryUnion(
      soupName: conflict.soupName, names: names, uses: Uses(childLinks: conflict.childLinks),
      syncId: conflict.syncId, time: Int64(Date().timeIntervalSince1970 * 1_000))
    let united = try EntryAdoption(union: union).adopt(
      [
        EntryAdoption.Found(
          entryId: conflict.entryId, id: id, origin: .values(sent, replacing: conflict.recordId),
          fields: entry.members.map(\.key).filter(names.isData))
      ], in: transaction)
    if !united.concerns(conflict.entryId) {
      try takeCandidate(id, over: known, in: transaction)
    }
    try ContributingSyncs(soupName: conflict.soupName, syncId: ContributingSyncs.createdLocally)
      .add([(id: id, syncId: ContributingSyncs.createdLocally)], in: transaction)
    try follow(id, in: transaction)
  }

  /// Sets the candidate's values in an entry that is the only one of its record, except for edits
  /// after the entry was sent. If the record was not a candidate, its values are not known, and the
  /// whole entry is uploaded.
  private func takeCandidate(
    _ id: String, over known: JSONObject?, in transaction: borrowing StoreTransaction
  ) throws {
    let store = BaseVersionStore(soupName: conflict.soupName)
    guard let theirs = conflict.candidates.first(where: { $0.id == id })?.values else {
      // What was sent is no base version of a record that may be quite another.
      if known == nil { try store.remove([id], in: transaction) }
      return
    }
    let edited = Set(
      conflict.fields.filter { !ServerEquality.same(entry[$0.name]?.value, $0.base) }.map(\.name))
    var members = theirs.filter { names.isData($0.key) && !edited.contains($0.key) }
      .map { (key: $0.key, value: $0.value) }
    var flags = RecordFlags(of: entry)
    flags.created = false
    flags.updated = !edited.isEmpty && !flags.deleted
    flags.local = flags.updated || flags.deleted
    members.append((names.id, .string(id)))
    try store.save([id: theirs], in: transaction)
    try transaction.upsert(
      slices: [try entry.setting(members + flags.members, removing: [SyncKeys.lastError])],
      soup: conflict.soupName)
  }

  /// The store's own information about the syncs of a soup.
  private struct Uses: EntryUnion.Uses {
    let childLinks: Set<ChildLink>

    func childLinks(of soupName: String) -> Set<ChildLink> { childLinks }

    func keepsBases(
      _ soupName: String, in reader: borrowing some StoreReading & ~Copyable
    ) throws -> Bool { true }
  }

  /// Replaces the local id of the record with the server's id in the references of unsynced
  /// entries.
  private func follow(_ id: String, in transaction: borrowing StoreTransaction) throws {
    let isLocal = SyncKeys.isLocalId(conflict.recordId)
    guard isLocal || RecordFlags(of: entry).created, !conflict.recordId.isEmpty,
      conflict.recordId != id
    else { return }
    let ids = [conflict.recordId: id]
    if isLocal { try LocalIdIndex.save(ids, in: transaction) }
    try LocalIdIndex.follow(
      ids, ofSoup: conflict.soupName, idField: names.id, in: transaction)
  }
}
