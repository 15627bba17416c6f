package import SalesforceSDKCommon
import SmartStore

/// The creation of syncs, and the replacement of provisional ones.
extension SyncManager {
  package nonisolated func newDown(
    _ target: JSONObject, _ options: SyncOptions, _ soupName: String, _ name: String?
  ) throws -> SyncState {
    SyncState(
      type: .syncDown, name: name, soupName: soupName,
      target: try registry.downTarget(from: target).json, options: options)
  }

  package nonisolated func newUp(
    _ target: JSONObject, _ options: SyncOptions, _ soupName: String, _ name: String?
  ) throws -> SyncState {
    SyncState(
      type: .syncUp, name: name, soupName: soupName,
      target: try registry.upTarget(from: target).json, options: options)
  }

  /// Stores a new sync, in place of a provisional one of the same name that is not active.
  func create(_ sync: SyncState) async throws -> SyncState {
    guard let name = sync.name, let known = try await syncStatus(forName: name),
      known.isProvisional
    else { return try await create(sync, replacing: nil) }
    guard (try? reserve(known.id)) != nil else { throw SyncStateStore.nameInUse(name) }
    defer { leave(known.id) }
    let created = try await create(sync, replacing: known.id)
    try await writing { try await OutcomeStore(store: store).clear(syncId: created.id) }
    return created
  }

  /// As ``create(_:)``; the result has the warnings of the sync's fields, and they are logged.
  func createChecked(_ sync: SyncState) async throws -> SyncState {
    let warnings = await fieldWarnings(of: [sync])[0]
    var created = try await create(sync)
    created.warnings = warnings
    log(warnings)
    return created
  }

  private func create(_ sync: SyncState, replacing replaceable: Int64?) async throws -> SyncState {
    try await keepingBases(of: sync) {
      try await states.create(sync, replacing: replaceable)
    }
  }

  /// Stores a sync as `body` does; if it compares with base versions, those of its soups begin with what is there.
  func keepingBases<Value>(
    of sync: SyncState, _ body: () async throws -> Value
  ) async throws -> Value {
    try await writing {
      guard sync.needsBases else { return try await body() }
      let soups = registry.soups(of: sync)
      // Bases of a time in which a sync merged here say nothing of what was downloaded since.
      let uses = try await soupUses()
      for soup in soups where !uses.keepsBases(soup.soupName) {
        try await BaseVersionStore(soupName: soup.soupName).removeAll(in: store)
      }
      let stored = try await body()
      for soup in soups {
        try await soup.adoptBases(in: store)
      }
      return stored
    }
  }

  /// Stores a sync as provisional and starts it; if that is refused after all, it is removed again, unless
  /// another call has found and started it.
  package func startNew(_ new: SyncState) async throws -> SyncRun {
    try checkAccepting()
    var new = new
    new.isProvisional = true
    // Before the creation: no other call may come between that and the start.
    let warnings = await fieldWarnings(of: [new])[0]
    let sync = try await create(new)
    log(warnings)
    do {
      return try await start(id: sync.id, warnings: warnings)
    } catch let error as SyncError where error.code == .alreadyRunning {
      throw error
    } catch let refusal {
      do {
        try await writing { try await states.delete(id: sync.id) }
      } catch {
        // The refusal is the one to tell.
        MobileSyncLogger.log.error("The refused sync \(sync.id) could not be removed", error: error)
      }
      throw refusal
    }
  }
}
