import SalesforceSDKCommon
import SmartStore

// Which trees are held back, and the conflicts that say why.
extension TreeUpRun {
  /// Compares or merges the edited records of both soups with the server's, as the mode wants it, and holds back
  /// those for which nothing may be sent.
  func hold(_ target: some TreeSyncUpTarget, _ plan: inout Plan) async throws {
    let deleted = try await deletedParents(plan)
    try await endConflicts(ofRestoredParents: target, plan)
    if plan.parents.merge != nil, plan.rules.deletesChildren {
      plan.comparedDeletions = Set(deleted.keys)
      try await findChangedChildren(of: deleted, target, &plan)
    }
    for isParent in [true, false] {
      let run = plan.run(isParent: isParent)
      var part = plan.part(isParent: isParent)
      let dirty = try await part.records.dirtyEntryIds(in: context.store)
      if part.merge != nil {
        part.hold(try await run.merge(target, part, among: dirty))
        if isParent { try await removeOrphans(of: deleted, plan) }
      } else if context.mergeMode == .leaveIfChanged {
        try await part.records.adoptBases(in: context.store)
        // Children go with a parent that is deleted here, whatever the server has of them.
        let following =
          isParent || deleted.isEmpty ? [] : try await children(of: Set(deleted.values), plan)
        part.hold(
          try await run.check(target, part, among: dirty.filter { !following.contains($0) }))
      }
      part.held.formUnion(part.unclear.keys)
      try await run.hold(&part)
      if isParent { plan.parents = part } else { plan.children = part }
    }
  }

  /// The ids of parents that are deleted here and take their children with them, by entry id.
  private func deletedParents(_ plan: Plan) async throws -> [Int64: String] {
    guard plan.rules.deletesChildren else { return [:] }
    let dirty = try await plan.parents.records.dirtyEntryIds(in: context.store)
    return try await plan.parentRun.deleted(dirty, plan.parents)
  }

  private func children(of parents: Set<String>, _ plan: Plan) async throws -> Set<Int64> {
    try await context.store.read { reader in
      var ids: Set<Int64> = []
      for parent in parents {
        ids.formUnion(
          try plan.children.records.entryIds(where: plan.link.field, is: parent, in: reader))
      }
      return ids
    }
  }

  /// The ids of the conflicts that hold back trees as wholes.
  func conflictsOfTrees(_ plan: Plan) async throws -> Set<String> {
    let soups = [plan.parents.records.soupName, plan.children.records.soupName]
    return try await context.store.read { reader in
      try soups.reduce(into: Set<String>()) { ids, soup in
        ids.formUnion(try ConflictStore.all(in: soup, reader).filter(\.isOfTree).map(\.id))
      }
    }
  }

  /// Ends conflicts whose trees are not held back any more.
  func end(_ conflicts: Set<String>) async throws {
    if conflicts.isEmpty { return }
    try await context.store.inTransaction(durability: .normal) { transaction in
      try MetadataSoup.conflicts.remove(conflicts, in: transaction)
    }
  }
}

extension TreeSender {
  /// Finds out whether any record of the tree, edited here or not, was changed on the server since it was
  /// downloaded, in mode ``SyncMergeMode/leaveIfChanged``: each becomes a ``SyncConflict``.
  ///
  /// - Returns: Why the tree may not be sent; nil if it may.
  func check(
    _ tree: LocalTree, _ target: some TreeSyncUpTarget, noting conflicts: inout Set<String>
  ) async throws -> SyncRecordOutcome.Kind? {
    guard let id = id(of: tree), TreeWork.isKnown(tree.parent, plan.rules.parent) else {
      return nil
    }
    guard let inTree = try await target.remoteDates(ofTreeWithParent: id, in: run.context) else {
      return .undecided
    }
    let dates = try await withChildrenElsewhere(inTree, tree, target)
    let outdated = TreeWork.outdated(tree, plan.rules, than: dates, known: try await known(tree))
    let children = try await unseenChildren(of: tree, id, inTree, target)
    if outdated.isEmpty, children == nil { return nil }
    var found = outdated.compactMap { record -> SyncConflict? in
      let flags = RecordFlags(of: record.entry.record)
      switch record.remote {
      case .modified(let date):
        let text = JSONValue.string(SalesforceDate(milliseconds: date).text)
        let part = plan.part(isParent: record.isParent)
        return conflict(
          record.isParent, record.entry.id, record.id,
          flags.deleted ? .deletedHere : .changedThere, theirs: [part.fields.dateField: text])
      case .gone: return conflict(record.isParent, record.entry.id, record.id, .deletedThere)
      case .unknown: return nil
      }
    }
    if let children, case .modified(let date) = dates.parent {
      let text = JSONValue.string(SalesforceDate(milliseconds: date).text)
      found.removeAll { $0.recordId == id && $0.soupName == plan.parents.records.soupName }
      found.append(
        conflict(
          true, tree.parent.id, id, .deletedHere,
          theirs: [
            plan.parents.fields.dateField: text, SyncKeys.treeChildren: .object(children),
          ], fields: [SyncConflict.Field(changedChildren: children)]))
    }
    try await save(found, &conflicts)
    return found.isEmpty ? .undecided : .conflict
  }

