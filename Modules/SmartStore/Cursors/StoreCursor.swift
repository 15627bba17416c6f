public import SalesforceSDKCommon

/// One page of a query's results, with its position among the pages.
///
/// A cursor keeps the query and the position, not the results: each move reads the current content
/// of the store, while the totals stay those of the cursor's creation. Open one with
/// ``SmartStore/openCursor(using:whereArgs:)`` and close it after use; closing the store closes all
/// of its cursors.
public struct StoreCursor: Sendable, Equatable {
  /// The cursor's id, unique in this process while it runs.
  public let cursorId: Int64
  /// The index of the current page, counted from 0.
  public let currentPageIndex: Int
  /// The maximum number of results in a page.
  public let pageSize: Int
  /// The number of results when the cursor was opened.
  public let totalEntries: Int64
  /// The number of pages of these results; 0 if there were no results.
  public let totalPages: Int
  /// The results on the current page: entries, or rows as arrays.
  public let currentPageOrderedEntries: [JSONValue]

  /// The JSON form that bridges return.
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
  /// The state of an open cursor.
  struct Entry: Sendable {
    let querySpec: QuerySpec
    let whereArgs: [JSONValue]?
    let totalEntries: Int64

    /// The number of pages of the results.
    var totalPages: Int {
      let size = Int64(querySpec.pageSize)
      return Int(totalEntries / size + (totalEntries % size == 0 ? 0 : 1))
    }

    /// Returns the index of the page nearest to `index`.
    func clamped(_ index: Int) -> Int { max(0, min(index, totalPages - 1)) }
  }

  private var entries: [Int64: Entry] = [:]
  private var isClosed = false

  subscript(id: Int64) -> Entry? { entries[id] }

  /// Stores a cursor; returns false if the store was closed in the meantime.
  mutating func insert(_ entry: Entry, id: Int64) -> Bool {
    if !isClosed { entries[id] = entry }
    return !isClosed
  }

  mutating func remove(_ id: Int64) { entries[id] = nil }

  /// Closes all cursors, and refuses new ones.
  mutating func close() {
    entries = [:]
    isClosed = true
  }
}
