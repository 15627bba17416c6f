import SalesforceSDKCommon
import SmartStore

/// A union of the entries of a soup that represent the same record of the server.
///
/// It runs in the transaction in which an entry gets an id from any source, and when a run finds
/// several entries of one record. The oldest entry stays, with the values from ``EntryMerge``, and
/// gets the contributing syncs, the conflicts and the base version of all.
struct EntryUnion: Sendable {
  /// The required information about the syncs of a soup.
  protocol Uses: Sendable {
    /// The fields by which entries of other soups, or of this one, are children of a soup's entries.
    func childLinks(of soupName: String) -> Set<ChildLink>

    /// Whether the soup's records have base versions.
    func keepsBases(
      _ soupName: String, in reader: borrowing some StoreReading & ~Copyable
    ) throws -> Bool
  }

  let soupName: String
  let names: SyncFieldNames
  let uses: any Uses
  let syncId: Int64
  let time: Int64

  /// The results for entries.
  struct United: Sendable, Equatable {
    /// The entries that stay, by those that were removed.
    var survivors: [Int64: Int64] = [:]
    /// The entries that stay and wait for a decision.
    var inConflict: Set<Int64> = []

    /// Whether an entry was removed, or has taken the values of one that was.
    func concerns(_ entryId: Int64) -> Bool {
      survivors[entryId] != nil || survivors.values.contains(entryId)
    }

    mutating func formUnion(_ other: United) {
      survivors.merge(other.survivors) { _, new in new }
      inConflict.formUnion(other.inConflict)
    }
  }

  private var records: SyncSoup { SyncSoup(soupName: soupName, idField: names.id) }

  /// Unites the entries of each of the records with `ids`, where there are several.
  ///
  /// Costs one statement for every ``SyncLimits/recordsPerRead`` ids if there is nothing to unite. The forms of 15
  /// and of 18 characters of an id are the same record's, and so is one whose last three letters have another case.
  ///
  /// - Parameters:
  ///   - accepted: The entries that the server has just accepted.
  ///   - origins: The versions from which entries were edited, as ``EntryMerge/Version/origin``.
  @discardableResult
  func unite(
    _ ids: some Sequence<String>, accepted: Set<Int64> = [], origins: [Int64: JSONObject] = [:],
    in transaction: borrowing StoreTransaction
  ) throws -> United {
    var united = United()
    for entries in try groups(of: ids, in: transaction) {
      let versions = try transaction.entries(entries, of: soupName).map { entryId, entry in
        EntryMerge.Version(
          entryId: entryId, entry: entry, origin: origins[entryId],
          isAccepted: accepted.contains(entryId))
      }
      let ids = versions.compactMap { $0.entry[names.id]?.string }
      guard versions.count > 1,
        let id = ids.first(where: { !Self.isOtherForm($0) && $0.utf8.count == 18 })
          ?? ids.max(by: { $0.utf8.count < $1.utf8.count })
      else { continue }
      try unite(versions, id, Set(ids), &united, in: transaction)
    }
    return united
  }

  private func unite(
    _ versions: [EntryMerge.Version], _ id: String, _ ids: Set<String>, _ united: inout United,
    in transaction: borrowing StoreTransaction
  ) throws {
    let bases = BaseVersionStore(soupName: soupName)
    let keepsBases = try uses.keepsBases(soupName, in: transaction)
    let known = keepsBases ? try bases.bases(of: ids, in: transaction) : [:]
    let merge = try EntryMerge(
      versions, id: id, names: names, common: known[id] ?? ids.lazy.compactMap { known[$0] }.first)
    let survivor = merge.survivor.entryId
    let removed = merge.others.map(\.entryId)
    try transaction.remove(entryIds: removed, forSoupNamed: soupName)
    try transaction.upsert(slices: [merge.entry], soup: soupName)
    let edited = EditedFields(soupName: soupName)
    if merge.isClean {
      try edited.forget(removed + [survivor], in: transaction)
    } else {
      try edited.move(from: removed, to: survivor, in: transaction)
    }
    if keepsBases {
      try bases.remove(ids.subtracting([id]), in: transaction)
      try bases.save([id: merge.base], in: transaction)
    }
    try uniteOwners(versions, merge, ids, id, in: transaction)
    if try uniteConflicts(merge, id, in: transaction) { united.inConflict.insert(survivor) }
    try OutcomeStore.forget(removed.map { "\(soupName)/\($0)" }, in: transaction)
    // Whether the record exists is not open any more.
    try OutcomeStore.forgetUnacknowledgedCreates(["\(soupName)/\(survivor)"], in: transaction)
    for link in uses.childLinks(of: soupName) {
      for other in ids where other != id {
        try link.rewrite(from: other, to: id, in: transaction)
      }
    }
    for entryId in removed { united.survivors[entryId] = survivor }
  }