  /// The dates of base versions, in milliseconds since 1970, by record id.
  private func known(_ tree: LocalTree) async throws -> [String: Int64] {
    let ids = [true, false].map { isParent in
      (isParent ? [tree.parent] : tree.children).compactMap {
        $0.record[plan.part(isParent: isParent).fields.idField]?.string
      }
    }
    return try await store.read { reader in
      var known: [String: Int64] = [:]
      for (isParent, ids) in zip([true, false], ids) {
        let part = plan.part(isParent: isParent)
        for (id, base) in try BaseVersionStore(soupName: part.records.soupName).bases(
          of: ids, in: reader)
        {
          let date = base[part.fields.dateField]?.string.flatMap(SalesforceDate.parse)
          known[id] = date?.milliseconds
        }
      }
      return known
    }
  }

  /// Why a record is not sent whose own server record is as it was.
  static let treeInConflict = SyncUpDecision.clientError(
    "TREE_IN_CONFLICT", "Another record of its tree is in conflict. Resolve that conflict first.")

  /// The ids of the conflicts of a tree's own records.
  func entriesInConflict(_ work: TreeWork) async throws -> Set<String> {
    try await store.read { reader in
      var ids: Set<String> = []
      for isParent in [true, false] {
        let entryIds = work.steps.filter { $0.isParent == isParent }.map(\.record.entryId)
        let soup = plan.part(isParent: isParent).records.soupName
        ids.formUnion(
          try ConflictStore.conflicts(of: entryIds, in: soup, reader).values.map(\.id))
      }
      return ids
    }
  }

  /// Keeps conflicts that the responses have made known.
  ///
  /// - Parameter deleted: The entries whose records are gone on the server; of the others a related record is.
  func note(
    conflictsOf acknowledged: [(step: TreeWork.Step, effect: SyncUpEffect)],
    _ deleted: Set<Int64>, _ conflicts: inout Set<String>
  ) async throws {
    let found = acknowledged.filter { $0.effect == .conflict }.compactMap { step, _ in
      step.record.id.map { id in
        conflict(
          step.isParent, step.record.entryId, id,
          deleted.contains(step.record.entryId) ? .deletedThere : .changedThere)
      }
    }
    try await save(found, &conflicts)
  }

  private func save(_ found: [SyncConflict], _ conflicts: inout Set<String>) async throws {
    if found.isEmpty { return }
    conflicts.formUnion(found.map(\.id))
    try await store.inTransaction { transaction in
      var changed: [SyncConflict] = []
      for (soup, group) in Dictionary(grouping: found, by: \.soupName) {
        let known = try ConflictStore.conflicts(of: group.map(\.entryId), in: soup, transaction)
        changed += group.map { $0.replacing(known[$0.entryId]) }
      }
      try ConflictStore.save(changed, in: transaction)
    }
  }

  private func conflict(
    _ isParent: Bool, _ entryId: Int64, _ id: String, _ kind: SyncConflict.Kind,
    theirs: JSONObject? = nil, fields: [SyncConflict.Field] = [],
    missing: SyncConflict.MissingParent? = nil
  ) -> SyncConflict {
    let part = plan.part(isParent: isParent)
    return SyncConflict(
      soupName: part.records.soupName, entryId: entryId, recordId: id, kind: kind, fields: fields,
      syncId: run.context.syncId, mergeMode: mode, time: run.now(),
      names: part.fields.names,
      theirs: theirs, missingParent: missing, isOfTree: missing == nil)
  }

  // MARK: Missing parents

  /// Keeps conflicts of children whose parent is gone on the server.
  func keep(missing parent: LocalTree.Entry, of children: [SyncUpRecord]) async throws {
    guard let id = parent.record[plan.rules.parent.idField]?.string else { return }
    try await keep(missing: id, parent.id, of: children)
  }

  /// Keeps conflicts of children whose parent is gone on the server, or has no entry.
  func keep(missing id: String, _ entryId: Int64?, of children: [SyncUpRecord]) async throws {
    let missing = SyncConflict.MissingParent(
      soupName: plan.parents.records.soupName, entryId: entryId, recordId: id,
      field: plan.link.field, isRequired: plan.rules.deletesChildren,
      names: plan.rules.parent.names)
    var ids: Set<String> = []
    try await save(
      children.map { child in
        conflict(false, child.entryId, child.id ?? "", .parentMissing, missing: missing)
      }, &ids)
  }
}
