import SalesforceSDKCommon
import Testing

@testable import SmartStore
import TestSupport

/// Reading by id and deleting.
@Suite struct DeleteTests {
  private let specs = [SoupIndex]("key:string", "n:integer", "t:full_text")

  private func filled(_ store: SmartStore, count: Int64 = 5) async throws {
    try await store.registerSoup(withName: "a", withIndices: specs)
    try await store.upsert(
      entries: (1...count).map {
        ["key": .string("k\($0)"), "n": .integer($0), "t": .string($0 % 2 == 0 ? "even" : "odd")]
      }, forSoupNamed: "a")
  }

  private func ids(_ store: SmartStore) async throws -> [JSONValue] {
    try await store.elements(of: "a").compactMap { $0["_soupEntryId"] }
  }

  @Test(.covers("SS-108"))
  func `retrieve gives each known entry once`() async throws {
    try await withStore { store async throws in
      try await filled(store)
      let found = try await store.retrieve(
        usingSoupEntryIds: [3, 1, 99, 3, -1], fromSoupNamed: "a")
      #expect(found.map { $0["_soupEntryId"]?.int64 } == [3, 1])
      #expect(try await store.retrieve(usingSoupEntryIds: [], fromSoupNamed: "a") == [])
      await expectFailure(.unknownSoup, "Soup: b does not exist") {
        _ = try await store.retrieve(usingSoupEntryIds: [1], fromSoupNamed: "b")
      }
    }
  }

  @Test(.covers("SS-109"))
  func `delete by ids removes exactly those`() async throws {
    try await withStore { store async throws in
      try await filled(store)
      try await store.remove(entryIds: [2, 4, 99], forSoupNamed: "a")
      try await store.remove(entryIds: [], forSoupNamed: "a")
      #expect(try await ids(store) == [1, 3, 5])
      #expect(try await store.column("select count(*) from TABLE_1_fts") == [3])
      await expectFailure(.unknownSoup) {
        try await store.remove(entryIds: [1], forSoupNamed: "b")
      }
    }
  }

  @Test(.covers("SS-2", "SS-110"))
  func `delete by a query of another soup is refused`() async throws {
    try await withStore { store async throws in
      try await filled(store)
      try await store.registerSoup(withName: "b", withIndices: specs)
      try await store.upsert(entries: [["key": "k1"]], forSoupNamed: "b")
      let spec = try QuerySpec.buildExactQuerySpec(
        soupName: "b", path: "key", matchKey: "k1", pageSize: 10)
      await expectFailure(.invalidQuerySpec) {
        try await store.removeEntries(usingQuerySpec: spec, forSoupNamed: "a")
      }
      #expect(try await ids(store) == [1, 2, 3, 4, 5])
    }
  }

  @Test(.covers("SS-110"))
  func `delete by query takes the first page in the order of the spec`() async throws {
    try await withStore { store async throws in
      try await filled(store)
      let removed = try await store.removeEntries(
        usingQuerySpec: .buildAllQuerySpec(soupName: "a", orderPath: "n", pageSize: 1),
        forSoupNamed: "a")
      #expect(removed == 1)
      #expect(try await ids(store) == [2, 3, 4, 5])
      try await store.removeEntries(
        usingQuerySpec: .buildRangeQuerySpec(
          soupName: "a", path: "n", beginKey: 2, orderPath: "n", order: .descending, pageSize: 2),
        forSoupNamed: "a")
      #expect(try await ids(store) == [2, 3])
    }
  }

  @Test(.covers("SS-110"))
  func `a smart spec must give ids and only the named soup loses entries`()
    async throws
  {
    try await withStore { store async throws in
      try await filled(store)
      try await store.registerSoup(withName: "b", withIndices: [SoupIndex]("ref:string"))
      try await store.upsert(entries: [["ref": "k2"], ["ref": "k3"]], forSoupNamed: "b")
      await expectFailure(.sql) {
        try await store.removeEntries(
          usingQuerySpec: .buildSmartQuerySpec(smartSql: "select {a:key} from {a}", pageSize: 9),
          forSoupNamed: "a")
      }
      #expect(try await ids(store).count == 5)
      try await store.removeEntries(
        usingQuerySpec: .buildSmartQuerySpec(
          smartSql: """
            select {a:_soupEntryId} from {a}, {b} where {a:key} = {b:ref} and {a:n} > ?
            """, pageSize: 9), forSoupNamed: "a", whereArgs: [1])
      #expect(try await ids(store) == [1, 4, 5])
      #expect(try await store.elements(of: "b").count == 2)
      await expectFailure(.unknownSoup) {
        try await store.removeEntries(
          usingQuerySpec: .buildAllQuerySpec(soupName: "a", pageSize: 1), forSoupNamed: "nope")
      }
    }
  }

  @Test(.covers("SS-111"))
  func `delete by query removes exactly the full-text rows of its entries`()
    async throws
  {
    try await withStore { store async throws in
      try await filled(store, count: 20)
      try await store.removeEntries(
        usingQuerySpec: .buildMatchQuerySpec(
          soupName: "a", path: "t", matchKey: "odd", pageSize: 7),
        forSoupNamed: "a")
      let match = try QuerySpec.buildMatchQuerySpec(
        soupName: "a", path: "t", matchKey: "odd", pageSize: 100)
      #expect(try await store.count(using: match) == 3)
      try await store.removeEntries(usingQuerySpec: match, forSoupNamed: "a")
      #expect(try await store.count(using: match) == 0)
      #expect(
        try await store.rows(
          "select (select count(*) from TABLE_1), (select count(*) from TABLE_1_fts)") == [
            [10, 10]
          ])
      #expect(
        try await store.column(
          "select id from TABLE_1 except select rowid from TABLE_1_fts") == [])
    }
  }

  @Test(.covers("SS-112"))
  func `Boolean and number keys find the equal value in every index type`()
    async throws
  {
    try await withStore { store async throws in
      let types: [SoupIndexType] = [.string, .integer, .floating, .fullText, .json1]
      for (position, type) in types.enumerated() {
        let soup = "soup\(position)"
        try await store.registerSoup(
          withName: soup, withIndices: [SoupIndex(path: "v", type: type)])
        try await store.upsert(
          entries: [["v": true], ["v": false], ["v": 7], ["v": nil]], forSoupNamed: soup)
        for (key, id) in [(true, 1), (false, 2), (7, 3)] as [(JSONValue, Int64)] {
          let found = try await store.query(
            using: .buildExactQuerySpec(soupName: soup, path: "v", matchKey: key, pageSize: 9))
          #expect(found.map { $0["_soupEntryId"] } == [.integer(id)], "\(type) \(key)")
          let ranged = try await store.query(
            using: .buildRangeQuerySpec(
              soupName: soup, path: "v", beginKey: key, endKey: key, pageSize: 9))
          #expect(ranged.map { $0["_soupEntryId"] } == [.integer(id)], "\(type) \(key)")
          #expect(
            try await store.lookupSoupEntryId(soupNamed: soup, fieldPath: "v", fieldValue: key)
              == id)
        }
      }
      let unindexed = try await store.query(
        using: .buildExactQuerySpec(soupName: "soup0", path: "w", matchKey: true, pageSize: 9))
      #expect(unindexed == [])
    }
  }
}
