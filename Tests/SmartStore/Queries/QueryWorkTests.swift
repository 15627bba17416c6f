import GRDB
import GRDBSQLite
import SalesforceSDKCommon
import Testing

@testable import SmartStore
import TestSupport

/// How does the work of a query grow with the soup, and with its result?
@Suite struct QueryWorkTests {
  private static let sizes = [250, 2_500, 10_000]

  /// A store with a soup of many entries, one of which has a word of its own.
  private func withSoup(
    of size: Int, _ body: (SmartStore) async throws -> Void
  ) async throws {
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "notes", withIndices: .init("text:full_text", "copy:string"))
      try await store.upsert(
        entries: (0..<size).map { number in
          let words = (0..<20).map { "word\((number * 31 + $0 * 7) % 997)" }
          let text = (words + (number == size / 2 ? ["lighthouse"] : []))
            .joined(separator: " ")
          return ["text": .string(text), "copy": .string(text)]
        }, forSoupNamed: "notes")
      try await body(store)
    }
  }

  /// How many pages of the database a query asks for; it finds one entry.
  private func pages(_ spec: QuerySpec, in store: SmartStore) async throws -> Int {
    let (found, pages) = try await store.read { reader -> (Int, Int) in
      let connection = reader.access.database.sqliteConnection
      func requests() -> Int {
        [SQLITE_DBSTATUS_CACHE_HIT, SQLITE_DBSTATUS_CACHE_MISS].reduce(0) { sum, kind in
          var (current, highest) = (Int32(0), Int32(0))
          sqlite3_db_status(connection, kind, &current, &highest, 0)
          return sum + Int(current)
        }
      }
      // The first time, the schema is read too.
      _ = try reader.query(using: spec, startingFromPageIndex: 0, whereArgs: nil)
      let before = requests()
      let rows = try reader.query(using: spec, startingFromPageIndex: 0, whereArgs: nil)
      return (rows.count, requests() - before)
    }
    #expect(found == 1)
    return pages
  }

  @Test(.covers("SS-172"))
  func `a match reads about as many pages of a large soup as of a small one, like reads all`()
    async throws
  {
    var matches: [Int] = []
    var likes: [Int] = []
    for size in Self.sizes {
      try await withSoup(of: size) { store async throws in
        matches.append(
          try await pages(
            .buildMatchQuerySpec(
              soupName: "notes", path: "text", matchKey: "lighthouse", pageSize: 10), in: store))
        likes.append(
          try await pages(
            .buildLikeQuerySpec(
              soupName: "notes", path: "copy", likeKey: "%lighthouse%", pageSize: 10), in: store))
      }
    }
    // The depth of a tree, and the number of its parts, grow with the logarithm.
    #expect(matches.allSatisfy { $0 <= 2 * matches[0] }, "\(matches)")
    for (index, size) in Self.sizes.enumerated() {
      #expect(likes[index] >= size / 40)
    }
    #expect(likes[1] >= 10 * matches[1], "\(likes) \(matches)")
    #expect(likes[2] >= 40 * matches[2], "\(likes) \(matches)")
  }

  @Test(.covers("BX-85"))
  func `a statement returns at most 65,536 rows, and further ones by page`() async throws {
    try await withStore { store async throws in
      let statement =
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < 65540) "
        + "select i from n"
      let rows = try await store.query(statement)
      #expect(rows.count == 65_536)
      #expect(rows.first == [1] && rows.last == [65_536])
      let spec = try QuerySpec.buildSmartQuerySpec(smartSql: statement, pageSize: 65_536)
      #expect(try await store.count(using: spec) == 65_540)
      #expect(
        try await store.query(using: spec, startingFromPageIndex: 1)
          == [[65_537], [65_538], [65_539], [65_540]])
      #expect(try await store.query(using: spec, startingFromPageIndex: 2) == [])
      await expectFailure(.unknownSoup) { _ = try await store.query("select {none:x} from {none}") }
    }
  }
}
