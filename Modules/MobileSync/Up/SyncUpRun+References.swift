import SalesforceSDKCommon
import SmartStore

extension SyncUpRun {
  /// Who refers to whom by local ids, as it was when the run began.
  struct References: Sendable {
    let records: LocalRecordIndex
    /// The rows of all soups that refer to a local id.
    let places: [String: [LocalRecordIndex.Place]]
    /// The local ids of records that were not uploaded.
    let unsent: [String: String]
    /// References that are left out at first, by entry id.
    var leftOut: [Int64: Set<String>]
    /// The local ids of records that wait for others themselves: references to them may close a circle.
    let waiting: Set<String>
    /// Whether a record that still refers to one that was not uploaded waits for the next run.
    var isLastLevel = false
  }

  /// Looks for references among records that were created locally, and orders the run by them.
  ///
  /// - Returns: nil if no record has to wait for another.
  func references(among ids: [Int64], _ plan: inout Plan) async throws -> RunOrder? {
    var nodes: [RunOrder.Node] = []
    var localIds: Set<String> = []
    var hasReferences = false
    for start in stride(from: 0, to: ids.count, by: SyncLimits.recordsPerRead) {
      let slice = Array(ids[start..<min(start + SyncLimits.recordsPerRead, ids.count)])
      let found = try await entries(slice)
      for (entryId, row) in found {
        let id = row[plan.fields.idField]?.string.flatMap { SyncKeys.isLocalId($0) ? $0 : nil }
        let references = LocalIdIndex.references(in: row, idField: plan.fields.idField)
        hasReferences = hasReferences || !references.isEmpty
        if let id { localIds.insert(id) }
        nodes.append(
          RunOrder.Node(number: entryId, name: id, references: references.sorted()))
      }
      // Rows that are gone by now are counted all the same.
      nodes += Set(slice).subtracting(found.map(\.id)).sorted()
        .map { RunOrder.Node(number: $0, name: nil, references: []) }
    }
    if localIds.isEmpty, !hasReferences { return nil }
    let records = try await LocalRecordIndex(context.store, uses)
    let places = try await records.references(in: context.store)
    let order = hasReferences ? RunOrder(nodes) : nil
    plan.references = References(
      records: records, places: places,
      unsent: try await records.unsent(Set(places.keys), in: context.store),
      leftOut: order?.leftOut ?? [:],
      waiting: leavesOutReferences
        ? try await OutcomeStore(store: context.store).waitingIds() : [])
    return order
  }

  /// The entries with the server's ids in the places of local ones, as far as they are known by now.
  func resolved(
    _ entries: [(id: Int64, record: JSONSlice)], _ plan: Plan
  ) async throws -> [(id: Int64, record: JSONSlice)] {
    var waiting: [Int64: Set<String>] = [:]
    for (entryId, row) in entries {
      let ids = LocalIdIndex.references(in: row, idField: plan.fields.idField)
      if !ids.isEmpty { waiting[entryId] = ids }
    }
    if waiting.isEmpty { return entries }
    let asked = waiting.values.reduce(into: Set<String>()) { $0.formUnion($1) }
    let idField = plan.fields.idField
    let referring = waiting.keys.sorted()
    return try await context.store.inTransaction { transaction in
      let known = try LocalIdIndex.serverIds(of: asked, in: transaction)
      if known.isEmpty { return entries }
      let rows = try transaction.entries(referring, of: context.soupName)
        .compactMap { try LocalIdIndex.rewritten($0.record, idField: idField, with: known) }
      try write(rows, in: transaction)
      return try transaction.entries(entries.map(\.id), of: context.soupName)
    }
  }

  /// The record as it can be sent now: nil if it has to wait for another, without the fields that
  /// close a circle if it is one of those.
  func sendable(_ record: SyncUpRecord, _ plan: Plan) -> SyncUpRecord? {
    guard let references = plan.references, record.action != .delete else { return record }
    var open = LocalIdIndex.references(in: record.record, idField: plan.fields.idField)
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

  /// Remembers the ids of records that the server has made, and puts them wherever rows refer to
  /// those records.
  func rewriteReferences(
    to made: [(record: SyncUpRecord, newId: String?)], _ plan: Plan,
    in transaction: borrowing StoreTransaction
  ) throws {
    var ids: [String: String] = [:]
    for (record, newId) in made {
      guard let old = record.id, let newId, SyncKeys.isLocalId(old) else { continue }
      ids[old] = newId
    }
    if ids.isEmpty { return }
    try LocalIdIndex.save(ids, in: transaction)
    guard let references = plan.references else { return }
    try references.records.rewrite(
      ids.keys.flatMap { references.places[$0] ?? [] }, with: ids, in: transaction)
  }
}
