import SalesforceSDKCommon
import SmartStore

extension SyncUpRun {
  /// Gives entries that were created locally the ids of the records that the server already has under their external
  /// ids, in the modes that compare: an upsert would replace what other users wrote there.
  ///
  /// Such an entry counts as edited, from a record in which no field had a value, so that the comparison
  /// that follows finds each field that has another value on the server. Of an upsert whose response was lost the
  /// values that the server has count as uploaded.
  ///
  /// - Parameter filled: Entries that have just got a new external id, which no record can have.
  func adoptByExternalId(
    onServer target: some SyncUpTarget, _ plan: Plan, except filled: Set<Int64>
  ) async throws {
    guard context.mergeMode != .overwrite, plan.hasIdIndex, plan.fields.externalIdField != nil,
      let finder = target as? any ExternalIdFinding
    else { return }
    var created: [String: [SyncUpRecord]] = [:]
    try await plan.records.forEachDirty(in: context.store) { entryId, entry in
      guard !filled.contains(entryId),
        case .send(let record) = SyncUpDecision(
          entryId: entryId, record: entry, fields: plan.fields),
        record.action == .upsert
      else { return }
      created[record.objectType, default: []].append(record)
    }
    if created.isEmpty { return }
    let marks = try await OutcomeStore(store: context.store).lost(.upsert, in: context.soupName)
    for type in created.keys.sorted() {
      let records = created[type] ?? []
      for start in stride(from: 0, to: records.count, by: SyncLimits.idsPerPage) {
        try context.checkStop()
        let slice = Array(records[start..<min(start + SyncLimits.idsPerPage, records.count)])
        try await adopt(slice, finder, marks, plan)
      }
    }
  }

  private func adopt(
    _ records: [SyncUpRecord], _ finder: some ExternalIdFinding,
    _ marks: [Int64: UnacknowledgedMark],
    _ plan: Plan
  ) async throws {
    var names: [String] = []
    for record in records {
      for (name, _) in record.values where !name.contains(".") && !names.contains(name) {
        names.append(name)
      }
    }
    let results = try await finder.remoteRecords(
      byExternalIdOf: records, fields: names, in: context)
    var found: [EntryAdoption.Found] = []
    for (record, result) in zip(records, results) {
      guard case .record(let remote) = result, let id = remote[plan.fields.idField]?.string,
        !id.isEmpty
      else { continue }
      var origin = JSONObject()
      for name in plan.fields.all where !name.contains(".") {
        origin[name] = .null
      }
      if let mark = marks[record.entryId] {
        let bases = try await context.store.read { reader in
          try BaseVersionStore(soupName: context.soupName).bases(
            of: [record.id].compactMap(\.self), in: reader)
        }
        let arrived = mark.arrived(
          in: remote.value.object ?? [:], over: record.id.flatMap { bases[$0] })
        for (name, value) in arrived { origin[name] = value }
      }
      found.append(
        EntryAdoption.Found(
          entryId: record.entryId, id: id, origin: .values(origin), fields: plan.fields.all))
    }
    if found.isEmpty { return }
    let adoption = EntryAdoption(union: union(plan))
    let adopted = found
    try await context.store.inTransaction { transaction in
      try adoption.adopt(adopted, in: transaction)
      try ContributingSyncs(soupName: context.soupName, syncId: ContributingSyncs.createdLocally)
        .add(
          adopted.map { (id: $0.id, syncId: ContributingSyncs.createdLocally) }, in: transaction)
    }
  }
}
