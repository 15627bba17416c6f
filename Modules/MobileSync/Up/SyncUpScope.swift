import SalesforceSDKCommon
import SmartStore

/// The inputs of the stages of a sync up on one soup. They stay the same during a run.
struct SyncUpScope: Sendable {
  var context: SyncContext
  let uses: SoupSyncIndex
  let now: @Sendable () -> Int64
  let reportOutcome: @Sendable (SyncRecordOutcome) -> Void
  let fields: SyncUpFieldChoice
  /// The ids of the records that the server has created in the run.
  let createdIds: CreatedIds
  /// Merges records with the server's before they are sent; nil in the other merge modes.
  let merge: ConflictMerge?
  /// Whether entries can be found by their ids; without that there is no sync down of the soup, either.
  var hasIdIndex = true

  init(
    _ context: SyncContext, _ fields: SyncUpFieldChoice, uses: SoupSyncIndex,
    createdIds: CreatedIds,
    now: @escaping @Sendable () -> Int64,
    reportOutcome: @escaping @Sendable (SyncRecordOutcome) -> Void
  ) {
    self.context = context
    self.fields = fields
    self.uses = uses
    self.createdIds = createdIds
    self.now = now
    self.reportOutcome = reportOutcome
    merge =
      context.mergeMode != .mergeFields
      ? nil
      : ConflictMerge(
        soupName: context.soupName, names: fields.names, syncId: context.syncId, time: now())
  }

  var store: SmartStore { context.store }

  /// The soup whose entries are uploaded.
  var soup: SyncSoup { SyncSoup(soupName: context.soupName, names: fields.names) }

  /// Whether a record that the server has lost is created again without a decision of the app.
  var mayRecreate: Bool { context.mergeMode == .overwrite && !fields.lacks(.create) }

  /// The union of several entries that represent one record of the soup.
  var union: EntryUnion {
    EntryUnion(
      soupName: context.soupName, names: fields.names, uses: uses, syncId: context.syncId,
      time: now())
  }

  /// The same, which a stop lets complete what it has begun.
  var completingBatch: SyncUpScope {
    var scope = self
    scope.context.completesBatch = true
    return scope
  }

  // MARK: Entries

  /// The entries that exist, by ascending entry id.
  func entries(_ ids: [Int64]) async throws -> [(id: Int64, record: JSONSlice)] {
    if ids.isEmpty { return [] }
    return try await store.read { reader in try reader.entries(ids, of: context.soupName) }
  }

  /// Writes whole entries back.
  func write(_ entries: [JSONSlice], in transaction: borrowing StoreTransaction) throws {
    if entries.isEmpty { return }
    try transaction.upsert(slices: entries, soup: context.soupName)
  }

  /// The action for an entry.
  func decision(_ entryId: Int64, _ entry: JSONSlice) -> SyncUpDecision {
    SyncUpDecision(entryId: entryId, record: entry, fields: fields)
  }

  /// Passes the records among `ids` that exist on the server, as far as is known here, in groups of one object type.
  ///
  /// - Parameter visit: Gets each page of entries that is read, with the ids that it was read for.
  func forEachGroup(
    of ids: [Int64],
    visiting visit: ([Int64], [(id: Int64, record: JSONSlice)]) -> Void = { _, _ in },
    _ body: ([SyncUpRecord]) async throws -> Void
  ) async throws {
    var waiting: [String: [SyncUpRecord]] = [:]
    for start in stride(from: 0, to: ids.count, by: SyncLimits.recordsPerRead) {
      let slice = Array(ids[start..<min(start + SyncLimits.recordsPerRead, ids.count)])
      let page = try await entries(slice)
      visit(slice, page)
      for (entryId, entry) in page {
        guard case .send(let dirty) = decision(entryId, entry),
          dirty.action == .update || dirty.action == .delete
        else { continue }
        waiting[dirty.objectType, default: []].append(dirty)
        if waiting[dirty.objectType, default: []].count == SyncLimits.idsPerPage {
          let full = waiting.removeValue(forKey: dirty.objectType) ?? []
          try await body(full)
        }
      }
    }
    for type in waiting.keys.sorted() { try await body(waiting[type] ?? []) }
  }

  // MARK: Outcomes

  /// The outcome to report of a record.
  func outcome(
    of record: SyncUpRecord, _ kind: SyncRecordOutcome.Kind, id: String?, _ time: Int64,
    error: JSONValue? = nil
  ) -> SyncRecordOutcome {
    let isAccepted = kind == .succeeded || kind == .partial
    return SyncRecordOutcome(
      syncId: context.syncId, soupName: context.soupName, entryId: record.entryId, recordId: id,
      action: isAccepted ? record.recovered ?? record.action : record.action, kind: kind,
      time: time, error: error)
  }

  /// The outcome to report of an entry for which there is no request.
  func outcome(
    of entryId: Int64, _ id: String?, _ kind: SyncRecordOutcome.Kind, _ time: Int64,
    action: SyncUpAction? = nil, error: JSONValue? = nil
  ) -> SyncRecordOutcome {
    SyncRecordOutcome(
      syncId: context.syncId, soupName: context.soupName, entryId: entryId, recordId: id,
      action: action, kind: kind, time: time, error: error)
  }
}
