public import SalesforceSDKCommon

/// One page of a query's results, and the position from which to request another.
///
/// A cursor keeps the query and the position, not the results: each move reads what is stored at
/// that time, while the totals stay those of the cursor's creation. Get one from
/// ``SmartStore/openCursor(using:whereArgs:)`` and close it when done; closing the store closes all
/// of its cursors.
public struct StoreCursor: Sendable, Equatable {
  /// Unique in this process, for as long as it runs.
  public let cursorId: Int64
  /// The page shown, counted from 0.
  public let currentPageIndex: Int
  /// The maximum number of results in a page.
  public let pageSize: Int
  /// The number of results when the cursor was opened.
  public let totalEntries: Int64
  /// The number of pages of these results; 0 if there were none.
  public let totalPages: Int
  /// The results on this page: entries, or rows as arrays.
  public let currentPageOrderedEntries: [JSONValue]

  /// The JSON form that bridges pass on.
  public var json: JSONValue {
    [
      "cursorId": .integer(cursorId), "currentPageIndex": .integer(Int64(currentPageIndex)),
      "pageSize": .integer(Int64(pageSize)), "totalEntries": .integer(totalEntries),
      "totalPages": .integer(Int64(totalPages)),
      "currentPageOrderedEntries": .array(currentPageOrderedEntries),
    ]
  }
}

/// The open cursors of one store.
struct CursorTable: Sendable {
  /// What a cursor keeps.
  struct Entry: Sendable {
    let querySpec: QuerySpec
    let whereArgs: [JSONValue]?
    let totalEntries: Int64

    /// The number of pages of the results.
    var totalPages: Int {
      let size = Int64(querySpec.pageSize)
      return Int(totalEntries / size + (totalEntries % size == 0 ? 0 : 1))
    }

    /// The page nearest to `index`.
    func clamped(_ index: Int) -> Int { max(0, min(index, totalPages - 1)) }
  }

  private var entries: [Int64: Entry] = [:]
  private var isClosed = false

  subscript(id: Int64) -> Entry? { entries[id] }

  /// Keeps a cursor; false if the store was closed in the meantime.
  mutating func insert(_ entry: Entry, id: Int64) -> Bool {
    if !isClosed { entries[id] = entry }
    return !isClosed
  }

  mutating func remove(_ id: Int64) { entries[id] = nil }

  /// Closes all cursors, those to come included.
  mutating func close() {
    entries = [:]
    isClosed = true
  }
}
