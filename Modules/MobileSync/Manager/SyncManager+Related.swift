import SmartStore

extension SyncManager {
  /// Runs several sync ups whose soups refer to each other: records that were created locally are uploaded before
  /// those that refer to them by their local ids.
  ///
  /// Referenced soups are uploaded first; within a soup, each run orders its records. If soups
  /// refer to each other in a cycle, a sync is run again for the records that had to wait. In a
  /// cycle of records, one of them is first sent without its reference, and the reference is sent
  /// later.
  ///
  /// ```swift
  /// try await manager.reSyncRelated(named: ["contacts up", "accounts up"])
  /// ```
  ///
  /// - Parameter names: The sync ups; their order matters only if references do not determine it.
  /// - Returns: The states in which the last run of each ended, in the order of `names`.
  /// - Throws: As ``reSync(id:)`` and ``SyncRun/finished()``; syncs that ran before the error are
  ///   not undone.
  @discardableResult
  public func reSyncRelated(named names: [String]) async throws -> [SyncState] {
    var ids: [Int64] = []
    for name in names { ids.append(try await existing(name: name).id) }
    return try await reSyncRelated(ids: ids)
  }

  /// As ``reSyncRelated(named:)``, by id.
  @discardableResult
  public func reSyncRelated(ids: [Int64]) async throws -> [SyncState] {
    var syncs: [SyncState] = []
    for id in ids { syncs.append(try await existing(id: id)) }
    var ended: [Int64: SyncState] = [:]
    var waiting = try await Self.storeErrors { try await order(syncs) }
    var leavesOut = false
    while !waiting.isEmpty {
      var again: [Int64] = []
      var hasProgress = false
      for id in waiting {
        let run = try await start(id: id, leavesOutReferences: leavesOut)
        ended[id] = try await run.finished()
        let outcomes = try await outcomes(forId: id)
        hasProgress = hasProgress || outcomes.contains { $0.isMade }
        if outcomes.contains(where: { $0.kind == .waiting }) { again.append(id) }
      }
      if !hasProgress, leavesOut { break }
      leavesOut = !hasProgress
      waiting = again
    }
    return ids.compactMap { ended[$0] }
  }

  /// The ids of syncs, those first to whose soups the others refer.
  private func order(_ syncs: [SyncState]) async throws -> [Int64] {
    let records = try await LocalRecordIndex(store, try await soupUses())
    let soups = syncs.map { Set(registry.soups(of: $0).map(\.soupName)) }
    var nodes: [RunOrder.Node] = []
    for (index, own) in soups.enumerated() {
      var referred: Set<String> = []
      for soup in own.sorted() {
        referred.formUnion(try await records.soupsReferred(from: soup, in: store))
      }
      referred.subtract(own)
      nodes.append(
        RunOrder.Node(
          number: Int64(index), name: String(index),
          references: soups.indices.filter { !soups[$0].isDisjoint(with: referred) }
            .map { String($0) }))
    }
    return RunOrder(nodes).levels.flatMap(\.self).map { syncs[Int($0)].id }
  }
}

extension SyncRecordOutcome {
  /// Whether the server has made the record, so that others can refer to it.
  fileprivate var isMade: Bool {
    kind == .succeeded && (action == .create || action == .upsert)
  }
}
