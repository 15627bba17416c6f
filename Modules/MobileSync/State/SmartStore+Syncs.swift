public import SmartStore

// Reports about syncs for programs that only read the store: without a manager or a login, even
// while another process syncs.
extension SmartStore {
  /// Returns all syncs of the store, or those in `status`, by ascending id; none if no manager ever
  /// used the store.
  ///
  /// A sync whose process ended still has the status running; the store's next manager marks it as
  /// stopped.
  ///
  /// - Throws: ``SyncError`` `store`.
  public func syncs(with status: SyncStatus? = nil) async throws -> [SyncState] {
    try await SyncManager.storeErrors {
      guard try await hasSyncs() else { return [] }
      return try await SyncStateStore(store: self).all(with: status)
    }
  }

  /// Returns the sync with this id, nil if there is none.
  public func sync(id: Int64) async throws -> SyncState? {
    try await SyncManager.storeErrors {
      try await hasSyncs() ? SyncStateStore(store: self).sync(id: id) : nil
    }
  }

  /// Returns the sync with this name, nil if there is none.
  public func sync(named name: String) async throws -> SyncState? {
    try await SyncManager.storeErrors {
      try await hasSyncs() ? SyncStateStore(store: self).sync(name: name) : nil
    }
  }

  /// As ``SyncManager/outcomes(forId:)``.
  public func syncOutcomes(forId id: Int64) async throws -> [SyncRecordOutcome] {
    try await SyncManager.storeErrors {
      try await hasSyncs() ? OutcomeStore(store: self).outcomes(syncId: id) : []
    }
  }

  /// Returns a report about a sync.
  ///
  /// - Parameters:
  ///   - registry: The targets that syncs of this store may name; they define which soups a sync
  ///     fills.
  ///   - environment: Its clock measures the time of a run.
  /// - Throws: ``SyncError`` `doesNotExist`, `store`.
  public func syncReport(
    forId id: Int64, registry: SyncTargetRegistry,
    environment: SyncEnvironment = SyncEnvironment()
  ) async throws -> SyncReport {
    guard let state = try await sync(id: id) else {
      throw SyncError(.doesNotExist, "Sync \(id) does not exist. Make it first.")
    }
    return try await SyncManager.storeErrors {
      var dirty = 0
      var conflicts: [SyncConflict] = []
      for soup in registry.soups(of: state) {
        if try await soupExists(forName: soup.soupName),
          try await soup.indexedPaths(in: self).contains(SyncKeys.local)
        {
          dirty += try await soup.dirtyCount(in: self)
        }
        conflicts += try await self.conflicts(in: soup.soupName)
      }
      let outcomes = OutcomeStore(store: self)
      return SyncReport(
        state: state, now: environment.now(), dirty: dirty, conflicts: conflicts,
        outcomes: try await outcomes.outcomes(syncId: id),
        counts: try await outcomes.counts(syncId: id),
        obstacle: state.type == .syncDown
          ? (try? registry.downTarget(from: state.target) as? any PartitionedSyncDownTarget)?
            .partitionObstacle : nil)
    }
  }

  /// Whether a manager has ever worked on the store: it makes its soups at once.
  private func hasSyncs() async throws -> Bool {
    try await soupExists(forName: OutcomeStore.soupName)
  }
}
