import SalesforceSDKCommon
import SmartStore

/// Brings what the server said about records of a tree into both soups, in one transaction.
struct TreeEffectWriter: Sendable {
  let plan: TreeUpRun.Plan
  let time: Int64
  /// The tree as it was read when it was decided what to send.
  var tree: LocalTree?

  private var store: SmartStore { plan.parentRun.context.store }

  /// What became of records of a tree.
  struct Written: Sendable {
    /// The outcomes, also those of edits that went with their parent.
    var outcomes: [SyncRecordOutcome] = []
    /// The waiting records as the soups have them now, without those that became one with others.
    var waiting: [TreeWork.Step] = []
    /// What became one with other entries of the parents' and of the children's soup.
    var unitedParents = EntryUnion.United()
    var unitedChildren = EntryUnion.United()

    func united(isParent: Bool) -> EntryUnion.United {
      isParent ? unitedParents : unitedChildren
    }
  }

  /// Writes acknowledged records and their outcomes.
  ///
  /// A new id of the parent goes to all its children. Entries that were edited since they were read keep
  /// the edit and stay dirty.
  ///
  /// - Parameter waiting: Records that are still to be sent. Entries whose flags do not say what they need
  ///   by now are flagged again, so that a crash forgets none.
  func write(
    _ acknowledged: [(step: TreeWork.Step, effect: SyncUpEffect)], waiting: [TreeWork.Step]
  ) async throws -> Written {
    let outcomes = acknowledged.map { step, effect in
      plan.run(isParent: step.isParent).outcome(of: step.record, effect, time)
    }
    return try await store.inTransaction { transaction in
      let unedited = try uneditedIds(waiting, in: transaction)
      var written = Written()
      var dropped: [SyncRecordOutcome] = []
      for isParent in [false, true] {
        let (edits, united) = try write(
          acknowledged.filter { $0.step.isParent == isParent }, isParent: isParent, in: transaction)
        dropped += edits
        if isParent { written.unitedParents = united } else { written.unitedChildren = united }
      }
      try followParent(acknowledged, in: transaction)
      try remember(acknowledged, in: transaction)
      try flag(waiting.filter { unedited.contains($0.record.entryId) }, in: transaction)
      let known = zip(acknowledged, outcomes).map { acknowledged, outcome in
        let united = written.united(isParent: acknowledged.step.isParent)
        return outcome.moved(to: united.survivors[outcome.entryId])
      }
      try plan.parentRun.save(
        zip(acknowledged, known).map { (record: $0.0.step.record, outcome: $0.1) }, in: transaction)
      try OutcomeStore.save(dropped, in: transaction)
      written.outcomes = known + dropped
      written.waiting = try refreshed(waiting, unedited, in: transaction).filter { step in
        !written.united(isParent: step.isParent).concerns(step.record.entryId)
      }
      return written
    }
  }

  // MARK: Entries

  private func write(
    _ acknowledged: [(step: TreeWork.Step, effect: SyncUpEffect)], isParent: Bool,
    in transaction: borrowing StoreTransaction
  ) throws -> (dropped: [SyncRecordOutcome], united: EntryUnion.United) {
    let entries = try plan.run(isParent: isParent).writeEntries(
      of: acknowledged.map { ($0.step.record, $0.effect) }, plan.part(isParent: isParent),
      in: transaction)
    guard isParent, plan.rules.deletesChildren else { return ([], entries.united) }
    // What was edited or made since then goes too, since nothing can be done with it any more.
    let dropped = try entries.removed.compactMap { $0[plan.rules.parent.idField]?.string }
      .flatMap { id in editsSinceRead(try plan.removeChildren(of: id, in: transaction)) }
    return (dropped, entries.united)
  }

