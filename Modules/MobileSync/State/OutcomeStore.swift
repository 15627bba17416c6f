import SalesforceSDKCommon
import SmartStore

/// The stored outcomes of one store: the soup `syncs_outcomes`.
struct OutcomeStore: Sendable {
  static let soupName = "syncs_outcomes"

  static let indexes = [
    SoupIndex(path: "key", type: .string), SoupIndex(path: "syncId", type: .integer),
    SoupIndex(path: "outcome", type: .string),
  ]

  let store: SmartStore

  /// Makes sure that the soup exists.
  func prepare() async throws {
    if try await !store.soupExists(forName: Self.soupName) {
      try await store.registerSoup(
        withName: Self.soupName, withIndices: Self.indexes)
    }
  }

  /// Stores outcomes, each in place of an earlier one of the same record.
  static func save(
    _ outcomes: [SyncRecordOutcome], in transaction: borrowing StoreTransaction
  ) throws {
    if outcomes.isEmpty { return }
    try transaction.upsert(
      entries: outcomes.map { .object($0.json) }, forSoupNamed: soupName, withExternalIdPath: "key")
  }

  /// Stores the outcomes of records that were sent or are about to be sent.
  ///
  /// An unacknowledged request becomes a mark with the sent values. An existing mark keeps its
  /// start, because the first request may still have arrived.
  ///
  /// - Parameters:
  ///   - clock: The estimate of the server's time.
  ///   - now: The time of this machine's clock.
  ///   - lateness: The time from now on in which the server may complete the unacknowledged requests.
  static func save(
    _ sent: [(record: SyncUpRecord, outcome: SyncRecordOutcome)], at clock: ServerClock,
    _ now: Int64, lateness: Duration, in transaction: borrowing StoreTransaction
  ) throws {
    try save(sent.map(\.outcome).filter { !$0.isLost }, in: transaction)
    let lost = sent.filter(\.outcome.isLost)
    if lost.isEmpty { return }
    let known = Dictionary(
      try marks(lost.map(\.outcome.key), in: transaction).map { ($0.outcome.key, $0) },
      uniquingKeysWith: { first, _ in first })
    var newest: [String: Int64] = [:]
    var slices: [JSONSlice] = []
    for (record, outcome) in lost {
      let soup = outcome.soupName
      if newest[soup] == nil {
        newest[soup] = try SyncSoup(soupName: soup, idField: "").newestEntryId(in: transaction)
      }
      let earlier = known[outcome.key].flatMap { $0.isOfSame(outcome) ? $0 : nil }
      var json = outcome.json
      json["sentAfter"] = .integer(earlier?.sentAfter ?? clock.past(now))
      let start = earlier?.arrival?.lowerBound ?? clock.earliestArrival(now)
      let end = outcome.kind == .unanswered ? clock.latestArrival : nil
      let arrival = start...max(start, end ?? .max)
      for (key, value) in UnacknowledgedMark.json(ofArrival: arrival) { json[key] = value }
      if lateness > .zero {
        // The server's time is known to the second.
        let time = (clock.estimate ?? now) + Int64(lateness / .milliseconds(1)) + 1_000
        json["openUntil"] = .integer(time)
        json["openUntilHere"] = .integer(now + Int64(lateness / .milliseconds(1)))
      }
      json["newestEntryId"] = .integer(earlier?.newestEntryId ?? newest[soup] ?? 0)
      if let externalId = record.externalId {
        json["externalId"] = [
          "field": .string(externalId.field), "value": .string(externalId.value),
        ]
      }
      if record.isPartial { json["leftOut"] = .array(record.leftOut.sorted().map { .string($0) }) }
      var writer = JSONWriter()
      writer.beginObject()
      for (key, value) in json { try writer.member(key, value) }
      writer.key("sent")
      writer.beginObject()
      for (name, value) in record.values {
        writer.key(name)
        writer.raw(value)
      }
      writer.endObject()
      writer.endObject()
      slices.append(try JSONSlice(parsing: writer.bytes))
    }
    try transaction.upsert(slices: slices, soup: soupName, externalIdPath: "key")
  }

  /// The marks under `keys`, in no order.
  static func marks(
    _ keys: [String], in reader: borrowing some StoreReading & ~Copyable
  ) throws -> [UnacknowledgedMark] {
    try reader.entries(try entryIds(of: keys, in: reader), of: soupName)
      .compactMap { UnacknowledgedMark(json: $0.record) }
  }

