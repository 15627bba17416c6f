import SalesforceSDKCommon
import SmartStore

// Trees whose records refer, apart from their links, to records that the server does not have.
extension TreeUpRun {
  /// A dirty entry of a tree.
  private struct Member {
    let isParent: Bool
    let entryId: Int64
    /// The tree, by its parent's entry.
    let tree: Int64
    /// The id by which others refer to it, if the server does not have it.
    let unsentId: String?
    /// The ids of such records in its fields.
    let references: Set<String>
  }

  /// Orders trees so that those come first to whose records others refer, and tells both parts of the
  /// plan who refers to whom.
  ///
  /// References within a tree, and those that close a circle of trees, are left out at first.
  ///
  /// - Parameter ids: The trees, by their parents' entries.
  func ordered(_ ids: [Int64], _ plan: inout Plan) async throws -> [Int64] {
    var members = try await members(plan, .unsent())
    let lost = Set(members.compactMap(\.unsentId).filter { !SyncKeys.isLocalId($0) })
    if !lost.isEmpty { members = try await self.members(plan, .unsent(lost: lost)) }
    if members.allSatisfy({ $0.unsentId == nil && $0.references.isEmpty }) { return ids }
    let records = try await LocalRecordIndex(context.store, run.uses)
    let places = try await records.references(in: context.store, .unsent(lost: lost))
    let unsent = try await records.unsent(Set(places.keys), in: context.store)
    let waiting =
      run.leavesOutReferences ? try await OutcomeStore(store: context.store).waitingIds() : []
    let byTree = Dictionary(grouping: members, by: \.tree)
    let treeOf = Dictionary(
      members.compactMap { member in member.unsentId.map { ($0, member.tree) } },
      uniquingKeysWith: { first, _ in first })
    let order = RunOrder(
      ids.map { id in
        let referred = (byTree[id] ?? []).flatMap(\.references).compactMap { treeOf[$0] }
        return RunOrder.Node(
          number: id, name: String(id),
          references: Set(referred).subtracting([id]).sorted().map { String($0) })
      })
    func references(isParent: Bool) -> SyncUpRun.References {
      var leftOut: [Int64: Set<String>] = [:]
      for member in members where member.isParent == isParent {
        let closing = (order.leftOut[member.tree] ?? []).union([String(member.tree)])
        leftOut[member.entryId] = member.references.filter { id in
          treeOf[id].map { closing.contains(String($0)) } ?? false
        }
      }
      return SyncUpRun.References(
        records: records, places: places, unsent: unsent, leftOut: leftOut, waiting: waiting,
        lost: lost)
    }
    plan.parents.references = references(isParent: true)
    plan.children.references = references(isParent: false)
    return order.levels.flatMap(\.self)
  }

  /// The dirty entries of both soups, as far as they are in a tree.
  private func members(
    _ plan: Plan, _ wanted: LocalIdIndex.Wanted
  ) async throws -> [Member] {
    var members: [Member] = []
    var children: [(parent: String, member: (Int64) -> Member)] = []
    func unsentId(_ entry: JSONSlice, _ fields: SyncUpFieldChoice) -> String? {
      SyncUpRecord.lostId(of: entry, idField: fields.idField)
        ?? entry[fields.idField]?.string.flatMap { SyncKeys.isLocalId($0) ? $0 : nil }
    }
    try await plan.parents.records.forEachDirty(in: context.store) { entryId, entry in
      members.append(
        Member(
          isParent: true, entryId: entryId, tree: entryId,
          unsentId: unsentId(entry, plan.rules.parent),
          references: LocalIdIndex.references(in: entry, idField: plan.rules.parent.idField, wanted)
        ))
    }
    try await plan.children.records.forEachDirty(in: context.store) { entryId, entry in
      guard let parent = entry[plan.link.field]?.string else { return }
      let (id, references) = (
        unsentId(entry, plan.rules.child),
        LocalIdIndex.references(in: entry, idField: plan.rules.child.idField, wanted)
      )
      children.append(
        (
          parent,
          { tree in
            Member(
              isParent: false, entryId: entryId, tree: tree, unsentId: id, references: references)
          }
        ))
    }
    let parents = Set(children.map(\.parent)).sorted()
    let trees = try await context.store.read { reader in
      try plan.parents.records.entryIds(of: parents, in: reader)
    }
    return members + children.compactMap { child in trees[child.parent].map(child.member) }
  }
}

extension TreeUpRun.Plan {
  /// From now on nothing is left out: what refers to a record that was not uploaded waits.
  mutating func closeCircles() {
    parents.references?.leftOut = [:]
    parents.references?.isLastLevel = true
    children.references?.leftOut = [:]
    children.references?.isLastLevel = true
  }
}
