import SalesforceSDKCommon
import SmartStore

/// An adoption of server records by locally created entries: an entry gets the id of the record
/// that it represents.
struct EntryAdoption: Sendable {
  let union: EntryUnion

  /// An entry and the record that it represents.
  struct Found: Sendable {
    let entryId: Int64
    let id: String
    let origin: Origin
    /// The fields that are sent, or paths into them: a value of another field is no edit.
    let fields: [String]

    /// Whether the entry's record was gone on the server and was sent to be created again.
    fileprivate func recreates(_ old: String?) -> Bool {
      switch origin {
      case .sent(let mark): mark.outcome.recordId == old
      case .lost(let id, _): id == old
      case .values(_, let id): id == old
      case .nothing: false
      }
    }
  }

  /// The part of an entry that the server already has.
  enum Origin: Sendable {
    /// These values, which were sent for a new record, or for one in place of the record with this id, which is
    /// gone.
    case values(JSONObject, replacing: String? = nil)
    /// Those that an upsert has sent and that the server's record, as another entry or its base version shows it,
    /// has.
    case sent(UnacknowledgedMark)
    /// Nothing: the entry was never sent.
    case nothing
    /// The base version from before the entry's record, which had this id, was deleted on the
    /// server.
    case lost(id: String, base: JSONObject)
  }

  /// Sets the entries' record ids. An entry that gets an id counts as edited, and is united with
  /// other entries of its record.
  ///
  /// References to an entry by its local id, or by the id of a lost record, are replaced. An entry
  /// that was removed, or has a server id by now, is not changed.
  ///
  /// - Parameter accepted: Entries that the server has accepted in this run.
  @discardableResult
  func adopt(
    _ found: [Found], accepted: Set<Int64> = [], in transaction: borrowing StoreTransaction
  ) throws -> EntryUnion.United {
    let (soupName, idField) = (union.soupName, union.names.id)
    let byEntry = Dictionary(
      found.map { ($0.entryId, $0) }, uniquingKeysWith: { first, _ in first })
    let views = try views(of: found, in: transaction)
    var written: [JSONSlice] = []
    var origins: [Int64: JSONObject] = [:]
    var ids: [String: JSONObject] = [:]
    var localIds: [String: String] = [:]
    var lostIds: [String: String] = [:]
    var adopted: [String] = []
    var replaced: [String] = []
    for (entryId, entry) in try transaction.entries(byEntry.keys.sorted(), of: soupName) {
      var flags = RecordFlags(of: entry)
      let old = entry[idField]?.string
      guard let found = byEntry[entryId],
        flags.created || old.map(SyncKeys.isLocalId) ?? true || found.recreates(old)
      else { continue }
      flags.created = false
      // An entry without edits, whose record was to be created again with others of its tree, stays one.
      flags.updated = flags.local && !flags.deleted
      written.append(try entry.setting(flags.members + [(idField, .string(found.id))]))
      var origin = origin(of: found, old, views)
      for (name, value) in unsent(entry, found) where origin[name] == nil { origin[name] = value }
      origins[entryId] = origin
      ids[found.id] = origin
      adopted.append("\(soupName)/\(entryId)")
      guard let old, !old.isEmpty, old != found.id else { continue }
      replaced.append(old)
      for link in union.uses.childLinks(of: soupName) {
        try link.rewrite(from: old, to: found.id, in: transaction)
      }
      if SyncKeys.isLocalId(old) { localIds[old] = found.id } else { lostIds[old] = found.id }
    }
    if written.isEmpty { return EntryUnion.United() }
    try transaction.upsert(slices: written, soup: soupName)
    try LocalIdIndex.save(localIds, in: transaction)
    try BaseVersionStore(soupName: soupName).remove(replaced, in: transaction)
    try keepBases(ids, in: transaction)
    try LocalIdIndex.follow(lostIds, ofSoup: soupName, idField: idField, in: transaction)
    // Whether the record exists is not open any more.
    try OutcomeStore.forgetUnacknowledgedCreates(adopted, in: transaction)
    return try union.unite(ids.keys, accepted: accepted, origins: origins, in: transaction)
  }

