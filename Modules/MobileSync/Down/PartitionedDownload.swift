import SalesforceSDKCommon

/// A first download of several ranges in parallel.
struct PartitionedDownload<Target: PartitionedSyncDownTarget>: Sendable {
  typealias Page = DownloadedPage<Target.Cursor>

  let target: Target
  let layout: DownloadLayout
  let context: SyncContext

  /// A downloaded page of a range, with the requests for the pages after it.
  private struct Arrival: Sendable {
    let index: Int
    /// nil: the page that the one before led to does not exist.
    let page: Page?
    let isFirst: Bool
    var ahead: PagesAhead<Target>
  }

  /// The requests in flight.
  private struct Progress {
    var partitions: SyncPartitions
    /// The ranges that are not requested yet, in order.
    var waiting: [Int]
    /// The number of ranges with a request in flight.
    var underWay = 0
    /// Detects pages that do not end, range by range.
    var bounds: [Int: PageBound<AnyHashable>] = [:]
  }

  /// Downloads what the ranges lack, to the end.
  ///
  /// - Parameter save: Saves a page, nil if there is none, with what the ranges are once it is saved. One page is
  ///   saved at a time, while others are in flight.
  func run(
    _ partitions: SyncPartitions, save: (Page?, SyncPartitions) async throws -> Void
  ) async throws {
    var progress = Progress(
      partitions: partitions,
      waiting: partitions.ranges.indices.filter { !partitions.ranges[$0].isDone })
    try await withThrowingTaskGroup(of: Arrival.self) { group in
      do {
        startWaiting(&progress, &group)
        while let arrival = try await group.next() {
          try await take(arrival, &progress, &group, save)
        }
      } catch {
        group.cancelAll()
        while let rest = await group.nextResult() {
          if case .success(var arrival) = rest { await arrival.ahead.cancel() }
        }
        throw error
      }
    }
  }

  /// Requests what follows a page, then saves it.
  private func take(
    _ arrival: Arrival, _ progress: inout Progress,
    _ group: inout ThrowingTaskGroup<Arrival, any Error>,
    _ save: (Page?, SyncPartitions) async throws -> Void
  ) async throws {
    let (index, page) = (arrival.index, arrival.page)
    var ahead = arrival.ahead
    let next = page?.next
    progress.partitions.save(page?.parts[0].ids ?? [], ofRange: index, isLast: next == nil)
    if let page, next != nil {
      let known = progress.partitions.ranges.count
      let isCut =
        arrival.isFirst
        && progress.partitions.cut(
          index, rest: max(page.totalSize ?? 0, 0) - page.count, pageSize: page.count,
          count: target.partitions)
      if isCut {
        progress.underWay -= 1
        progress.waiting = [index] + progress.waiting
        progress.waiting += known..<progress.partitions.ranges.count
      } else {
        if let fault = progress.bounds[index, default: PageBound()].follow(page) {
          await ahead.cancel()
          throw SyncError(fault)
        }
        ahead.request(after: page)
        wait(for: index, after: page, ahead, &group)
      }
    } else {
      // The server may have divided the records otherwise than was foreseen.
      await ahead.cancel()
      progress.underWay -= 1
    }
    startWaiting(&progress, &group)
    try await save(page, progress.partitions)
  }

  /// Requests the first pages of the next ranges.
  private func startWaiting(
    _ progress: inout Progress, _ group: inout ThrowingTaskGroup<Arrival, any Error>
  ) {
    while progress.underWay < max(target.partitions, 1), !progress.waiting.isEmpty {
      let index = progress.waiting.removeFirst()
      let range = progress.partitions.ranges[index].rest
      let ahead = PagesAhead(target, layout, sharers: max(target.partitions, 1), in: context)
      progress.underWay += 1
      group.addTask {
        Arrival(
          index: index, page: try await firstPage(of: range), isFirst: true, ahead: ahead)
      }
    }
  }

  /// Waits for the page after `page`.
  private func wait(
    for index: Int, after page: Page, _ ahead: PagesAhead<Target>,
    _ group: inout ThrowingTaskGroup<Arrival, any Error>
  ) {
    group.addTask {
      var ahead = ahead
      do {
        let next = try await ahead.next(after: page)
        return Arrival(index: index, page: next, isFirst: false, ahead: ahead)
      } catch {
        await ahead.cancel()
        throw error
      }
    }
  }

  @concurrent private func firstPage(of range: SyncIdRange) async throws -> Page {
    try context.checkStop()
    return try DownloadedPage(try await target.startFetch(range, in: context), layout)
  }
}
