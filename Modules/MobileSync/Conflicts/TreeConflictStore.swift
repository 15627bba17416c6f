import SalesforceSDKCommon
import SmartStore

/// Stores and ends the conflicts of trees.
struct TreeConflictStore: Sendable {
  let plan: TreePlan

  /// The ids of the conflicts that hold back trees as wholes.
  func ofTrees() async throws -> Set<String> {
    let soups = [plan.scopes.parents.soup.soupName, plan.scopes.children.soup.soupName]
    return try await plan.store.read { reader in
      try soups.reduce(into: Set<String>()) { ids, soup in
        ids.formUnion(try ConflictStore.all(in: soup, reader).filter(\.isOfTree).map(\.id))
      }
    }
  }

  /// Ends conflicts whose trees are no longer skipped.
  func end(_ conflicts: Set<String>) async throws {
    if conflicts.isEmpty { return }
    try await plan.store.inTransaction(durability: .normal) { transaction in
      try MetadataSoup.conflicts.remove(conflicts, in: transaction)
    }
  }

  /// The reason why a record is not sent although the server's record is unchanged.
  static let treeInConflict = SyncUpDecision.clientError(
    "TREE_IN_CONFLICT", "Another record of its tree is in conflict. Resolve that conflict first.")

  /// The ids of the conflicts of a tree's own records.
  func entriesInConflict(_ work: TreeWork) async throws -> Set<String> {
    try await plan.store.read { reader in
      var ids: Set<String> = []
      for level in TreeLevel.allCases {
        let entryIds = work.steps.filter { $0.level == level }.map(\.record.entryId)
        let soup = plan.scopes[level].soup.soupName
        ids.formUnion(
          try ConflictStore.conflicts(of: entryIds, in: soup, reader).values.map(\.id))
      }
      return ids
    }
  }

  /// Stores the conflicts that responses have reported.
  ///
  /// - Parameter deleted: The entries whose own records no longer exist on the server. For the
  ///   other entries, a related record does not.
  func note(
    conflictsOf acknowledged: [(step: TreeWork.Step, effect: SyncUpEffect)],
    _ deleted: Set<Int64>, _ conflicts: inout Set<String>
  ) async throws {
    let found = acknowledged.filter { $0.effect == .conflict }.compactMap { step, _ in
      step.record.id.map { id in
        conflict(
          step.level, step.record.entryId, id,
          deleted.contains(step.record.entryId) ? .deletedThere : .changedThere)
      }
    }
    try await save(found, &conflicts)
  }

  func save(_ found: [SyncConflict], _ conflicts: inout Set<String>) async throws {
    if found.isEmpty { return }
    conflicts.formUnion(found.map(\.id))
    try await plan.store.inTransaction { transaction in
      var changed: [SyncConflict] = []
      for (soup, group) in Dictionary(grouping: found, by: \.soupName) {
        let known = try ConflictStore.conflicts(of: group.map(\.entryId), in: soup, transaction)
        changed += group.map { $0.replacing(known[$0.entryId]) }
      }
      try ConflictStore.save(changed, in: transaction)
    }
  }

  func conflict(
    _ level: TreeLevel, _ entryId: Int64, _ id: String, _ kind: SyncConflict.Kind,
    theirs: JSONObject? = nil, fields: [SyncConflict.Field] = [],
    missing: SyncConflict.MissingParent? = nil
  ) -> SyncConflict {
    let scope = plan.scopes[level]
    return SyncConflict(
      soupName: scope.soup.soupName, entryId: entryId, recordId: id, kind: kind, fields: fields,
      syncId: scope.context.syncId, mergeMode: plan.mode, time: scope.now(),
      names: scope.fields.names,
      theirs: theirs, missingParent: missing, isOfTree: missing == nil)
  }

  // MARK: Missing parents

  /// Stores conflicts of children whose parent is gone on the server.
  func keep(missing parent: LocalTree.Entry, of children: [SyncUpRecord]) async throws {
    guard let id = parent.record[plan.rules.fields.parents.idField]?.string else { return }
    try await keep(missing: id, parent.id, of: children)
  }

  /// Stores conflicts of children whose parent is gone on the server, or has no entry.
  func keep(missing id: String, _ entryId: Int64?, of children: [SyncUpRecord]) async throws {
    let missing = SyncConflict.MissingParent(
      soupName: plan.scopes.parents.soup.soupName, entryId: entryId, recordId: id,
      field: plan.rules.link.field, isRequired: plan.rules.deletesChildren,
      names: plan.rules.fields.parents.names)
    var ids: Set<String> = []
    try await save(
      children.map { child in
        conflict(.children, child.entryId, child.id ?? "", .parentMissing, missing: missing)
      }, &ids)
  }
}
