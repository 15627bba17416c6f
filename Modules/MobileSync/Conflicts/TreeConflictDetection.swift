import SalesforceSDKCommon
import SmartStore

/// The stage of a sync up that finds the records of trees which may not be sent: what ``ConflictDetection`` is for one
/// soup, and what the deletion of a parent would take along.
///
/// In mode ``SyncMergeMode/leaveIfChanged`` each tree is also compared as a whole before it is sent: ``TreeCheck``.
struct TreeConflictDetection: Sendable {
  let plan: TreePlan

  /// The detected conflicts.
  struct Found: Sendable {
    /// The entries that are not sent.
    var held: PerLevel<HeldEntries>
    /// As ``TreePlan/comparedDeletions``.
    var comparedDeletions: Set<Int64>?
  }

  /// Compares the edited records of both soups with the server's, as the merge mode wants it.
  func compare(on target: some TreeSyncUpTarget) async throws -> Found {
    var found = Found(held: plan.held)
    let deleted = try await deletedParents()
    try await endConflicts(ofRestoredParents: target)
    var changed = DeletedParentDetection.Found()
    if plan.mode == .mergeFields, plan.rules.deletesChildren {
      found.comparedDeletions = Set(deleted.keys)
      changed = try await DeletedParentDetection(plan: plan).changedChildren(
        of: deleted, on: target)
      found.held.parents.undecided.formUnion(changed.undecided)
    }
    for level in TreeLevel.allCases {
      let detection = ConflictDetection(scope: plan.scopes[level])
      var dirty: [Int64] = []
      if plan.mode != .overwrite {
        dirty = try await plan.scopes[level].soup.dirtyEntryIds(in: plan.store)
      }
      if plan.mode == .leaveIfChanged, level == .children, !deleted.isEmpty {
        // Children go with a parent that is deleted locally, whatever the server has of them.
        let following = try await children(of: Set(deleted.values))
        dirty.removeAll(where: following.contains)
      }
      found.held[level].formUnion(
        try await detection.compare(
          ConflictDetection.Input(
            ids: dirty, inDoubt: plan.held[level].inDoubt,
            changedChildren: level == .parents ? changed.changedChildren : [:]), on: target))
      if plan.mode == .mergeFields, level == .parents { try await removeOrphans(of: deleted) }
      found.held[level].formUnion(try await detection.open())
    }
    return found
  }

  /// The ids of parents that are deleted locally and take their children with them, by entry id.
  private func deletedParents() async throws -> [Int64: String] {
    guard plan.rules.deletesChildren else { return [:] }
    let idField = plan.rules.fields.parents.idField
    var deleted: [Int64: String] = [:]
    try await plan.scopes.parents.soup.forEachDirty(in: plan.store) { entryId, entry in
      if RecordFlags(of: entry).deleted { deleted[entryId] = entry[idField]?.string }
    }
    return deleted
  }

  private func children(of parents: Set<String>) async throws -> Set<Int64> {
    let soup = plan.scopes.children.soup
    return try await plan.store.read { reader in
      var ids: Set<Int64> = []
      for parent in parents {
        ids.formUnion(
          try soup.entryIds(where: plan.rules.link.field, is: parent, in: reader))
      }
      return ids
    }
  }

  /// Removes the children of parents that turned out to be deleted on both sides.
  private func removeOrphans(of deleted: [Int64: String]) async throws {
    if deleted.isEmpty { return }
    let left = Set(try await plan.scopes.parents.entries(deleted.keys.sorted()).map(\.id))
    let parents = deleted.filter { !left.contains($0.key) }.map(\.value).sorted()
    try await plan.store.inTransaction { transaction in
      for id in parents { try plan.removeChildren(of: id, in: transaction) }
    }
  }

  /// Ends conflicts of children whose parents the server has again.
  private func endConflicts(
    ofRestoredParents target: some TreeSyncUpTarget
  ) async throws {
    let soup = plan.scopes.children.soup.soupName
    let open = try await plan.store.read { reader in try ConflictStore.open(in: soup, reader) }
    let parents = open.reduce(into: [String: [Int64]]()) { parents, conflict in
      guard let parent = conflict.missingParent, parent.entryId != nil else { return }
      parents[parent.recordId, default: []].append(conflict.entryId)
    }
    for (id, entryIds) in parents {
      guard
        case .modified = try await target.remoteDates(
          ofTreeWithParent: id, in: plan.scopes.parents.context)?.parent
      else { continue }
      try await plan.store.inTransaction { transaction in
        try ConflictStore.remove(entryIds, of: soup, in: transaction)
      }
    }
  }
}
