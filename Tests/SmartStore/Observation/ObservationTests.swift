import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SmartStore

/// Live queries: results that follow what is committed.
@Suite struct ObservationTests {
  private func withSoups(_ body: (SmartStore) async throws -> Void) async throws {
    try await withStore { store async throws in
      for soup in ["a", "b"] {
        try await store.registerSoup(
          withName: soup, withIndices: [SoupIndex]("key:string", "n:integer", "text:full_text"))
      }
      try await body(store)
    }
  }

  private func put(_ store: SmartStore, _ soup: String, _ key: String, _ n: Int64) async throws {
    try await store.upsert(
      entries: [["key": .string(key), "n": .integer(n), "text": .string("word\(n)")]],
      forSoupNamed: soup, withExternalIdPath: "key")
  }

  private func keys(_ elements: [JSONValue]?) -> [String]? {
    elements?.compactMap { $0["key"]?.string }
  }

  /// How the next step of an observation fails, if it does.
  private func failure(of iterator: inout some AsyncIteratorProtocol) async -> SmartStoreError.Code?
  {
    do {
      _ = try await iterator.next(isolation: #isolation)
      return nil
    } catch {
      return (error as? SmartStoreError)?.code
    }
  }

  @Test
  func `a live query gives its first result at once and another after each commit that changed it`()
    async throws
  {
    try await withSoups { store async throws in
      try await put(store, "a", "x", 1)
      let spec = try QuerySpec.buildRangeQuerySpec(
        soupName: "a", path: "n", beginKey: .integer(1), endKey: .integer(9), orderPath: "n",
        pageSize: 10)
      var results = store.observe(spec).makeAsyncIterator()
      #expect(keys(try await results.next()) == ["x"])

      try await put(store, "a", "y", 2)
      #expect(keys(try await results.next()) == ["x", "y"])

      // None of these changes the result, so that the next one is that of the removal.
      try await put(store, "b", "x", 3)
      try await put(store, "a", "far", 100)
      await #expect(throws: CancellationError.self) {
        try await store.inTransaction { transaction in
          try transaction.clearSoup("a")
          throw CancellationError()
        }
      }
      try await store.removeEntries(
        usingQuerySpec: .buildExactQuerySpec(
          soupName: "a", path: "key", matchKey: "x", pageSize: 1), forSoupNamed: "a")
      #expect(keys(try await results.next()) == ["y"])

      try await store.clearSoup("a")
      #expect(keys(try await results.next()) == [])
    }
  }

  @Test
  func `an unread live query keeps nothing, and gives the newest result when read`()
    async throws
  {
    try await withSoups { store async throws in
      var counts = store.observe {
        try $0.count(using: .buildAllQuerySpec(soupName: "a", pageSize: 1))
      }
      .makeAsyncIterator()
      #expect(try await counts.next() == 0)
      for n in 1...100 { try await put(store, "a", "k\(n)", Int64(n)) }
      #expect(try await counts.next() == 100)
    }
  }

