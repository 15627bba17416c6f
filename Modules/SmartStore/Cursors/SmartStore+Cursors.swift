public import SalesforceSDKCommon
import Synchronization

extension SmartStore {
  /// The last cursor id. Ids are unique in the process, across all stores.
  private static let lastCursorId = Atomic<Int64>(0)

  /// Runs a query and returns a cursor on its first page.
  ///
  /// - Parameter whereArgs: One value for each `?` of a smart query.
  /// - Throws: ``SmartStoreError`` as ``query(using:startingFromPageIndex:whereArgs:)``; then no
  ///   cursor is opened.
  public func openCursor(
    using querySpec: QuerySpec, whereArgs: [JSONValue]? = nil
  ) async throws -> StoreCursor {
    // The total and the page come from the same snapshot.
    let (total, page) = try await read { reader in
      (
        try reader.count(using: querySpec, whereArgs: whereArgs),
        try reader.query(using: querySpec, whereArgs: whereArgs)
      )
    }
    let entry = CursorTable.Entry(
      querySpec: querySpec, whereArgs: whereArgs, totalEntries: total)
    let id = Self.lastCursorId.add(1, ordering: .relaxed).newValue
    guard cursors.withLock({ $0.insert(entry, id: id) }) else { throw closedError }
    return StoreCursor(entry, id: id, pageIndex: 0, page: page)
  }

  /// Moves a cursor to a page and reads the page's current results.
  ///
  /// - Parameter pageIndex: An index before the first page selects the first page, an index after the last
  ///   page the last one.
  /// - Throws: ``SmartStoreError`` `invalidCursor` if no cursor of this store has this id; the
  ///   errors of the query.
  public func moveCursor(
    _ cursorId: Int64, toPageIndex pageIndex: Int
  ) async throws -> StoreCursor {
    try checkOpen()
    guard let entry = cursors.withLock({ $0[cursorId] }) else {
      throw SmartStoreError(
        .invalidCursor, "Invalid cursor id \(cursorId). Open a cursor of this store first.")
    }
    let index = entry.clamped(pageIndex)
    let page = try await query(
      using: entry.querySpec, startingFromPageIndex: index, whereArgs: entry.whereArgs)
    return StoreCursor(entry, id: cursorId, pageIndex: index, page: page)
  }

  /// Moves a cursor to the page after its current one.
  ///
  /// - Throws: ``SmartStoreError`` `cursorAtEnd` on the last page, without running a query; the
  ///   errors of ``moveCursor(_:toPageIndex:)``.
  public func moveCursorToNextPage(_ cursor: StoreCursor) async throws -> StoreCursor {
    guard cursor.currentPageIndex + 1 < cursor.totalPages else {
      throw SmartStoreError(
        .cursorAtEnd, "moveCursorToNextPage called while on last page. Look at totalPages first.")
    }
    return try await moveCursor(cursor.cursorId, toPageIndex: cursor.currentPageIndex + 1)
  }

  /// Moves a cursor to the page before its current one.
  ///
  /// - Throws: ``SmartStoreError`` `cursorAtEnd` on the first page, without running a query; the
  ///   errors of ``moveCursor(_:toPageIndex:)``.
  public func moveCursorToPreviousPage(_ cursor: StoreCursor) async throws -> StoreCursor {
    guard cursor.currentPageIndex > 0 else {
      throw SmartStoreError(
        .cursorAtEnd,
        "moveCursorToPreviousPage called while on first page. Look at currentPageIndex first.")
    }
    return try await moveCursor(cursor.cursorId, toPageIndex: cursor.currentPageIndex - 1)
  }

  /// Closes a cursor. Does nothing if it is not open.
  public func closeCursor(_ cursorId: Int64) {
    cursors.withLock { $0.remove(cursorId) }
  }
}

extension StoreCursor {
  fileprivate init(
    _ entry: CursorTable.Entry, id: Int64, pageIndex: Int, page: [JSONValue]
  ) {
    self.init(
      cursorId: id, currentPageIndex: pageIndex, pageSize: entry.querySpec.pageSize,
      totalEntries: entry.totalEntries, totalPages: entry.totalPages,
      currentPageOrderedEntries: page)
  }
}
