import SalesforceSDKCommon
import SmartStore

/// Applies the deletions that pages bring, each in its page's transaction.
struct PageDeletions: Sendable {
  private let cleaning: GhostCleaning
  private let layout: DownloadLayout
  /// Whether each soup records which sync downloaded a record.
  private let isOwned: [Bool]
  /// The detection of conflicts of edited records, for each soup.
  private let merges: [ConflictMerge]

  /// Prepares for a run.
  init(
    _ cleaning: GhostCleaning, _ layout: DownloadLayout, _ sync: SyncState, time: Int64
  ) async throws {
    self.cleaning = cleaning
    self.layout = layout
    var isOwned: [Bool] = []
    for place in layout.places {
      isOwned.append(
        try await place.records.indexedPaths(in: cleaning.context.store).contains(SyncKeys.syncId))
    }
    self.isOwned = isOwned
    // Mode overwrite decides nothing about deletions here: its sync up creates the record again.
    let mode: SyncMergeMode =
      sync.options.mergeMode == .mergeFields ? .mergeFields : .leaveIfChanged
    merges = layout.places.map { place in
      ConflictMerge(
        soupName: place.records.soupName, names: place.names, syncId: sync.id, time: time,
        mergeMode: mode)
    }
  }

  /// Removes the clean records with these ids, and those that are deleted locally too; keeps a conflict for each
  /// edited one. A parent of edited children stays.
  func apply(_ ids: [String], in transaction: borrowing StoreTransaction) throws {
    for start in stride(from: 0, to: ids.count, by: SyncLimits.recordsPerRead) {
      let slice = ids[start..<min(start + SyncLimits.recordsPerRead, ids.count)]
      for index in layout.places.indices {
        try apply(slice, index, in: transaction)
      }
    }
  }

  private func apply(
    _ ids: ArraySlice<String>, _ index: Int, in transaction: borrowing StoreTransaction
  ) throws {
    let records = layout.places[index].records
    guard layout.isEditable else {
      let entryIds = try records.entryIds(of: Array(ids), in: transaction)
      return try transaction.remove(
        entryIds: Array(entryIds.values), forSoupNamed: records.soupName)
    }
    let edited = try records.dirty(with: records.idField, among: Array(ids), in: transaction)
    let rows = try transaction.entries(edited.map(\.entryId), of: records.soupName)
    try merges[index].apply(
      rows.compactMap { entryId, row in
        guard let id = row[records.idField]?.string, !RecordFlags(of: row).created else {
          return nil
        }
        return ConflictMerge.Pair(entryId: entryId, id: id, entry: row, remote: .gone)
      }, in: transaction)
    let parents = try cleaning.parentsOfEdits(index, layout, in: transaction)
    let clean = parents.isEmpty ? ids : ids.filter { !parents.contains($0) }[...]
    _ =
      isOwned[index]
      ? try cleaning.release(clean, records, in: transaction)
      : try records.removeClean(ids: clean, in: transaction)
  }
}
