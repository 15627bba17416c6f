import SalesforceSDKCommon
import SmartStore

/// One run of a sync up that sends parents with their children.
///
/// Trees go one by one, in the order of their parents' entries. Stop is looked for before a tree; one
/// that has begun is completed. The outcomes of each request, and the ids that children take over from
/// their parents, are on disk before the next is sent.
struct TreeUpRun: Sendable {
  /// What the two soups share.
  struct Plan: Sendable {
    let parentRun: SyncUpRun
    let childRun: SyncUpRun
    let parents: SyncUpRun.Plan
    let children: SyncUpRun.Plan
    let rules: TreeWork.Rules
    let link: ChildLink

    func run(isParent: Bool) -> SyncUpRun { isParent ? parentRun : childRun }
  }

  let run: SyncUpRun
  var context: SyncContext { run.context }

  /// Runs to the end.
  ///
  /// - Parameter sync: The sync as submitted; it holds what is stored also when this throws.
  @concurrent func run(_ target: some TreeSyncUpTarget, _ sync: inout SyncState) async throws {
    try context.checkStop()
    let plan = try plan(target, sync.options)
    try await plan.parents.records.check(
      in: context.store, indexed: [plan.rules.parent.idField, SyncKeys.local])
    try await plan.children.records.check(
      in: context.store,
      indexed: [plan.rules.child.idField, SyncKeys.local, plan.rules.parentIdField])
    var ids = try await dirtyTrees(plan)
    sync.totalSize = ids.count
    if !ids.isEmpty {
      try await SyncStateStore(store: context.store).save(sync, durability: .normal)
      run.report(sync)
      try await plan.parentRun.adoptLostCreates(target, plan.parents, children: plan.link)
      try await plan.childRun.adoptLostCreates(target, plan.children)
    }
    try await OutcomeStore(store: context.store).clear(syncId: context.syncId)
    var progress = SyncUpProgress(total: ids.count)
    while !ids.isEmpty {
      try context.checkStop()
      let sender = TreeSender(plan: plan, mode: sync.options.mergeMode)
      let taken = try await sender.send(treeOf: ids.removeFirst(), target)
      if sync.options.fetchesModificationDates {
        for isParent in [true, false] {
          try await plan.run(isParent: isParent).fetchDates(
            of: taken.filter { $0.isParent == isParent }.map(\.record), target,
            isParent ? plan.parents : plan.children)
        }
      }
      try await run.advance(&sync, &progress, by: 1)
    }
  }

  private func plan(
    _ target: some TreeSyncUpTarget, _ options: SyncOptions
  ) throws(SyncError) -> Plan {
    guard let link = target.childSoup.parent else {
      throw SyncError(
        .invalidTarget, "The children of the target have no field for the parent's id. Name it.")
    }
    let mayRecreate = options.mergeMode == .overwrite
    let childFields = target.childFields
    func unlinked(_ list: [String]?) -> [String] { (list ?? []).filter { $0 != link.fieldName } }
    let parent = try SyncUpFieldChoice(target: target, options: options)
    let child = SyncUpFieldChoice(
      create: unlinked(childFields.createFieldlist), update: unlinked(childFields.updateFieldlist),
      idField: target.childSoup.names.id, dateField: target.childSoup.names.modificationDate,
      externalIdField: childFields.externalIdFieldName)
    return Plan(
      parentRun: run.of(soup: target.parentSoup.soupName),
      childRun: run.of(soup: target.childSoup.soupName),
      parents: SyncUpRun.Plan(
        records: SoupRecords(soupName: target.parentSoup.soupName, idField: parent.idField),
        fields: parent, mayRecreate: mayRecreate),
      children: SyncUpRun.Plan(
        records: SoupRecords(soupName: target.childSoup.soupName, idField: child.idField),
        fields: child, mayRecreate: mayRecreate),
      rules: TreeWork.Rules(
        parent: parent, child: child, parentIdField: link.fieldName,
        deletesChildren: target.deletesChildrenWithParent),
      link: ChildLink(soupName: target.childSoup.soupName, field: link.fieldName))
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

/// The field by which children of a soup refer to their parents.
struct ChildLink: Sendable {
  let soupName: String
  let field: String

  /// Lets the children of `old` belong to `new`; flags and everything else stay.
  func rewrite(
    from old: String, to new: String, in transaction: borrowing StoreTransaction
  ) throws {
    let records = SoupRecords(soupName: soupName, idField: field)
    let rows = try transaction.entries(
      try records.entryIds(where: field, is: old, in: transaction), of: soupName)
    if rows.isEmpty { return }
    try transaction.upsert(
      slices: rows.map { try $0.record.setting([(field, .string(new))]) }, soup: soupName)
  }
}

extension SyncUpRun {
  /// The same run, at work on another soup.
  fileprivate func of(soup soupName: String) -> SyncUpRun {
    var context = context
    context.soupName = soupName
    return SyncUpRun(context: context, now: now, report: report, reportOutcome: reportOutcome)
  }
}

extension SoupRecords {
  /// The entry ids of records that are dirty or have a dirty child, ascending, as this snapshot has
  /// them; one page of those behind `after`.
  func dirtyTrees(
    children: SoupRecords, by field: String, after: Int64,
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
