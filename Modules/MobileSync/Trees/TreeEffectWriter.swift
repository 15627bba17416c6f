import SalesforceSDKCommon
import SmartStore

/// A writer of the server's results for a tree into both soups, in one transaction.
struct TreeEffectWriter: Sendable {
  let plan: TreePlan
  let time: Int64
  /// The tree as it was read when it was decided what to send.
  var tree: LocalTree?

  private var store: SmartStore { plan.scopes.parents.context.store }

  /// The outcomes of records of a tree.
  struct Written: Sendable {
    /// The outcomes, also those of edits that went with their parent.
    var outcomes: [SyncRecordOutcome] = []
    /// The waiting records as they are in the soups now, without records that were united with
    /// others.
    var waiting: [TreeWork.Step] = []
    /// The entries that were united with others in the parents' and the children's soup.
    var united = PerLevel(parents: EntryUnion.United(), children: EntryUnion.United())
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
      plan.results(step.level).outcome(of: step.record, effect, time)
    }
    return try await store.inTransaction { transaction in
      let unedited = try uneditedIds(waiting, in: transaction)
      var written = Written()
      var dropped: [SyncRecordOutcome] = []
      for level in TreeLevel.allCases.reversed() {
        let (edits, united) = try write(
          acknowledged.filter { $0.step.level == level }, level: level, in: transaction)
        dropped += edits
        written.united[level] = united
      }
      try followParent(acknowledged, in: transaction)
      try remember(acknowledged, in: transaction)
      try flag(waiting.filter { unedited.contains($0.record.entryId) }, in: transaction)
      let known = zip(acknowledged, outcomes).map { acknowledged, outcome in
        let united = written.united[acknowledged.step.level]
        return outcome.moved(to: united.survivors[outcome.entryId])
      }
      try RequestMarks(scope: plan.scopes.parents).save(
        zip(acknowledged, known).map { (record: $0.0.step.record, outcome: $0.1) }, in: transaction)
      try OutcomeStore.save(dropped, in: transaction)
      written.outcomes = known + dropped
      written.waiting = try refreshed(waiting, unedited, in: transaction).filter { step in
        !written.united[step.level].concerns(step.record.entryId)
      }
      return written
    }
  }

  // MARK: Entries

  private func write(
    _ acknowledged: [(step: TreeWork.Step, effect: SyncUpEffect)], level: TreeLevel,
    in transaction: borrowing StoreTransaction
  ) throws -> (dropped: [SyncRecordOutcome], united: EntryUnion.United) {
    let entries = try plan.results(level).writeEntries(
      of: acknowledged.map { ($0.step.record, $0.effect) }, in: transaction)
    guard level == .parents, plan.rules.deletesChildren else { return ([], entries.united) }
    // What was edited or made since then goes too, since nothing can be done with it any more.
    let dropped = try entries.removed.compactMap { $0[plan.rules.fields.parents.idField]?.string }
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
        syncId: plan.scopes.children.context.syncId,
        soupName: plan.scopes.children.context.soupName,
        entryId: child.id, recordId: child.record[plan.rules.fields.children.idField]?.string,
        action: nil,
        kind: .rejected, time: time, error: Self.parentDeleted)
    }
  }

  private static let parentDeleted = SyncUpDecision.clientError(
    "PARENT_DELETED",
    "The record was edited while its parent was being deleted, which took it along.")

  /// Stores what is known of records that the server has accepted, with the parents that it knows of.
  private func remember(
    _ acknowledged: [(step: TreeWork.Step, effect: SyncUpEffect)],
    in transaction: borrowing StoreTransaction
  ) throws {
    for level in TreeLevel.allCases {
      let accepted = ResultWriter.accepted(
        of: acknowledged.filter { $0.step.level == level }.map { ($0.step.record, $0.effect) }
      )
      let part = plan.scopes[level]
      try plan.results(level).remember(accepted, in: transaction)
      guard level == .children,
        try plan.scopes.children.uses.keepsBases(part.soup.soupName, in: transaction)
      else { continue }
      let store = BaseVersionStore(soupName: part.soup.soupName)
      var bases = try store.bases(
        of: accepted.compactMap { $0.newId ?? $0.record.id }, in: transaction)
      let entries = try transaction.entries(
        accepted.map(\.record.entryId), of: part.soup.soupName)
      for (_, entry) in entries {
        guard let id = entry[part.fields.idField]?.string,
          let link = entry[plan.rules.link.field]?.value
        else { continue }
        bases[id]?[plan.rules.link.field] = link
      }
      try store.save(bases, in: transaction)
    }
  }

  /// Sets the new id of a parent that was created on the server in its children.
  private func followParent(
    _ acknowledged: [(step: TreeWork.Step, effect: SyncUpEffect)],
    in transaction: borrowing StoreTransaction
  ) throws {
    for (step, effect) in acknowledged where step.level == .parents {
      guard case .clean(let newId?) = effect, let old = step.record.id, old != newId else {
        continue
      }
      try plan.rules.link.rewrite(from: old, to: newId, in: transaction)
    }
  }

  // MARK: Waiting records

  /// The entry ids of children whose entries are as they were when they were read.
  private func uneditedIds(
    _ waiting: [TreeWork.Step], in transaction: borrowing StoreTransaction
  ) throws -> Set<Int64> {
    let children = waiting.filter { $0.level == .children }
    let entries = try transaction.entries(
      children.map(\.record.entryId), of: plan.scopes.children.soup.soupName)
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
      steps.keys.sorted(), of: plan.scopes.children.soup.soupName)
    var written: [JSONSlice] = []
    for (entryId, entry) in entries {
      let flags = RecordFlags(of: entry)
      guard let step = steps[entryId], !flags.local || (step.record.makesRecord && !flags.created)
      else { continue }
      written.append(try entry.setting(RecordFlags(toSend: step.record).members))
    }
    try plan.scopes.children.write(written, in: transaction)
  }

  /// Makes entries of a lost tree represent the records that have replaced theirs.
  ///
  /// - Returns: The entry that is the parent's now.
  func replace(
    _ replaced: TreeSender.Replacements, ofTree entryId: Int64
  ) async throws -> Int64 {
    try await store.inTransaction { transaction in
      let united = try EntryAdoption(union: plan.scopes.parents.union)
        .replace(replaced.parents, in: transaction)
      _ = try EntryAdoption(union: plan.scopes.children.union)
        .replace(replaced.children, in: transaction)
      return united.survivors[entryId] ?? entryId
    }
  }

  private func refreshed(
    _ waiting: [TreeWork.Step], _ unedited: Set<Int64>, in transaction: borrowing StoreTransaction
  ) throws -> [TreeWork.Step] {
    let entries = try transaction.entries(unedited.sorted(), of: plan.scopes.children.soup.soupName)
    let texts = Dictionary(
      entries.map { ($0.id, $0.record) }, uniquingKeysWith: { first, _ in first })
    return waiting.map { step in
      guard step.level == .children, let entry = texts[step.record.entryId] else { return step }
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
      let parents = try stillRemoved(removed.filter { $0.level == .parents }, in: transaction)
      let children = removed.filter { $0.level == .children }
      let isParentKept = parents.count < removed.filter { $0.level == .parents }.count
      let own = try stillRemoved(children.filter { !$0.followsParent }, in: transaction)
      // Children that were created since go with their parent, too.
      if !isParentKept, plan.rules.deletesChildren {
        for id in parents.compactMap(\.id) {
          outcomes += editsSinceRead(try plan.removeChildren(of: id, in: transaction))
        }
      }
      for (entries, scope) in [(parents, plan.scopes.parents), (own, plan.scopes.children)] {
        try transaction.remove(
          entryIds: entries.map(\.entryId), forSoupNamed: scope.context.soupName)
      }
      let followers = isParentKept ? [] : children.filter(\.followsParent)
      let known = Set(outcomes.map(\.entryId))
      outcomes += (parents + own + followers.filter { !known.contains($0.entryId) })
        .map { outcome(of: $0, .nothingToDo) }
      for entry in refused {
        let scope = plan.scopes[entry.level]
        let entries = try transaction.entries([entry.entryId], of: scope.context.soupName)
        try scope.write(
          entries.map {
            try $0.record.setting([(SyncKeys.lastError, .string(entry.error?.redacted.text ?? ""))])
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
      let part = plan.scopes[entry.level]
      guard
        let (entryId, record) = try transaction.entries([entry.entryId], of: part.soup.soupName)
          .first,
        case .removeEntry = SyncUpDecision(entryId: entryId, record: record, fields: part.fields)
      else { return false }
      return true
    }
  }

  private func outcome(
    of entry: TreeWork.LocalStep, _ kind: SyncRecordOutcome.Kind
  ) -> SyncRecordOutcome {
    let context = plan.scopes[entry.level].context
    return SyncRecordOutcome(
      syncId: context.syncId, soupName: context.soupName, entryId: entry.entryId,
      recordId: entry.id,
      action: nil, kind: kind, time: time, error: entry.error)
  }
}
