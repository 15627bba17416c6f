import SalesforceSDKCommon
import SmartStore

extension SyncSoup {
  /// The entry ids of records that are dirty or have a dirty child, ascending, as this snapshot has
  /// them; one page of those behind `after`.
  func dirtyTrees(
    children: SyncSoup, by field: String, after: Int64,
    in reader: borrowing some StoreReading & ~Copyable
  ) throws -> [Int64] {
    let entryId = "{\(soupName):\(SyncKeys.soupEntryId)}"
    let rows = try reader.rows(
      "SELECT \(entryId) FROM {\(soupName)} WHERE (\(isDirty) "
        + "OR {\(soupName):\(idField)} IN (SELECT {\(children.soupName):\(field)} "
        + "FROM {\(children.soupName)} WHERE \(children.isDirty))) "
        + "AND \(entryId) > ? ORDER BY \(entryId)",
      [.integer(after)], limit: SyncLimits.idsPerPage)
    return rows.compactMap { $0[0]?.int64 }
  }

  /// The entry ids of dirty records whose `field` has no parent's id, ascending.
  func dirtyOrphans(
    parents: SyncSoup, by field: String, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> [Int64] {
    let entryId = "{\(soupName):\(SyncKeys.soupEntryId)}"
    return try reader.rows(
      "SELECT \(entryId) FROM {\(soupName)} WHERE \(isDirty) AND NOT EXISTS (SELECT 1 FROM "
        + "{\(parents.soupName)} WHERE {\(parents.soupName):\(parents.idField)} = "
        + "{\(soupName):\(field)}) ORDER BY \(entryId)", [], limit: nil
    ).compactMap { $0[0]?.int64 }
  }

  /// The entry ids of records whose `field` has this value, ascending.
  func entryIds(
    where field: String, is value: String, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> [Int64] {
    let entryId = "{\(soupName):\(SyncKeys.soupEntryId)}"
    return try reader.rows(
      "SELECT \(entryId) FROM {\(soupName)} WHERE {\(soupName):\(field)} = ? ORDER BY \(entryId)",
      [.string(value)], limit: nil
    ).compactMap { $0[0]?.int64 }
  }
}
