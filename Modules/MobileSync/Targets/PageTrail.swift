import SalesforceSDKCommon

/// The cursors of the pages of one run, which detects a cycle.
///
/// It is for targets that fetch all pages themselves, such as the ids in
/// ``SyncDownTarget/remoteIds(for:in:)``; the engine does this for the pages of a run. A trail
/// stores one cursor for any number of pages.
///
/// ```swift
/// var trail = PageTrail<String>()
/// while let cursor = page.next {
///   try trail.follow(cursor)
///   page = try await fetch(cursor)
/// }
/// ```
public struct PageTrail<Cursor: Equatable & Sendable>: Sendable {
  private var detector = CircleDetector<Cursor>()

  /// A trail without cursors.
  public init() {}

  /// Records the cursor of the next page to fetch.
  ///
  /// - Throws: ``SyncError`` `unexpectedResponse` if the cursors form a cycle. A cycle of n pages
  ///   is detected after about 4n pages at the latest.
  public mutating func follow(_ cursor: Cursor) throws(SyncError) {
    if detector.returns(to: cursor) { throw Self.circle }
  }

  /// Pages that would never end.
  static var circle: SyncError {
    SyncError(
      .unexpectedResponse,
      "The server's pages lead in a circle: a later page led back to an earlier one. Run the sync again; "
        + "if it fails again, the server's paging is at fault.")
  }
}

extension CircleDetector<AnyHashable> {
  /// As ``returns(to:)``, for the cursor of any target. One that is not `Hashable` never returns.
  mutating func returns<Cursor>(toCursor cursor: Cursor?) -> Bool {
    guard let cursor, let value = cursor as? AnyHashable else { return false }
    return returns(to: value)
  }
}
