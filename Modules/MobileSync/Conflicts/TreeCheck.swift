import SalesforceSDKCommon
import SmartStore

/// The comparison of one tree before it is sent, in mode ``SyncMergeMode/leaveIfChanged``.
struct TreeCheck: Sendable {
  let plan: TreePlan

  /// Finds out whether any record of the tree, edited locally or not, was changed on the server since it was
  /// downloaded, in mode ``SyncMergeMode/leaveIfChanged``: each becomes a ``SyncConflict``.
  ///
  /// - Returns: Why the tree may not be sent; nil if it may.
  func check(
    _ tree: LocalTree, on target: some TreeSyncUpTarget, noting conflicts: inout Set<String>
  ) async throws -> SyncRecordOutcome.Kind? {
    guard let id = tree.parent.record[plan.rules.fields.parents.idField]?.string,
      TreeWork.isKnown(tree.parent, plan.rules.fields.parents)
    else { return nil }
    let context = plan.scopes.parents.context
    let deletion = DeletedParentDetection(plan: plan)
    let store = TreeConflictStore(plan: plan)
    guard let inTree = try await target.remoteDates(ofTreeWithParent: id, in: context) else {
      return .undecided
    }
    let dates = try await deletion.withChildrenElsewhere(inTree, tree, target)
    let bases = try await bases(of: tree)
    let outdated = try await changedByOthers(
      outdated(tree, than: dates, known: self.dates(of: bases)), bases, target)
    let children = try await deletion.unseenChildren(of: tree, id, inTree, target)
    if outdated.isEmpty, children == nil { return nil }
    var found = outdated.compactMap { record -> SyncConflict? in
      let flags = RecordFlags(of: record.entry.record)
      switch record.remote {
      case .modified(let date):
        let text = JSONValue.string(SalesforceDate(milliseconds: date).text)
        let part = plan.scopes[record.level]
        return store.conflict(
          record.level, record.entry.id, record.id,
          flags.deleted ? .deletedHere : .changedThere, theirs: [part.fields.dateField: text])
      case .gone: return store.conflict(record.level, record.entry.id, record.id, .deletedThere)
      case .unknown: return nil
      }
    }
    if let children, case .modified(let date) = dates.parent {
      let text = JSONValue.string(SalesforceDate(milliseconds: date).text)
      found.removeAll { $0.recordId == id && $0.soupName == plan.scopes.parents.soup.soupName }
      found.append(
        store.conflict(
          .parents, tree.parent.id, id, .deletedHere,
          theirs: [
            plan.scopes.parents.fields.dateField: text, SyncKeys.treeChildren: .object(children),
          ], fields: [SyncConflict.Field(changedChildren: children)]))
    }
    try await store.save(found, &conflicts)
    return found.isEmpty ? .undecided : .conflict
  }

  /// The base versions of a tree's records, by id.
  private func bases(of tree: LocalTree) async throws -> PerLevel<[String: JSONObject]> {
    try await plan.store.read { reader in
      var known = PerLevel<[String: JSONObject]>(parents: [:], children: [:])
      for level in TreeLevel.allCases {
        let part = plan.scopes[level]
        let entries = level == .parents ? [tree.parent] : tree.children
        known[level] = try BaseVersionStore(soupName: part.soup.soupName).bases(
          of: entries.compactMap { $0.record[part.fields.idField]?.string }, in: reader)
      }
      return known
    }
  }

  /// The dates of base versions, in milliseconds since 1970, by record id.
  private func dates(of bases: PerLevel<[String: JSONObject]>) -> [String: Int64] {
    var known: [String: Int64] = [:]
    for level in TreeLevel.allCases {
      for (id, base) in bases[level] {
        let date = base[plan.scopes[level].fields.dateField]?.string.flatMap(SalesforceDate.parse)
        known[id] = date?.milliseconds
      }
    }
    return known
  }

  /// The records among those with a later date that others have changed: after an upload from here the date is the
  /// upload's, which is not known, and the values decide.
  private func changedByOthers(
    _ outdated: [Outdated], _ bases: PerLevel<[String: JSONObject]>,
    _ target: some TreeSyncUpTarget
  ) async throws -> [Outdated] {
    guard target is any RemoteRecordFetching else { return outdated }
    var changed = outdated
    for level in TreeLevel.allCases {
      let fields = plan.rules.fields[level]
      let sent = outdated.compactMap { record -> SyncUpRecord? in
        guard record.level == level, case .modified = record.remote,
          let base = bases[level][record.id],
          base[fields.dateField] == nil
        else { return nil }
        return TreeWork.sending(record.entry, .update, fields)
      }
      if sent.isEmpty { continue }
      let others = try await DeletedParentDetection(plan: plan)
        .changedValues(among: sent, of: level, bases[level], target)
      guard let others else { continue }
      let own = Set(sent.map(\.entryId)).subtracting(others)
      changed.removeAll { $0.level == level && own.contains($0.entry.id) }
    }
    return changed
  }

  /// A record of a tree, and what the server says of its age.
  private struct Outdated: Sendable {
    let level: TreeLevel
    let entry: LocalTree.Entry
    let id: String
    let remote: RemoteDate
  }

  /// The records of the tree that were changed or deleted on the server since they were downloaded.
  ///
  /// - Parameter known: The later dates up to which a record's changes are known, by id, where a base version
  ///   has one.
  private func outdated(
    _ tree: LocalTree, than remote: RemoteTreeDates, known: [String: Int64]
  ) -> [Outdated] {
    let rules = plan.rules
    let parentFlags = RecordFlags(of: tree.parent.record)
    var outdated: [Outdated] = []
    func compare(
      _ entry: LocalTree.Entry, _ fields: SyncUpFieldChoice, level: TreeLevel, isDeleted: Bool,
      _ date: (String) -> RemoteDate
    ) {
      guard let id = entry.record[fields.idField]?.string else { return }
      let own = ServerDate.milliseconds(of: entry.record[fields.dateField])
      let local = own.map { max($0, known[id] ?? $0) }
      if !DateRule.isNewer(localDate: local, isDeleted: isDeleted, than: date(id)) {
        outdated.append(Outdated(level: level, entry: entry, id: id, remote: date(id)))
      }
    }
    compare(tree.parent, rules.fields.parents, level: .parents, isDeleted: parentFlags.deleted) {
      _ in
      remote.parent
    }
    for entry in tree.children where TreeWork.isKnown(entry, rules.fields.children) {
      let isDeleted =
        RecordFlags(of: entry.record).deleted || (parentFlags.deleted && rules.deletesChildren)
      compare(entry, rules.fields.children, level: .children, isDeleted: isDeleted) {
        remote.children[$0] ?? .gone
      }
    }
    return outdated
  }
}
