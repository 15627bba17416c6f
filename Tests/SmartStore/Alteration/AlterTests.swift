import Dispatch
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SmartStore

/// What becomes of a soup whose indexes are replaced?
@Suite struct AlterTests {
  /// A store with a clock that stands still, so that two soups with the same elements are alike.
  private func withStillStore(_ body: (SmartStore) async throws -> Void) async throws {
    try await withStore(options: SmartStoreOptions(now: { 1_700_000_000_000 }), body)
  }

  /// Expects that `soup` looks as if it had been registered with `specs` and filled then.
  private func expectFresh(
    _ store: SmartStore, _ soup: String, _ specs: [SoupIndex],
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) async throws {
    try await store.registerSoup(withName: "fresh", withIndices: specs)
    try await store.upsert(entries: mixedElements, forSoupNamed: "fresh")
    let picture = try await store.picture(of: soup)
    #expect(
      try await picture == store.picture(of: "fresh"), sourceLocation: sourceLocation)
    #expect(
      try await store.elements(of: soup) == store.elements(of: "fresh"),
      sourceLocation: sourceLocation)
    #expect(try await store.recordedOperations() == [], sourceLocation: sourceLocation)
    #expect(try await store.leftOvers() == [], sourceLocation: sourceLocation)
    try await store.removeSoup("fresh")
  }

  private let before = [SoupIndex]("a:string", "b:integer", "d:full_text", "e.x:json1")

  @Test(.covers("SS-173", "SS-175", "SS-176"))
  func `an altered soup is as one registered with the new specs`()
    async throws
  {
    try await withStillStore { store async throws in
      try await store.registerSoup(withName: "s", withIndices: before)
      try await store.upsert(entries: mixedElements, forSoupNamed: "s")
      let after = [SoupIndex](
        "c:floating", "e.x:full_text", "a:string", "b:string", "d:json1", "e:string")
      try await store.alterSoup(named: "s", indexSpecs: after, reIndexData: true)
      #expect(try await store.indices(forSoupNamed: "s").map(\.columnName).first == "TABLE_1_0")
      try await expectFresh(store, "s", after)
    }
  }

  @Test(.covers("SS-173", "SS-92"))
  func `bytes, times, table and the sequence of ids stay`() async throws {
    let clock = TestClock()
    try await withStore(options: SmartStoreOptions(now: { clock.now })) { store async throws in
      try await store.registerSoup(withName: "s", withIndices: before)
      try await store.upsert(
        slices: [try JSONSlice(parsing: #"{ "b" : 1.50, "a":"\u0041\/" }"#)], soup: "s")
      clock.advance()
      try await store.upsert(entries: [["a": "x"], ["a": "y"]], forSoupNamed: "s")
      clock.advance()
      try await store.upsert(entries: [["_soupEntryId": 2, "a": "z"]], forSoupNamed: "s")
      try await store.remove(entryIds: [3], forSoupNamed: "s")
      let select = "select id, soup || '', created, lastModified from TABLE_1 order by id"
      let rows = try await store.rows(select)
      clock.advance()
      try await store.alterSoup(
        named: "s", indexSpecs: [SoupIndex]("a:full_text"), reIndexData: true)
      #expect(try await store.rows(select) == rows)
      #expect(rows[0][1].string?.hasPrefix(#"{ "b" : 1.50, "a":"\u0041\/" ,"#) == true)
      let next = try await store.upsert(entries: [["a": "n"]], forSoupNamed: "s")
      #expect(next.first?["_soupEntryId"] == 4)

      try await store.clearSoup("s")
      try await store.alterSoup(
        named: "s", indexSpecs: [SoupIndex]("b:integer"), reIndexData: false)
      let again = try await store.upsert(entries: [["a": "n"]], forSoupNamed: "s")
      #expect(again.first?["_soupEntryId"] == 5)
    }
  }

  @Test(.covers("SS-174"))
  func `what cannot be altered is refused before anything is recorded`()
    async throws
  {
    try await withStillStore { store async throws in
      try await store.registerSoup(withName: "s", withIndices: before)
      try await store.upsert(entries: mixedElements, forSoupNamed: "s")
      let picture = try await store.picture(of: "s")
      await expectFailure(.unknownSoup, "Soup: x does not exist") {
        try await store.alterSoup(named: "x", indexSpecs: before, reIndexData: true)
      }
      await expectFailure(.noIndexSpecs, "No indexSpecs specified for soup: s") {
        try await store.alterSoup(named: "s", indexSpecs: [], reIndexData: true)
      }
      for bad in [
        SoupIndex(path: "a", type: SoupIndexType(rawValue: "boolean")),
        SoupIndex(path: "", type: .string), SoupIndex(path: "a[", type: .json1),
      ] {
        await expectFailure(.invalidIndexSpec, "Invalid index spec") {
          try await store.alterSoup(
            named: "s", indexSpecs: [SoupIndex("a:string"), bad], reIndexData: true)
        }
      }
      #expect(try await store.picture(of: "s") == picture)
      #expect(
        try await store.column("select seq from sqlite_sequence where name like 'long%'") == [])
    }
  }

  @Test(.covers("SS-175", "SS-177"))
  func `without re-indexing new paths are null and all others work`() async throws {
    try await withStillStore { store async throws in
      try await store.registerSoup(withName: "s", withIndices: before)
      try await store.upsert(entries: mixedElements, forSoupNamed: "s")
      let after = [SoupIndex]("b:string", "a:full_text", "e.x:string", "d:full_text", "c:json1")
      try await store.alterSoup(named: "s", indexSpecs: after, reIndexData: false)
      func count(_ path: String, _ key: JSONValue) async throws -> Int64 {
        try await store.count(
          using: .buildExactQuerySpec(soupName: "s", path: path, matchKey: key, pageSize: 10))
      }
      // Changed types, and a new path: none of the old elements.
      #expect(try await count("b", "1") == 0)
      #expect(try await count("a", "one") == 0)
      #expect(try await count("e.x", "deep one") == 0)
      // json1 finds them at once, and the kept path kept its values.
      #expect(try await count("c", 900_000) == 1)
      #expect(try await count("d", "900000") == 1)
      func matches(_ path: String, _ key: String) async throws -> Int64 {
        try await store.count(
          using: .buildMatchQuerySpec(soupName: "s", path: path, matchKey: key, pageSize: 10))
      }
      #expect(try await matches("d", "900000") == 1)
      #expect(try await matches("a", "one") == 0)
      // Rows are there for all, without text where the path is new.
      #expect(try await store.column("select count(*) from TABLE_1_fts") == [6])
      #expect(
        try await store.column("select count(*) from TABLE_1_fts where TABLE_1_1 is not null")
          == [0])
      // Elements written later are indexed.
      try await store.upsert(entries: [["a": "one", "b": 1]], forSoupNamed: "s")
      #expect(try await count("a", "one") == 1)
      #expect(try await count("b", "1") == 1)
      #expect(try await matches("a", "one") == 1)
      // And the old ones after re-indexing.
      try await store.reIndexSoup(named: "s", indexPaths: ["a", "b", "e.x"])
      #expect(try await count("a", "one") == 2)
      #expect(try await matches("a", "one") == 2)
      #expect(try await count("e.x", "deep one") == 1)
    }
  }

  static let types = ["string", "integer", "floating", "full_text", "json1"]

  @Test(.covers("SS-178", "SS-179"), arguments: types, types)
  func `every type can become every other`(from: String, to: String) async throws {
    try await withStillStore { store async throws in
      let others = ["a", "b", "c", "d", "e"]
      let old = others.map { SoupIndex("\($0):\(from)") }
      let one = [SoupIndex("a:\(to)")] + old.dropFirst()
      let all = others.map { SoupIndex("\($0):\(to)") }
      try await store.registerSoup(withName: "s", withIndices: old)
      try await store.upsert(entries: mixedElements, forSoupNamed: "s")
      try await store.alterSoup(named: "s", indexSpecs: one, reIndexData: true)
      try await expectFresh(store, "s", one)
      try await store.alterSoup(named: "s", indexSpecs: all, reIndexData: true)
      try await expectFresh(store, "s", all)
    }
  }

  @Test(.covers("SS-178"))
  func `numbers that were text sort as numbers afterwards`() async throws {
    try await withStillStore { store async throws in
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex]("n:string"))
      try await store.upsert(entries: [["n": 900_000], ["n": 1_500_000]], forSoupNamed: "s")
      func sorted() async throws -> [JSONValue] {
        try await store.column("select {s:_soupEntryId} from {s} order by {s:n}")
      }
      #expect(try await sorted() == [2, 1])
      try await store.alterSoup(named: "s", indexSpecs: [SoupIndex]("n:integer"), reIndexData: true)
      #expect(try await sorted() == [1, 2])
    }
  }

  @Test(.covers("SS-185"))
  func `altering to the same specs brings a legacy soup up to date`() async throws {
    try await TemporaryFolder.with { folder in
      let specs = [SoupIndex]("a:string", "d:full_text")
      let place = folder.file("store")
      let old = try await SmartStore.open(
        at: place, encryption: testEncryption,
        options: SmartStoreOptions(fullTextVersion: .fts4, now: { 1_700_000_000_000 }))
      try await old.registerSoup(withName: "s", withIndices: specs)
      try await old.upsert(entries: mixedElements, forSoupNamed: "s")
      try await old.unsafelyExecute("DROP INDEX TABLE_1_created_idx")
      try await old.unsafelyExecute("DROP INDEX TABLE_1_lastModified_idx")
      try await old.close()

      let store = try await SmartStore.open(
        at: place, encryption: testEncryption,
        options: SmartStoreOptions(now: { 1_700_000_000_000 }))
      func match() async throws -> [JSONValue] {
        try await store.query(
          using: .buildMatchQuerySpec(
            soupName: "s", selectPaths: ["_soupEntryId"], path: "d", matchKey: "900000",
            pageSize: 10))
      }
      #expect(try await match() == [[2]])
      try await store.alterSoup(named: "s", indexSpecs: specs, reIndexData: false)
      #expect(try await match() == [[2]])
      try await expectFresh(store, "s", specs)
      try await store.close()
    }
  }

  @Test(.covers("SS-186", "SS-60"))
  func `entries are changed between repeated alters`() async throws {
    try await withStillStore { store async throws in
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex]("a:string"))
      try await store.upsert(entries: mixedElements, forSoupNamed: "s")
      for (round, type) in ["full_text", "json1", "string", "full_text", "string"].enumerated() {
        let specs = [SoupIndex("a:\(type)"), SoupIndex("n\(round):integer")]
        try await store.alterSoup(named: "s", indexSpecs: specs, reIndexData: true)
        #expect(try await store.hasIndex(forPath: "n\(round)", inSoupNamed: "s"))
        #expect(try await !store.hasIndex(forPath: "n\(round - 1)", inSoupNamed: "s"))
        let added = try await store.upsert(
          entries: [["a": .string("round \(round)"), "n\(round)": 5]], forSoupNamed: "s")
        let id = try #require(added.first?["_soupEntryId"]?.int64)
        #expect(
          try await store.lookupSoupEntryId(
            soupNamed: "s", fieldPath: "a", fieldValue: .string("round \(round)")) == id)
        #expect(
          try await store.lookupSoupEntryId(
            soupNamed: "s", fieldPath: "n\(round)", fieldValue: 5) == id)
        let plan = try await store.plan("select count(*) from {s} where {s:a} = 'one'")
        #expect(plan.contains("USING") && plan.contains("INDEX TABLE_1_0_idx"))
        if round % 2 == 0 {
          try await store.remove(entryIds: [id], forSoupNamed: "s")
        } else {
          try await store.update(entry: ["a": "new"], withSoupEntryId: id, inSoupNamed: "s")
        }
      }
      #expect(
        try await store.elements(of: "s").map { $0["_soupEntryId"] } == [1, 2, 3, 4, 5, 6, 8, 10])
      #expect(
        try await store.count(
          using: .buildExactQuerySpec(soupName: "s", path: "a", matchKey: "new", pageSize: 10)) == 2
      )
    }
  }

  @Test(.covers("SS-188"))
  func `an expression index is used by the very next query`() async throws {
    try await withStillStore { store async throws in
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex]("a:string"))
      try await store.upsert(entries: mixedElements, forSoupNamed: "s")
      try await store.alterSoup(
        named: "s", indexSpecs: [SoupIndex]("b:json1"), reIndexData: true)
      let plan = try await store.plan("select {s:_soupEntryId} from {s} where {s:b} = 1")
      #expect(plan.contains("INDEX TABLE_1_0_idx"))
    }
  }

  @Test(.covers("SS-187"))
  func `readers and writers that come during an alter wait and then see its result`()
    async throws
  {
    // The clock is read when a step is recorded; there the alter is held.
    let held = Mutex(false)
    let reached = DispatchSemaphore(value: 0)
    let goOn = DispatchSemaphore(value: 0)
    let calls = Atomic(0)
    let options = SmartStoreOptions(now: {
      if held.withLock({ $0 }), calls.wrappingAdd(1, ordering: .relaxed).newValue == 5 {
        reached.signal()
        goOn.wait()
      }
      return 1_700_000_000_000
    })
    try await withStore(options: options) { store async throws in
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex]("a:string"))
      try await store.upsert(entries: mixedElements, forSoupNamed: "s")
      held.withLock { $0 = true }
      let alter = Task {
        try await store.alterSoup(
          named: "s", indexSpecs: [SoupIndex]("b:integer"), reIndexData: true)
      }
      await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
          reached.wait()
          continuation.resume()
        }
      }
      held.withLock { $0 = false }
      // Three steps are committed: this snapshot shows no soup.
      let count = Task {
        try await store.count(
          using: .buildExactQuerySpec(soupName: "s", path: "b", matchKey: 900_000, pageSize: 1))
      }
      let exists = Task { try await store.soupExists(forName: "s") }
      let write = Task { try await store.upsert(entries: [["b": 900_000]], forSoupNamed: "s") }
      let abandoned = Task { try await store.soupExists(forName: "s") }
      for _ in 0..<1_000_000 where store.alterations.waiting < 3 { await Task.yield() }
      #expect(store.alterations.waiting == 3)
      // Who gives up waits no longer.
      abandoned.cancel()
      await #expect(throws: CancellationError.self) { try await abandoned.value }
      #expect(store.alterations.waiting == 2)
      goOn.signal()
      try await alter.value
      #expect(try await [1, 2].contains(count.value))
      #expect(try await exists.value)
      #expect(try await write.value.first?["_soupEntryId"] == 7)
    }
  }
}

extension SmartStore {
  /// SQLite's plan for a Smart SQL statement.
  func plan(_ smartSql: String) async throws -> String {
    try await read { reader in
      let converted = try SmartSQLConverter.convert(
        smartSql, soups: reader.access.catalog.soups)
      let statement = try StoreStatement(
        reader.access.database, "EXPLAIN QUERY PLAN \(converted.sql)", cached: false)
      var lines: [String] = []
      while try statement.step() { lines.append(statement.string(3)) }
      return lines.joined(separator: "\n")
    }
  }
}