  /// Returns the members of an entry that are never sent. If the entry's record no longer exists,
  /// they are that record's values, and the server decides the values of the new record.
  private func unsent(_ entry: JSONSlice, _ found: Found) -> [(key: String, value: JSONValue)] {
    let sent = Set(found.fields.map { String($0.prefix { $0 != "." }) })
    return entry.members.filter { union.names.isData($0.key) && !sent.contains($0.key) }
      .map { (key: $0.key, value: $0.value.value) }
  }

  private func origin(of found: Found, _ old: String?, _ views: [String: JSONObject]) -> JSONObject
  {
    switch found.origin {
    case .values(let values, _): values
    case .sent(let mark):
      mark.arrived(in: views[found.id] ?? [:], over: old.flatMap { views[$0] })
    case .nothing: [:]
    case .lost(_, let base): base
    }
  }

  /// The known server versions of upserted records, and of the records that they replace: the base
  /// version version, or else an entry without edits.
  private func views(
    of found: [Found], in transaction: borrowing StoreTransaction
  ) throws -> [String: JSONObject] {
    let soupName = union.soupName
    let sent = found.filter { if case .sent = $0.origin { true } else { false } }
    if sent.isEmpty { return [:] }
    var ids = Set(sent.map(\.id))
    for (_, entry) in try transaction.entries(sent.map(\.entryId), of: soupName) {
      if let old = entry[union.names.id]?.string { ids.insert(old) }
    }
    var views = try BaseVersionStore(soupName: soupName).bases(of: ids, in: transaction)
    let records = SyncSoup(soupName: soupName, idField: union.names.id)
    let others = try records.entries(
      withIds: ids.filter { views[$0] == nil }.sorted(), in: transaction)
    for (_, entry) in try transaction.entries(others.map(\.entryId), of: soupName)
    where !RecordFlags(of: entry).local {
      if let id = entry[union.names.id]?.string { views[id] = entry.value.object }
    }
    return views
  }

  /// The values that the server has become the base version, unless a download has brought newer
  /// ones.
  private func keepBases(
    _ origins: [String: JSONObject], in transaction: borrowing StoreTransaction
  ) throws {
    guard try union.uses.keepsBases(union.soupName, in: transaction) else { return }
    let store = BaseVersionStore(soupName: union.soupName)
    let known = try store.bases(of: origins.keys, in: transaction)
    try store.save(origins.filter { known[$0.key] == nil }, in: transaction)
  }
}

extension EntryAdoption {
  /// An entry without edits whose record is gone on the server, and the record that another user created with the same
  /// external id.
  struct Replacement: Sendable {
    let entryId: Int64
    /// The id of the record that is gone.
    let old: String
    let id: String
    /// The server's values of the new record.
    let values: JSONObject
  }

  /// Makes entries represent the records that have replaced theirs: they take the ids and values,
  /// stay clean, and are united with other entries of those records. Their children then refer to
  /// the new ids.
  ///
  /// An entry that was edited since, or represents another record by now, is left alone.
  func replace(
    _ found: [Replacement], in transaction: borrowing StoreTransaction
  ) throws -> EntryUnion.United {
    let (soupName, idField) = (union.soupName, union.names.id)
    let byEntry = Dictionary(
      found.map { ($0.entryId, $0) }, uniquingKeysWith: { first, _ in first })
    var written: [JSONSlice] = []
    var replaced: [Replacement] = []
    for (entryId, entry) in try transaction.entries(byEntry.keys.sorted(), of: soupName) {
      guard let found = byEntry[entryId], !RecordFlags(of: entry).local,
        entry[idField]?.string == found.old
      else { continue }
      let values = found.values.map { (key: $0.key, value: $0.value) }
      written.append(try entry.setting(values + [(idField, .string(found.id))]))
      replaced.append(found)
      for link in union.uses.childLinks(of: soupName) {
        try link.rewrite(from: found.old, to: found.id, in: transaction)
      }
    }
    if written.isEmpty { return EntryUnion.United() }
    try transaction.upsert(slices: written, soup: soupName)
    let bases = BaseVersionStore(soupName: soupName)
    try bases.remove(replaced.map(\.old), in: transaction)
    if try union.uses.keepsBases(soupName, in: transaction) {
      try bases.save(
        Dictionary(replaced.map { ($0.id, $0.values) }, uniquingKeysWith: { first, _ in first }),
        in: transaction)
    }
    return try union.unite(replaced.map(\.id), in: transaction)
  }
}