  /// The outcomes of those children, removed with their parent, that were edited or made since the tree
  /// was read: the user who deleted the parent has not seen them.
  private func editsSinceRead(_ children: [LocalTree.Entry]) -> [SyncRecordOutcome] {
    let read = Dictionary(
      (tree?.children ?? []).map { ($0.id, $0.record) }, uniquingKeysWith: { first, _ in first })
    return children.filter { child in
      let flags = RecordFlags(of: child.record)
      return flags.local && !flags.deleted
        && read[child.id].map { !$0.utf8.elementsEqual(child.record.utf8) } ?? true
    }.map { child in
      SyncRecordOutcome(
        syncId: plan.childRun.context.syncId, soupName: plan.childRun.context.soupName,
        entryId: child.id, recordId: child.record[plan.rules.child.idField]?.string, action: nil,
        kind: .rejected, time: time, error: Self.parentDeleted)
    }
  }

  private static let parentDeleted = SyncUpDecision.clientError(
    "PARENT_DELETED",
    "The record was edited while its parent was being deleted, which took it along.")

  /// Keeps what is known of records that the server has accepted, with the parents that it knows of.
  private func remember(
    _ acknowledged: [(step: TreeWork.Step, effect: SyncUpEffect)],
    in transaction: borrowing StoreTransaction
  ) throws {
    for isParent in [true, false] {
      let accepted = SyncUpRun.accepted(
        of: acknowledged.filter { $0.step.isParent == isParent }.map { ($0.step.record, $0.effect) }
      )
      let part = plan.part(isParent: isParent)
      try plan.run(isParent: isParent).remember(accepted, part, in: transaction)
      guard !isParent,
        try plan.childRun.uses.keepsBases(part.records.soupName, in: transaction)
      else { continue }
      let store = BaseVersionStore(soupName: part.records.soupName)
      var bases = try store.bases(
        of: accepted.compactMap { $0.newId ?? $0.record.id }, in: transaction)
      let entries = try transaction.entries(
        accepted.map(\.record.entryId), of: part.records.soupName)
      for (_, entry) in entries {
        guard let id = entry[part.fields.idField]?.string, let link = entry[plan.link.field]?.value
        else { continue }
        bases[id]?[plan.link.field] = link
      }
      try store.save(bases, in: transaction)
    }
  }

  /// Gives the children of a parent that was made on the server its new id.
  private func followParent(
    _ acknowledged: [(step: TreeWork.Step, effect: SyncUpEffect)],
    in transaction: borrowing StoreTransaction
  ) throws {
    for (step, effect) in acknowledged where step.isParent {
      guard case .clean(let newId?) = effect, let old = step.record.id, old != newId else {
        continue
      }
      try plan.link.rewrite(from: old, to: newId, in: transaction)
    }
  }

  // MARK: Waiting records

  /// The entry ids of children whose entries are as they were when they were read.
  private func uneditedIds(
    _ waiting: [TreeWork.Step], in transaction: borrowing StoreTransaction
  ) throws -> Set<Int64> {
    let children = waiting.filter { !$0.isParent }
    let entries = try transaction.entries(
      children.map(\.record.entryId), of: plan.children.records.soupName)
    let texts = Dictionary(
      entries.map { ($0.id, $0.record) }, uniquingKeysWith: { first, _ in first })
    return Set(
      children.compactMap { step in
        guard let entry = texts[step.record.entryId],
          entry.utf8.elementsEqual(step.record.record.utf8)
        else { return nil }
        return step.record.entryId
      })
  }

  private func flag(
    _ waiting: [TreeWork.Step], in transaction: borrowing StoreTransaction
  ) throws {
    let steps = Dictionary(
      waiting.map { ($0.record.entryId, $0) }, uniquingKeysWith: { first, _ in first })
    let entries = try transaction.entries(
      steps.keys.sorted(), of: plan.children.records.soupName)
    var written: [JSONSlice] = []
    for (entryId, entry) in entries {
      let flags = RecordFlags(of: entry)
      guard let step = steps[entryId], !flags.local || (step.record.makesRecord && !flags.created)
      else { continue }
      written.append(try entry.setting(RecordFlags(toSend: step.record).members))
    }
    try plan.childRun.write(written, in: transaction)
  }

  /// Lets entries of a lost tree whose records have been replaced stand for the new ones.
  ///
  /// - Returns: The entry that is the parent's now.
  func replace(
    _ replaced: TreeSender.Replacements, ofTree entryId: Int64
  ) async throws -> Int64 {
    try await store.inTransaction { transaction in
      let united = try EntryAdoption(union: plan.parentRun.union(plan.parents))
        .replace(replaced.parents, in: transaction)
      _ = try EntryAdoption(union: plan.childRun.union(plan.children))
        .replace(replaced.children, in: transaction)
      return united.survivors[entryId] ?? entryId
    }
  }

