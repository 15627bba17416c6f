import SalesforceAnalytics
import SalesforceSDKCommon
import Synchronization
import Testing

@testable import SmartStore
import TestSupport

/// Cursors: a query and a place in its results.
@Suite struct CursorTests {
  private func withSeven(_ body: (SmartStore, QuerySpec) async throws -> Void) async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex("n:integer")])
      try await store.upsert(
        entries: (1...7).map { ["n": .integer($0)] }, forSoupNamed: "a")
      try await body(
        store,
        .buildAllQuerySpec(soupName: "a", selectPaths: ["n"], orderPath: "n", pageSize: 3))
    }
  }

  @Test(.covers("SS-137"))
  func `a cursor shows the first page and the totals`() async throws {
    try await withSeven { store, spec async throws in
      let cursor = try await store.openCursor(using: spec)
      #expect(cursor.currentPageIndex == 0)
      #expect(cursor.pageSize == 3)
      #expect(cursor.totalEntries == 7)
      #expect(cursor.totalPages == 3)
      #expect(cursor.currentPageOrderedEntries == [[1], [2], [3]])
      #expect(
        cursor.json == [
          "cursorId": .integer(cursor.cursorId), "currentPageIndex": 0, "pageSize": 3,
          "totalEntries": 7, "totalPages": 3, "currentPageOrderedEntries": [[1], [2], [3]],
        ])
      #expect(try await store.openCursor(using: spec).cursorId != cursor.cursorId)

      try await store.clearSoup("a")
      let empty = try await store.openCursor(using: spec)
      #expect(empty.totalPages == 0)
      #expect(empty.totalEntries == 0)
      #expect(empty.currentPageOrderedEntries == [])
    }
  }

  @Test(.covers("SS-138"))
  func `a cursor shows what is stored now and the totals of its creation`()
    async throws
  {
    try await withSeven { store, spec async throws in
      let cursor = try await store.openCursor(using: spec)
      try await store.upsert(entries: [["n": 0]], forSoupNamed: "a")
      let again = try await store.moveCursor(cursor.cursorId, toPageIndex: 0)
      #expect(again.currentPageOrderedEntries == [[0], [1], [2]])
      #expect(again.totalEntries == 7)

      let smart = try await store.openCursor(
        using: .buildSmartQuerySpec(
          smartSql: "select {a:n} from {a} where {a:n} > ? order by {a:n}", pageSize: 2),
        whereArgs: [4])
      #expect(smart.totalEntries == 3)
      let next = try await store.moveCursorToNextPage(smart)
      #expect(next.currentPageOrderedEntries == [[7]])
    }
  }

  @Test(.covers("SS-139"))
  func `a move is clamped to the pages, a step past the ends fails`() async throws {
    try await withSeven { store, spec async throws in
      let first = try await store.openCursor(using: spec)
      for (asked, expected) in [(-5, 0), (0, 0), (1, 1), (2, 2), (3, 2), (Int.max, 2)] {
        let moved = try await store.moveCursor(first.cursorId, toPageIndex: asked)
        #expect(moved.currentPageIndex == expected, "asked for \(asked)")
        #expect(moved.cursorId == first.cursorId)
      }
      let last = try await store.moveCursor(first.cursorId, toPageIndex: 2)
      #expect(last.currentPageOrderedEntries == [[7]])
      await expectFailure(.cursorAtEnd, "moveCursorToNextPage called while on last page") {
        _ = try await store.moveCursorToNextPage(last)
      }
      await expectFailure(.cursorAtEnd, "moveCursorToPreviousPage called while on first page") {
        _ = try await store.moveCursorToPreviousPage(first)
      }
      let middle = try await store.moveCursorToPreviousPage(last)
      #expect(middle.currentPageOrderedEntries == [[4], [5], [6]])
      #expect(try await store.moveCursorToNextPage(middle) == last)

      try await store.clearSoup("a")
      let empty = try await store.openCursor(using: spec)
      let moved = try await store.moveCursor(empty.cursorId, toPageIndex: 4)
      #expect(moved.currentPageIndex == 0)
      #expect(moved.currentPageOrderedEntries == [])
      await expectFailure(.cursorAtEnd) { _ = try await store.moveCursorToNextPage(moved) }
    }
  }

  @Test(.covers("SS-140"))
  func `a closed cursor is unknown, as is that of another store`() async throws {
    try await withSeven { store, spec async throws in
      let cursor = try await store.openCursor(using: spec)
      try await withSeven { other, _ async throws in
        await expectFailure(.invalidCursor, "Invalid cursor id") {
          _ = try await other.moveCursor(cursor.cursorId, toPageIndex: 0)
        }
      }
      store.closeCursor(cursor.cursorId)
      store.closeCursor(cursor.cursorId)
      store.closeCursor(-1)
      let error = await expectFailure(.invalidCursor, "Invalid cursor id") {
        _ = try await store.moveCursorToNextPage(cursor)
      }
      #expect(error?.number == 999)

      let open = try await store.openCursor(using: spec)
      try await store.close()
      await expectFailure(.closed) { _ = try await store.moveCursor(open.cursorId, toPageIndex: 0) }
      await expectFailure(.closed) { _ = try await store.openCursor(using: spec) }
      #expect(store.cursors.withLock { $0[open.cursorId] == nil })
    }
  }

  @Test(.covers("SS-141"))
  func `a failed query gives neither data nor a cursor, and no JSON event`()
    async throws
  {
    let events = InMemoryEventStore()
    try await withStore(options: SmartStoreOptions(events: events)) { store async throws in
      let unknown = try QuerySpec.buildAllQuerySpec(soupName: "none", pageSize: 1)
      let broken = try QuerySpec.buildSmartQuerySpec(smartSql: "select no from such", pageSize: 1)
      for (spec, code) in [
        (unknown, SmartStoreError.Code.unknownSoup), (broken, .sql),
      ] {
        await expectFailure(code) { _ = try await store.openCursor(using: spec) }
        await expectFailure(code) { _ = try await store.query(using: spec) }
        await expectFailure(code) { _ = try await store.queryAsString(using: spec) }
      }
      #expect(events.events == [])
    }
  }
}
