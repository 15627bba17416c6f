import SalesforceSDKCommon
import SmartStore

/// The open conflicts of a store: the soup `syncs_conflicts`.
enum ConflictStore {
  /// The conflicts of a soup, or of all, by ascending entry id of this soup.
  static func all(
    in soupName: String?, _ reader: borrowing some StoreReading & ~Copyable
  ) throws -> [SyncConflict] {
    let name = SideSoup.conflicts.name
    let condition = soupName == nil ? "" : "WHERE {\(name):soupName} = ? "
    let rows = try reader.rows(
      "SELECT {\(name):_soupEntryId} FROM {\(name)} \(condition)ORDER BY {\(name):_soupEntryId}",
      soupName.map { [.string($0)] } ?? [], limit: nil)
    return try reader.entries(rows.compactMap { $0[0]?.int64 }, of: name)
      .compactMap { SyncConflict(json: $0.record) }
  }

  /// The conflicts that are open: as ``all(in:_:)``, without those of mode leaveIfChanged, or in doubt, whose
  /// entries were removed or cleaned since, by the app or by a download.
  static func open(
    in soupName: String?, _ reader: borrowing some StoreReading & ~Copyable
  ) throws -> [SyncConflict] {
    let found = try all(in: soupName, reader)
    var ended: Set<String> = []
    let perishable = found.filter {
      $0.kind == .inDoubt || ($0.mergeMode == .leaveIfChanged && !$0.isOfTree)
    }
    for (soup, group) in Dictionary(grouping: perishable, by: \.soupName) {
      var rows: [Int64: JSONSlice] = [:]
      if reader.soupExists(forName: soup) {
        for (id, row) in try reader.entries(group.map(\.entryId), of: soup) { rows[id] = row }
      }
      for conflict in group where !conflict.concerns(rows[conflict.entryId]) {
        ended.insert(conflict.id)
      }
    }
    return ended.isEmpty ? found : found.filter { !ended.contains($0.id) }
  }

  /// The conflicts of entries, by entry id.
  static func conflicts(
    of entryIds: some Sequence<Int64>, in soupName: String,
    _ reader: borrowing some StoreReading & ~Copyable
  ) throws -> [Int64: SyncConflict] {
    let stored = try SideSoup.conflicts.entries(entryIds.map { "\(soupName)/\($0)" }, in: reader)
    return Dictionary(
      stored.compactMap { SyncConflict(json: $0.record) }.map { ($0.entryId, $0) },
      uniquingKeysWith: { first, _ in first })
  }

  /// Keeps conflicts, each in the place of an earlier one of the same record.
  static func save(
    _ conflicts: [SyncConflict], in transaction: borrowing StoreTransaction
  ) throws {
    if conflicts.isEmpty { return }
    try transaction.upsert(
      entries: conflicts.map { .object($0.json) }, forSoupNamed: SideSoup.conflicts.name,
      withExternalIdPath: "key")
  }

  /// Those of the entries that wait for a decision between the edits of two entries that became one. What the server
  /// has is compared with them later.
  static func localEdits(
    of entryIds: [Int64], in soupName: String, _ reader: borrowing some StoreReading & ~Copyable
  ) throws -> Set<Int64> {
    Set(
      try SideSoup.conflicts.entries(entryIds.map { "\(soupName)/\($0)" }, in: reader)
        .compactMap { SyncConflict(json: $0.record) }.filter { $0.kind == .localEdits }
        .map(\.entryId))
  }

  /// Forgets the conflicts of rows that have none any more.
  static func remove(
    _ entryIds: some Sequence<Int64>, of soupName: String,
    in transaction: borrowing StoreTransaction
  ) throws {
    try SideSoup.conflicts.remove(entryIds.map { "\(soupName)/\($0)" }, in: transaction)
  }
}

extension SyncConflict {
  /// Whether an entry is still the unsynced one that the conflict is about.
  fileprivate func concerns(_ row: JSONSlice?) -> Bool {
    guard let row, RecordFlags(of: row).local else { return false }
    return row[names.idField]?.string == recordId
  }
}
