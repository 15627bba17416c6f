import SmartStore

/// Removes records that the server no longer returns for a sync.
struct GhostCleaning: Sendable {
  let context: SyncContext

  /// A soup, as far as it belongs to the sync.
  private struct Own {
    let place: DownloadLayout.Place
    /// Only records that this sync brought, if the soup can tell them; otherwise the whole soup is
    /// taken to belong to it.
    let syncId: Int64?
    let localIds: [String]
  }

  /// Removes the ghosts among the clean records; dirty ones, and parents of dirty ones, are never
  /// touched.
  ///
  /// - Returns: How many were removed from each soup, children's soups included.
  func run(_ target: some SyncDownTarget) async throws -> GhostCounts {
    try context.checkStop()
    let layout = DownloadLayout(of: target, soupName: context.soupName)
    var counts = GhostCounts()
    guard layout.isEditable else { return counts }
    try await layout.check(in: context.store)
    var own: [Own] = []
    for (index, place) in layout.places.enumerated() {
      let owned = try await place.records.indexedPaths(in: context.store).contains(SyncKeys.syncId)
      let syncId = owned ? context.syncId : nil
      let clean = try await place.records.cleanIds(in: context.store, syncId: syncId)
      let edited = try await context.store.read { reader in
        try parentsOfEdits(index, layout, in: reader)
      }
      own.append(
        Own(place: place, syncId: syncId, localIds: clean.filter { !edited.contains($0) }))
    }
    if own.allSatisfy(\.localIds.isEmpty) { return counts }

    guard let remoteIds = try await remoteIds(target, own.map(\.localIds)) else { return counts }
    for (index, soup) in own.enumerated() where index < remoteIds.count {
      let removed = try await remove(
        Set(soup.localIds).subtracting(remoteIds[index]).sorted(), soup, index, layout)
      counts.add(removed, soup.place.records.soupName, isChild: soup.place.parent != nil)
    }
    return counts
  }

  private func remoteIds(
    _ target: some SyncDownTarget, _ localIds: [[String]]
  ) async throws -> [Set<String>]? {
    if let several = target as? any MultiSoupSyncDownTarget {
      return try await several.remoteIds(inSoups: localIds, in: context)
    }
    return try await target.remoteIds(for: localIds[0], in: context).map { [$0] }
  }

  private func remove(
    _ ghosts: [String], _ soup: Own, _ index: Int, _ layout: DownloadLayout
  ) async throws -> Int {
    var removed = 0
    let (records, syncId) = (soup.place.records, soup.syncId)
    for start in stride(from: 0, to: ghosts.count, by: SyncLimits.recordsPerRead) {
      let slice = ghosts[start..<min(start + SyncLimits.recordsPerRead, ghosts.count)]
      removed += try await context.store.inTransaction(durability: .normal) { transaction in
        try context.signal.check()
        // Somebody may have edited a child meanwhile.
        let edited = try parentsOfEdits(index, layout, in: transaction)
        let ids = edited.isEmpty ? slice : slice.filter { !edited.contains($0) }[...]
        return try records.removeClean(ids: ids, syncId: syncId, in: transaction)
      }
    }
    return removed
  }

  /// The ids of records at a place that have dirty children.
  private func parentsOfEdits(
    _ index: Int, _ layout: DownloadLayout, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> Set<String> {
    var parents: Set<String> = []
    for child in layout.places {
      guard let parent = child.parent, parent.place == index else { continue }
      parents.formUnion(try child.records.parentsOfDirty(by: parent.field, in: reader))
    }
    return parents
  }
}

/// How many ghosts were removed.
public struct GhostCounts: Sendable, Equatable {
  /// Of the sync's own records; children of others are not counted here.
  public private(set) var removed = 0
  /// Of each soup, children's soups included; soups without ghosts are left out.
  public private(set) var bySoup: [String: Int] = [:]

  init() {}

  mutating func add(_ count: Int, _ soupName: String, isChild: Bool) {
    if count == 0 { return }
    bySoup[soupName, default: 0] += count
    if !isChild { removed += count }
  }
}
