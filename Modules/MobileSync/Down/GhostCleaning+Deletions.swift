import SalesforceSDKCommon
import SmartStore

extension GhostCleaning {
  /// Removes the ghosts of a soup that were deleted on the server, if there are no others.
  ///
  /// - Returns: The number of removed records; nil if ids have to be compared. Then nothing is
  ///   removed.
  func removeDeleted(
    _ target: some DeletionListing, of sync: SyncState, _ place: DownloadLayout.Place,
    _ layout: DownloadLayout
  ) async throws -> Int? {
    let records = place.records
    guard let start = sync.deletionsUntil, sync.status == .done, sync.maxTimeStamp > 0,
      // Records that other syncs bring are not counted with the target's.
      uses.fillers(of: records.soupName) == [sync.id],
      let deletions = try await target.deletions(since: start, in: context)
    else { return nil }
    let deleted = Array(
      try await entryIds(of: deletions.ids.sorted(), records).keys)
    let left = try await records.serverIdCount(in: context.store) - deleted.count
    guard try await isAll(left, of: target, but: deletions.ids, sync.maxTimeStamp, records) else {
      return nil
    }
    let isOwned = try await records.indexedPaths(in: context.store).contains(SyncKeys.syncId)
    let own = isOwned ? try await ownIds(among: deleted, records) : deleted
    let removed = try await remove(
      own.sorted(), Own(place: place, isOwned: isOwned, localIds: own), 0, layout)
    try await saveDeletionsUntil(max(start, deletions.completeUntil), of: sync)
    return removed
  }

  /// Whether the server has all the `left` records that are here without the deleted ones.
  ///
  /// They are those that have not changed since the watermark, which are counted, and those that have, whose ids are
  /// compared. The count comes last: a record that changes in between is missed by both, and ids are compared for
  /// nothing. The other way round, it would be found twice and stand in for a ghost.
  private func isAll(
    _ left: Int, of target: some DeletionListing, but deleted: Set<String>,
    _ maxTimeStamp: Int64, _ records: SyncSoup
  ) async throws -> Bool {
    try context.checkStop()
    guard let count = try await target.count(until: maxTimeStamp, in: context) else { return false }
    if count == left { return true }
    // Many changes cost as much as comparing all ids.
    guard count < left, left - count < max(target.deletionsFrom, 1) else { return false }
    try context.checkStop()
    let changed = try await target.ids(since: maxTimeStamp, in: context).subtracting(deleted)
    let known = try await entryIds(of: changed.sorted(), records).count
    try context.checkStop()
    return try await target.count(until: maxTimeStamp, in: context) == left - known
  }

  private func entryIds(of ids: [String], _ records: SyncSoup) async throws -> [String: Int64] {
    try await context.store.read { reader in try records.entryIds(of: ids, in: reader) }
  }

  /// The ids of clean records that name the sync, that it has downloaded too, or that were created locally.
  private func ownIds(among ids: [String], _ records: SyncSoup) async throws -> [String] {
    let marks = Set(
      try await owners(of: records).ids(in: context.store)
        + createdLocally(in: records).ids(in: context.store))
    return try await context.store.read { reader in
      try records.cleanOwned(ids: ids[...], in: reader)
        .filter { $0.syncId == context.syncId || marks.contains($0.id) }.map(\.id)
    }
  }

  /// Stores up to when the deletions of a sync are known.
  func saveDeletionsUntil(_ time: Int64, of sync: SyncState) async throws {
    let id = sync.id
    try await context.store.inTransaction(durability: .normal) { transaction in
      try context.signal.check()
      guard let entry = try transaction.entries([id], of: SyncStateStore.soupName).first else {
        return
      }
      var state = try SyncState(json: entry.record, in: transaction)
      state.deletionsUntil = time
      try SyncStateStore.save(state, in: transaction)
    }
  }
}
