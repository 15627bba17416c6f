import SalesforceSDKCommon
import SmartStore

/// The stored outcomes of one store: the soup `syncs_outcomes`.
struct OutcomeStore: Sendable {
  static let soupName = "syncs_outcomes"

  let store: SmartStore

  /// Makes sure that the soup exists.
  func prepare() async throws {
    if try await !store.soupExists(forName: Self.soupName) {
      try await store.registerSoup(
        withName: Self.soupName,
        withIndices: [
          SoupIndex(path: "key", type: .string), SoupIndex(path: "syncId", type: .integer),
          SoupIndex(path: "outcome", type: .string),
        ])
    }
  }

  /// Keeps outcomes, each in the place of an earlier one of the same record.
  static func save(
    _ outcomes: [SyncRecordOutcome], in transaction: borrowing StoreTransaction
  ) throws {
    if outcomes.isEmpty { return }
    try transaction.upsert(
      entries: outcomes.map { .object($0.json) }, forSoupNamed: soupName, withExternalIdPath: "key")
  }

  /// Keeps marks of records that are about to be sent, with the values that are sent: if no answer
  /// comes, these are what the server may have.
  static func save(
    inFlight records: [(mark: SyncRecordOutcome, sent: [(name: String, value: JSONSlice)])],
    in transaction: borrowing StoreTransaction
  ) throws {
    var slices: [JSONSlice] = []
    for (mark, sent) in records {
      var writer = JSONWriter()
      writer.beginObject()
      for (key, value) in mark.json { try writer.member(key, value) }
      writer.key("sent")
      writer.beginObject()
      for (name, value) in sent {
        writer.key(name)
        writer.raw(value)
      }
      writer.endObject()
      writer.endObject()
      slices.append(try JSONSlice(parsing: writer.bytes))
    }
    try transaction.upsert(slices: slices, soup: soupName, externalIdPath: "key")
  }

  /// Forgets the outcomes of the sync's earlier runs; what may have been done without an answer
  /// stays known.
  func clear(syncId: Int64) async throws {
    while true {
      let removed = try await store.inTransaction(durability: .normal) { transaction in
        let rows = try transaction.rows(
          "SELECT {syncs_outcomes:_soupEntryId} FROM {syncs_outcomes} "
            + "WHERE {syncs_outcomes:syncId} = ? AND {syncs_outcomes:outcome} NOT IN "
            + "('\(SyncRecordOutcome.Kind.inFlight)', '\(SyncRecordOutcome.Kind.unanswered)')",
          [.integer(syncId)], limit: SyncLimits.idsPerPage)
        try transaction.remove(
          entryIds: rows.compactMap { $0[0]?.int64 }, forSoupNamed: Self.soupName)
        return rows.count
      }
      if removed < SyncLimits.idsPerPage { return }
    }
  }

  /// The outcomes of the sync's last run, by ascending entry id of this soup, which is the order in
  /// which they were first known.
  func outcomes(syncId: Int64) async throws -> [SyncRecordOutcome] {
    try await list(condition: "{syncs_outcomes:syncId} = ?", .integer(syncId))
      .compactMap(SyncRecordOutcome.init(json:))
  }

  /// What the server may have done in `soupName` without being heard, by entry id, each with the values
  /// that were sent.
  func lost(
    _ action: SyncUpAction, in soupName: String
  ) async throws -> [Int64: (mark: SyncRecordOutcome, sent: [(key: String, value: JSONValue)])] {
    var lost: [Int64: (mark: SyncRecordOutcome, sent: [(key: String, value: JSONValue)])] = [:]
    for kind in [SyncRecordOutcome.Kind.inFlight, .unanswered] {
      for json in try await list(
        condition: "{syncs_outcomes:outcome} = ?", .string(kind.rawValue))
      {
        guard let mark = SyncRecordOutcome(json: json), mark.soupName == soupName,
          mark.action == action
        else { continue }
        let sent = json["sent"]?.members.map { (key: $0.key, value: $0.value.value) } ?? []
        lost[mark.entryId] = (mark, sent)
      }
    }
    return lost
  }

  /// Forgets marks of which nobody needs to know any more what became.
  func forget(_ marks: [SyncRecordOutcome]) async throws {
    if marks.isEmpty { return }
    try await store.inTransaction(durability: .normal) { transaction in
      for start in stride(from: 0, to: marks.count, by: SyncLimits.recordsPerRead) {
        let keys = marks[start..<min(start + SyncLimits.recordsPerRead, marks.count)].map(\.key)
        let places = Array(repeating: "?", count: keys.count).joined(separator: ", ")
        let rows = try transaction.rows(
          "SELECT {syncs_outcomes:_soupEntryId} FROM {syncs_outcomes} "
            + "WHERE {syncs_outcomes:key} IN (\(places))",
          keys.map { .string($0) }, limit: nil)
        try transaction.remove(
          entryIds: rows.compactMap { $0[0]?.int64 }, forSoupNamed: Self.soupName)
      }
    }
  }

  /// The ids of the records that were not sent last since they refer to others.
  func waitingIds() async throws -> Set<String> {
    Set(
      try await list(
        condition: "{syncs_outcomes:outcome} = ?",
        .string(SyncRecordOutcome.Kind.waiting.rawValue)
      ).compactMap { $0["recordId"]?.string })
  }

  /// Which of `ids` the server gave to a record that this sync made in its last run.
  func createdIds(among ids: Set<String>, syncId: Int64) async throws -> Set<String> {
    if ids.isEmpty { return [] }
    return Set(
      try await outcomes(syncId: syncId)
        .filter { $0.action == .create && $0.kind == .succeeded }
        .compactMap(\.recordId).filter(ids.contains))
  }

  /// How many records of the sync's last run ended in which way.
  func counts(syncId: Int64) async throws -> SyncOutcomeCounts {
    let rows = try await store.read { reader in
      try reader.rows(
        "SELECT {syncs_outcomes:outcome}, count(*) FROM {syncs_outcomes} "
          + "WHERE {syncs_outcomes:syncId} = ? GROUP BY {syncs_outcomes:outcome}",
        [.integer(syncId)], limit: nil)
    }
    var counts = SyncOutcomeCounts()
    for row in rows {
      guard let kind = row[0]?.string, let count = row[1]?.int64 else { continue }
      counts.add(SyncRecordOutcome.Kind(rawValue: kind), Int(clamping: count))
    }
    return counts
  }

  private func list(condition: String, _ argument: JSONValue) async throws -> [JSONSlice] {
    var outcomes: [JSONSlice] = []
    var after: Int64 = -1
    while true {
      let start = after
      let entries = try await store.read { reader in
        let rows = try reader.rows(
          "SELECT {syncs_outcomes:_soupEntryId} FROM {syncs_outcomes} WHERE \(condition) "
            + "AND {syncs_outcomes:_soupEntryId} > ? "
            + "ORDER BY {syncs_outcomes:_soupEntryId}",
          [argument, .integer(start)], limit: SyncLimits.recordsPerRead)
        return try reader.entries(rows.compactMap { $0[0]?.int64 }, of: Self.soupName)
      }
      outcomes += entries.map(\.record)
      guard entries.count == SyncLimits.recordsPerRead, let last = entries.last else {
        return outcomes
      }
      after = last.id
    }
  }
}
