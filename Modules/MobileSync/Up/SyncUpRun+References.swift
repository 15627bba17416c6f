import SalesforceSDKCommon
import SmartStore

extension SyncUpRun {
  /// Which record refers to which by ids that the server does not have, as it was when the run began.
  struct References: Sendable {
    let records: LocalRecordIndex
    /// The entries of all soups that refer to such an id.
    var places: [String: [LocalRecordIndex.Place]]
    /// The ids of records that were not uploaded.
    var unsent: [String: String]
    /// References that are left out at first, by entry id.
    var leftOut: [Int64: Set<String>]
    /// The ids of records that wait for others themselves: references to them may close a circle.
    let waiting: Set<String>
    /// The former ids of lost records of the run, which are to be created again.
    var lost: Set<String>
    /// Whether ``places`` has the references to every record.
    var isComplete = false
    /// Whether a record that still refers to one that was not uploaded waits for the next run.
    var isLastLevel = false

    /// What counts as a reference in this run.
    var wanted: LocalIdIndex.Wanted { .unsent(lost: lost) }

    /// Follows records to the ids that they have on the server: what has been created again is not lost any more, also
    /// where an upsert has found it under the id that it had.
    mutating func note(_ accepted: [SyncUpRecord]) {
      if !lost.isEmpty { lost.subtract(accepted.compactMap(\.id)) }
    }
  }

  /// The records of a run, and what they refer to.
  private struct Nodes {
    var nodes: [RunOrder.Node] = []
    var hasUnsent = false
    var hasReferences = false
    var lost: Set<String> = []
  }

  /// Looks for references among records that the server does not have, and orders the run by them.
  ///
  /// - Returns: nil if no record has to wait for another.
  func references(among ids: [Int64], _ plan: inout Plan) async throws -> RunOrder? {
    var found = try await nodes(among: ids, plan, .unsent())
    if !found.lost.isEmpty {
      found = try await nodes(among: ids, plan, .unsent(lost: found.lost))
    }
    if !found.hasUnsent, !found.hasReferences { return nil }
    let records = try await LocalRecordIndex(context.store, uses)
    let places = try await records.references(in: context.store, .unsent(lost: found.lost))
    let order = found.hasReferences ? RunOrder(found.nodes) : nil
    plan.references = References(
      records: records, places: places,
      unsent: try await records.unsent(Set(places.keys), in: context.store),
      leftOut: order?.leftOut ?? [:],
      waiting: leavesOutReferences
        ? try await OutcomeStore(store: context.store).waitingIds() : [], lost: found.lost)
    return order
  }

  private func nodes(
    among ids: [Int64], _ plan: Plan, _ wanted: LocalIdIndex.Wanted
  ) async throws -> Nodes {
    var nodes = Nodes()
    for start in stride(from: 0, to: ids.count, by: SyncLimits.recordsPerRead) {
      let slice = Array(ids[start..<min(start + SyncLimits.recordsPerRead, ids.count)])
      let found = try await entries(slice)
      for (entryId, entry) in found {
        let lost = SyncUpRecord.lostId(of: entry, idField: plan.fields.idField)
        let id =
          lost
          ?? entry[plan.fields.idField]?.string.flatMap { SyncKeys.isLocalId($0) ? $0 : nil }
        let references = LocalIdIndex.references(in: entry, idField: plan.fields.idField, wanted)
        nodes.hasReferences = nodes.hasReferences || !references.isEmpty
        nodes.hasUnsent = nodes.hasUnsent || id != nil
        if let lost { nodes.lost.insert(lost) }
        nodes.nodes.append(
          RunOrder.Node(number: entryId, name: id, references: references.sorted()))
      }
      // Entries that are gone by now are counted all the same.
      nodes.nodes += Set(slice).subtracting(found.map(\.id)).sorted()
        .map { RunOrder.Node(number: $0, name: nil, references: []) }
    }
    return nodes
  }

  /// What becomes of records that the server has turned out to have lost.
  struct Recreatable {
    /// The records to create.
    var records: [SyncUpRecord] = []
    /// The entries of records that exist, and that are to be sent again once what they refer to does.
    var later: [Int64] = []
    /// Records that exist, and whose lookups lead nowhere.
    var refused: [SyncUpRecord] = []
  }

  /// Prepares records that the server has turned out to have lost for being created again: fields that refer to one of
  /// them are left out, and go once the records have new ids.
  ///
  /// Of a record with a lookup that points nowhere the platform says the same as of one that is gone. Created with that
  /// lookup it is refused; without it, because it refers to a lost record or the fields of creates lack it, it would
  /// exist twice. Such records are looked up first.
  ///
  /// Reads the dirty entries of all soups once in a run.
  func recreatable(
    _ recreated: [SyncUpRecord], _ target: some SyncUpTarget, _ plan: inout Plan
  ) async throws -> Recreatable {
    var lost = Set(recreated.filter(\.hasServersId).compactMap(\.id))
    if lost.isEmpty { return Recreatable(records: recreated) }
    func isReferring(_ record: SyncUpRecord) -> Bool { !record.fieldsReferring(to: lost).isEmpty }
    let unsent = plan.fields.update.filter { !plan.fields.create.contains($0) }
    let doubtful = recreated.filter { record in
      isReferring(record)
        || record.sending(unsent).values.contains { LocalIdIndex.isReference($0) }
    }
    let existing = try await notGone(doubtful, target)
    lost.subtract(existing.compactMap(\.id))
    var sorted = Recreatable()
    for record in existing {
      if isReferring(record), plan.references?.isLastLevel != true {
        sorted.later.append(record.entryId)
      } else {
        sorted.refused.append(record)
      }
    }
    let kept = Set(existing.map(\.entryId))
    sorted.records = recreated.filter { !kept.contains($0.entryId) }
    if lost.isEmpty { return sorted }
    try await note(lost, &plan)
    sorted.records = sorted.records.map { record in
      let fields = record.fieldsReferring(to: lost)
      return fields.isEmpty ? record : record.leavingOut(fields.union(record.leftOut))
    }
    return sorted
  }

