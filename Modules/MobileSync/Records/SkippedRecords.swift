import SalesforceSDKCommon
import SmartStore

/// The records whose newer versions a sync down skipped because of unsynced entries: the soup `syncs_skipped`.
///
/// The watermark moves on all the same. A later run of the sync asks again for what changed since the oldest of
/// them that no unsynced entry stands in the way of any more.
///
/// ```json
/// { "key": "12/accounts/001…", "syncId": 12, "id": "001…", "date": 1700000000000 }
/// ```
struct SkippedRecords: Sendable {
  let syncId: Int64
  /// The places of the sync's records; the first has those by whose ids trees are remembered.
  let layout: DownloadLayout

  /// A record that was skipped.
  struct Record: Sendable {
    let id: String
    /// Its modification date on the server, in milliseconds since 1970; nil if it has none.
    let date: Int64?
  }

  /// Records that can be fetched now.
  struct Due: Sendable {
    var ids: Set<String> = []
    /// The watermark with which a run has to ask so that it brings them; nil if the sync's own does.
    var since: Int64?
  }

  private var soupName: String { layout.places[0].records.soupName }
  private func key(_ id: String) -> String { "\(syncId)/\(soupName)/\(id)" }

  /// Remembers records, each in the place of an earlier version.
  func save(_ records: [Record], in transaction: borrowing StoreTransaction) throws {
    if records.isEmpty { return }
    try transaction.upsert(
      entries: records.map { record in
        .object([
          "key": .string(key(record.id)), "syncId": .integer(syncId), "id": .string(record.id),
          "date": record.date.map { .integer($0) } ?? .null,
        ])
      }, forSoupNamed: SideSoup.skipped.name, withExternalIdPath: "key")
  }

  /// The records that no unsynced entry stands in the way of.
  func due(in store: SmartStore) async throws -> Due {
    try await store.read { reader in
      let name = SideSoup.skipped.name
      let rows = try reader.rows(
        "SELECT {\(name):_soupEntryId} FROM {\(name)} WHERE {\(name):syncId} = ?",
        [.integer(syncId)], limit: nil)
      if rows.isEmpty { return Due() }
      var dates: [String: Int64] = [:]
      for (_, entry) in try reader.entries(rows.compactMap { $0[0]?.int64 }, of: name) {
        guard let id = entry["id"]?.string else { continue }
        dates[id] = entry["date"]?.int64 ?? -1
      }
      for (index, place) in layout.places.enumerated() {
        guard let field = index == 0 ? place.records.idField : place.parent?.field else { continue }
        let edited = try place.records.dirty(
          with: field, among: dates.keys.sorted(), in: reader)
        for id in edited.compactMap(\.id) { dates[id] = nil }
      }
      // What changed in the millisecond of a date is newer than the one before it.
      return Due(ids: Set(dates.keys), since: dates.values.min().map { max($0 - 1, -1) })
    }
  }

  /// Forgets records that a run has brought.
  func remove(_ ids: Set<String>, in store: SmartStore) async throws {
    if ids.isEmpty { return }
    let keys = ids.map(key)
    try await store.inTransaction(durability: .normal) { transaction in
      try SideSoup.skipped.remove(keys, in: transaction)
    }
  }

  /// Forgets a sync that is deleted.
  static func removeAll(of syncId: Int64, in store: SmartStore) async throws {
    let name = SideSoup.skipped.name
    try await store.inTransaction(durability: .normal) { transaction in
      let rows = try transaction.rows(
        "SELECT {\(name):_soupEntryId} FROM {\(name)} WHERE {\(name):syncId} = ?",
        [.integer(syncId)], limit: nil)
      try transaction.remove(entryIds: rows.compactMap { $0[0]?.int64 }, forSoupNamed: name)
    }
  }
}
