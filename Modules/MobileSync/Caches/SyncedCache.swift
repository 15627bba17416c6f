public import SalesforceSDKCommon
import SmartStore

/// A cache of the records of a read-only sync down, one entry per key, in its own soup.
///
/// It is for data that is requested by name and seldom changes, such as descriptions of objects.
/// The target must set the `Id` of each record to its key.
public struct SyncedCache: Sendable {
  /// The soup, which is registered on first use with an index on `Id`.
  public let soupName: String
  /// Runs the syncs.
  public let manager: SyncManager

  /// Names the cache.
  public init(soupName: String, manager: SyncManager) {
    self.soupName = soupName
    self.manager = manager
  }

  /// Returns the entry of a key.
  ///
  /// A fetch leaves no stored sync. If the caller's task is cancelled, the fetch still runs to its
  /// end.
  ///
  /// - Parameter target: Downloads the entry.
  /// - Returns: The record with the fields of sync and store; nil if there is none.
  /// - Throws: ``SyncError`` of the sync if it failed and the cache has no entry, `store`;
  ///   `CancellationError`.
  public func entry(
    _ key: String, mode: FetchMode, target: some ReadOnlySyncDownTarget
  ) async throws -> JSONSlice? {
    try await prepare()
    switch mode {
    case .cacheOnly: return try await cached(key)
    case .cacheFirst:
      if let entry = try await cached(key) { return entry }
      try await fetch(target)
      return try await cached(key)
    case .serverFirst:
      do {
        try await fetch(target)
      } catch let error as SyncError {
        guard let entry = try await cached(key) else { throw error }
        MobileSyncLogger.log.warning(
          "The entry '\(key)' of \(soupName) could not be fetched; the cached one is used.",
          error: error)
        return entry
      }
      return try await cached(key)
    }
  }

  /// Removes all entries.
  ///
  /// - Throws: ``SyncError`` `closed`, `store`.
  public func clear() async throws {
    try await manager.writing {
      if try await manager.store.soupExists(forName: soupName) {
        try await manager.store.clearSoup(soupName)
      }
    }
  }

  private func prepare() async throws {
    try await manager.writing {
      if try await !manager.store.soupExists(forName: soupName) {
        try await manager.store.registerSoup(
          withName: soupName,
          withIndices: [SoupIndex(path: SyncKeys.defaultIdField, type: .json1)])
      }
    }
  }

  private func cached(_ key: String) async throws -> JSONSlice? {
    let id = SyncKeys.defaultIdField
    let soupName = soupName
    return try await SyncManager.storeErrors {
      try await manager.store.read { reader in
        let rows = try reader.rows(
          "SELECT {\(soupName):\(SyncKeys.soupEntryId)} FROM {\(soupName)} "
            + "WHERE {\(soupName):\(id)} = ?", [.string(key)], limit: 1)
        return try reader.entries(rows.compactMap { $0[0]?.int64 }, of: soupName).first?.record
      }
    }
  }

  private func fetch(_ target: some ReadOnlySyncDownTarget) async throws {
    // Fetches that a crash interrupted have left their syncs.
    for sync in try await manager.syncs(with: .stopped)
    where sync.soupName == soupName && sync.name == nil {
      try await manager.deleteSync(forId: sync.id)
    }
    let run = try await manager.syncDown(
      target: target, options: SyncOptions(mergeMode: .overwrite), soupName: soupName)
    // In a separate task, so that the end is seen and the sync removed although the caller's task
    // is cancelled.
    let result = await Task { [manager] in
      let result = await Result(catching: { try await run.finished() })
      try await manager.deleteSync(forId: run.state.id)
      return result
    }.result
    _ = try result.get().get()
    try Task.checkCancellation()
  }
}

extension Result where Failure == any Error {
  /// The result or error of `body`.
  fileprivate init(catching body: () async throws -> Success) async {
    do {
      self = .success(try await body())
    } catch {
      self = .failure(error)
    }
  }
}
