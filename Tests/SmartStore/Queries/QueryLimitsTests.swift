import GRDB
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore

/// Does a statement that would use up memory or time end with an error that says which limit it exceeds?
@Suite(.serialized, .timeLimit(.minutes(3))) struct QueryLimitsTests {
  private static let endless =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

  /// A statement, and what the message of its error has.
  struct Bomb: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let statement: String
    let limit: String

    init(_ name: String, _ statement: String, _ limit: String) {
      (testDescription, self.statement, self.limit) = (name, statement, limit)
    }
  }

  static let bombs = [
    Bomb("zeroblob", "SELECT zeroblob(1000000000)", "288 MiB"),
    Bomb("randomblob", "SELECT length(randomblob(999999999))", "288 MiB"),
    Bomb(
      "replace", "SELECT length(replace(hex(zeroblob(2000)), '0', hex(zeroblob(100000))))",
      "288 MiB"),
    Bomb(
      "group_concat",
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 400) "
        + "SELECT length(group_concat(hex(zeroblob(500000)))) FROM n", "288 MiB"),
    Bomb(
      "page",
      "SELECT zeroblob(200000000) UNION ALL SELECT zeroblob(200000000)", "256 MiB"),
    Bomb(
      "compound", "SELECT 1" + String(repeating: " UNION ALL SELECT 1", count: 500), "500 parts"),
    Bomb(
      "depth", "SELECT 1" + String(repeating: " + 1", count: 1_100), "1000 levels"),
    Bomb(
      "arguments", "SELECT max(1" + String(repeating: ", 1", count: 127) + ")", "127 arguments"),
    Bomb(
      "pattern", "SELECT 'a' LIKE '" + String(repeating: "%a", count: 2_501) + "'", "5000 bytes"),
    Bomb(
      "length", "SELECT 1" + String(repeating: " ", count: 10_000_001) + "+ 1", "10000000 bytes"),
  ]

  @Test(arguments: bombs)
  func `a statement beyond a limit is refused by the limit's name, and the store goes on`(
    _ bomb: Bomb
  ) async throws {
    try await withStore { store in
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex("key:string")])
      let read = await #expect(throws: SmartStoreError.self) {
        _ = try await store.query(bomb.statement)
      }
      #expect(read?.code == .limitExceeded)
      #expect(read?.message.contains(bomb.limit) == true, "\(read?.message ?? "")")
      let written = await #expect(throws: SmartStoreError.self) {
        try await store.inTransaction { transaction in
          _ = try transaction.query(
            using: .buildSmartQuerySpec(smartSql: bomb.statement, pageSize: 10))
        }
      }
      #expect(written?.code == .limitExceeded)
      #expect(try await store.query("SELECT 1") == [[1]])
    }
  }

  @Test func `a recursive query without an end is ended by the number of its steps`() throws {
    let folder = try StoreFolder()
    let store = try folder.open()
    try store.writer.read { database in
      let error = #expect(throws: SmartStoreError.self) {
        try QueryLimits.enforce(on: database, maxSteps: 1_000_000) { () throws(SmartStoreError) in
          let statement = try StoreStatement(database, Self.endless, cached: false)
          _ = try statement.step()
        }
      }
      #expect(error?.code == .limitExceeded && error?.isRetryable == false)
      #expect(error?.message.contains("1000000 of SQLite's instructions") == true)
      // Without a limit nothing is counted any longer.
      let rows = try Int.fetchOne(
        database,
        sql: "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 300000) "
          + "SELECT count(*) FROM n")
      #expect(rows == 300_000)
    }
    try store.close()
  }

  @Test func `a cancellation ends a recursive query in a transaction`() async throws {
    try await withStore { store in
      let (started, start) = AsyncStream<Void>.makeStream()
      let task = Task {
        try await store.inTransaction { transaction in
          start.finish()
          _ = try transaction.query(
            using: .buildSmartQuerySpec(smartSql: Self.endless, pageSize: 1))
        }
      }
      for await _ in started {}
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }

  @Test func `a large entry is stored and read as before`() async throws {
    try await withStore { store in
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex("key:string")])
      let text = String(repeating: "abcdefghij", count: 5_000_000)
      try await store.upsert(
        entries: [["key": "a", "photo": .string(text)]], forSoupNamed: "s")
      let rows = try await store.query("SELECT {s:photo}, {s:_soup} FROM {s}")
      #expect(rows.first?[0]?.string == text)
      #expect(rows.first?[1]?["photo"]?.string == text)
      try await store.inTransaction { transaction in
        _ = try transaction.upsert(
          entries: [["key": "b", "photo": .string(text)]], forSoupNamed: "s")
      }
      #expect(try await store.query("SELECT count(*) FROM {s}") == [[2]])
    }
  }
}