  /// Removes the outcomes of the sync's earlier runs, except marks of unacknowledged requests.
  func clear(syncId: Int64) async throws {
    let marks = SyncRecordOutcome.Kind.unacknowledged.map { "'\($0)'" }.joined(separator: ", ")
    while true {
      let removed = try await store.inTransaction(durability: .normal) { transaction in
        let rows = try transaction.rows(
          "SELECT {syncs_outcomes:_soupEntryId} FROM {syncs_outcomes} "
            + "WHERE {syncs_outcomes:syncId} = ? AND {syncs_outcomes:outcome} NOT IN (\(marks))",
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
      .compactMap { SyncRecordOutcome(json: $0)?.shown }
  }

  /// The unacknowledged requests of `soupName`, by entry id.
  func lost(_ action: SyncUpAction, in soupName: String) async throws -> [Int64: UnacknowledgedMark]
  {
    var lost: [Int64: UnacknowledgedMark] = [:]
    for kind in SyncRecordOutcome.Kind.unacknowledged {
      for json in try await list(
        condition: "{syncs_outcomes:outcome} = ?", .string(kind.rawValue))
      {
        guard let mark = UnacknowledgedMark(json: json), mark.outcome.soupName == soupName,
          mark.outcome.action == action
        else { continue }
        lost[mark.outcome.entryId] = mark
      }
    }
    return lost
  }

  /// Stores the time until which the server may have created records whose process ended before it noticed that
  /// there was no response.
  static func end(
    _ marks: [UnacknowledgedMark], at time: Int64, in transaction: borrowing StoreTransaction
  ) throws {
    let open = marks.filter { $0.arrival?.upperBound == .max }
    let ids = try entryIds(of: open.map(\.outcome.key), in: transaction)
    let ended = try transaction.entries(ids, of: soupName).map { _, json in
      try json.setting([("arrivedBefore", .integer(time))])
    }
    if !ended.isEmpty { try transaction.upsert(slices: ended, soup: soupName) }
  }

  /// Stores why records are not sent again, and until when.
  ///
  /// - Parameter held: The outcomes with the reasons, and the times by the server's clock; nil leaves the time.
  static func hold(
    _ held: [(outcome: SyncRecordOutcome, until: Int64?)],
    in transaction: borrowing StoreTransaction
  ) throws {
    if held.isEmpty { return }
    let byKey = Dictionary(
      held.map { ($0.outcome.key, $0) }, uniquingKeysWith: { first, _ in first })
    let ids = try entryIds(of: held.map(\.outcome.key), in: transaction)
    let marked = try transaction.entries(ids, of: soupName).compactMap { _, json in
      try json["key"]?.string.flatMap { byKey[$0] }.map { outcome, time in
        var members: [(key: String, value: JSONValue)] = [
          ("outcome", .string(outcome.kind.rawValue)), ("error", outcome.error ?? .null),
        ]
        if let time { members.append(("openUntil", .integer(time))) }
        return try json.setting(members)
      }
    }
    if !marked.isEmpty { try transaction.upsert(slices: marked, soup: soupName) }
  }

  /// Removes marks whose outcome is no longer needed.
  func forget(_ marks: [SyncRecordOutcome]) async throws {
    if marks.isEmpty { return }
    try await store.inTransaction(durability: .normal) { transaction in
      try Self.forget(marks.map(\.key), in: transaction)
    }
  }

  /// Removes the outcomes under `keys`.
  static func forget(_ keys: [String], in transaction: borrowing StoreTransaction) throws {
    try transaction.remove(
      entryIds: entryIds(of: keys, in: transaction), forSoupNamed: soupName)
  }

  /// Removes the marks of unacknowledged creates.
  static func forgetUnacknowledgedCreates(
    _ keys: [String], in transaction: borrowing StoreTransaction
  ) throws {
    let lost = try marks(keys, in: transaction).filter { $0.outcome.action != .update }
    try forget(lost.map(\.outcome.key), in: transaction)
  }

  /// Whether the server may have created the record of an entry without a response that arrived.
  static func isUnacknowledged(
    _ key: String, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> Bool {
    try marks([key], in: reader).contains { $0.outcome.action != .update }
  }

  /// The entry ids of what is kept under `keys`.
  private static func entryIds(
    of keys: [String], in reader: borrowing some StoreReading & ~Copyable
  ) throws -> [Int64] {
    try reader.rows(among: keys) { list in
      "SELECT {\(soupName):_soupEntryId} FROM {\(soupName)} WHERE {\(soupName):key} IN \(list)"
    }.compactMap { $0[0]?.int64 }
  }

  /// The outcome under a key; nil if there is none.
  static func outcome(
    _ key: String, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> SyncRecordOutcome? {
    try reader.entries(try entryIds(of: [key], in: reader), of: soupName)
      .first.flatMap { SyncRecordOutcome(json: $0.record)?.shown }
  }

  /// The entries that have an outcome of a sync's last run, or a mark of an unacknowledged request of any sync.
  static func decided(
    _ entryIds: [Int64], in soup: String, by syncId: Int64,
    _ reader: borrowing some StoreReading & ~Copyable
  ) throws -> Set<Int64> {
    let ids = try Self.entryIds(of: entryIds.map { "\(soup)/\($0)" }, in: reader)
    return Set(
      try reader.entries(ids, of: soupName).compactMap { SyncRecordOutcome(json: $0.record) }
        .filter { $0.syncId == syncId || $0.isLost }.map(\.entryId))
  }

  /// The ids of the records that were not sent last since they refer to others.
  func waitingIds() async throws -> Set<String> {
    Set(
      try await list(
        condition: "{syncs_outcomes:outcome} = ?",
        .string(SyncRecordOutcome.Kind.waiting.rawValue)
      ).compactMap { $0["recordId"]?.string })
  }

  /// Returns the kinds of the stored outcomes of a sync.
  static func kinds(
    syncId: Int64, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> Set<SyncRecordOutcome.Kind> {
    let rows = try reader.rows(
      "SELECT DISTINCT {syncs_outcomes:outcome} FROM {syncs_outcomes} "
        + "WHERE {syncs_outcomes:syncId} = ?",
      [.integer(syncId)], limit: nil)
    return Set(rows.compactMap { $0[0]?.string }.map(SyncRecordOutcome.Kind.init(rawValue:)))
  }

  /// The number of records by outcome in the sync's last run.
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
