/// The pages after the one that is being saved: a few are requested before they are needed.
///
/// If the target predicts cursors (``PagePredicting``), pages are requested in parallel, otherwise
/// one after the other. The larger the pages, the fewer are kept in memory.
struct PagesAhead<Target: SyncDownTarget>: Sendable {
  typealias Page = DownloadedPage<Target.Cursor>

  /// A page that was requested.
  private struct Request: Sendable {
    /// The cursor that it was requested with; nil if that is the one of the page before, whatever it is.
    let cursor: Target.Cursor?
    let task: Task<Page?, any Error>
  }

  private let target: Target
  private let layout: DownloadLayout
  private let context: SyncContext
  /// The number of downloads that share the memory.
  private let sharers: Int
  private var requests: [Request] = []

  /// - Parameter sharers: The number of downloads that request pages in parallel.
  init(
    _ target: Target, _ layout: DownloadLayout, sharers: Int = 1, in context: SyncContext
  ) {
    self.target = target
    self.layout = layout
    self.sharers = sharers
    self.context = context
  }

  /// Requests pages after `page`, the one that is to be saved.
  mutating func request(after page: Page) {
    guard let next = page.next else { return }
    if requests.isEmpty { add(next) }
    guard target is any PagePredicting else { return }
    while requests.count < PagesAheadLimits.pages(of: page.byteCount, sharers: sharers),
      let last = requests.last
    {
      if let cursor = predicted(after: last.cursor, page) {
        add(cursor)
      } else {
        chain(behind: last.task)
      }
    }
  }

  /// The page after `page`; nil if there is none.
  mutating func next(after page: Page) async throws -> Page? {
    guard let next = page.next else { return nil }
    if let first = requests.first, !Self.leads(first.cursor, to: next) {
      // The server divided the records otherwise than was foreseen.
      await cancel()
    }
    if requests.isEmpty { add(next) }
    let request = requests.removeFirst()
    let waiting = requests.map(\.task) + [request.task]
    return try await withTaskCancellationHandler {
      try await request.task.value
    } onCancel: {
      for task in waiting { task.cancel() }
    }
  }

  /// Ends the requests that are in flight.
  mutating func cancel() async {
    for request in requests { request.task.cancel() }
    for request in requests { _ = await request.task.result }
    requests = []
  }

  private mutating func add(_ cursor: Target.Cursor) {
    let (target, layout, context) = (target, layout, context)
    requests.append(
      Request(
        cursor: cursor,
        task: Task { try await SyncDownRun.page(at: cursor, of: target, layout, in: context) }))
  }

  private mutating func chain(behind previous: Task<Page?, any Error>) {
    let (target, layout, context) = (target, layout, context)
    requests.append(
      Request(
        cursor: nil,
        task: Task {
          guard let cursor = try await previous.value?.next else { return nil }
          return try await SyncDownRun.page(at: cursor, of: target, layout, in: context)
        }))
  }

  /// The cursor after `cursor`, if the target can tell it.
  private func predicted(after cursor: Target.Cursor?, _ page: Page) -> Target.Cursor? {
    guard let cursor, let total = page.totalSize, total >= 0, page.count > 0
    else { return nil }
    func predict<Predicting: PagePredicting>(_ target: Predicting) -> Target.Cursor? {
      guard let cursor = cursor as? Predicting.Cursor else { return nil }
      return target.cursor(after: cursor, pageSize: page.count, totalSize: total) as? Target.Cursor
    }
    return (target as? any PagePredicting).flatMap { predict($0) }
  }

  /// Whether a page was requested with the cursor that leads to it.
  private static func leads(_ requested: Target.Cursor?, to cursor: Target.Cursor) -> Bool {
    guard let requested else { return true }
    guard let requested = requested as? AnyHashable, let cursor = cursor as? AnyHashable else {
      return true
    }
    return requested == cursor
  }
}

/// The number of pages to request ahead.
enum PagesAheadLimits {
  /// Requests of one download that are in flight at the same time.
  static let most = 6
  /// Requests of all ranges of a download that are in flight at the same time, unless there are more ranges.
  static let mostOfRanges = 8
  /// The approximate limit of memory for all pages.
  static let bytes = 12 << 20

  /// The maximum number of requested pages of a size.
  ///
  /// - Parameter sharers: The number of downloads that share the memory.
  static func pages(of byteCount: Int, sharers: Int = 1) -> Int {
    let most = sharers > 1 ? mostOfRanges / sharers : most
    return max(1, min(most, bytes / sharers / max(byteCount, 1)))
  }
}
