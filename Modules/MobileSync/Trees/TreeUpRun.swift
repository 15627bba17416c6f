import SalesforceSDKCommon
import SmartStore

/// One run of a sync up that sends parents with their children.
///
/// Trees go one by one, in the order of their parents' entries. The run checks for a stop before each tree; one
/// that has begun is completed. The outcomes of each request, and the ids that children take over from
/// their parents, are on disk before the next is sent.
struct TreeUpRun: Sendable {
  /// What the two soups share.
  struct Plan: Sendable {
    let parentRun: SyncUpRun
    let childRun: SyncUpRun
    var parents: SyncUpRun.Plan
    var children: SyncUpRun.Plan
    let rules: TreeWork.Rules
    let link: ChildLink
    /// The parents whose deletion was compared with what it takes along on the server; nil where each tree is compared
    /// when it is sent, or none is.
    var comparedDeletions: Set<Int64>?

    func run(isParent: Bool) -> SyncUpRun { isParent ? parentRun : childRun }

    func part(isParent: Bool) -> SyncUpRun.Plan { isParent ? parents : children }

    /// Why nothing may be sent for the tree; nil if it may.
    func reasonToHold(_ tree: LocalTree) -> SyncRecordOutcome.Kind? {
      // A parent that was deleted since the run compared goes with the next run.
      if let comparedDeletions, RecordFlags(of: tree.parent.record).deleted,
        TreeWork.isKnown(tree.parent, rules.parent), !comparedDeletions.contains(tree.parent.id)
      {
        return .undecided
      }
      let held =
        [tree.parent.id].filter(parents.held.contains).map { parents.undecided.contains($0) }
        + tree.children.map(\.id).filter(children.held.contains)
        .map { children.undecided.contains($0) }
      if held.isEmpty { return nil }
      return held.contains(false) ? .conflict : .undecided
    }
  }

  let run: SyncUpRun
  var context: SyncContext { run.context }

  /// Runs to the end.
  ///
  /// - Parameter sync: The sync as submitted; it holds what is stored also when this throws.
  @concurrent func run(_ target: some TreeSyncUpTarget, _ sync: inout SyncState) async throws {
    try context.checkStop()
    var plan = try plan(target, sync.options)
    try await plan.parents.records.check(
      in: context.store, indexed: [plan.rules.parent.idField, SyncKeys.local])
    try await plan.children.records.check(
      in: context.store,
      indexed: [plan.rules.child.idField, SyncKeys.local, plan.rules.parentIdField])
    for isParent in [true, false] {
      let run = plan.run(isParent: isParent)
      let part = plan.part(isParent: isParent)
      try await context.doubles.unite(run.union(part), in: context.store)
      try await run.adoptByExternalId(part)
    }
    var ids = try await dirtyTrees(plan)
    sync.totalSize = ids.count
    if !ids.isEmpty {
      try await SyncStateStore(store: context.store).save(sync, durability: .normal)
      run.report(sync)
      plan.parents.unclear = try await plan.parentRun.adoptUnacknowledgedCreates(
        target, plan.parents, children: plan.link)
      plan.children.unclear = try await plan.childRun.adoptUnacknowledgedCreates(
        target, plan.children)
      for isParent in [true, false] {
        let (run, part) = (plan.run(isParent: isParent), plan.part(isParent: isParent))
        let dirty =
          part.fields.fillsExternalId
          ? try await part.records.dirtyEntryIds(in: context.store) : []
        let filled = try await run.fillExternalIds(dirty, part)
        try await run.adoptByExternalId(onServer: target, part, except: filled)
      }
      plan.parents.unclear.merge(
        try await plan.parentRun.adoptUnacknowledgedUpdates(target, plan.parents)
      ) { first, _ in first }
      plan.children.unclear.merge(
        try await plan.childRun.adoptUnacknowledgedUpdates(target, plan.children)
      ) { first, _ in first }
    }
    try await hold(target, &plan)
    let treeConflicts = try await conflictsOfTrees(plan)
    var noted: Set<String> = []
    ids = try await ordered(ids, &plan)
    var progress = SyncUpProgress(total: ids.count)
    var incomplete: [Int64] = []
    var acceptedBefore = TreeSender.AcceptedEntries()
    while !ids.isEmpty {
      try context.checkStop()
      let sender = TreeSender(
        plan: plan, mode: sync.options.mergeMode, acceptedBefore: acceptedBefore)
      let id = ids.removeFirst()
      let sent = try await sender.send(treeOf: id, target, noting: &noted)
      let accepted = sent.accepted
      acceptedBefore.add(accepted)
      plan.parents.references?.note(accepted.map(\.record))
      plan.children.references?.note(accepted.map(\.record))
      plan.parents.held.formUnion(sent.parentsInConflict)
      plan.children.held.formUnion(sent.childrenInConflict)
      if accepted.contains(where: \.record.isPartial) { incomplete.append(id) }
      if sync.options.fetchesModificationDates {
        for isParent in [true, false] {
          try await plan.run(isParent: isParent).fetchDates(
            of: accepted.filter { $0.isParent == isParent }.map(\.record), target,
            plan.part(isParent: isParent))
        }
      }
      try await run.advance(&sync, &progress, by: 1)
      if ids.isEmpty, !incomplete.isEmpty {
        // Now that everything exists, what closed a circle can be sent.
        (ids, incomplete) = (incomplete, [])
        plan.closeCircles()
      }
    }
    let detached = try await sendOrphans(target, plan, noting: &noted)
    if sync.options.fetchesModificationDates {
      try await plan.childRun.fetchDates(of: detached, target, plan.children)
    }
    try await end(treeConflicts.subtracting(noted))
  }