  @Test func `a live query over two soups never shows half of a transaction`() async throws {
    try await withSoups { store async throws in
      try await put(store, "a", "x", 100)
      try await put(store, "b", "x", 0)
      let transfers = 100
      let sums = store.observe(
        try .buildSmartQuerySpec(
          smartSql: """
            select a.{a:n} as a, b.{b:n} as b from {a} as a, {b} as b \
            where a.{a:key} = b.{b:key}
            """, pageSize: 10), as: [String: Int64].self)
      try await withThrowingTaskGroup(of: Int.self) { group in
        // Several readers at once, each with snapshots of its own.
        for _ in 0..<3 {
          group.addTask {
            var seen = 0
            var last: Int64 = 101
            for try await rows in sums {
              let row = try #require(rows.first)
              let (a, b) = try (#require(row["a"]), #require(row["b"]))
              #expect(a + b == 100)
              seen += 1
              // No result is older than the one before, nor the same.
              #expect(a < last)
              last = a
              if a == 0 { break }
            }
            return seen
          }
        }
        group.addTask {
          for step in 1...transfers {
            try await store.inTransaction(durability: .normal) { transaction in
              for (soup, n) in [("a", transfers - step), ("b", step)] {
                try transaction.upsert(
                  entries: [["key": "x", "n": .integer(Int64(n))]], forSoupNamed: soup,
                  withExternalIdPath: "key")
              }
            }
          }
          return 0
        }
        for try await seen in group { #expect(seen <= transfers + 1) }
      }
    }
  }

  @Test func `a live query notices what each kind of query reads`() async throws {
    try await withSoups { store async throws in
      let match = try QuerySpec.buildMatchQuerySpec(
        soupName: "a", selectPaths: ["key"], matchKey: "word7", pageSize: 10)
      let plain = try QuerySpec.buildSmartQuerySpec(
        smartSql: "select count(*) from TABLE_1", pageSize: 1)
      let fullText = try QuerySpec.buildSmartQuerySpec(
        smartSql: "select count(*) from TABLE_1_fts", pageSize: 1)
      let meta = try QuerySpec.buildSmartQuerySpec(
        smartSql: "select count(*) from soup_attrs", pageSize: 1)
      var matches = store.observe(match).makeAsyncIterator()
      var plainCounts = store.observe(plain).makeAsyncIterator()
      var fullTextCounts = store.observe(fullText).makeAsyncIterator()
      var soups = store.observe(meta).makeAsyncIterator()
      var names = store.observe { $0.allSoupNames() }.makeAsyncIterator()
      #expect(try await matches.next() == [])
      #expect(try await plainCounts.next() == [[0]])
      #expect(try await fullTextCounts.next() == [[0]])
      #expect(try await soups.next() == [[2]])
      #expect(try await names.next() == ["a", "b"])

      try await put(store, "a", "seven", 7)
      #expect(try await matches.next() == [["seven"]])
      #expect(try await plainCounts.next() == [[1]])
      #expect(try await fullTextCounts.next() == [[1]])

      try await store.registerSoup(withName: "c", withIndexPaths: ["x"])
      #expect(try await soups.next() == [[3]])
      #expect(try await names.next() == ["a", "b", "c"])
    }
  }

  @Test func `a live query decodes what changed`() async throws {
    struct Item: Decodable, Equatable {
      let key: String
      let n: Int
    }
    try await withSoups { store async throws in
      try await put(store, "a", "x", 1)
      let spec = try QuerySpec.buildAllQuerySpec(soupName: "a", orderPath: "key", pageSize: 10)
      var items = store.observe(spec, as: Item.self).makeAsyncIterator()
      #expect(try await items.next() == [Item(key: "x", n: 1)])
      try await put(store, "a", "x", 2)
      #expect(try await items.next() == [Item(key: "x", n: 2)])
      try await store.upsert(entries: [["key": "no number", "n": "two"]], forSoupNamed: "a")
      #expect(await failure(of: &items) == .notDecodable)
      #expect(try await items.next() == nil)

      var elements = store.observeEntries(spec).makeAsyncIterator()
      #expect(try await elements.next()?.count == 2)
    }
  }

  @Test func `a live query ends with its task`() async throws {
    try await withSoups { store async throws in
      let first = Latch()
      let task = Task {
        var seen = 0
        for try await _ in store.observe(try .buildAllQuerySpec(soupName: "a", pageSize: 1)) {
          seen += 1
          first.open()
        }
        return seen
      }
      await first.wait()
      task.cancel()
      #expect(try await task.value == 1)

      // Cancelled before it began.
      let late = Task {
        await first.wait()
        var results = store.observe { $0.allSoupNames() }.makeAsyncIterator()
        withUnsafeCurrentTask { $0?.cancel() }
        return try await results.next()
      }
      #expect(try await late.value == nil)
    }
  }

  @Test func `a live query ends when the store closes, and fails when its soup goes`() async throws
  {
    try await withSoups { store async throws in
      var orphans = store.observe(try .buildAllQuerySpec(soupName: "b", pageSize: 1))
        .makeAsyncIterator()
      #expect(try await orphans.next() == [])
      try await store.removeSoup("b")
      #expect(await failure(of: &orphans) == .unknownSoup)
      #expect(try await orphans.next() == nil)

      let first = Latch()
      let task = Task {
        var seen = 0
        for try await _ in store.observe(try .buildAllQuerySpec(soupName: "a", pageSize: 1)) {
          seen += 1
          first.open()
        }
        return seen
      }
      await first.wait()
      try await store.close()
      #expect(try await task.value == 1)
      var after = store.observe { $0.allSoupNames() }.makeAsyncIterator()
      #expect(try await after.next() == nil)
    }
  }

  @Test func `a live query returns while a transaction is being written, and does not delay it`()
    async throws
  {
    try await withSoups { store async throws in
      try await put(store, "a", "x", 1)
      let (inside, mayEnd) = (Latch(), Latch())
      let writing = Task {
        try await store.inTransaction { transaction in
          try transaction.clearSoup("a")
          inside.open()
          mayEnd.waitBlocking()
        }
      }
      await inside.wait()
      var results = store.observe {
        try $0.count(using: .buildAllQuerySpec(soupName: "a", pageSize: 1))
      }
      .makeAsyncIterator()
      #expect(try await results.next() == 1)
      mayEnd.open()
      try await writing.value
      #expect(try await results.next() == 0)
    }
  }

  @Test func `an observation that was let go is forgotten`() async throws {
    try await withSoups { store async throws in
      weak var subscription: ChangeSubscription?
      do {
        let kept = store.changes.subscribe()
        subscription = kept
        #expect(await kept.beginRead())
      }
      #expect(subscription == nil)
      try await put(store, "a", "x", 1)
    }
  }
}
