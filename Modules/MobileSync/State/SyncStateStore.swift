import SalesforceSDKCommon
import SmartStore

/// The stored syncs of one store: the soup `syncs_soup`.
struct SyncStateStore: Sendable {
  static let soupName = "syncs_soup"
  private static let indexes = ["type", "name", "status"].map {
    SoupIndex(path: $0, type: .json1)
  }

  let store: SmartStore

  /// Makes sure that the soup exists with its indexes. Old versions had others; then it is altered
  /// and the syncs in it stay.
  func prepare() async throws {
    guard try await store.soupExists(forName: Self.soupName) else {
      try await store.registerSoup(withName: Self.soupName, withIndices: Self.indexes)
      return
    }
    let present = try await store.indices(forSoupNamed: Self.soupName)
    guard present.map(\.json) != Self.indexes.map(\.json) else { return }
    try await store.alterSoup(
      named: Self.soupName, indexSpecs: Self.indexes, reIndexData: true)
  }

  /// Turns every sync that is stored as running into a stopped one: its process died, or its
  /// manager was closed.
  ///
  /// - Parameter now: The time, in milliseconds since 1970.
  func stopInterrupted(at now: @Sendable () -> Int64) async throws {
    for var sync in try await all(with: .running) {
      sync.finish(.stopped, at: now())
      try await save(sync)
    }
  }

  // MARK: Reading

  /// The sync with this id, nil if there is none.
  func sync(id: Int64) async throws -> SyncState? {
    try await store.read { reader in
      guard let found = try reader.entries([id], of: Self.soupName).first else { return nil }
      return try SyncState(json: found.record, in: reader)
    }
  }

  /// The sync with this name, nil if there is none.
  func sync(name: String) async throws -> SyncState? {
    if name.isEmpty { return nil }
    return try await store.read { reader in try Self.sync(name: name, in: reader) }
  }

  /// All syncs that are stored with `status`, or all, by ascending id. Those that cannot be read
  /// are left out and logged.
  func all(with status: SyncStatus? = nil) async throws -> [SyncState] {
    var syncs: [SyncState] = []
    var after: Int64 = -1
    while true {
      let start = after
      let (ids, found) = try await store.read { reader -> ([Int64], [SyncState]) in
        let rows = try reader.rows(
          "SELECT {syncs_soup:_soupEntryId} FROM {syncs_soup} WHERE {syncs_soup:_soupEntryId} > ? "
            + (status.map { "AND {syncs_soup:status} = '\($0.rawValue)' " } ?? "")
            + "ORDER BY {syncs_soup:_soupEntryId}",
          [.integer(start)], limit: SyncLimits.recordsPerRead)
        let entries = try reader.entries(rows.compactMap { $0[0]?.int64 }, of: Self.soupName)
        var found: [SyncState] = []
        for (_, json) in entries {
          do {
            found.append(try SyncState(json: json, in: reader))
          } catch let error as SyncError {
            MobileSyncLogger.log.error("\(error.message)")
          }
        }
        return (entries.map(\.id), found)
      }
      syncs += found
      guard ids.count == SyncLimits.recordsPerRead, let last = ids.last else { return syncs }
      after = last
    }
  }

  /// The syncs that compare records with their base versions; those that cannot be read are left out.
  static func comparing(in reader: borrowing some StoreReading & ~Copyable) throws -> [SyncState] {
    let rows = try reader.rows(
      "SELECT {syncs_soup:_soupEntryId} FROM {syncs_soup} "
        + "WHERE json_extract({syncs_soup:_soup}, '$.options.mergeMode') IN (?, ?)",
      [SyncMergeMode.mergeFields, .leaveIfChanged].map { .string($0.rawValue) }, limit: nil)
    return try reader.entries(rows.compactMap { $0[0]?.int64 }, of: soupName)
      .compactMap { try? SyncState(json: $0.record) }.filter(\.needsBases)
  }

  // MARK: Writing

  /// Stores a new sync.
  ///
  /// - Parameter replaceable: A sync that is not active. If it has the new one's name and is still
  ///   provisional, the new one takes its place and its id.
  /// - Throws: ``SyncError`` `nameInUse` if another sync has its name.
  func create(_ sync: SyncState, replacing replaceable: Int64? = nil) async throws -> SyncState {
    try await store.inTransaction { transaction in
      if let name = sync.name, let known = try Self.sync(name: name, in: transaction) {
        guard known.isProvisional, known.id == replaceable,
          try OutcomeStore.kinds(syncId: known.id, in: transaction).isSubset(of: .notAccepted)
        else { throw Self.nameInUse(name) }
        var sync = sync
        sync.id = known.id
        try Self.save(sync, in: transaction)
        return sync
      }
      let created = try transaction.create(
        entry: .object(sync.storedJSON), inSoupNamed: Self.soupName)
      var sync = sync
      if let id = created[SyncKeys.soupEntryId]?.int64 { sync.id = id }
      return sync
    }
  }

  /// Submits a run of the sync with this id, whatever it is by now.
  ///
  /// - Returns: The state as it was, and as it is stored from now on.
  /// - Throws: ``SyncError`` `doesNotExist`, `invalidState`.
  func submit(id: Int64, at time: Int64) async throws -> (stored: SyncState, state: SyncState) {
    try await store.inTransaction(durability: .normal) { transaction in
      guard let found = try transaction.entries([id], of: Self.soupName).first else {
        throw Self.missing(id)
      }
      let stored = try SyncState(json: found.record, in: transaction)
      var state = stored
      state.submit(at: time)
      try Self.save(state, in: transaction)
      return (stored, state)
    }
  }

  /// Stores the present state of a sync.
  ///
  /// - Throws: ``SyncError`` `doesNotExist` if it was deleted: it is not stored again under another id.
  func save(_ sync: SyncState, durability: Durability = .full) async throws {
    try await store.inTransaction(durability: durability) { transaction in
      try Self.save(sync, in: transaction)
    }
  }

  /// Stores a sync as it is now, as part of a transaction.
  static func save(_ sync: SyncState, in transaction: borrowing StoreTransaction) throws {
    do {
      try transaction.update(
        entry: .object(sync.storedJSON), withSoupEntryId: sync.id, inSoupNamed: soupName)
    } catch let error where error.code == .noSuchEntry {
      throw missing(sync.id)
    }
  }

  static func nameInUse(_ name: String) -> SyncError {
    SyncError(
      .nameInUse,
      "There is already a sync with name: \(name). Choose another name, or delete that sync.")
  }

  private static func missing(_ id: Int64) -> SyncError {
    SyncError(.doesNotExist, "Sync \(id) does not exist any more. Create it again.")
  }

  /// Removes a sync; one that does not exist is not an error.
  func delete(id: Int64) async throws {
    try await store.remove(entryIds: [id], forSoupNamed: Self.soupName)
  }

  private static func sync(
    name: String, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> SyncState? {
    let rows = try reader.rows(
      "SELECT {syncs_soup:_soupEntryId} FROM {syncs_soup} WHERE {syncs_soup:name} = ?",
      [.string(name)], limit: 1)
    let entries = try reader.entries(rows.compactMap { $0[0]?.int64 }, of: soupName)
    return try entries.first.map { try SyncState(json: $0.record, in: reader) }
  }
}
