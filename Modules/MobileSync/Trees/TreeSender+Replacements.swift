import SalesforceSDKCommon
import SmartStore

// Records of a tree that are gone, and in whose places the server has others with the same external ids.
extension TreeSender {
  /// The records that have replaced those of a tree's entries: only for entries without edits. An
  /// edit is uploaded to the record with its external id; an entry without an edit must not replace
  /// that record's values.
  struct Replacements: Sendable {
    var parents: [EntryAdoption.Replacement] = []
    var children: [EntryAdoption.Replacement] = []
  }

  /// Finds the records that replace a lost parent and, if the server deletes children with their
  /// parent, its children. Costs one query for each object type of which there are entries with
  /// external ids.
  ///
  /// - Returns: nil if the server does not return them.
  func replacements(
    ofLost tree: LocalTree, _ target: some TreeSyncUpTarget
  ) async throws -> Replacements? {
    let children = plan.rules.deletesChildren ? tree.children : []
    guard let parents = try await replacements(of: [tree.parent], level: .parents, target),
      let children = try await replacements(of: children, level: .children, target)
    else { return nil }
    return Replacements(parents: parents, children: children)
  }

  /// Excludes children whose records have been replaced, and those whose records are unknown: they
  /// have no edits, so they can wait.
  func notReplaced(
    _ steps: [TreeWork.Step], _ target: some TreeSyncUpTarget
  ) async throws -> [TreeWork.Step] {
    let clean = steps.map(\.record).filter { !RecordFlags(of: $0.record).local }
    if clean.isEmpty { return steps }
    let found = try await replacements(
      of: clean.map { (id: $0.entryId, record: $0.record) }, level: .children, target)
    let replaced = found.map { $0.map(\.entryId) } ?? clean.map(\.entryId)
    if let found, !found.isEmpty {
      try await store.inTransaction { transaction in
        _ = try EntryAdoption(union: plan.scopes.children.union)
          .replace(found, in: transaction)
      }
    }
    return steps.filter { !replaced.contains($0.record.entryId) }
  }

  /// The entry that an edited parent, whose record is gone, is now, where another entry of the soup has a record with
  /// its external id; nil if there is none.
  func unitedParent(of tree: LocalTree, _ sent: inout Sent) async throws -> Int64? {
    guard RecordFlags(of: tree.parent.record).local,
      let record = TreeWork.sending(tree.parent, .update, plan.rules.fields.parents)?
        .recreated(with: plan.rules.fields.parents)
    else { return nil }
    let accepted = acceptedBefore.ids.parents.union(
      sent.accepted.filter { $0.level == .parents }.map(\.record.entryId))
    let united = try await ExternalIdRecovery(scope: plan.scopes.parents).uniteLost(
      [record], accepted: accepted)
    sent.inConflict.parents.formUnion(united.inConflict)
    return united.entries[tree.parent.id]
  }

  /// Excludes edited children that represent the records of other entries from now on: the next run
  /// uploads them.
  func notUnited(
    _ steps: [TreeWork.Step], _ sent: inout Sent
  ) async throws -> [TreeWork.Step] {
    let edited = steps.map(\.record).filter { RecordFlags(of: $0.record).local }
      .map { $0.recreated(with: plan.rules.fields.children) }
    let accepted = acceptedBefore.ids.children.union(
      sent.accepted.filter { $0.level == .children }.map(\.record.entryId))
    let united = try await ExternalIdRecovery(scope: plan.scopes.children).uniteLost(
      edited, accepted: accepted)
    sent.inConflict.children.formUnion(united.inConflict)
    try await completeLocally(
      waiting: steps.filter { united.entries[$0.record.entryId] != nil }.map { step in
        TreeWork.Step(
          level: .children, record: step.record.moved(to: united.entries[step.record.entryId]),
          isLinked: false)
      })
    return steps.filter { united.entries[$0.record.entryId] == nil }
  }

  private func replacements(
    of entries: [LocalTree.Entry], level: TreeLevel, _ target: some TreeSyncUpTarget
  ) async throws -> [EntryAdoption.Replacement]? {
    let part = plan.scopes[level]
    guard part.hasIdIndex, let finder = target as? any ExternalIdFinding else { return [] }
    let lost = entries.filter {
      TreeWork.isKnown($0, part.fields) && !RecordFlags(of: $0.record).local
    }
    .compactMap { TreeWork.sending($0, .update, part.fields)?.recreated(with: part.fields) }
    .filter { $0.externalId != nil }
    let names = part.fields.names
    var found: [EntryAdoption.Replacement] = []
    for group in Dictionary(grouping: lost, by: \.objectType).values {
      var fields = [names.modificationDate]
      for (name, value) in group.flatMap(\.record.members)
      where names.isData(name) && value.kind != .object && value.kind != .array
        && !fields.contains(name)
      { fields.append(name) }
      let responses = try await finder.remoteRecords(
        byExternalIdOf: group, fields: fields, in: part.context)
      for (index, record) in group.enumerated() {
        switch index < responses.count ? responses[index] : .unknown {
        case .record(let remote):
          guard let old = record.id, let id = remote[names.id]?.string, !id.isEmpty, id != old
          else { continue }
          let values = (remote.value.object ?? [:]).filter {
            names.isData($0.key) || $0.key == names.modificationDate
          }
          found.append(
            EntryAdoption.Replacement(
              entryId: record.entryId, old: old, id: id, values: JSONObject(values)))
        case .gone: continue
        case .unknown: return nil
        }
      }
    }
    return found
  }
}
