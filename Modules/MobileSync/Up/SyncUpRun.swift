import SalesforceSDKCommon
import SmartStore

/// One run of a sync up.
///
/// Records are read, sent and applied batch by batch. The run checks for a stop before a batch: one that
/// has begun is completed. The outcomes of each request are on disk before the next is sent.
struct SyncUpRun: Sendable {
  let context: SyncContext
  let uses: SoupSyncIndex
  let now: @Sendable () -> Int64
  let report: @Sendable (SyncState) -> Void
  let reportOutcome: @Sendable (SyncRecordOutcome) -> Void
  /// Whether a record that refers to one of another soup, which waits itself, goes without the
  /// reference instead of waiting, too.
  var leavesOutReferences = false

  /// What a run knows from its beginning.
  struct Plan: Sendable {
    let records: SyncSoup
    let fields: SyncUpFieldChoice
    let mayRecreate: Bool
    /// Whether entries can be found by their ids; without that there is no sync down of the soup, either.
    var hasIdIndex = true
    /// Records that are not sent: the server's are newer, or it is unknown.
    var held: Set<Int64> = []
    /// Those of them of which the server did not say what it has.
    var undecided: Set<Int64> = []
    /// Marks of records that were sent without a response, and that the server says nothing about now,
    /// either. They are not sent.
    var unclear: [Int64: SyncRecordOutcome] = [:]
    /// Entries in conflict that are sent all the same, since this mode decides for them; their conflicts end
    /// when the server has accepted them.
    var overruled: Set<Int64> = []
    /// What merges records with the server's before they are sent; nil in the other merge modes.
    var merge: ConflictMerge?
    /// Of parents that are deleted here: their children on the server that were created or changed there, as
    /// ``SyncKeys/treeChildren`` has them.
    var changedChildren: [String: JSONObject] = [:]
    /// Which record refers to which by local ids; nil if none does.
    var references: References?

    /// Keeps records from being sent.
    mutating func hold(_ found: Held) {
      held.formUnion(found.conflicts)
      held.formUnion(found.undecided)
      undecided.formUnion(found.undecided)
    }
  }

  /// Records that the comparison with the server keeps from being sent.
  struct Held: Sendable {
    /// The server's are newer, or gone.
    var conflicts: Set<Int64> = []
    /// The server did not say.
    var undecided: Set<Int64> = []

    mutating func formUnion(_ other: Held) {
      conflicts.formUnion(other.conflicts)
      undecided.formUnion(other.undecided)
    }
  }

  /// Runs to the end.
  ///
  /// - Parameter sync: The sync as submitted; it holds what is stored also when this throws.
  @concurrent func run(_ target: some SyncUpTarget, _ sync: inout SyncState) async throws {
    if let trees = target as? any TreeSyncUpTarget {
      return try await TreeUpRun(run: self).run(trees, &sync)
    }
    try context.checkStop()
    var plan = plan(
      of: context.soupName, try SyncUpFieldChoice(target: target, options: sync.options),
      sync.options.mergeMode)
    try await plan.records.check(in: context.store, indexed: [SyncKeys.local])
    plan.hasIdIndex = try await plan.records.indexedPaths(in: context.store)
      .contains(plan.fields.idField)
    try await context.doubles.unite(union(plan), in: context.store)
    try await adoptByExternalId(plan)
    let ids = try await plan.records.dirtyEntryIds(in: context.store)
    sync.totalSize = ids.count
    if !ids.isEmpty {
      try await SyncStateStore(store: context.store).save(sync, durability: .normal)
      report(sync)
      plan.unclear = try await adoptUnacknowledgedCreates(target, plan)
      let filled = try await fillExternalIds(ids, plan)
      try await adoptByExternalId(onServer: target, plan, except: filled)
      plan.unclear.merge(try await adoptUnacknowledgedUpdates(target, plan)) { first, _ in first }
    }
    if sync.options.mergeMode == .leaveIfChanged {
      try await plan.records.adoptBases(in: context.store)
      plan.hold(try await check(target, plan, among: ids))
    } else if plan.merge != nil {
      plan.hold(try await merge(target, plan, among: ids))
    }
    plan.held.formUnion(plan.unclear.keys)
    try await hold(&plan)
    var progress = SyncUpProgress(total: ids.count)
    var leftOut = 0
    var incomplete: [Int64] = []
    let order = try await references(among: ids, &plan)
    var levels = order?.levels ?? [ids]
    while !levels.isEmpty {
      var rest = levels.removeFirst()[...]
      while !rest.isEmpty {
        try context.checkStop()
        let batch = try await nextBatch(of: &rest, plan, maxSize: target.maxBatchSize)
        try await completeLocally(batch, plan)
        var first = try await send(batch.toSend, target, plan, mayRecreate: plan.mayRecreate)
        let united = try await uniteLost(
          first.recreated, accepted: Set(first.accepted.map(\.entryId)), plan)
        first.recreated.removeAll { united.entries[$0.entryId] != nil }
        plan.held.formUnion(united.inConflict)
        rest += united.entries.values.sorted()
        let lost = try await recreatable(first.recreated, target, &plan)
        incomplete += lost.later
        try await refuse(lost.refused, first.reasons, plan)
        let second = try await send(lost.records, target, plan, mayRecreate: false)
        leftOut += first.leftOut + second.leftOut
        plan.held.formUnion(first.united.inConflict.union(second.united.inConflict))
        if !first.outdated.isEmpty {
          _ = try await completingBatch.check(target, plan, among: first.outdated)
        }
        let accepted = first.accepted + second.accepted
        plan.references?.note(accepted)
        incomplete += accepted.filter(\.isPartial).map(\.entryId)
        if sync.options.fetchesModificationDates {
          try await fetchDates(of: accepted, target, plan)
        }
        try await advance(&sync, &progress, by: batch.count - united.entries.count)
      }
      if levels.isEmpty, !incomplete.isEmpty, plan.references?.isLastLevel == false {
        // Now that everything exists, what closed a circle can be sent.
        levels = [incomplete.sorted()]
        incomplete = []
        plan.references?.leftOut = [:]
        plan.references?.isLastLevel = true
      }
    }
    guard leftOut == 0 else {
      throw SyncError(
        .invalidTarget,
        "The target '\(type(of: target).kind.typeName)' left \(leftOut) of \(ids.count) records out of "
          + "its requests, so they were not sent. Correct its requests(for:).")
    }
  }

