import SalesforceSDKCommon
import SmartStore

/// Gives entries that were created locally the ids of the server's records that they turned out to stand for.
struct EntryAdoption: Sendable {
  let union: EntryUnion

  /// An entry and the record that it stands for.
  struct Found: Sendable {
    let entryId: Int64
    let id: String
    /// What of the entry the server has got already; nothing if it was never sent.
    let origin: JSONObject
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
    var written: [JSONSlice] = []
    var origins: [Int64: JSONObject] = [:]
    var ids: [String: JSONObject] = [:]
    var localIds: [String: String] = [:]
    for (entryId, row) in try transaction.entries(byEntry.keys.sorted(), of: soupName) {
      var flags = RecordFlags(of: row)
      let old = row[idField]?.string
      guard let found = byEntry[entryId],
        flags.created || old.map(SyncKeys.isLocalId) ?? true
      else { continue }
      flags.created = false
      flags.updated = !flags.deleted
      written.append(try row.setting(flags.members + [(idField, .string(found.id))]))
      origins[entryId] = found.origin
      ids[found.id] = found.origin
      guard let old, !old.isEmpty, old != found.id else { continue }
      for link in union.uses.childLinks(of: soupName) {
        try link.rewrite(from: old, to: found.id, in: transaction)
      }
      if SyncKeys.isLocalId(old) { localIds[old] = found.id }
    }
    if written.isEmpty { return EntryUnion.United() }
    try transaction.upsert(slices: written, soup: soupName)
    try LocalIds.save(localIds, in: transaction)
    try keepBases(ids, in: transaction)
    return try union.unite(ids.keys, origins: origins, in: transaction)
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
