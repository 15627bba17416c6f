import SalesforceSDKCommon
import SmartStore

extension SyncUpRun {
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
    var lost: [Lost] = []
    for (entryId, row) in try await entries(marks.keys.sorted()) {
      guard let mark = marks[entryId], let record = try asSent(row, mark, plan) else { continue }
      lost.append(Lost(record: record, mark: mark))
    }
    guard !lost.isEmpty, let finder = target as? any LostCreateFinding else { return }
    let candidates = try await finder.candidates(
      for: lost.map { LostCreate(record: $0.record, sentAfter: $0.mark.sentAfter) }, in: context)
    for index in lost.indices where index < candidates.count {
      lost[index].candidates = candidates[index]
    }
    let found = lost
    try await context.store.inTransaction { transaction in
      try adopt(found, plan, children, in: transaction)
    }
  }

  /// A record that may have been made, and the ids of those on the server that it may be.
  private struct Lost: Sendable {
    let record: SyncUpRecord
    let mark: LostMark
    var candidates: [String] = []
  }

  /// Gives each record the first of its candidates that is nobody else's.
  ///
  /// A candidate that was made here under another id, or that stood in a row before the record was sent, is
  /// somebody else's, however much alike they are. One that a sync down has brought since then is the
  /// lost record, in a second row: that row goes.
  private func adopt(
    _ found: [Lost], _ plan: Plan, _ children: ChildLink?,
    in transaction: borrowing StoreTransaction
  ) throws {
    let ids = found.flatMap(\.candidates)
    let known = try plan.records.entryIds(of: ids, in: transaction)
    var taken = try LocalIds.madeHere(among: ids, in: transaction)
    for (_, row) in try transaction.entries(Array(known.values), of: context.soupName) {
      guard let id = row[plan.fields.idField]?.string else { continue }
      if row[SyncKeys.syncId]?.int64 == nil || RecordFlags(of: row).local { taken.insert(id) }
    }
    let lost = Dictionary(
      found.map { ($0.record.entryId, $0) }, uniquingKeysWith: { first, _ in first })
    var adopted: [JSONSlice] = []
    var doubles: [Int64] = []
    var made: [(record: SyncUpRecord, newId: String?)] = []
    for (entryId, row) in try transaction.entries(Array(lost.keys), of: context.soupName) {
      guard let found = lost[entryId],
        let id = found.candidates.first(where: { id in
          !taken.contains(id) && known[id].map { $0 > found.mark.newestEntryId } ?? true
        })
      else { continue }
      taken.insert(id)
      made.append((found.record, id))
      if let double = known[id] { doubles.append(double) }
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
