import SalesforceSDKCommon
import SmartStore

/// Finds what the deletion of a parent would delete with it on the server, and its user has not seen: children that were
/// created or changed there.
struct DeletedParentDetection: Sendable {
  let plan: TreePlan

  /// The detected conflicts.
  struct Found: Sendable {
    /// The children, as ``SyncKeys/treeChildren`` has them, by the parent's id.
    var changedChildren: [String: JSONObject] = [:]
    /// The entries of parents that the server did not return.
    var undecided: Set<Int64> = []
  }

  /// Finds the changed children of parents that are deleted locally, in mode ``SyncMergeMode/mergeFields``.
  ///
  /// Costs one request for each such parent.
  ///
  /// - Parameter deleted: The parents' ids, by entry id.
  func changedChildren(
    of deleted: [Int64: String], on target: some TreeSyncUpTarget
  ) async throws -> Found {
    var found = Found()
    for (entryId, id) in deleted.sorted(by: { $0.key < $1.key }) {
      guard
        let tree = try await plan.store.read({ reader in try plan.tree(entryId, in: reader) }),
        TreeWork.isKnown(tree.parent, plan.rules.fields.parents)
      else { continue }
      let children = try await changedChildren(of: tree, id, target)
      if children == nil { found.undecided.insert(entryId) }
      if let children, !children.isEmpty { found.changedChildren[id] = children }
    }
    return found
  }

  /// The changed children's modification dates, by id; nil if the server does not return them.
  private func changedChildren(
    of tree: LocalTree, _ id: String, _ target: some TreeSyncUpTarget
  ) async throws -> JSONObject? {
    guard
      let dates = try await target.remoteDates(
        ofTreeWithParent: id, in: plan.scopes.parents.context)
    else {
      return nil
    }
    if dates.parent == .gone { return [:] }
    let (fields, records) = (plan.rules.fields.children, plan.scopes.children.soup)
    let entries = Dictionary(
      tree.children.compactMap { entry in entry.record[fields.idField]?.string.map { ($0, entry) }
      },
      uniquingKeysWith: { first, _ in first })
    let (bases, seen) = try await plan.store.read { reader in
      (
        try BaseVersionStore(soupName: records.soupName).bases(of: entries.keys, in: reader),
        try seenChildren(of: id, in: reader)
      )
    }
    var changed: [String: Int64] = [:]
    var alike: [(record: SyncUpRecord, date: Int64)] = []
    for (childId, remote) in dates.children {
      guard case .modified(let date) = remote else { return nil }
      if let known = seen[childId], date <= known { continue }
      guard let entry = entries[childId] else {
        changed[childId] = date
        continue
      }
      let base = bases[childId]
      let known =
        base.map { $0[fields.dateField]?.string } ?? entry.record[fields.dateField]?.string
      if let known = known.flatMap(SalesforceDate.parse), known.milliseconds != date {
        if date > known.milliseconds { changed[childId] = date }
      } else if let record = TreeWork.sending(entry, .update, fields) {
        // The date of an upload from here is not known, and an equal date proves nothing: it has whole seconds.
        alike.append((record, date))
      }
    }
    guard let others = try await changedValues(among: alike.map(\.record), bases, target)
    else { return nil }
    for (record, date) in alike where others.contains(record.entryId) {
      changed[record.id ?? ""] = date
    }
    return changed.isEmpty ? [:] : Self.children(seen.merging(changed) { $1 })
  }

  /// The entries of those records of a level whose values on the server differ from the base version, or from the entry
  /// if it has none and was not edited; nil if the server does not return them.
  func changedValues(
    among records: [SyncUpRecord], of level: TreeLevel = .children, _ bases: [String: JSONObject],
    _ target: some TreeSyncUpTarget
  ) async throws -> Set<Int64>? {
    guard let fetcher = target as? any RemoteRecordFetching else { return [] }
    let fields = plan.rules.fields[level]
    let compared = records.compactMap { record -> (record: SyncUpRecord, base: JSONObject)? in
      let clean = RecordFlags(of: record.record).local ? nil : record.record.value.object
      return (record.id.flatMap { bases[$0] } ?? clean).map { (record, $0) }
    }
    if compared.isEmpty { return [] }
    let names = SOQLNames.appending(
      compared.flatMap { _, base in
        base.filter { fields.names.isData($0.key) && $0.value.object == nil }.map(\.key)
      }, to: fields.update.filter { !$0.contains(".") && $0 != fields.idField })
    let results = try await fetcher.remoteRecords(
      of: compared.map(\.record), fields: names, in: plan.scopes[level].context)
    var changed: Set<Int64> = []
    for ((record, base), result) in zip(compared, results) {
      switch result {
      case .record(let remote):
        if FieldMerge.isChangedThere(
          base: base, mine: record.record, theirs: remote.value.object ?? [:], names: fields.names)
        {
          changed.insert(record.entryId)
        }
      case .gone: continue
      case .unknown: return nil
      }
    }
    return changed
  }