  /// What a run in `mode` knows of one soup at first.
  func plan(of soupName: String, _ fields: SyncUpFieldChoice, _ mode: SyncMergeMode) -> Plan {
    Plan(
      records: SyncSoup(soupName: soupName, idField: fields.idField), fields: fields,
      mayRecreate: mode == .overwrite,
      merge: mode != .mergeFields
        ? nil
        : ConflictMerge(
          soupName: soupName,
          names: fields.names,
          syncId: context.syncId, time: now()))
  }

  /// What makes one entry of several that stand for one record of the plan's soup.
  func union(_ plan: Plan) -> EntryUnion {
    EntryUnion(
      soupName: context.soupName,
      names: plan.fields.names,
      uses: uses, syncId: context.syncId, time: now())
  }

  /// Stores how far the run has come, then reports each of the batch's records.
  func advance(
    _ sync: inout SyncState, _ progress: inout SyncUpProgress, by count: Int
  ) async throws {
    let steps = progress.advance(by: count)
    guard let last = steps.last else { return }
    sync.progress = last
    try await SyncStateStore(store: context.store).save(sync, durability: .normal)
    for step in steps {
      var update = sync
      update.progress = step
      report(update)
    }
  }

  // MARK: Conflicts

  /// Reads the records that exist on the server, as far as is known here, and hands them on in groups
  /// of one object type.
  func forEachGroup(
    of ids: [Int64], _ plan: Plan, _ body: ([SyncUpRecord]) async throws -> Void
  ) async throws {
    var waiting: [String: [SyncUpRecord]] = [:]
    for start in stride(from: 0, to: ids.count, by: SyncLimits.recordsPerRead) {
      let slice = Array(ids[start..<min(start + SyncLimits.recordsPerRead, ids.count)])
      for (entryId, record) in try await entries(slice) {
        guard
          case .send(let dirty) = SyncUpDecision(
            entryId: entryId, record: record, fields: plan.fields),
          dirty.action == .update || dirty.action == .delete
        else { continue }
        waiting[dirty.objectType, default: []].append(dirty)
        if waiting[dirty.objectType, default: []].count == SyncLimits.idsPerPage {
          let full = waiting.removeValue(forKey: dirty.objectType) ?? []
          try await body(full)
        }
      }
    }
    for type in waiting.keys.sorted() { try await body(waiting[type] ?? []) }
  }

  // MARK: Batches

  /// Records that go through the run together.
  struct Batch: Sendable {
    var toSend: [SyncUpRecord] = []
    /// Entries to remove without asking the server, and their ids.
    var toRemove: [(entryId: Int64, id: String?)] = []
    var refused: [(entryId: Int64, id: String?, error: JSONValue)] = []
    var held: [Int64] = []
    var withoutWork: [Int64] = []
    /// Records that go after others.
    var waiting: [(entryId: Int64, id: String?)] = []
    /// Entries whose edits came to nothing, as they were read: they become clean.
    var unchanged: [SyncUpRecord] = []
    /// How many of the run's records are in it.
    var count = 0
  }

