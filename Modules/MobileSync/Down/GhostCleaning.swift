import SalesforceSDKCommon
import SmartStore

/// A cleaning that removes records that the server no longer returns for a sync.
struct GhostCleaning: Sendable {
  let context: SyncContext
  let uses: SoupSyncIndex

  /// A soup, as far as it belongs to the sync.
  struct Own {
    let place: DownloadLayout.Place
    /// Whether the soup records which sync downloaded an entry; otherwise all entries belong to
    /// this sync.
    let isOwned: Bool
    let localIds: [String]
    /// Locally created records whose sync is not known yet.
    var unclaimed: [String] = []

    var allIds: [String] { localIds + unclaimed }
  }

  /// Removes the ghosts among the clean records; dirty ones, and parents of dirty ones, are never
  /// touched.
  ///
  /// - Parameter comparesIds: Whether all ids are requested in any case.
  /// - Returns: The number of removed records from each soup, children's soups included.
  func run(
    _ target: some SyncDownTarget, of sync: SyncState, comparesIds: Bool
  ) async throws -> GhostCounts {
    try context.checkStop()
    let layout = DownloadLayout(of: target, soupName: context.soupName)
    var counts = GhostCounts()
    guard layout.isEditable else { return counts }
    try await layout.check(in: context.store)
    let start = context.serverClock.instant()
    var notesDeletions = false
    if let listing = target as? any DeletionListing, let place = layout.onlyPlace,
      try await place.records.serverIdCount(in: context.store) >= listing.deletionsFrom
    {
      if !comparesIds, let count = try await removeDeleted(listing, of: sync, place, layout) {
        counts.add(count, place.records.soupName, isChild: false)
        return counts
      }
      notesDeletions = true
    }
    var own: [Own] = []
    for (index, place) in layout.places.enumerated() {
      own.append(try await self.own(place, index, layout))
    }
    if own.allSatisfy(\.allIds.isEmpty) { return counts }

    guard let remoteIds = try await remoteIds(target, own.map(\.allIds)) else { return counts }
    for (index, soup) in own.enumerated() where index < remoteIds.count {
      let removed =
        try await remove(
          Set(soup.localIds).subtracting(remoteIds[index]).sorted(), soup, index, layout)
        + removeUnclaimed(soup, index, layout, remoteIds[index])
      counts.add(removed, soup.place.records.soupName, isChild: soup.place.parent != nil)
    }
    if notesDeletions, let time = context.serverClock.time(before: start) {
      try await saveDeletionsUntil(time, of: sync)
    }
    return counts
  }

  /// The records of a soup that belong to the sync: clean records that name it or that it also
  /// downloaded, and locally created ones that can belong to no other sync.
  private func own(
    _ place: DownloadLayout.Place, _ index: Int, _ layout: DownloadLayout
  ) async throws -> Own {
    let (records, store) = (place.records, context.store)
    let isOwned = try await records.indexedPaths(in: store).contains(SyncKeys.syncId)
    var ids = try await records.cleanIds(in: store, syncId: isOwned ? context.syncId : nil)
    var unclaimed: [String] = []
    if isOwned {
      ids += try await owners(of: records).ids(in: store)
      let created = try await createdLocally(in: records).ids(in: store)
      if uses.fillers(of: records.soupName) == [context.syncId] {
        ids += created
      } else {
        unclaimed = Array(Set(created).subtracting(ids)).sorted()
      }
    }
    let edited = try await store.read { reader in
      try parentsOfEdits(index, layout, in: reader)
    }
    return Own(
      place: place, isOwned: isOwned, localIds: ids.filter { !edited.contains($0) },
      unclaimed: unclaimed.filter { !edited.contains($0) })
  }

  private func remoteIds(
    _ target: some SyncDownTarget, _ localIds: [[String]]
  ) async throws -> [Set<String>]? {
    if let several = target as? any MultiSoupSyncDownTarget {
      return try await several.remoteIds(inSoups: localIds, in: context)
    }
    if let finding = target as? any GhostFinding {
      return try await finding.ghostIds(in: context).map { [Set(localIds[0]).subtracting($0)] }
    }
    return try await target.remoteIds(for: localIds[0], in: context).map { [$0] }
  }

  func remove(
    _ ghosts: [String], _ soup: Own, _ index: Int, _ layout: DownloadLayout
  ) async throws -> Int {
    var removed = 0
    let records = soup.place.records
    for start in stride(from: 0, to: ghosts.count, by: SyncLimits.recordsPerRead) {
      let slice = ghosts[start..<min(start + SyncLimits.recordsPerRead, ghosts.count)]
      removed += try await context.store.inTransaction(durability: .normal) { transaction in
        try context.signal.check()
        // A child may have been edited since.
        let edited = try parentsOfEdits(index, layout, in: transaction)
        let ids = edited.isEmpty ? slice : slice.filter { !edited.contains($0) }[...]
        return soup.isOwned
          ? try release(ids, records, in: transaction)
          : try records.removeClean(ids: ids, in: transaction)
      }
    }
    return removed
  }

