import SalesforceSDKCommon
import SmartStore

/// Gives entries that were created locally the ids of the server's records that they turned out to stand for.
struct EntryAdoption: Sendable {
  let union: EntryUnion

  /// An entry and the record that it stands for.
  struct Found: Sendable {
    let entryId: Int64
    let id: String
    let origin: Origin

    /// Whether the entry's record was gone on the server and was sent to be created again.
    fileprivate func recreates(_ old: String?) -> Bool {
      if case .sent(let mark) = origin { mark.outcome.recordId == old } else { false }
    }
  }

  /// What of an entry the server has got already.
  enum Origin: Sendable {
    /// These values.
    case values(JSONObject)
    /// Those that an upsert has sent and that the server's record, as another entry or its base version shows it,
    /// has.
    case sent(LostMark)
    /// Nothing: the entry was never sent.
    case nothing
  }

  /// Adopts: an entry takes the id, counts as edited, and becomes one with other entries of its record.
  ///
  /// What refers to an entry by its local id follows it. An entry that was removed, or has a server id by now, is left
  /// alone.
  @discardableResult
  func adopt(
    _ found: [Found], in transaction: borrowing StoreTransaction
  ) throws -> EntryUnion.United {
    let (soupName, idField) = (union.soupName, union.names.idField)
    let byEntry = Dictionary(
      found.map { ($0.entryId, $0) }, uniquingKeysWith: { first, _ in first })
    let views = try views(of: found, in: transaction)
    var written: [JSONSlice] = []
    var origins: [Int64: JSONObject] = [:]
    var ids: [String: JSONObject] = [:]
    var localIds: [String: String] = [:]
    var adopted: [String] = []
    var replaced: [String] = []
    for (entryId, row) in try transaction.entries(byEntry.keys.sorted(), of: soupName) {
      var flags = RecordFlags(of: row)
      let old = row[idField]?.string
      guard let found = byEntry[entryId],
        flags.created || old.map(SyncKeys.isLocalId) ?? true || found.recreates(old)
      else { continue }
      flags.created = false
      flags.updated = !flags.deleted
      written.append(try row.setting(flags.members + [(idField, .string(found.id))]))
      let origin = origin(of: found, old, views)
      origins[entryId] = origin
      ids[found.id] = origin
      adopted.append("\(soupName)/\(entryId)")
      guard let old, !old.isEmpty, old != found.id else { continue }
      replaced.append(old)
      for link in union.uses.childLinks(of: soupName) {
        try link.rewrite(from: old, to: found.id, in: transaction)
      }
      if SyncKeys.isLocalId(old) { localIds[old] = found.id }
    }
    if written.isEmpty { return EntryUnion.United() }
    try transaction.upsert(slices: written, soup: soupName)
    try LocalIds.save(localIds, in: transaction)
    try BaseStore(soupName: soupName).remove(replaced, in: transaction)
    try keepBases(ids, in: transaction)
    // Whether the record exists is not open any more.
    try OutcomeStore.forgetLostCreates(adopted, in: transaction)
    return try union.unite(ids.keys, origins: origins, in: transaction)
  }

  private func origin(of found: Found, _ old: String?, _ views: [String: JSONObject]) -> JSONObject
  {
    switch found.origin {
    case .values(let values): values
    case .sent(let mark):
      mark.arrived(in: views[found.id] ?? [:], over: old.flatMap { views[$0] })
    case .nothing: [:]
    }
  }

  /// What is known of the server's records of upserts, and of those in whose places they were to be created again:
  /// the base version, or else an entry without edits.
  private func views(
    of found: [Found], in transaction: borrowing StoreTransaction
  ) throws -> [String: JSONObject] {
    let soupName = union.soupName
    let sent = found.filter { if case .sent = $0.origin { true } else { false } }
    if sent.isEmpty { return [:] }
    var ids = Set(sent.map(\.id))
    for (_, row) in try transaction.entries(sent.map(\.entryId), of: soupName) {
      if let old = row[union.names.idField]?.string { ids.insert(old) }
    }
    var views = try BaseStore(soupName: soupName).bases(of: ids, in: transaction)
    let records = SoupRecords(soupName: soupName, idField: union.names.idField)
    let others = try records.entries(
      withIds: ids.filter { views[$0] == nil }.sorted(), in: transaction)
    for (_, row) in try transaction.entries(others.map(\.entryId), of: soupName)
    where !RecordFlags(of: row).local {
      if let id = row[union.names.idField]?.string { views[id] = row.value.object }
    }
    return views
  }

  /// What the server has got is what both sides agree on, unless a download has brought more.
  private func keepBases(
    _ origins: [String: JSONObject], in transaction: borrowing StoreTransaction
  ) throws {
    guard try union.uses.keepsBases(union.soupName, in: transaction) else { return }
    let store = BaseStore(soupName: union.soupName)
    let known = try store.bases(of: origins.keys, in: transaction)
    try store.save(origins.filter { known[$0.key] == nil }, in: transaction)
  }
}
