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

  /// Keeps conflicts, each in the place of an earlier one of the same record.
  static func save(
    _ conflicts: [SyncConflict], in transaction: borrowing StoreTransaction
  ) throws {
    if conflicts.isEmpty { return }
    try transaction.upsert(
      entries: conflicts.map { .object($0.json) }, forSoupNamed: SideSoup.conflicts.name,
      withExternalIdPath: "key")
  }

  /// Forgets the conflicts of rows that have none any more.
  static func remove(
    _ entryIds: some Sequence<Int64>, of soupName: String,
    in transaction: borrowing StoreTransaction
  ) throws {
    try SideSoup.conflicts.remove(entryIds.map { "\(soupName)/\($0)" }, in: transaction)
  }
}
