/// A state machine of one sync down run: the state to store with each page, and the updates to
/// send.
///
/// It has counts and dates, but no records, and does no I/O.
struct SyncDownMachine: Sendable, Equatable {
  /// The changes of the sync's state that are stored with a page.
  struct PageEffect: Sendable, Equatable {
    /// The watermark to store; nil leaves the stored one.
    let maxTimeStamp: Int64?
    /// The progress to store and to report; nil if this page brings no update.
    let progress: Int?
  }

  private let isSorted: Bool
  private(set) var fetched = 0
  private(set) var totalSize = -1
  private(set) var progress = 0
  private let start: Int64
  /// The number of records that ranges downloaded before.
  private let earlier: Int
  /// The newest date that came, and up to when what came is complete.
  private var newest: Int64 = -1
  private var limit = Int64.max

  /// The watermark; it never goes below the one of the start, nor beyond what is complete.
  var maxTimeStamp: Int64 { max(start, min(newest, limit)) }

  /// - Parameters:
  ///   - maxTimeStamp: The watermark with which the run starts; it never goes below it.
  ///   - fetched: The number of records that were fetched before, in ranges.
  init(maxTimeStamp: Int64, isSorted: Bool, fetched: Int = 0) {
    start = maxTimeStamp
    self.isSorted = isSorted
    self.fetched = fetched
    earlier = fetched
  }

  /// The first page has come.
  ///
  /// - Parameter total: The number of records of the run; nil if the target does not know it.
  /// - Returns: Whether the second update is due: not if there is nothing to do.
  mutating func begin(total: Int?, isLast: Bool) -> Bool {
    totalSize = total.map(all) ?? -1
    return !(total == 0 && isLast)
  }

  /// A page is about to be saved.
  ///
  /// - Parameters:
  ///   - count: Its records, skipped ones included.
  ///   - latest: Their newest modification date; -1 if one of them has none.
  ///   - total: A better count of all records, if the page brings one.
  ///   - completeUntil: Up to when the run's records are complete, if the page tells.
  mutating func page(
    count: Int, latest: Int64, total: Int? = nil, completeUntil: Int64? = nil
  ) -> PageEffect {
    if let total, total >= 0 { totalSize = all(total) }
    fetched += count
    newest = max(newest, latest)
    limit = min(limit, completeUntil ?? .max)
    var reported: Int?
    if fetched < totalSize {
      progress = max(progress, Int(Int64(fetched) * 100 / Int64(totalSize)))
      reported = progress
    }
    return PageEffect(maxTimeStamp: isSorted ? maxTimeStamp : nil, progress: reported)
  }

  /// With the records that came before; -1 if `total` is no number of records.
  private func all(_ total: Int) -> Int {
    if total < 0 { return -1 }
    let (sum, overflow) = total.addingReportingOverflow(earlier)
    return overflow ? .max : sum
  }

  /// Ends the run after all records have arrived, and includes the newest date of children.
  mutating func end(latestOfChildren: Int64) { newest = max(newest, latestOfChildren) }
}