  /// The entry ids of records that have several entries.
  private func groups(
    of ids: some Sequence<String>, in transaction: borrowing StoreTransaction
  ) throws -> [[Int64]] {
    let ids = Set(ids.flatMap(Self.forms))
    if ids.isEmpty { return [] }
    var groups: [String: [Int64]] = [:]
    for (id, entryId) in try records.entries(withIds: ids.sorted(), in: transaction) {
      groups[Self.forms(of: id)[0], default: []].append(entryId)
    }
    return groups.values.filter { $0.count > 1 }.sorted { $0[0] < $1[0] }
  }

  /// The forms in which the same id may be written, the one that names the record first.
  static func forms(of id: String) -> [String] {
    guard let known = SalesforceId(id) else { return [id] }
    var forms = [known.text, known.shortText]
    let suffix = known.text.dropFirst(15).lowercased()
    forms.append(known.shortText + suffix)
    if !forms.contains(id) { forms.append(id) }
    return forms
  }

  /// Whether an id may be another form of one of 18 characters: it has 15, or small letters among the last three.
  static func isOtherForm(_ id: String) -> Bool {
    let bytes = id.utf8
    return bytes.count == 15
      || bytes.count == 18 && bytes.suffix(3).contains { (0x61...0x7a).contains($0) }
  }

  // MARK: What belongs to an entry

  private func uniteOwners(
    _ versions: [EntryMerge.Version], _ merge: EntryMerge, _ ids: Set<String>, _ id: String,
    in transaction: borrowing StoreTransaction
  ) throws {
    let owners = ContributingSyncs(soupName: soupName, syncId: syncId)
    let named = merge.entry[SyncKeys.syncId]?.int64
    var others = Set(versions.compactMap { $0.entry[SyncKeys.syncId]?.int64 })
    if ids.count > 1 {
      others.formUnion(
        try owners.others(of: ids.subtracting([id]), in: transaction).values.flatMap(\.self))
    }
    try owners.add(
      others.filter { $0 != named && $0 >= ContributingSyncs.createdLocally }.sorted().map {
        (id: id, syncId: $0)
      }, in: transaction)
  }

  /// Stores the conflict of the entry that stays: a new one if edits collide, otherwise one that
  /// was open.
  ///
  /// - Returns: Whether there is one.
  private func uniteConflicts(
    _ merge: EntryMerge, _ id: String, in transaction: borrowing StoreTransaction
  ) throws -> Bool {
    let survivor = merge.survivor.entryId
    let entryIds = [survivor] + merge.others.map(\.entryId)
    let open = try MetadataSoup.conflicts.entries(
      entryIds.map { "\(soupName)/\($0)" }, in: transaction
    )
    .map(\.record)
    var conflict: SyncConflict?
    if !merge.collisions.isEmpty {
      conflict = SyncConflict(
        soupName: soupName, entryId: survivor, recordId: id, kind: .localEdits,
        fields: merge.collisions, syncId: syncId, time: time, names: names, theirs: nil)
    } else if !merge.isClean, let known = open.first {
      conflict = SyncConflict(
        json: try known.setting([
          ("key", .string("\(soupName)/\(survivor)")), ("entryId", .integer(survivor)),
          ("recordId", .string(id)),
        ]))
    }
    if !open.isEmpty { try ConflictStore.remove(entryIds, of: soupName, in: transaction) }
    try ConflictStore.save(conflict.map { [$0] } ?? [], in: transaction)
    return conflict != nil
  }
}

extension ChildLink {
  /// Lets children that name their parents by other forms of their ids name them by the ids that the parents' entries
  /// have. Costs one query of the index if there are none.
  func adopt(by parents: SyncSoup, in store: SmartStore) async throws {
    let value = "{\(soupName):\(field)}"
    let ids = try await store.read { reader in
      try reader.rows(
        "SELECT DISTINCT \(value) FROM {\(soupName)} WHERE length(\(value)) = 15 "
          + "OR (length(\(value)) = 18 AND substr(\(value), 16) <> upper(substr(\(value), 16)))",
        [], limit: nil
      ).compactMap { $0[0]?.string }.filter { !SyncKeys.isLocalId($0) }
    }
    if ids.isEmpty { return }
    try await store.inTransaction { transaction in
      let known = Set(
        try parents.entries(withIds: ids.flatMap(EntryUnion.forms), in: transaction).map(\.id))
      for id in ids where !known.contains(id) {
        guard let form = EntryUnion.forms(of: id).first(where: known.contains) else { continue }
        try rewrite(from: id, to: form, in: transaction)
      }
    }
  }
}

extension SyncSoup {
  /// The entries that have one of `ids`, by ascending entry id.
  func entries(
    withIds ids: [String], in reader: borrowing some StoreReading & ~Copyable
  ) throws -> [(id: String, entryId: Int64)] {
    let (id, entryId) = ("{\(soupName):\(idField)}", "{\(soupName):\(SyncKeys.soupEntryId)}")
    return try reader.rows(among: ids) { list in
      "SELECT \(id), \(entryId) FROM {\(soupName)} WHERE \(id) IN \(list)"
    }.compactMap { row in
      guard let id = row[0]?.string, let entryId = row[1]?.int64 else { return nil }
      return (id, entryId)
    }.sorted { $0.entryId < $1.entryId }
  }
}
