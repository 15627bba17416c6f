import SalesforceSDKCommon
import SmartStore

/// The open conflicts of a store: the soup `syncs_conflicts`.
enum ConflictStore {
  /// The conflicts of a soup, or of all, by ascending entry id of this soup.
  static func all(
    in soupName: String?, _ reader: borrowing some StoreReading & ~Copyable
  ) throws -> [SyncConflict] {
    let name = MetadataSoup.conflicts.name
    let condition = soupName == nil ? "" : "WHERE {\(name):soupName} = ? "
    let rows = try reader.rows(
      "SELECT {\(name):_soupEntryId} FROM {\(name)} \(condition)ORDER BY {\(name):_soupEntryId}",
      soupName.map { [.string($0)] } ?? [], limit: nil)
    return try reader.entries(rows.compactMap { $0[0]?.int64 }, of: name)
      .compactMap { SyncConflict(json: $0.record) }
  }

  /// The conflicts that are open: as ``all(in:_:)``, without those of mode leaveIfChanged, in doubt or with a
  /// missing parent whose entries were removed or cleaned since, by the app or by a download.
  static func open(
    in soupName: String?, _ reader: borrowing some StoreReading & ~Copyable
  ) throws -> [SyncConflict] {
    let found = try all(in: soupName, reader)
    var ended: Set<String> = []
    let perishable = found.filter {
      $0.kind == .inDoubt || $0.kind == .parentMissing
        || ($0.mergeMode == .leaveIfChanged && !$0.isOfTree)
    }
    for (soup, group) in Dictionary(grouping: perishable, by: \.soupName) {
      var entries: [Int64: JSONSlice] = [:]
      if reader.soupExists(forName: soup) {
        for (id, entry) in try reader.entries(group.map(\.entryId), of: soup) {
          entries[id] = entry
        }
      }
      for conflict in group {
        let isOpen =
          try conflict.concerns(entries[conflict.entryId])
          && isMissing(conflict.missingParent, of: entries[conflict.entryId], reader)
        if !isOpen { ended.insert(conflict.id) }
      }
    }
    return ended.isEmpty ? found : found.filter { !ended.contains($0.id) }
  }

  /// Whether a child still refers to the parent that it had, and that parent has not come since; true without one.
  private static func isMissing(
    _ parent: SyncConflict.MissingParent?, of entry: JSONSlice?,
    _ reader: borrowing some StoreReading & ~Copyable
  ) throws -> Bool {
    guard let parent else { return true }
    guard entry?[parent.field]?.string == parent.recordId else { return false }
    if parent.entryId != nil || !reader.soupExists(forName: parent.soupName) { return true }
    return try SyncSoup(soupName: parent.soupName, idField: parent.names.id)
      .entryIds(of: [parent.recordId], in: reader).isEmpty
  }

  /// The conflicts of entries, by entry id.
  static func conflicts(
    of entryIds: some Sequence<Int64>, in soupName: String,
    _ reader: borrowing some StoreReading & ~Copyable
  ) throws -> [Int64: SyncConflict] {
    let stored = try MetadataSoup.conflicts.entries(
      entryIds.map { "\(soupName)/\($0)" }, in: reader)
    return Dictionary(
      stored.compactMap { SyncConflict(json: $0.record) }.map { ($0.entryId, $0) },
      uniquingKeysWith: { first, _ in first })
  }

  /// Stores conflicts, each in place of an earlier one of the same record.
  static func save(
    _ conflicts: [SyncConflict], in transaction: borrowing StoreTransaction
  ) throws {
    if conflicts.isEmpty { return }
    try transaction.upsert(
      entries: conflicts.map { .object($0.json) }, forSoupNamed: MetadataSoup.conflicts.name,
      withExternalIdPath: "key")
  }

  /// The kinds of the entries' conflicts, by entry id.
  static func kinds(
    of entryIds: [Int64], in soupName: String, _ reader: borrowing some StoreReading & ~Copyable
  ) throws -> [Int64: SyncConflict.Kind] {
    try conflicts(of: entryIds, in: soupName, reader).mapValues(\.kind)
  }

  /// Removes the conflicts of entries that no longer have one.
  static func remove(
    _ entryIds: some Sequence<Int64>, of soupName: String,
    in transaction: borrowing StoreTransaction
  ) throws {
    try MetadataSoup.conflicts.remove(entryIds.map { "\(soupName)/\($0)" }, in: transaction)
  }
}

extension SyncConflict {
  /// Whether an entry is still the unsynced one that the conflict is about.
  fileprivate func concerns(_ entry: JSONSlice?) -> Bool {
    guard let entry, RecordFlags(of: entry).local else { return false }
    return entry[names.id]?.string == recordId
  }
}