  private func plan(
    _ target: some TreeSyncUpTarget, _ options: SyncOptions
  ) throws(SyncError) -> Plan {
    guard let link = target.childSoup.parent else {
      throw SyncError(
        .invalidTarget, "The children of the target have no field for the parent's id. Name it.")
    }
    let childFields = target.childFields
    func unlinked(_ list: [String]?) -> [String] { (list ?? []).filter { $0 != link.fieldName } }
    let parent = try SyncUpFieldChoice(target: target, options: options)
    let child = SyncUpFieldChoice(
      create: unlinked(childFields.createFieldlist), update: unlinked(childFields.updateFieldlist),
      names: target.childSoup.names, externalIdField: childFields.externalIdFieldName,
      fillsExternalId: childFields.fillsExternalId)
    return Plan(
      parentRun: run.of(soup: target.parentSoup.soupName),
      childRun: run.of(soup: target.childSoup.soupName),
      parents: run.plan(of: target.parentSoup.soupName, parent, options.mergeMode),
      children: run.plan(of: target.childSoup.soupName, child, options.mergeMode),
      rules: TreeWork.Rules(
        parent: parent, child: child, parentIdField: link.fieldName,
        deletesChildren: target.deletesChildrenWithParent),
      link: ChildLink(soupName: target.childSoup.soupName, field: link.fieldName))
  }

  /// Removes the children of parents that turned out to be deleted on both sides.
  func removeOrphans(of deleted: [Int64: String], _ plan: Plan) async throws {
    if deleted.isEmpty { return }
    let left = Set(try await plan.parentRun.entries(deleted.keys.sorted()).map(\.id))
    let parents = deleted.filter { !left.contains($0.key) }.map(\.value).sorted()
    try await context.store.inTransaction { transaction in
      for id in parents { try plan.removeChildren(of: id, in: transaction) }
    }
  }

  /// The entry ids of parents that are dirty or have a dirty child, ascending.
  private func dirtyTrees(_ plan: Plan) async throws -> [Int64] {
    var ids: [Int64] = []
    while true {
      let after = ids.last ?? -1
      let page = try await context.store.read { reader in
        try plan.parents.records.dirtyTrees(
          children: plan.children.records, by: plan.link.field, after: after, in: reader)
      }
      ids += page
      if page.count < SyncLimits.idsPerPage { return ids }
    }
  }
}

