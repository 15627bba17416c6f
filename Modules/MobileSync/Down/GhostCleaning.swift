import SmartStore

/// Removes records that the server no longer returns for a sync.
struct GhostCleaning: Sendable {
  let context: SyncContext

  /// Removes the ghosts among the clean records; dirty ones are never touched.
  ///
  /// - Returns: How many were removed.
  func run(_ target: some SyncDownTarget) async throws -> Int {
    try context.checkStop()
    let records = SoupRecords(soupName: context.soupName, idField: target.idFieldName)
    try await records.check(in: context.store, indexed: [target.idFieldName, SyncKeys.local])
    // Without that index the whole soup is taken to belong to this sync.
    let owned = try await records.indexedPaths(in: context.store).contains(SyncKeys.syncId)
    let syncId = owned ? context.syncId : nil
    let localIds = try await records.cleanIds(in: context.store, syncId: syncId)
    if localIds.isEmpty { return 0 }

    guard let remoteIds = try await target.remoteIds(for: localIds, in: context) else { return 0 }
    let ghosts = Set(localIds).subtracting(remoteIds).sorted()
    var removed = 0
    for start in stride(from: 0, to: ghosts.count, by: SyncLimits.recordsPerRead) {
      let slice = ghosts[start..<min(start + SyncLimits.recordsPerRead, ghosts.count)]
      removed += try await context.store.inTransaction(durability: .normal) { transaction in
        try context.signal.check()
        return try records.removeClean(ids: slice, syncId: syncId, in: transaction)
      }
    }
    return removed
  }
}
