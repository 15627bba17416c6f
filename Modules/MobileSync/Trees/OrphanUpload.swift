import SalesforceSDKCommon
import SmartStore

/// The stage of a sync up of trees that sends children without a parent in the parents' soup: they belong to no tree.
struct OrphanUpload: Sendable {
  let plan: TreePlan

  /// Sends the unsynced children that need no parent, and says of the others why they are not sent (MS-240).
  ///
  /// A child needs none if it was deleted locally, or was detached: its object allows that, and the field that refers
  /// to the parent is null. One whose parent is not in the soup is a conflict of kind
  /// ``SyncConflict/Kind/parentMissing`` if the server may know either of them, and refused otherwise.
  ///
  /// - Returns: The records that the server has accepted.
  func send(
    on target: some TreeSyncUpTarget, noting conflicts: inout Set<String>
  ) async throws -> [SyncUpRecord] {
    let found = try await orphans()
    if found.isEmpty { return [] }
    let scope = plan.scopes.children
    let sender = TreeSender(plan: plan)
    let effect = TreeEffectWriter(plan: plan, time: scope.now())
    var steps: [TreeWork.Step] = []
    var removed: [TreeWork.LocalStep] = []
    var refused: [TreeWork.LocalStep] = []
    var held: [SyncRecordOutcome.Kind: [TreeWork.Step]] = [:]
    var missing: [String: [SyncUpRecord]] = [:]
    for entry in try await scope.resolved(found) {
      let id = entry.record[plan.rules.fields.children.idField]?.string
      var child = TreeWork.LocalStep(level: .children, entryId: entry.id, id: id)
      switch SyncUpDecision(
        entryId: entry.id, record: entry.record, fields: plan.rules.fields.children)
      {
      case .removeEntry: removed.append(child)
      case .send(var record):
        if let kind = plan.held.children.reason(entry.id) {
          held[kind, default: []].append(
            TreeWork.Step(level: .children, record: record, isLinked: false))
        } else if record.action == .delete || isDetached(entry.record) {
          if record.action == .update { record.fieldNames.append(plan.rules.link.field) }
          steps.append(TreeWork.Step(level: .children, record: record, isLinked: false))
        } else if let parent = entry.record[plan.rules.link.field]?.string, !parent.isEmpty,
          record.hasServersId || Self.mayBeServersId(parent)
        {
          missing[parent, default: []].append(record)
        } else {
          child.error = parentNotHere()
          refused.append(child)
        }
      case .refuse(_, let error):
        child.error = error
        refused.append(child)
      case .nothing:
        child.error = parentNotHere()
        refused.append(child)
      }
    }
    try await effect.write(removed: removed, refused: refused).forEach(scope.reportOutcome)
    for (parent, records) in missing {
      try await TreeConflictStore(plan: plan).keep(missing: parent, nil, of: records)
      held[.conflict, default: []] += records.map {
        TreeWork.Step(level: .children, record: $0, isLinked: false)
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

  private func isDetached(_ entry: JSONSlice) -> Bool {
    guard !plan.rules.deletesChildren, let link = entry[plan.rules.link.field] else { return false }
    return link.isNull || link.string?.isEmpty == true
  }

  private func parentNotHere() -> JSONValue {
    SyncUpDecision.clientError(
      "PARENT_NOT_HERE",
      "The record's parent is not in the soup '\(plan.scopes.parents.soup.soupName)', so it belongs to no "
        + "tree and cannot be sent. Give it a parent that is there, or send it with another sync.")
  }

  private func orphans() async throws -> [LocalTree.Entry] {
    try await plan.store.read { reader in
      let ids = try plan.scopes.children.soup.dirtyOrphans(
        parents: plan.scopes.parents.soup, by: plan.rules.link.field, in: reader)
      return try reader.entries(ids, of: plan.scopes.children.soup.soupName)
    }
  }
}
