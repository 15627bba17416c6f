import SalesforceSDKCommon
import SmartStore

/// The syncs that downloaded a record, if there are several: the soup `syncs_owners`.
///
/// A record itself names one sync, the last that wrote it, under `__sync_id__`. The others are
/// stored here, so that each sync cleans its own ghosts and none removes a record that another
/// still has.
///
/// ```json
/// { "key": "accounts/001…/7", "record": "accounts/001…", "syncId": 7 }
/// ```
struct ContributingSyncs: Sendable {
  /// The sync id of a record that was created locally and is not downloaded yet. If a soup has one
  /// sync down, the record belongs to that sync.
  static let createdLocally: Int64 = -1

  /// The mark that the server does not have a locally created record for a sync, from the sync's
  /// last ghost cleaning.
  static func absence(in syncId: Int64) -> Int64 { -1 - syncId }

  let soupName: String
  let syncId: Int64

  private static let name = MetadataSoup.owners.name

  private func record(_ id: String) -> String { "\(soupName)/\(id)" }

  /// Records that syncs have downloaded records.
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

  /// The ids of the records that this sync has downloaded and that name another.
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

  /// The syncs that have downloaded each of `ids` besides the one that the record names.
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

  /// Removes the entries of this sync for records.
  func remove(
    _ ids: some Sequence<String>, of syncId: Int64? = nil,
    in transaction: borrowing StoreTransaction
  ) throws {
    try MetadataSoup.owners.remove(
      ids.map { "\(record($0))/\(syncId ?? self.syncId)" }, in: transaction)
  }

  /// Removes all entries of a deleted sync.
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