  /// Takes from `rest` until there are `maxSize` records to send.
  private func nextBatch(
    of rest: inout ArraySlice<Int64>, _ plan: Plan, maxSize: Int
  ) async throws -> Batch {
    let maxSize = max(maxSize, 1)
    var batch = Batch()
    let most = max(maxSize, SyncLimits.idsPerPage)
    while batch.toSend.count < maxSize, !rest.isEmpty, batch.count < most {
      let next = rest.prefix(min(maxSize - batch.toSend.count, SyncLimits.recordsPerRead))
      rest = rest.dropFirst(next.count)
      batch.count += next.count
      batch.held += next.filter(plan.held.contains)
      let wanted = next.filter { !plan.held.contains($0) }
      let found = try await resolved(try await entries(wanted), plan)
      batch.withoutWork += Set(wanted).subtracting(found.map(\.id)).sorted()
      let bases = try await knownBases(of: found, plan)
      for (entryId, record) in found {
        // The application may have cleaned it since it was listed.
        guard RecordFlags(of: record).local else {
          batch.withoutWork.append(entryId)
          continue
        }
        switch SyncUpDecision(entryId: entryId, record: record, fields: plan.fields) {
        case .send(let record):
          var changed = record
          if plan.merge != nil, record.action == .update,
            let base = record.id.flatMap({ bases[$0] })
          {
            changed = record.changed(from: base, plan.fields.names)
            if changed.fieldNames.isEmpty {
              if changed.hasOtherEdits {
                batch.withoutWork.append(entryId)
              } else {
                batch.unchanged.append(record)
              }
              continue
            }
          }
          if let dirty = sendable(changed, plan), dirty.makesRecord || !dirty.isEmptied {
            batch.toSend.append(dirty)
          } else {
            batch.waiting.append((entryId, record.id))
          }
        case .removeEntry(let id): batch.toRemove.append((entryId, id))
        case .refuse(let id, let error): batch.refused.append((entryId, id, error))
        case .nothing: batch.withoutWork.append(entryId)
        }
      }
    }
    return batch
  }

  /// Completes the records that need no request.
  private func completeLocally(_ batch: Batch, _ plan: Plan) async throws {
    let time = now()
    func outcome(
      _ entryId: Int64, _ id: String?, _ kind: SyncRecordOutcome.Kind, _ error: JSONValue? = nil
    ) -> SyncRecordOutcome {
      SyncRecordOutcome(
        syncId: context.syncId, soupName: context.soupName, entryId: entryId, recordId: id,
        action: nil, kind: kind, time: time, error: error)
    }
    let held = try await entries(batch.held.filter { plan.unclear[$0] == nil })
    let outcomes =
      held.map { entryId, entry in
        let kind: SyncRecordOutcome.Kind =
          plan.undecided.contains(entryId) ? .undecided : .conflict
        if case .send(let record) = SyncUpDecision(
          entryId: entryId, record: entry, fields: plan.fields)
        {
          return self.outcome(of: record, kind, id: record.id, time)
        }
        return outcome(entryId, entry[plan.fields.idField]?.string, kind)
      }
      + Set(batch.held).subtracting(plan.unclear.keys).subtracting(held.map(\.id)).sorted()
      .map { outcome($0, nil, .nothingToDo) }
      + batch.withoutWork.map { outcome($0, nil, .nothingToDo) }
      + batch.waiting.map { outcome($0.entryId, $0.id, .waiting) }
      + batch.unchanged.map { outcome($0.entryId, $0.id, .nothingToDo) }
      + batch.toRemove.map { outcome($0.entryId, $0.id, .succeeded) }
      + batch.refused.map { outcome($0.entryId, $0.id, .rejected, $0.error) }
    // Their marks stay as they are.
    batch.held.compactMap { plan.unclear[$0] }.forEach(reportOutcome)
    if outcomes.isEmpty { return }
    try await context.store.inTransaction { transaction in
      let removed = try transaction.entries(batch.toRemove.map(\.entryId), of: context.soupName)
        .filter { entryId, record in
          let decision = SyncUpDecision(entryId: entryId, record: record, fields: plan.fields)
          if case .removeEntry = decision { return true }
          return false
        }
      try transaction.remove(entryIds: removed.map(\.id), forSoupNamed: context.soupName)
      let unchanged = Dictionary(
        batch.unchanged.map { ($0.entryId, $0.record) }, uniquingKeysWith: { first, _ in first })
      try write(
        transaction.entries(Array(unchanged.keys), of: context.soupName)
          .filter { $0.record.utf8.elementsEqual(unchanged[$0.id]?.utf8 ?? []) }
          .map {
            try $0.record.setting(RecordFlags.clean.members, removing: [SyncKeys.lastError])
          }, in: transaction)
      let refused = try transaction.entries(batch.refused.map(\.entryId), of: context.soupName)
      let errors = Dictionary(
        batch.refused.map { ($0.entryId, $0.error) }, uniquingKeysWith: { first, _ in first })
      try write(
        refused.map { entryId, record in
          try record.setting([(SyncKeys.lastError, .string(errors[entryId]?.text ?? ""))])
        }, in: transaction)
      try OutcomeStore.save(outcomes, in: transaction)
    }
    outcomes.forEach(reportOutcome)
  }

  // MARK: Store

  func entries(_ ids: [Int64]) async throws -> [(id: Int64, record: JSONSlice)] {
    if ids.isEmpty { return [] }
    return try await context.store.read { reader in try reader.entries(ids, of: context.soupName) }
  }

  /// Writes whole entries back in their places.
  func write(_ entries: [JSONSlice], in transaction: borrowing StoreTransaction) throws {
    if entries.isEmpty { return }
    try transaction.upsert(slices: entries, soup: context.soupName)
  }
}
