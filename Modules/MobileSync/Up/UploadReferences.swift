import SalesforceSDKCommon
import SmartStore

/// The references between entries by ids that the server does not have, as of the start of the run.
struct UploadReferences: Sendable {
  let index: LocalRecordIndex
  /// The entries of all soups that refer to such an id.
  var places: [String: [LocalRecordIndex.Place]]
  /// The ids of records that were not uploaded, with their soups.
  var unsent: [String: String]
  /// References that are left out at first, by entry id.
  var leftOut: [Int64: Set<String>]
  /// The ids of records that wait for others themselves, if references to them are left out: they may close a cycle.
  let waiting: Set<String>
  /// The former ids of lost records of the run, which are to be created again.
  var lost: Set<String>
  /// Whether ``places`` has the references to every record.
  var isComplete = false
  /// Whether a record that still refers to one that was not uploaded waits for the next run.
  private(set) var isLastPass = false

  /// The ids that count as references in this run.
  var wanted: LocalIdIndex.Wanted { .unsent(lost: lost) }

  /// From now on no field is omitted: a record that refers to a record that is not uploaded waits.
  mutating func beginLastPass() {
    leftOut = [:]
    isLastPass = true
  }

  /// Updates the references to the server's ids of accepted records. A record that was created
  /// again is no longer lost, even if an upsert found it under its former id.
  mutating func note(_ accepted: [SyncUpRecord]) {
    if !lost.isEmpty { lost.subtract(accepted.compactMap(\.id)) }
  }

  /// The record as it can be sent now: nil if it has to wait for another, without the fields that
  /// close a cycle if it is one of those.
  func sendable(_ record: SyncUpRecord, of soup: SyncSoup) -> SyncUpRecord? {
    guard record.action != .delete else { return record }
    var open = LocalIdIndex.references(in: record.record, idField: soup.idField, wanted)
      .filter { unsent[$0] != nil }
    if open.isEmpty { return record }
    var leftOut = leftOut[record.entryId] ?? []
    if !isLastPass {
      leftOut.formUnion(open.filter { waiting.contains($0) && unsent[$0] != soup.soupName })
    }
    leftOut.formIntersection(open)
    let fields = record.fieldsReferring(to: leftOut)
    open.subtract(leftOut)
    guard record.fieldsReferring(to: open).isEmpty else { return nil }
    return fields.isEmpty ? record : record.leavingOut(fields)
  }
}

extension SyncUpScope {
  /// The entries with the server's ids in place of those that it does not have, as far as they are
  /// known by now.
  func resolved(
    _ entries: [(id: Int64, record: JSONSlice)]
  ) async throws -> [(id: Int64, record: JSONSlice)] {
    var waiting: [Int64: Set<String>] = [:]
    for (entryId, entry) in entries {
      let ids = LocalIdIndex.references(in: entry, idField: fields.idField)
      if !ids.isEmpty { waiting[entryId] = ids }
    }
    if waiting.isEmpty { return entries }
    let wanted = waiting.values.reduce(into: Set<String>()) { $0.formUnion($1) }
    let referring = waiting.keys.sorted()
    return try await store.inTransaction { transaction in
      let known = try LocalIdIndex.serverIds(of: wanted, in: transaction)
      if known.isEmpty { return entries }
      let changed = try transaction.entries(referring, of: context.soupName)
        .compactMap {
          try LocalIdIndex.rewritten($0.record, idField: fields.idField, with: known)
        }
      try write(changed, in: transaction)
      return try transaction.entries(entries.map(\.id), of: context.soupName)
    }
  }
}
