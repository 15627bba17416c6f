import SalesforceSDKCommon
import SmartStore

/// Which syncs have brought a record, where it is more than one: the soup `syncs_owners`.
///
/// A record itself names one sync, the last that wrote it, under `__sync_id__`. The others stand here,
/// so that each cleans its own ghosts and none removes a record that another still has.
///
/// ```json
/// { "key": "accounts/001…/7", "record": "accounts/001…", "syncId": 7 }
/// ```
struct ContributingSyncs: Sendable {
  /// Stands for the sync of a record that was created here and that no download has brought yet. Where a soup has
  /// one sync down, the record is that one's.
  static let createdLocally: Int64 = -1

  /// Says of a record that was created here that a sync does not have it, as the server said when the sync's ghosts
  /// were cleaned last.
  static func absence(in syncId: Int64) -> Int64 { -1 - syncId }

  let soupName: String
  let syncId: Int64

  private static let name = MetadataSoup.owners.name

  private func record(_ id: String) -> String { "\(soupName)/\(id)" }

  /// Remembers that syncs have brought records.
  func add(
    _ owners: some Sequence<(id: String, syncId: Int64)>,
    in transaction: borrowing StoreTransaction
  ) throws {
    let entries = owners.map { id, syncId -> JSONValue in
      .object([
        "key": .string("\(record(id))/\(syncId)"), "record": .string(record(id)),
        "syncId": .integer(syncId),
      ])
    }
    if entries.isEmpty { return }
    try transaction.upsert(
      entries: entries, forSoupNamed: Self.name, withExternalIdPath: "key")
  }

  /// The ids of the records that this sync has brought and that name another.
  func ids(in store: SmartStore) async throws -> [String] {
    let prefix = soupName.utf8.count + 1
    return try await store.read { reader in
      try reader.rows(
        "SELECT {\(Self.name):record} FROM {\(Self.name)} WHERE {\(Self.name):syncId} = ? "
          + "ORDER BY {\(Self.name):_soupEntryId}", [.integer(syncId)], limit: nil)
    }.compactMap { row in
      guard let record = row[0]?.string, record.hasPrefix(self.record("")) else { return nil }
      return String(decoding: record.utf8.dropFirst(prefix), as: UTF8.self)
    }
  }

  /// The syncs that have brought each of `ids` besides the one that the record names.
  func others(
    of ids: some Sequence<String>, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> [String: Set<Int64>] {
    let rows = try reader.rows(among: ids.map(record)) { list in
      "SELECT {\(Self.name):record}, {\(Self.name):syncId} FROM {\(Self.name)} "
        + "WHERE {\(Self.name):record} IN \(list)"
    }
    let prefix = soupName.utf8.count + 1
    var others: [String: Set<Int64>] = [:]
    for row in rows {
      guard let record = row[0]?.string, let syncId = row[1]?.int64 else { continue }
      others[String(decoding: record.utf8.dropFirst(prefix), as: UTF8.self), default: []]
        .insert(syncId)
    }
    return others
  }

  /// Forgets that this sync has brought records.
  func remove(
    _ ids: some Sequence<String>, of syncId: Int64? = nil,
    in transaction: borrowing StoreTransaction
  ) throws {
    try MetadataSoup.owners.remove(
      ids.map { "\(record($0))/\(syncId ?? self.syncId)" }, in: transaction)
  }

  /// Forgets a sync that is deleted.
  static func removeAll(of syncId: Int64, in store: SmartStore) async throws {
    try await removeEntries(of: syncId, in: store)
    try await removeEntries(of: absence(in: syncId), in: store)
  }

  private static func removeEntries(of syncId: Int64, in store: SmartStore) async throws {
    while true {
      let removed = try await store.inTransaction(durability: .normal) { transaction in
        let rows = try transaction.rows(
          "SELECT {\(name):_soupEntryId} FROM {\(name)} WHERE {\(name):syncId} = ?",
          [.integer(syncId)], limit: SyncLimits.idsPerPage)
        try transaction.remove(
          entryIds: rows.compactMap { $0[0]?.int64 }, forSoupNamed: name)
        return rows.count
      }
      if removed < SyncLimits.idsPerPage { return }
    }
  }
}
