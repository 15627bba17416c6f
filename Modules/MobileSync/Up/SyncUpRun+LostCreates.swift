import SalesforceSDKCommon
import SmartStore

extension SyncUpRun {
  /// How far the clocks of this machine and of the server may be apart, in milliseconds.
  static let clockTolerance: Int64 = 60 * 60 * 1_000

  /// Finds out what became of creates that were sent by an earlier run and never answered.
  ///
  /// A record that the server has takes its id and counts as edited, so that this run sends it as
  /// an update, which may be repeated. One that the server does not have stays created. A target
  /// that cannot look leaves it at that, and the record is sent again.
  ///
  /// - Parameter children: Where records stand that refer to those of this soup: they follow them to
  ///   their new ids.
  func adoptLostCreates(
    _ target: some SyncUpTarget, _ plan: Plan, children: ChildLink? = nil
  ) async throws {
    let marks = try await OutcomeStore(store: context.store).lost(.create, in: context.soupName)
    if marks.isEmpty { return }
    var lost: [LostCreate] = []
    for (entryId, record) in try await entries(marks.keys.sorted()) {
      guard let (mark, sent) = marks[entryId],
        let dirty = try asSent(record, entryId, sent, mark, plan, as: .create)
      else { continue }
      lost.append(LostCreate(record: dirty, sentAfter: mark.time - Self.clockTolerance))
    }
    guard !lost.isEmpty, let finder = target as? any LostCreateFinding else { return }
    let candidates = try await finder.candidates(for: lost, in: context)
    let found = lost.enumerated().map { index, lost in
      (record: lost.record, ids: index < candidates.count ? candidates[index] : [])
    }
    let acknowledged = try await OutcomeStore(store: context.store).createdIds(
      among: Set(found.flatMap(\.ids)), syncId: context.syncId)
    try await context.store.inTransaction { transaction in
      try adopt(found, acknowledged, plan, children, in: transaction)
    }
  }

  /// Gives each record the first of its candidates that is nobody else's.
  ///
  /// A candidate that a sync down has brought meanwhile is the lost record, in a second row: that
  /// row goes.
  private func adopt(
    _ found: [(record: SyncUpRecord, ids: [String])], _ acknowledged: Set<String>, _ plan: Plan,
    _ children: ChildLink?, in transaction: borrowing StoreTransaction
  ) throws {
    let known = try plan.records.entryIds(of: found.flatMap(\.ids), in: transaction)
    var downloaded: [String: Int64] = [:]
    var taken = acknowledged
    for (entryId, row) in try transaction.entries(Array(known.values), of: context.soupName) {
      guard let id = row[plan.fields.idField]?.string else { continue }
      if row[SyncKeys.syncId]?.int64 == nil || RecordFlags(of: row).local {
        taken.insert(id)
      } else {
        downloaded[id] = entryId
      }
    }
    let lost = Dictionary(
      found.map { ($0.record.entryId, $0) }, uniquingKeysWith: { first, _ in first })
    var adopted: [JSONSlice] = []
    var doubles: [Int64] = []
    var made: [(record: SyncUpRecord, newId: String?)] = []
    for (entryId, row) in try transaction.entries(Array(lost.keys), of: context.soupName) {
      guard let (record, ids) = lost[entryId], let id = ids.first(where: { !taken.contains($0) })
      else { continue }
      taken.insert(id)
      made.append((record, id))
      if let double = downloaded[id] { doubles.append(double) }
      var flags = RecordFlags(of: row)
      flags.created = false
      flags.updated = flags.updated || !flags.deleted
      if let children, let old = row[plan.fields.idField]?.string {
        try children.rewrite(from: old, to: id, in: transaction)
      }
      adopted.append(try row.setting(flags.members + [(plan.fields.idField, .string(id))]))
    }
    try transaction.remove(entryIds: doubles, forSoupNamed: context.soupName)
    try write(adopted, in: transaction)
    try remember(made, plan, in: transaction)
  }
}