  /// Returns the ids of records of a soup that have dirty children.
  func parentsOfEdits(
    _ index: Int, _ layout: DownloadLayout, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> Set<String> {
    var parents: Set<String> = []
    for child in layout.places {
      guard let parent = child.parent, parent.place == index else { continue }
      parents.formUnion(try child.records.parentsOfDirty(by: parent.field, in: reader))
    }
    return parents
  }

  // MARK: Records that are not downloaded yet

  /// Decides about records that were created locally: those that the server has for this sync are the sync's from now on,
  /// and those that it has for none of the soup's syncs, as each of them has found by now, are ghosts.
  ///
  /// - Returns: The number of removed records.
  private func removeUnclaimed(
    _ soup: Own, _ index: Int, _ layout: DownloadLayout, _ remoteIds: Set<String>
  ) async throws -> Int {
    var removed = 0
    let records = soup.place.records
    for start in stride(from: 0, to: soup.unclaimed.count, by: SyncLimits.recordsPerRead) {
      let slice = soup.unclaimed[
        start..<min(start + SyncLimits.recordsPerRead, soup.unclaimed.count)]
      removed += try await context.store.inTransaction(durability: .normal) { transaction in
        try context.signal.check()
        let edited = try parentsOfEdits(index, layout, in: transaction)
        let ids = slice.filter { !edited.contains($0) }
        try claim(ids.filter(remoteIds.contains), records, in: transaction)
        return try removeIfAbsent(
          ids.filter { !remoteIds.contains($0) }, records, in: transaction)
      }
    }
    return removed
  }

  private func claim(
    _ ids: [String], _ records: SyncSoup, in transaction: borrowing StoreTransaction
  ) throws {
    let owners = owners(of: records)
    try owners.add(ids.map { (id: $0, syncId: context.syncId) }, in: transaction)
    try forgetUnclaimed(ids, records, in: transaction)
  }

  private func removeIfAbsent(
    _ ids: [String], _ records: SyncSoup, in transaction: borrowing StoreTransaction
  ) throws -> Int {
    if ids.isEmpty { return 0 }
    let owners = owners(of: records)
    let absence = ContributingSyncs.absence(in: context.syncId)
    try owners.add(ids.map { (id: $0, syncId: absence) }, in: transaction)
    let fillers = uses.fillers(of: records.soupName)
    let known = try owners.others(of: ids, in: transaction)
    var ghosts: [String] = []
    for (_, id, named) in try records.cleanOwned(ids: ids[...], in: transaction) {
      let marks = known[id] ?? []
      let isClaimed =
        named.map(fillers.contains) ?? false || !marks.isDisjoint(with: fillers)
      if !isClaimed, fillers.allSatisfy({ marks.contains(ContributingSyncs.absence(in: $0)) }) {
        ghosts.append(id)
      }
    }
    try forgetUnclaimed(ghosts, records, in: transaction)
    return try records.removeClean(ids: ghosts[...], in: transaction)
  }

  private func forgetUnclaimed(
    _ ids: [String], _ records: SyncSoup, in transaction: borrowing StoreTransaction
  ) throws {
    if ids.isEmpty { return }
    let marks = uses.fillers(of: records.soupName).map(ContributingSyncs.absence)
    for mark in [ContributingSyncs.createdLocally] + marks.sorted() {
      try owners(of: records).remove(ids, of: mark, in: transaction)
    }
  }

  // MARK: Records of several syncs

  func owners(of records: SyncSoup) -> ContributingSyncs {
    ContributingSyncs(soupName: records.soupName, syncId: context.syncId)
  }

  func createdLocally(in records: SyncSoup) -> ContributingSyncs {
    ContributingSyncs(soupName: records.soupName, syncId: ContributingSyncs.createdLocally)
  }

  /// Ends this sync's part in records: those that no other sync has go, the others stay with those.
  ///
  /// - Returns: The number of removed records.
  func release(
    _ ids: ArraySlice<String>, _ records: SyncSoup, in transaction: borrowing StoreTransaction
  ) throws -> Int {
    if ids.isEmpty { return 0 }
    let owners = owners(of: records)
    let known = uses.fillers(of: records.soupName)
    let others = try owners.others(of: ids, in: transaction)
    var orphans: [String] = []
    var heirs: [Int64: Int64] = [:]
    for (entryId, id, named) in try records.cleanOwned(ids: ids, in: transaction) {
      let rest = (others[id] ?? []).union(named.map { [$0] } ?? [])
        .intersection(known).subtracting([context.syncId])
      if rest.isEmpty {
        orphans.append(id)
      } else if named == context.syncId, let heir = rest.min() {
        heirs[entryId] = heir
        try owners.remove([id], of: heir, in: transaction)
      }
    }
    let inherited = try transaction.entries(heirs.keys.sorted(), of: records.soupName).map {
      try $0.record.setting([(SyncKeys.syncId, .integer(heirs[$0.id] ?? context.syncId))])
    }
    if !inherited.isEmpty {
      try transaction.upsert(slices: inherited, soup: records.soupName)
    }
    try owners.remove(ids, in: transaction)
    try createdLocally(in: records).remove(ids, in: transaction)
    return try records.removeClean(ids: orphans[...], in: transaction)
  }
}

/// The number of removed ghosts.
public struct GhostCounts: Sendable, Equatable {
  /// The number of removed records of the sync's own soup; children in other soups are not
  /// included.
  public private(set) var removed = 0
  /// The number of removed records by soup, including children's soups; soups without ghosts are
  /// omitted.
  public private(set) var bySoup: [String: Int] = [:]

  init() {}

  mutating func add(_ count: Int, _ soupName: String, isChild: Bool) {
    if count == 0 { return }
    bySoup[soupName, default: 0] += count
    if !isChild { removed += count }
  }
}
