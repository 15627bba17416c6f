import SalesforceSDKCommon

/// The cursors of the pages of one run, which detects a cycle.
///
/// For targets that fetch all pages of something themselves, such as the ids in
/// ``SyncDownTarget/remoteIds(for:in:)``. The pages of a run are followed by the engine. It keeps one
/// cursor, however many pages there are.
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

  /// Takes the cursor of the page that is fetched next.
  ///
  /// - Throws: ``SyncError`` `unexpectedResponse` if the cursors lead in a circle. A circle of n pages is
  ///   noticed at the latest when about four times as many have come.
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
