import SalesforceSDKCommon
import SmartStore

/// The records whose newer versions a sync down skipped because of unsynced entries: the soup `syncs_skipped`.
///
/// The watermark still moves. A later run of the sync requests all changes since the oldest skipped
/// record that no longer has an unsynced entry.
///
/// ```json
/// { "key": "12/accounts/001…", "syncId": 12, "soupName": "accounts", "id": "001…", "date": 1700000000000 }
/// ```
struct SkippedRecords: Sendable {
  let syncId: Int64
  let layout: DownloadLayout

  /// A record that was skipped: of a tree its parent.
  struct Record: Sendable {
    let soupName: String
    let id: String
    /// Its modification date on the server, in milliseconds since 1970, of a tree the oldest of those of its newer
    /// records; -1 if one has none.
    let date: Int64
  }

  /// Records that can be fetched now.
  struct Due: Sendable {
    /// Their keys.
    var keys: Set<String> = []
    /// The watermark for a run to download them; nil if the sync's own watermark is enough.
    var since: Int64?
  }

  /// The key under which a record is remembered.
  func key(_ record: Record) -> String { key(record.soupName, record.id) }

  private func key(_ soupName: String, _ id: String) -> String { "\(syncId)/\(soupName)/\(id)" }

  /// Remembers records, each in place of an earlier version. Of a tree the older date stays: what was skipped
  /// with the earlier version may not have come with this one.
  func save(_ records: [Record], in transaction: borrowing StoreTransaction) throws {
    if records.isEmpty { return }
    var earlier: [String: Int64] = [:]
    if layout.places.count > 1 {
      for (_, entry) in try MetadataSoup.skipped.entries(records.map(key), in: transaction) {
        if let key = entry["key"]?.string { earlier[key] = entry["date"]?.int64 ?? -1 }
      }
    }
    try transaction.upsert(
      entries: records.map { record in
        .object([
          "key": .string(key(record)), "syncId": .integer(syncId),
          "soupName": .string(record.soupName), "id": .string(record.id),
          "date": .integer(min(record.date, earlier[key(record)] ?? record.date)),
        ])
      }, forSoupNamed: MetadataSoup.skipped.name, withExternalIdPath: "key")
  }

  /// The records without an unsynced entry.
  func due(in store: SmartStore) async throws -> Due {
    try await store.read { reader in
      let name = MetadataSoup.skipped.name
      let rows = try reader.rows(
        "SELECT {\(name):_soupEntryId} FROM {\(name)} WHERE {\(name):syncId} = ?",
        [.integer(syncId)], limit: nil)
      if rows.isEmpty { return Due() }
      var dates: [String: [String: Int64]] = [:]
      for (_, entry) in try reader.entries(rows.compactMap { $0[0]?.int64 }, of: name) {
        guard let soup = entry["soupName"]?.string, let id = entry["id"]?.string else { continue }
        dates[soup, default: [:]][id] = entry["date"]?.int64 ?? -1
      }
      for place in layout.places {
        // Of a tree the edits of its parent and of its children stand in the way.
        let root = place.parent.map { layout.places[$0.place] } ?? place
        let field = place.parent?.field ?? place.records.idField
        let soup = root.records.soupName
        let ids = dates[soup, default: [:]].keys.sorted()
        if ids.isEmpty { continue }
        for dirty in try place.records.dirty(with: field, among: ids, in: reader) {
          if let id = dirty.id { dates[soup]?[id] = nil }
        }
      }
      // Changes within the same millisecond are newer than the preceding millisecond.
      let oldest = dates.values.flatMap(\.values).min()
      return Due(
        keys: Set(dates.flatMap { soup, dates in dates.keys.map { key(soup, $0) } }),
        since: oldest.map { max($0 - 1, -1) })
    }
  }

  /// Removes records that a run has downloaded.
  func remove(_ keys: Set<String>, in store: SmartStore) async throws {
    if keys.isEmpty { return }
    try await store.inTransaction(durability: .normal) { transaction in
      try MetadataSoup.skipped.remove(keys, in: transaction)
    }
  }

  /// Removes the records of a deleted sync.
  static func removeAll(of syncId: Int64, in store: SmartStore) async throws {
    let name = MetadataSoup.skipped.name
    try await store.inTransaction(durability: .normal) { transaction in
      let rows = try transaction.rows(
        "SELECT {\(name):_soupEntryId} FROM {\(name)} WHERE {\(name):syncId} = ?",
        [.integer(syncId)], limit: nil)
      try transaction.remove(entryIds: rows.compactMap { $0[0]?.int64 }, forSoupNamed: name)
    }
  }
}
