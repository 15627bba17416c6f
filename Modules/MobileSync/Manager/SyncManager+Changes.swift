public import SalesforceSDKCommon

/// Changes of stored syncs.
extension SyncManager {
  /// Replaces the target of a sync down, for example by one with more fields.
  ///
  /// If the new target selects more fields of the same records and supports ``FieldBackfilling``,
  /// the next run fetches only the new fields of the existing records, then the changed records.
  /// Otherwise the next run downloads everything again. Fields that are no longer selected stay in
  /// the entries.
  ///
  /// - Returns: The sync as it is stored now, with its ``SyncState/warnings``.
  /// - Throws: ``SyncError`` `doesNotExist`, `alreadyRunning`, `unknownTarget`, `invalidTarget` if the
  ///   sync is not a sync down, `store`.
  @discardableResult
  public func changeSyncDown(
    forId id: Int64, to target: some SyncDownTarget
  ) async throws -> SyncState {
    try await changeSyncDown(forId: id, toTargetJSON: target.json)
  }

  /// As ``changeSyncDown(forId:to:)``, with a target in JSON.
  @discardableResult
  public func changeSyncDown(
    forId id: Int64, toTargetJSON json: JSONObject
  ) async throws -> SyncState {
    let target = try registry.downTarget(from: json)
    try reserve(id)
    defer { leave(id) }
    var sync = try await existing(id: id)
    guard sync.type == .syncDown else {
      throw SyncError(
        .invalidTarget, "The sync \(id) is a sync up: a sync down target does not fit it.")
    }
    // Not the target of now: the fields that it added may be the ones that cannot be fetched.
    let backfilled = sync.backfilledTarget ?? sync.target
    let fields = try Self.added(by: target, to: registry.downTarget(from: backfilled))
    if fields == nil { sync.forgetDownloads() }
    sync.fieldsToBackfill = fields ?? []
    sync.backfilledTarget = sync.fieldsToBackfill.isEmpty ? nil : backfilled
    sync.target = target.json
    let warnings = await fieldWarnings(of: [sync])[0]
    var changed = sync
    try await writing { [changed] in try await states.save(changed) }
    changed.warnings = warnings
    log(warnings)
    return changed
  }

  /// Replaces the target or the options of a sync up, for example by ones with more fields. The next run uses them.
  ///
  /// Edits that the sync has left out stay unsynced until a run sends them.
  ///
  /// - Parameters:
  ///   - json: The new target; nil means that the target stays.
  ///   - options: The new options; nil means that they stay.
  /// - Returns: The sync as it is stored now, with its ``SyncState/warnings``.
  /// - Throws: ``SyncError`` `doesNotExist`, `alreadyRunning`, `unknownTarget`, `invalidTarget` if the
  ///   sync is not a sync up, `store`.
  @discardableResult
  public func changeSyncUp(
    forId id: Int64, toTargetJSON json: JSONObject? = nil, options: SyncOptions? = nil
  ) async throws -> SyncState {
    let target = try json.map { try registry.upTarget(from: $0).json }
    try reserve(id)
    defer { leave(id) }
    var sync = try await existing(id: id)
    guard sync.type == .syncUp else {
      throw SyncError(
        .invalidTarget, "The sync \(id) is a sync down. Change it with changeSyncDown(forId:to:).")
    }
    if let target { sync.target = target }
    if let options { sync.options = options }
    let warnings = await fieldWarnings(of: [sync])[0]
    var changed = sync
    try await keepingBases(of: changed) { [changed] in try await states.save(changed) }
    changed.warnings = warnings
    log(warnings)
    return changed
  }

  /// The fields that a target brings besides those of the one before it; nil if that is not all.
  private static func added(
    by target: any SyncDownTarget, to old: any SyncDownTarget
  ) throws -> [String]? {
    func fields<Target: FieldBackfilling>(_ target: Target) -> [String]? {
      (old as? Target).flatMap { target.addedFields(since: $0) }
    }
    guard let target = target as? any FieldBackfilling else { return nil }
    return fields(target)
  }
}
