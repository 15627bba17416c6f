import SalesforceSDKCommon
import SmartStore

/// The stage of a sync up that orders trees whose records refer, apart from their links, to records that the server
/// does not have.
struct TreeOrder: Sendable {
  let plan: TreePlan
  let leavesOutReferences: Bool

  /// A dirty entry of a tree.
  private struct Member {
    let level: TreeLevel
    let entryId: Int64
    /// The tree, by its parent's entry.
    let tree: Int64
    /// The id by which others refer to it, if the server does not have it.
    let unsentId: String?
    /// The ids of such records in its fields.
    let references: Set<String>
  }

  /// Orders trees so that those come first to whose records others refer.
  ///
  /// References within a tree, and those that close a cycle of trees, are left out at first.
  ///
  /// - Parameter ids: The trees, by their parents' entries.
  /// - Returns: The order, and who refers to whom on each level; nil if no record has to wait for another.
  func order(
    _ ids: [Int64]
  ) async throws -> (levels: [[Int64]], references: PerLevel<UploadReferences?>)? {
    var members = try await members(.unsent())
    let lost = Set(members.compactMap(\.unsentId).filter { !SyncKeys.isLocalId($0) })
    if !lost.isEmpty { members = try await self.members(.unsent(lost: lost)) }
    if members.allSatisfy({ $0.unsentId == nil && $0.references.isEmpty }) { return nil }
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
    let all = try await UploadOrder(
      scope: plan.scopes.parents, leavesOutReferences: leavesOutReferences
    ).references([:], lost: lost)
    func references(_ level: TreeLevel) -> UploadReferences {
      var references = all
      for member in members where member.level == level {
        let closing = (order.leftOut[member.tree] ?? []).union([String(member.tree)])
        references.leftOut[member.entryId] = member.references.filter { id in
          treeOf[id].map { closing.contains(String($0)) } ?? false
        }
      }
      return references
    }
    return (
      order.levels, PerLevel(parents: references(.parents), children: references(.children))
    )
  }

  /// The dirty entries of both soups, as far as they are in a tree.
  private func members(
    _ wanted: LocalIdIndex.Wanted
  ) async throws -> [Member] {
    var members: [Member] = []
    var children: [(parent: String, member: (Int64) -> Member)] = []
    func unsentId(_ entry: JSONSlice, _ fields: SyncUpFieldChoice) -> String? {
      SyncUpRecord.lostId(of: entry, idField: fields.idField)
        ?? SyncUpRecord.localId(of: entry, idField: fields.idField)
    }
    try await plan.scopes.parents.soup.forEachDirty(in: plan.store) { entryId, entry in
      members.append(
        Member(
          level: .parents, entryId: entryId, tree: entryId,
          unsentId: unsentId(entry, plan.rules.fields.parents),
          references: LocalIdIndex.references(
            in: entry, idField: plan.rules.fields.parents.idField, wanted)
        ))
    }
    try await plan.scopes.children.soup.forEachDirty(in: plan.store) { entryId, entry in
      guard let parent = entry[plan.rules.link.field]?.string else { return }
      let (id, references) = (
        unsentId(entry, plan.rules.fields.children),
        LocalIdIndex.references(in: entry, idField: plan.rules.fields.children.idField, wanted)
      )
      children.append(
        (
          parent,
          { tree in
            Member(
              level: .children, entryId: entryId, tree: tree, unsentId: id, references: references)
          }
        ))
    }
    let parents = Set(children.map(\.parent)).sorted()
    let trees = try await plan.store.read { reader in
      try plan.scopes.parents.soup.entryIds(of: parents, in: reader)
    }
    return members + children.compactMap { child in trees[child.parent].map(child.member) }
  }
}
