import SalesforceSDKCommon
import SmartStore

// Children without a parent in the parents' soup: they belong to no tree.
extension TreeUpRun {
  /// Sends the unsynced children that need no parent, and says of the others why they are not sent (MS-240).
  ///
  /// A child needs none if it was deleted locally, or was detached: its object allows that, and the field that refers
  /// to the parent is null. One whose parent is not in the soup is a conflict of kind
  /// ``SyncConflict/Kind/parentMissing`` if the server may know either of them, and refused otherwise.
  ///
  /// - Returns: The records that the server has accepted.
  func sendOrphans(
    _ target: some TreeSyncUpTarget, _ plan: Plan, noting conflicts: inout Set<String>
  ) async throws -> [SyncUpRecord] {
    let found = try await orphans(plan)
    if found.isEmpty { return [] }
    let sender = TreeSender(plan: plan, mode: context.mergeMode)
    let effect = TreeEffectWriter(plan: plan, time: run.now())
    var steps: [TreeWork.Step] = []
    var removed: [TreeWork.LocalStep] = []
    var refused: [TreeWork.LocalStep] = []
    var held: [SyncRecordOutcome.Kind: [TreeWork.Step]] = [:]
    var missing: [String: [SyncUpRecord]] = [:]
    for entry in try await plan.childRun.resolved(found, plan.children) {
      let id = entry.record[plan.rules.child.idField]?.string
      var child = TreeWork.LocalStep(isParent: false, entryId: entry.id, id: id)
      switch SyncUpDecision(entryId: entry.id, record: entry.record, fields: plan.rules.child) {
      case .removeEntry: removed.append(child)
      case .send(var record):
        if plan.children.held.contains(entry.id) {
          let kind: SyncRecordOutcome.Kind =
            plan.children.undecided.contains(entry.id) ? .undecided : .conflict
          held[kind, default: []].append(
            TreeWork.Step(isParent: false, record: record, isLinked: false))
        } else if record.action == .delete || isDetached(entry.record, plan) {
          if record.action == .update { record.fieldNames.append(plan.link.field) }
          steps.append(TreeWork.Step(isParent: false, record: record, isLinked: false))
        } else if let parent = entry.record[plan.link.field]?.string, !parent.isEmpty,
          record.hasServersId || Self.mayBeServersId(parent)
        {
          missing[parent, default: []].append(record)
        } else {
          child.error = parentNotHere(plan)
          refused.append(child)
        }
      case .refuse(_, let error):
        child.error = error
        refused.append(child)
      case .nothing:
        child.error = parentNotHere(plan)
        refused.append(child)
      }
    }
    try await effect.write(removed: removed, refused: refused).forEach(run.reportOutcome)
    for (parent, records) in missing {
      try await sender.keep(missing: parent, nil, of: records)
      held[.conflict, default: []] += records.map {
        TreeWork.Step(isParent: false, record: $0, isLinked: false)
      }
    }
    for (kind, steps) in held {
      try await sender.completeLocally(held: TreeWork(steps: steps), kind)
    }
    return try await sender.send(detached: steps, target, noting: &conflicts)
  }

  private static func mayBeServersId(_ text: String) -> Bool {
    [15, 18].contains(text.utf8.count) && !SyncKeys.isLocalId(text)
  }

  private func isDetached(_ entry: JSONSlice, _ plan: Plan) -> Bool {
    guard !plan.rules.deletesChildren, let link = entry[plan.link.field] else { return false }
    return link.isNull || link.string?.isEmpty == true
  }

  private func parentNotHere(_ plan: Plan) -> JSONValue {
    SyncUpDecision.clientError(
      "PARENT_NOT_HERE",
      "The record's parent is not in the soup '\(plan.parents.records.soupName)', so it belongs to no "
        + "tree and cannot be sent. Give it a parent that is there, or send it with another sync.")
  }

  private func orphans(_ plan: Plan) async throws -> [LocalTree.Entry] {
    try await context.store.read { reader in
      let ids = try plan.children.records.dirtyOrphans(
        parents: plan.parents.records, by: plan.link.field, in: reader)
      return try reader.entries(ids, of: plan.children.records.soupName)
    }
  }

  /// Ends conflicts of children whose parents the server has again.
  func endConflicts(
    ofRestoredParents target: some TreeSyncUpTarget, _ plan: Plan
  ) async throws {
    let soup = plan.children.records.soupName
    let open = try await context.store.read { reader in try ConflictStore.open(in: soup, reader) }
    let parents = open.reduce(into: [String: [Int64]]()) { parents, conflict in
      guard let parent = conflict.missingParent, parent.entryId != nil else { return }
      parents[parent.recordId, default: []].append(conflict.entryId)
    }
    for (id, entryIds) in parents {
      guard
        case .modified = try await target.remoteDates(ofTreeWithParent: id, in: context)?.parent
      else { continue }
      try await context.store.inTransaction { transaction in
        try ConflictStore.remove(entryIds, of: soup, in: transaction)
      }
    }
  }
}
