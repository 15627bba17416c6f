import SalesforceSDKCommon
import SmartStore

extension SyncDownRun {
  /// Divides a first download of many records into an empty soup into ranges, if that is possible. Otherwise the
  /// reason is kept in the sync's state, unless the target alone tells it.
  ///
  /// - Parameter total: The number of records; 0 if they fit into one page.
  func plan<Target: PartitionedSyncDownTarget>(
    _ target: Target, total: Int, _ sync: inout SyncState, _ pages: PageSaving
  ) async throws {
    guard sync.maxTimeStamp < 0, target.partitions > 1, target.partitionObstacle == nil,
      total > 0, total >= target.partitionsFrom
    else { return }
    do {
      sync.partitions = try await partitions(target, pages)
      sync.serialReason = nil
    } catch let obstacle as Obstacle {
      sync.serialReason = obstacle.reason
    }
  }

  /// The reason why a download is not split.
  private struct Obstacle: Error {
    let reason: String
  }

  private func partitions<Target: PartitionedSyncDownTarget>(
    _ target: Target, _ pages: PageSaving
  ) async throws -> SyncPartitions {
    let context = pages.context
    guard let records = DownloadLayout(of: target, soupName: context.soupName).onlyPlace?.records
    else { throw Obstacle(reason: "The records of the target are divided into several soups.") }
    guard try await context.store.read({ try records.newestEntryId(in: $0) }) == 0 else {
      throw Obstacle(reason: "The soup had entries before the first download.")
    }
    guard let bounds = try await target.idBounds(in: context) else {
      throw Obstacle(reason: "The server did not say where the ids begin and end.")
    }
    // The ranges cost a few requests more: not if the org is about to refuse all of them.
    if let left = bounds.requestsLeft, left < bounds.count / 1_000 + Self.sparedRequests {
      throw Obstacle(reason: "The org accepts only \(left) more requests today.")
    }
    guard let partitions = SyncPartitions(bounds, count: target.partitions) else {
      throw Obstacle(reason: "The ids are too close to each other, or not of one form.")
    }
    return partitions
  }

  /// So many requests of the day are left to others.
  private static var sparedRequests: Int { 100 }

  /// Downloads what the sync's ranges lack. In the end the watermark is that of the ranges.
  func downloadRanges<Target: PartitionedSyncDownTarget>(
    of target: Target, _ layout: DownloadLayout, _ sync: inout SyncState,
    _ pages: inout PageSaving
  ) async throws {
    guard let partitions = sync.partitions else { return }
    sync.totalSize = partitions.total
    // Stored before a range is requested: a run that ends in between resumes these ranges.
    try pages.context.checkStop()
    try await SyncStateStore(store: pages.context.store).save(sync, durability: .normal)
    report(sync)
    let download = PartitionedDownload(target: target, layout: layout, context: pages.context)
    try await BulkInsertSoup.with(
      pages.writer, expected: partitions.total, in: pages.context.store
    ) { fresh in
      pages.fresh = fresh
      try await download.run(partitions) { page, partitions in
        var state = Self.state(sync, with: partitions, count: page?.count ?? 0)
        if let page {
          state = try await pages.save(page, from: sync, to: state)
        } else {
          try pages.context.checkStop()
          try await SyncStateStore(store: pages.context.store).save(state, durability: .normal)
        }
        let isProgress = state.progress != sync.progress
        sync = state
        if isProgress { report(state) }
      }
    }
    pages.fresh = nil
  }

  /// The sync with what its ranges have now.
  private static func state(
    _ sync: SyncState, with partitions: SyncPartitions, count: Int
  ) -> SyncState {
    var state = sync
    state.partitions = partitions
    if partitions.isDone { state.maxTimeStamp = partitions.watermark }
    if count > 0 { state.isProvisional = false }
    let saved = partitions.saved
    if saved < partitions.total {
      state.progress = max(
        sync.progress, Int(Int64(saved) * 100 / Int64(partitions.total)))
    }
    return state
  }
}