  private func refreshed(
    _ waiting: [TreeWork.Step], _ unedited: Set<Int64>, in transaction: borrowing StoreTransaction
  ) throws -> [TreeWork.Step] {
    let entries = try transaction.entries(unedited.sorted(), of: plan.children.records.soupName)
    let texts = Dictionary(
      entries.map { ($0.id, $0.record) }, uniquingKeysWith: { first, _ in first })
    return waiting.map { step in
      guard !step.isParent, let entry = texts[step.record.entryId] else { return step }
      var step = step
      step.record = step.record.asStored(entry)
      return step
    }
  }

  // MARK: Entries without requests

  /// Removes entries that the server never had, and keeps the errors of those that cannot be sent.
  ///
  /// Each entry is looked at again: one whose deletion was taken back since stays as it is, and the
  /// children of such a parent with it.
  ///
  /// - Returns: The outcomes; an entry that stays has none.
  func write(
    removed: [TreeWork.LocalStep], refused: [TreeWork.LocalStep]
  ) async throws -> [SyncRecordOutcome] {
    try await store.inTransaction { transaction in
      var outcomes: [SyncRecordOutcome] = []
      let parents = try stillRemoved(removed.filter(\.isParent), in: transaction)
      let children = removed.filter { !$0.isParent }
      let isParentKept = parents.count < removed.filter(\.isParent).count
      let own = try stillRemoved(children.filter { !$0.followsParent }, in: transaction)
      // Children that were created since go with their parent, too.
      if !isParentKept, plan.rules.deletesChildren {
        for id in parents.compactMap(\.id) {
          outcomes += editsSinceRead(try plan.removeChildren(of: id, in: transaction))
        }
      }
      for (entries, run) in [(parents, plan.parentRun), (own, plan.childRun)] {
        try transaction.remove(
          entryIds: entries.map(\.entryId), forSoupNamed: run.context.soupName)
      }
      let followers = isParentKept ? [] : children.filter(\.followsParent)
      let known = Set(outcomes.map(\.entryId))
      outcomes += (parents + own + followers.filter { !known.contains($0.entryId) })
        .map { outcome(of: $0, .succeeded) }
      for entry in refused {
        let run = plan.run(isParent: entry.isParent)
        let entries = try transaction.entries([entry.entryId], of: run.context.soupName)
        try run.write(
          entries.map {
            try $0.record.setting([(SyncKeys.lastError, .string(entry.error?.text ?? ""))])
          }, in: transaction)
        outcomes.append(outcome(of: entry, .rejected))
      }
      try OutcomeStore.save(outcomes, in: transaction)
      return outcomes
    }
  }

  /// The entries that the server never had and that are still to go.
  private func stillRemoved(
    _ entries: [TreeWork.LocalStep], in transaction: borrowing StoreTransaction
  ) throws -> [TreeWork.LocalStep] {
    try entries.filter { entry in
      let part = plan.part(isParent: entry.isParent)
      guard
        let (entryId, record) = try transaction.entries([entry.entryId], of: part.records.soupName)
          .first,
        case .removeEntry = SyncUpDecision(entryId: entryId, record: record, fields: part.fields)
      else { return false }
      return true
    }
  }

  private func outcome(
    of entry: TreeWork.LocalStep, _ kind: SyncRecordOutcome.Kind
  ) -> SyncRecordOutcome {
    let context = plan.run(isParent: entry.isParent).context
    return SyncRecordOutcome(
      syncId: context.syncId, soupName: context.soupName, entryId: entry.entryId,
      recordId: entry.id,
      action: nil, kind: kind, time: time, error: entry.error)
  }
}

extension SyncUpRecord {
  /// The record with the stored text of now, which differs in nothing that was edited.
  func asStored(_ entry: JSONSlice) -> SyncUpRecord {
    var record = self
    record.record = entry
    return record
  }
}
