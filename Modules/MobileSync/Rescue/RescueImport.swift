import SalesforceSDKCommon
import SmartStore

/// Merges the entries of a bundle into a store, in one transaction.
struct RescueImport: Sendable {
  let bundle: RescueBundle
  let uses: SoupSyncIndex
  let time: Int64

  private typealias Outcome = RescueReport.Record.Outcome

  func apply(in transaction: borrowing StoreTransaction) throws -> [RescueReport.Record] {
    try prepare(in: transaction)
    let soups = Dictionary(
      bundle.soups.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let keys = bundle.entries.map(key)
    let done = Set(
      try MetadataSoup.rescued.entries(keys, in: transaction).compactMap {
        $0.record["key"]?.string
      })
    var records: [RescueReport.Record] = []
    for entry in bundle.entries {
      guard let soup = soups[entry.soup] else { continue }
      if done.contains(key(entry)) {
        records.append(
          RescueReport.Record(
            soupName: soup.name, id: entry.record[soup.names.id]?.string, entryId: nil,
            outcome: .imported))
      } else {
        records.append(try apply(entry, soup, in: transaction))
      }
    }
    try transaction.upsert(
      entries: keys.filter { !done.contains($0) }.map { .object(["key": .string($0)]) },
      forSoupNamed: MetadataSoup.rescued.name, withExternalIdPath: "key")
    return records
  }

  private func key(_ entry: RescueBundle.Entry) -> String {
    "\(bundle.id)/\(entry.soup)/\(entry.entryId)"
  }

  /// Registers the soups that are missing, and checks those that are here.
  private func prepare(in transaction: borrowing StoreTransaction) throws {
    for soup in [MetadataSoup.bases, .conflicts, .edits, .ids, .owners, .skipped, .rescued]
    where !transaction.soupExists(forName: soup.name) {
      try transaction.registerSoup(withName: soup.name, withIndices: soup.indexes)
    }
    if !transaction.soupExists(forName: OutcomeStore.soupName) {
      try transaction.registerSoup(
        withName: OutcomeStore.soupName, withIndices: OutcomeStore.indexes)
    }
    for soup in bundle.soups {
      if !transaction.soupExists(forName: soup.name) {
        try transaction.registerSoup(withName: soup.name, withIndices: soup.indexes)
      }
      let paths = Set(try transaction.indices(forSoupNamed: soup.name).map(\.path))
      for path in [SyncKeys.local, soup.names.id] where !paths.contains(path) {
        throw RescueError(
          .missingIndex,
          "The soup '\(soup.name)' does not have an index on '\(path)', which the import needs. Alter the soup, "
            + "then import again.")
      }
    }
  }

  // MARK: One entry

  private func apply(
    _ entry: RescueBundle.Entry, _ soup: RescueBundle.Soup,
    in transaction: borrowing StoreTransaction
  ) throws -> RescueReport.Record {
    let idField = soup.names.id
    let id = entry.record[idField]?.string.flatMap { $0.isEmpty ? nil : $0 }
    func record(_ outcome: Outcome, _ entryId: Int64?) -> RescueReport.Record {
      RescueReport.Record(soupName: soup.name, id: id, entryId: entryId, outcome: outcome)
    }
    if let id, SyncKeys.isLocalId(id),
      try LocalIdIndex.serverIds(of: [id], in: transaction)[id] != nil
    {
      return record(.uploaded, nil)
    }
    // What the other store keeps about an entry says nothing here.
    var copy = try entry.record.setting(
      [],
      removing: [
        SyncKeys.soupEntryId, SyncKeys.soupLastModified, SyncKeys.soupCreated, SyncKeys.syncId,
        SyncKeys.lastError,
      ])
    let references = LocalIdIndex.references(in: copy, idField: idField)
    if !references.isEmpty {
      let ids = try LocalIdIndex.serverIds(of: references, in: transaction)
      copy = try LocalIdIndex.rewritten(copy, idField: idField, with: ids) ?? copy
    }
    let records = SyncSoup(soupName: soup.name, idField: idField)
    let known = try records.entries(
      withIds: id.map(EntryUnion.forms) ?? [], in: transaction)
    let here = try transaction.entries(known.map(\.entryId), of: soup.name)
    guard let id, let first = here.first else {
      let entryId = try transaction.upsert(slices: [copy], soup: soup.name).first
      try keepBase(entry, id, in: transaction)
      try mark(entry, soup, copy, entryId, in: transaction)
      try noteEdits(entry, entryId, in: transaction)
      return record(.added, entryId)
    }
    if here.contains(where: { RecordFlags(of: $0.record).local }) {
      if here.count == 1, isSame(copy, first.record, soup.names) {
        return record(.unchanged, first.id)
      }
      return try unite(entry, soup, copy, id, here, record, in: transaction)
    }
    return try edit(entry, soup, copy, id, first, record, in: transaction)
  }

  /// Whether two entries have the same values, and the same action in the next upload.
  private func isSame(_ copy: JSONSlice, _ other: JSONSlice, _ names: SyncFieldNames) -> Bool {
    guard RecordFlags(of: copy) == RecordFlags(of: other) else { return false }
    let keys = Set(copy.members.map(\.key)).union(other.members.map(\.key))
    return keys.allSatisfy { key in
      !names.isData(key) || ServerEquality.same(copy[key]?.value, other[key]?.value)
    }
  }

  /// The record was edited locally, too: both entries become one, as two entries of a record always do.
  private func unite(
    _ entry: RescueBundle.Entry, _ soup: RescueBundle.Soup, _ copy: JSONSlice, _ id: String,
    _ here: [(id: Int64, record: JSONSlice)],
    _ record: (Outcome, Int64?) -> RescueReport.Record,
    in transaction: borrowing StoreTransaction
  ) throws -> RescueReport.Record {
    guard let added = try transaction.upsert(slices: [copy], soup: soup.name).first else {
      return record(.unchanged, here.first?.id)
    }
    var origins: [Int64: JSONObject] = [:]
    if let base = entry.base { origins[added] = base }
    try noteEdits(entry, added, in: transaction)
    if SyncKeys.isLocalId(id) {
      for entryId in here.map(\.id) + [added] { origins[entryId] = [:] }
    }
    let union = EntryUnion(
      soupName: soup.name, names: soup.names, uses: uses, syncId: ContributingSyncs.createdLocally,
      time: time)
    let united = try union.unite([id], origins: origins, in: transaction)
    let survivor = united.survivors[added] ?? added
    return record(united.inConflict.contains(survivor) ? .conflict : .merged, survivor)
  }

  /// The record is here as the server had it: the edit is made again, based on what it was based on.
  private func edit(
    _ entry: RescueBundle.Entry, _ soup: RescueBundle.Soup, _ copy: JSONSlice, _ id: String,
    _ here: (id: Int64, record: JSONSlice), _ record: (Outcome, Int64?) -> RescueReport.Record,
    in transaction: borrowing StoreTransaction
  ) throws -> RescueReport.Record {
    // The other store may have the id in its other form.
    let id = here.record[soup.names.id]?.string ?? id
    var members: [(key: String, value: JSONValue)] = [
      (SyncKeys.soupEntryId, .integer(here.id)), (soup.names.id, .string(id)),
    ]
    if let syncId = here.record[SyncKeys.syncId]?.value {
      members.append((SyncKeys.syncId, syncId))
    }
    let edited = try copy.setting(members)
    try transaction.upsert(slices: [edited], soup: soup.name)
    try keepBase(entry, id, in: transaction)
    try noteEdits(entry, here.id, in: transaction)
    guard uses.merges(soup.name) else { return record(.edited, here.id) }
    let merge = ConflictMerge(
      soupName: soup.name, names: soup.names, syncId: ContributingSyncs.createdLocally, time: time)
    let theirs = JSONObject(
      here.record.members.filter { soup.names.isData($0.key) || soup.names.isServers($0.key) }
        .map { (key: $0.key, value: $0.value.value) })
    let conflicts = try merge.apply(
      [ConflictMerge.Pair(entryId: here.id, id: id, entry: edited, remote: .record(theirs))],
      in: transaction)
    return record(conflicts.contains(here.id) ? .conflict : .edited, here.id)
  }

  /// Stores what the edit was based on in place of what this store knows: without it, values that the server has
  /// changed since would look like edits.
  private func keepBase(
    _ entry: RescueBundle.Entry, _ id: String?, in transaction: borrowing StoreTransaction
  ) throws {
    guard let id, !SyncKeys.isLocalId(id) else { return }
    // Syncs that are created after the import need it, too.
    let isFresh = !transaction.soupExists(forName: SyncStateStore.soupName)
    guard try isFresh || uses.keepsBases(entry.soup, in: transaction) else { return }
    let bases = BaseVersionStore(soupName: entry.soup)
    if let base = entry.base {
      try bases.save([id: base], in: transaction)
    } else {
      try bases.remove([id], in: transaction)
    }
  }

  /// Notes which fields the edit calls have changed, so that a sync up that leaves one out keeps the entry unsynced.
  private func noteEdits(
    _ entry: RescueBundle.Entry, _ entryId: Int64?, in transaction: borrowing StoreTransaction
  ) throws {
    guard let entryId, let edits = entry.edits else { return }
    try EditedFields(soupName: entry.soup).save([entryId: edits], in: transaction)
  }

  /// Marks a create as one that may have been sent: the device that wrote the bundle may have uploaded it since.
  private func mark(
    _ entry: RescueBundle.Entry, _ soup: RescueBundle.Soup, _ copy: JSONSlice, _ entryId: Int64?,
    in transaction: borrowing StoreTransaction
  ) throws {
    guard let entryId, let sentAfter = entry.sentAfter, !RecordFlags(of: copy).deleted else {
      return
    }
    // Where neither store has a sync up yet, any field may have been sent.
    let fields =
      soup.createFields ?? uses.createFields(of: soup.name) ?? copy.members.map(\.key)
    let outcome = SyncRecordOutcome(
      syncId: ContributingSyncs.createdLocally, soupName: soup.name, entryId: entryId,
      recordId: copy[soup.names.id]?.string, action: .create, kind: .unanswered, time: time)
    var sent = JSONObject()
    for name in fields where soup.names.isData(name) {
      // The server knows no local id.
      if let id = copy[name]?.string, SyncKeys.isLocalId(id) { continue }
      sent[name] = copy[name]?.value
    }
    var json = outcome.json
    json["sentAfter"] = .integer(sentAfter)
    for (key, value) in UnacknowledgedMark.json(ofArrival: entry.arrival) { json[key] = value }
    // A download may have brought here already what the other device has sent.
    json["newestEntryId"] = 0
    json["sent"] = .object(sent)
    try transaction.upsert(
      entries: [.object(json)], forSoupNamed: OutcomeStore.soupName, withExternalIdPath: "key")
  }
}
