import Foundation
import SalesforceSDKCommon
import SmartStore

/// A stage that finds the records of locally created entries by their external ids.
struct ExternalIdRecovery: Sendable {
  let scope: SyncUpScope

  // MARK: On the server

  /// Sets the ids of existing records with the same external id in entries that were created
  /// locally, in modes `MERGE_FIELDS` and `LEAVE_IF_CHANGED`: an upsert would overwrite values of
  /// other users.
  ///
  /// Such an entry counts as edited, from a record in which no field had a value, so that the comparison
  /// that follows finds each field that has another value on the server. Of an upsert whose response was lost the
  /// values that the server has count as uploaded.
  ///
  /// - Parameter filled: Entries that have just got a new external id, which no record can have.
  func adopt(from target: some SyncUpTarget, except filled: Set<Int64>) async throws {
    guard scope.context.mergeMode != .overwrite, scope.hasIdIndex,
      scope.fields.externalIdField != nil,
      let finder = target as? any ExternalIdFinding
    else { return }
    var created: [String: [SyncUpRecord]] = [:]
    try await scope.soup.forEachDirty(in: scope.store) { entryId, entry in
      guard !filled.contains(entryId),
        case .send(let record) = scope.decision(entryId, entry),
        record.action == .upsert
      else { return }
      created[record.objectType, default: []].append(record)
    }
    if created.isEmpty { return }
    let marks = try await OutcomeStore(store: scope.store).lost(.upsert, in: scope.context.soupName)
    for type in created.keys.sorted() {
      let records = created[type] ?? []
      for start in stride(from: 0, to: records.count, by: SyncLimits.idsPerPage) {
        try scope.context.checkStop()
        let slice = Array(records[start..<min(start + SyncLimits.idsPerPage, records.count)])
        try await adopt(slice, finder, marks)
      }
    }
  }

  private func adopt(
    _ records: [SyncUpRecord], _ finder: some ExternalIdFinding,
    _ marks: [Int64: UnacknowledgedMark]
  ) async throws {
    let results = try await finder.remoteRecords(
      byExternalIdOf: records, fields: SOQLNames.appending(records.flatMap(\.columns), to: []),
      in: scope.context)
    var found: [EntryAdoption.Found] = []
    for (record, result) in zip(records, results) {
      guard case .record(let remote) = result, let id = remote[scope.fields.idField]?.string,
        !id.isEmpty
      else { continue }
      var origin = JSONObject()
      for name in scope.fields.all where !name.contains(".") {
        origin[name] = .null
      }
      if let mark = marks[record.entryId] {
        let bases = try await scope.store.read { reader in
          try BaseVersionStore(soupName: scope.context.soupName).bases(
            of: [record.id].compactMap(\.self), in: reader)
        }
        let arrived = mark.arrived(
          in: remote.value.object ?? [:], over: record.id.flatMap { bases[$0] })
        for (name, value) in arrived { origin[name] = value }
      }
      found.append(
        EntryAdoption.Found(
          entryId: record.entryId, id: id, origin: .values(origin), fields: scope.fields.all))
    }
    if found.isEmpty { return }
    let adoption = EntryAdoption(union: scope.union)
    let adopted = found
    try await scope.store.inTransaction { transaction in
      try adoption.adopt(adopted, in: transaction)
      try ContributingSyncs(
        soupName: scope.context.soupName, syncId: ContributingSyncs.createdLocally
      )
      .add(
        adopted.map { (id: $0.id, syncId: ContributingSyncs.createdLocally) }, in: transaction)
    }
  }

  // MARK: New external ids

  /// Sets a UUID as external id in entries that were created locally without one, if the target
  /// requires it. It is on disk before anything is sent, so that sending an entry again creates
  /// only one record.
  ///
  /// An entry that was sent without one before keeps none: it would be created a second time.
  ///
  /// - Returns: The entries that got one.
  func fill(_ ids: [Int64]) async throws -> Set<Int64> {
    guard scope.fields.fillsExternalId, let field = scope.fields.externalIdField else { return [] }
    var filled: Set<Int64> = []
    let marks = try await OutcomeStore(store: scope.store).lost(.create, in: scope.context.soupName)
    for start in stride(from: 0, to: ids.count, by: SyncLimits.recordsPerRead) {
      let slice = ids[start..<min(start + SyncLimits.recordsPerRead, ids.count)]
        .filter { marks[$0] == nil }
      filled.formUnion(
        try await scope.store.inTransaction { transaction in
          try fill(Array(slice), field, in: transaction)
        })
    }
    return filled
  }

  private func fill(
    _ entryIds: [Int64], _ field: String, in transaction: borrowing StoreTransaction
  ) throws -> Set<Int64> {
    var written: [Int64: JSONSlice] = [:]
    for (entryId, entry) in try transaction.entries(entryIds, of: scope.context.soupName) {
      guard
        case .send(let record) = scope.decision(entryId, entry),
        record.action == .create
      else { continue }
      written[entryId] = try entry.setting([(field, .string(UUID().uuidString.lowercased()))])
    }
    try scope.write(Array(written.values), in: transaction)
    return Set(written.keys)
  }
}
