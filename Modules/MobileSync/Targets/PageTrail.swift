public import SalesforceSDKCommon

/// The cursors of the pages of one run, which detects pages that do not end.
///
/// It is for targets that fetch all pages themselves, such as the ids in
/// ``SyncDownTarget/remoteIds(for:in:)``; the engine does this for the pages of a run. A trail
/// stores one number a page.
///
/// ```swift
/// var trail = PageTrail<String>()
/// while let cursor = page.next {
///   try trail.follow(cursor, records: page.records, totalSize: page.totalSize)
///   page = try await fetch(cursor)
/// }
/// ```
public struct PageTrail<Cursor: Equatable & Sendable>: Sendable {
  private var bound = PageBound<Cursor>()

  /// A trail without cursors.
  public init() {}

  /// Records the cursor of the next page to fetch, where the number of records on a page is not known.
  ///
  /// - Throws: ``SyncError`` `unexpectedResponse` if the cursors form a cycle, or after 1,000,000 pages. A cycle of n
  ///   pages is detected after about 4n pages at the latest.
  public mutating func follow(_ cursor: Cursor) throws(SyncError) {
    if let fault = bound.follow(cursor) { throw SyncError(fault) }
  }

  /// Records a page and the cursor of the next page to fetch.
  ///
  /// - Parameters:
  ///   - cursor: The cursor of the next page.
  ///   - count: The number of records on the page that leads there.
  ///   - first: A text that identifies the first of them, such as its id. nil: all records count as new.
  ///   - totalSize: The number of records of all pages; the first that is given counts.
  /// - Throws: ``SyncError`` `unexpectedResponse` as ``follow(_:)``, after 1,000 pages in a row without a new record, and
  ///   if the pages have over 10 percent, and over 2,000 records, more than `totalSize`.
  public mutating func follow(
    _ cursor: Cursor, count: Int, first: String? = nil, totalSize: Int? = nil
  ) throws(SyncError) {
    let fault = bound.follow(cursor, count: count, first: first?.hashValue, total: totalSize)
    if let fault { throw SyncError(fault) }
  }

  /// Records a page and the cursor of the next page to fetch.
  ///
  /// - Parameters:
  ///   - cursor: The cursor of the next page.
  ///   - records: The records on the page that leads there.
  ///   - totalSize: As in ``follow(_:count:first:totalSize:)``.
  /// - Throws: As ``follow(_:count:first:totalSize:)``.
  public mutating func follow(
    _ cursor: Cursor, records: [JSONSlice], totalSize: Int?
  ) throws(SyncError) {
    let first = records.first?.textHash
    let fault = bound.follow(cursor, count: records.count, first: first, total: totalSize)
    if let fault { throw SyncError(fault) }
  }
}

extension SyncError {
  /// The error for pages that would never end.
  init<Cursor>(_ fault: PageBound<Cursor>.Fault) {
    self.init(
      .unexpectedResponse,
      fault.reason + " Run the sync again; if it fails again, the server's paging is at fault.")
  }
}

extension PageBound<AnyHashable> {
  /// Adds a page of any target. Of a target whose cursors are not `Hashable`, only the number of records counts: it may
  /// go through what is here, as a refresh does, and then no page has to bring a record.
  mutating func follow<Target: Sendable>(_ page: DownloadedPage<Target>) -> Fault? {
    guard let next = page.next else { return nil }
    let total = page.totalSize
    guard let cursor = next as? AnyHashable else {
      return follow(nil, count: max(page.count, 1), total: total)
    }
    let first = page.parts.lazy.compactMap(\.ids.first).first ?? page.deleted.first
    return follow(
      cursor, count: page.count + page.deleted.count, first: first?.hashValue, total: total)
  }
}