  /// Lets the ids of lost records count as references from here on.
  private func note(_ lost: Set<String>, _ plan: inout Plan) async throws {
    var references =
      if let known = plan.references {
        known
      } else {
        References(
          records: try await LocalRecordIndex(context.store, uses), places: [:], unsent: [:],
          leftOut: [:], waiting: [], lost: [])
      }
    if !references.isComplete {
      references.places = try await references.records.references(in: context.store, .all)
      references.isComplete = true
    }
    references.lost.formUnion(lost)
    for id in lost where references.places[id] != nil {
      references.unsent[id] = context.soupName
    }
    plan.references = references
  }

  /// Those of the records that the server has, or of which it does not say.
  private func notGone(
    _ records: [SyncUpRecord], _ target: some SyncUpTarget
  ) async throws -> [SyncUpRecord] {
    var left: [SyncUpRecord] = []
    for (_, group) in Dictionary(grouping: records, by: \.objectType).sorted(by: { $0.key < $1.key }
    ) {
      let dates: [RemoteDate]
      do {
        dates = try await target.remoteDates(of: group, in: completingBatch.context)
      } catch let error as SyncError where error.code != .closed {
        dates = []
      }
      left += group.enumerated().filter { $0.offset >= dates.count || dates[$0.offset] != .gone }
        .map(\.element)
    }
    return left
  }

  /// The entries with the server's ids in the places of those that it does not have, as far as they are known by now.
  func resolved(
    _ entries: [(id: Int64, record: JSONSlice)], _ plan: Plan
  ) async throws -> [(id: Int64, record: JSONSlice)] {
    var waiting: [Int64: Set<String>] = [:]
    for (entryId, entry) in entries {
      let ids = LocalIdIndex.references(in: entry, idField: plan.fields.idField)
      if !ids.isEmpty { waiting[entryId] = ids }
    }
    if waiting.isEmpty { return entries }
    let asked = waiting.values.reduce(into: Set<String>()) { $0.formUnion($1) }
    let idField = plan.fields.idField
    let referring = waiting.keys.sorted()
    return try await context.store.inTransaction { transaction in
      let known = try LocalIdIndex.serverIds(of: asked, in: transaction)
      if known.isEmpty { return entries }
      let changed = try transaction.entries(referring, of: context.soupName)
        .compactMap { try LocalIdIndex.rewritten($0.record, idField: idField, with: known) }
      try write(changed, in: transaction)
      return try transaction.entries(entries.map(\.id), of: context.soupName)
    }
  }

  /// The record as it can be sent now: nil if it has to wait for another, without the fields that
  /// close a circle if it is one of those.
  func sendable(_ record: SyncUpRecord, _ plan: Plan) -> SyncUpRecord? {
    guard let references = plan.references, record.action != .delete else { return record }
    var open = LocalIdIndex.references(
      in: record.record, idField: plan.fields.idField, references.wanted
    )
    .filter { references.unsent[$0] != nil }
    if open.isEmpty { return record }
    var leftOut = references.leftOut[record.entryId] ?? []
    if leavesOutReferences, !references.isLastLevel {
      leftOut.formUnion(
        open.filter {
          references.waiting.contains($0) && references.unsent[$0] != context.soupName
        })
    }
    leftOut.formIntersection(open)
    let fields = record.fieldsReferring(to: leftOut)
    open.subtract(leftOut)
    guard record.fieldsReferring(to: open).isEmpty else { return nil }
    return fields.isEmpty ? record : record.leavingOut(fields)
  }

  /// Remembers the ids of records that the server has made, and puts them wherever entries refer to
  /// those records.
  func rewriteReferences(
    to made: [(record: SyncUpRecord, newId: String?)], _ plan: Plan,
    in transaction: borrowing StoreTransaction
  ) throws {
    var ids: [String: String] = [:]
    for (record, newId) in made {
      guard let old = record.id, let newId, old != newId,
        SyncKeys.isLocalId(old) || plan.references?.lost.contains(old) == true
      else { continue }
      ids[old] = newId
    }
    if ids.isEmpty { return }
    try LocalIdIndex.save(ids.filter { SyncKeys.isLocalId($0.key) }, in: transaction)
    guard let references = plan.references else { return }
    try references.records.rewrite(
      ids.keys.flatMap { references.places[$0] ?? [] }, with: ids, in: transaction)
  }
}