  // MARK: What decisions have covered

  /// The children that a decision about the parent's deletion has covered, with their modification dates.
  func seenChildren(
    of id: String, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> [String: Int64] {
    let base = try BaseVersionStore(soupName: plan.scopes.parents.soup.soupName).bases(
      of: [id], in: reader)[
        id]
    return (base?[SyncKeys.treeChildren]?.object ?? [:]).reduce(into: [:]) { seen, child in
      seen[child.key] = child.value.string.flatMap(SalesforceDate.parse)?.milliseconds
    }
  }

  /// The form of ``SyncKeys/treeChildren``.
  static func children(_ dates: [String: Int64]) -> JSONObject {
    JSONObject(
      dates.sorted { $0.key < $1.key }.map { id, date in
        (key: id, value: .string(SalesforceDate(milliseconds: date).text))
      })
  }

  // MARK: One tree

  /// The server's dates with those of the tree's children that belong to no parent there, or to another.
  func withChildrenElsewhere(
    _ dates: RemoteTreeDates, _ tree: LocalTree, _ target: some TreeSyncUpTarget
  ) async throws -> RemoteTreeDates {
    let absent = tree.children.filter { entry in
      TreeWork.isKnown(entry, plan.rules.fields.children)
        && entry.record[plan.rules.fields.children.idField]?.string.map {
          dates.children[$0] == nil
        } ?? false
    }.compactMap { TreeWork.sending($0, .update, plan.rules.fields.children) }
    if absent.isEmpty { return dates }
    var children = dates.children
    for group in Dictionary(grouping: absent, by: \.objectType).values {
      let found = try await target.remoteDates(of: group, in: plan.scopes.parents.context)
      for (index, record) in group.enumerated() {
        children[record.id ?? ""] = index < found.count ? found[index] : .unknown
      }
    }
    return RemoteTreeDates(parent: dates.parent, children: children)
  }

  /// The children on the server that the deletion of the tree's parent would delete and whose user has not seen them
  /// as they are: those that are not known here, and those whose values were changed in the second of their date;
  /// nil if there are none.
  func unseenChildren(
    of tree: LocalTree, _ id: String, _ dates: RemoteTreeDates, _ target: some TreeSyncUpTarget
  ) async throws -> JSONObject? {
    guard plan.rules.deletesChildren, RecordFlags(of: tree.parent.record).deleted else {
      return nil
    }
    let fields = plan.rules.fields.children
    let known = Dictionary(
      tree.children.compactMap { entry in entry.record[fields.idField]?.string.map { ($0, entry) }
      },
      uniquingKeysWith: { first, _ in first })
    let (seen, bases) = try await plan.store.read { reader in
      (
        try seenChildren(of: id, in: reader),
        try BaseVersionStore(soupName: plan.scopes.children.soup.soupName)
          .bases(of: known.keys, in: reader)
      )
    }
    var unseen: [String: Int64] = [:]
    var alike: [Int64: (record: SyncUpRecord, id: String, date: Int64)] = [:]
    for (childId, remote) in dates.children {
      guard case .modified(let date) = remote else { continue }
      if let earlier = seen[childId], date <= earlier { continue }
      if let entry = known[childId] {
        guard date == ServerDate.milliseconds(of: entry.record[fields.dateField]),
          let record = TreeWork.sending(entry, .update, fields)
        else { continue }
        alike[entry.id] = (record, childId, date)
      } else {
        unseen[childId] = date
      }
    }
    for entryId in try await changedValues(among: alike.values.map(\.record), bases, target) ?? [] {
      if let child = alike[entryId] { unseen[child.id] = child.date }
    }
    return unseen.isEmpty ? nil : Self.children(seen.merging(unseen) { $1 })
  }
}