extension TreeUpRun.Plan {
  /// Removes the children of a parent that does not exist any more, with their bases.
  ///
  /// - Returns: The children as they were.
  @discardableResult
  func removeChildren(
    of id: String, in transaction: borrowing StoreTransaction
  ) throws -> [LocalTree.Entry] {
    let soupName = children.records.soupName
    let entries = try transaction.entries(
      try children.records.entryIds(where: link.field, is: id, in: transaction), of: soupName)
    try transaction.remove(entryIds: entries.map(\.id), forSoupNamed: soupName)
    try BaseVersionStore(soupName: soupName).remove(
      entries.compactMap { $0.record[rules.child.idField]?.string }, in: transaction)
    return entries
  }
}

/// The field by which children of a soup refer to their parents.
struct ChildLink: Sendable, Hashable {
  let soupName: String
  let field: String

  /// Lets the children of `old` belong to `new`; flags and everything else stay.
  func rewrite(
    from old: String, to new: String, in transaction: borrowing StoreTransaction
  ) throws {
    let records = SyncSoup(soupName: soupName, idField: field)
    let entries = try transaction.entries(
      try records.entryIds(where: field, is: old, in: transaction), of: soupName)
    if entries.isEmpty { return }
    try transaction.upsert(
      slices: entries.map { try $0.record.setting([(field, .string(new))]) }, soup: soupName)
  }
}

extension SyncUpRun {
  /// The same run, at work on another soup.
  fileprivate func of(soup soupName: String) -> SyncUpRun {
    var context = context
    context.soupName = soupName
    return SyncUpRun(
      context: context, uses: uses, now: now, report: report, reportOutcome: reportOutcome,
      leavesOutReferences: leavesOutReferences)
  }

  /// The ids of those entries that are flagged as deleted, by entry id.
  func deleted(_ entryIds: [Int64], _ plan: Plan) async throws -> [Int64: String] {
    var deleted: [Int64: String] = [:]
    for start in stride(from: 0, to: entryIds.count, by: SyncLimits.recordsPerRead) {
      let slice = entryIds[start..<min(start + SyncLimits.recordsPerRead, entryIds.count)]
      for (entryId, entry) in try await entries(Array(slice)) where RecordFlags(of: entry).deleted {
        deleted[entryId] = entry[plan.fields.idField]?.string
      }
    }
    return deleted
  }
}

extension SyncSoup {
  /// The entry ids of records that are dirty or have a dirty child, ascending, as this snapshot has
  /// them; one page of those behind `after`.
  func dirtyTrees(
    children: SyncSoup, by field: String, after: Int64,
    in reader: borrowing some StoreReading & ~Copyable
  ) throws -> [Int64] {
    let entryId = "{\(soupName):\(SyncKeys.soupEntryId)}"
    let rows = try reader.rows(
      "SELECT \(entryId) FROM {\(soupName)} WHERE (\(isDirty) "
        + "OR {\(soupName):\(idField)} IN (SELECT {\(children.soupName):\(field)} "
        + "FROM {\(children.soupName)} WHERE \(children.isDirty))) "
        + "AND \(entryId) > ? ORDER BY \(entryId)",
      [.integer(after)], limit: SyncLimits.idsPerPage)
    return rows.compactMap { $0[0]?.int64 }
  }

  /// The entry ids of dirty records whose `field` has no parent's id, ascending.
  func dirtyOrphans(
    parents: SyncSoup, by field: String, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> [Int64] {
    let entryId = "{\(soupName):\(SyncKeys.soupEntryId)}"
    return try reader.rows(
      "SELECT \(entryId) FROM {\(soupName)} WHERE \(isDirty) AND NOT EXISTS (SELECT 1 FROM "
        + "{\(parents.soupName)} WHERE {\(parents.soupName):\(parents.idField)} = "
        + "{\(soupName):\(field)}) ORDER BY \(entryId)", [], limit: nil
    ).compactMap { $0[0]?.int64 }
  }

  /// The entry ids of records whose `field` has this value, ascending.
  func entryIds(
    where field: String, is value: String, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> [Int64] {
    let entryId = "{\(soupName):\(SyncKeys.soupEntryId)}"
    return try reader.rows(
      "SELECT \(entryId) FROM {\(soupName)} WHERE {\(soupName):\(field)} = ? ORDER BY \(entryId)",
      [.string(value)], limit: nil
    ).compactMap { $0[0]?.int64 }
  }
}
