import SalesforceAnalytics
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore

/// What does computing index values again do, and what does it leave alone?
@Suite struct ReIndexTests {
  private let specs = [SoupIndex]("a:string", "b:integer", "d:full_text", "e.x:json1")

  private func spoil(_ store: SmartStore) async throws {
    try await store.unsafelyExecute("UPDATE TABLE_1 SET TABLE_1_0 = 'x', TABLE_1_1 = 9")
    try await store.unsafelyExecute("UPDATE TABLE_1 SET TABLE_1_2 = NULL")
    try await store.unsafelyExecute("DELETE FROM TABLE_1_fts WHERE rowid < 4")
  }

  @Test(.covers("SS-180"))
  func `the given paths are computed again and nothing else changes`() async throws {
    let clock = TestClock()
    try await withStore(options: SmartStoreOptions(now: { clock.now })) { store async throws in
      try await store.registerSoup(withName: "s", withIndices: specs)
      try await store.upsert(entries: mixedElements, forSoupNamed: "s")
      let right = try await store.picture(of: "s")
      try await spoil(store)
      clock.advance()
      try await store.reIndexSoup(named: "s", indexPaths: ["b"])
      #expect(
        try await store.column("select distinct TABLE_1_0 from TABLE_1") == ["x"])
      #expect(
        try await store.column("select TABLE_1_1 from TABLE_1 order by id")
          == [1, 900_000, 1_500_000, .null, .integer(.min), .null])
      try await store.reIndexSoup(named: "s", indexPaths: ["a", "d", "e.x"])
      #expect(try await store.picture(of: "s") == right)
    }
  }

  @Test(.covers("SS-180"))
  func `unknown paths are ignored with a warning, unknown soups are refused`()
    async throws
  {
    let log = LogRecorder()
    var options = SmartStoreOptions(now: { 1_700_000_000_000 })
    options.logger = log.logger(forComponent: "SmartStore", level: .warn)
    try await withStore(options: options) { store async throws in
      try await store.registerSoup(withName: "s", withIndices: specs)
      try await store.upsert(entries: mixedElements, forSoupNamed: "s")
      let right = try await store.picture(of: "s")
      try await store.reIndexSoup(named: "s", indexPaths: [])
      #expect(log.lines == [])
      try await store.reIndexSoup(named: "s", indexPaths: ["nowhere", "a"])
      #expect(log.lines.count == 1 && log.lines[0].contains("nowhere"))
      #expect(try await store.picture(of: "s") == right)
      await expectFailure(.unknownSoup, "Soup: x does not exist") {
        try await store.reIndexSoup(named: "x", indexPaths: [])
      }
    }
  }

  @Test(.covers("SS-180"))
  func `an entry that cannot be parsed is skipped and logged`() async throws {
    let log = LogRecorder()
    var options = SmartStoreOptions(now: { 1_700_000_000_000 })
    options.logger = log.logger(forComponent: "SmartStore", level: .warn)
    let events = InMemoryEventStore()
    options.events = events
    try await withStore(options: options) { store async throws in
      try await store.registerSoup(
        withName: "s", withIndices: [SoupIndex]("a:string", "d:full_text"))
      try await store.upsert(entries: mixedElements, forSoupNamed: "s")
      try await store.unsafelyExecute("UPDATE TABLE_1 SET soup = '{\"a\":' WHERE id = 2")
      try await store.unsafelyExecute("UPDATE TABLE_1 SET TABLE_1_0 = 'x'")
      try await store.reIndexSoup(named: "s", indexPaths: ["a"])
      #expect(
        try await store.column("select TABLE_1_0 from TABLE_1 order by id")
          == ["one", "x", "1500000", .null, "ünïcode 😀 it's", .null])
      #expect(log.lines.count == 1 && log.lines[0].hasPrefix("error"))
      #expect(!log.lines[0].contains("one"))
      #expect(events.events.map(\.name).filter { $0 == "SmartStoreJSONParseError" }.count == 1)
    }
  }

  @Test(.covers("SS-160.1"))
  func `a soup keeps its full-text engine when it is indexed again`() async throws {
    try await TemporaryFolder.with { folder in
      let specs = [SoupIndex]("a:string", "d:full_text")
      let old = try await SmartStore.open(
        at: folder.file("store"), encryption: testEncryption,
        options: SmartStoreOptions(fullTextVersion: .fts4))
      try await old.registerSoup(withName: "s", withIndices: specs)
      try await old.upsert(entries: mixedElements, forSoupNamed: "s")
      try await old.close()
      let store = try await SmartStore.open(
        at: folder.file("store"), encryption: testEncryption,
        options: SmartStoreOptions(fullTextVersion: .fts5))
      func engine() async throws -> String? {
        try await store.column("select sql from sqlite_master where name = 'TABLE_1_fts'")
          .first?.string
      }
      try await store.reIndexSoup(named: "s", indexPaths: ["d"])
      #expect(try await engine()?.contains("USING fts4") == true)
      try await store.alterSoup(named: "s", indexSpecs: specs, reIndexData: true)
      #expect(try await engine()?.contains("USING fts5") == true)
      try await store.close()
    }
  }

  @Test(.covers("SS-180", "SS-117"))
  func `a failure rolls the call back, and a transaction around it goes on`()
    async throws
  {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "s", withIndices: specs)
      try await store.upsert(entries: mixedElements, forSoupNamed: "s")
      try await spoil(store)
      let spoiled = try await store.picture(of: "s")
      try await store.unsafelyExecute(
        """
        CREATE TRIGGER refuse BEFORE UPDATE ON TABLE_1 WHEN NEW.id = 5 \
        BEGIN SELECT RAISE(ABORT, 'injected'); END
        """)
      await expectFailure(.sql, detail: "injected") {
        try await store.reIndexSoup(named: "s", indexPaths: ["a", "d"])
      }
      try await store.inTransaction { transaction in
        do throws(SmartStoreError) {
          try transaction.reIndexSoup(named: "s", indexPaths: ["a", "d"])
          Issue.record("nothing was thrown")
        } catch {
          #expect(error.code == .sql)
        }
        try transaction.registerSoup(withName: "t", withIndices: [SoupIndex("a:string")])
      }
      try await store.unsafelyExecute("DROP TRIGGER refuse")
      #expect(try await store.picture(of: "s") == spoiled)
      #expect(try await store.soupExists(forName: "t"))
      // A transaction that fails afterwards takes the re-indexing with it.
      struct Stop: Error {}
      await #expect(throws: Stop.self) {
        try await store.inTransaction { transaction in
          try transaction.reIndexSoup(named: "s", indexPaths: ["a"])
          throw Stop()
        }
      }
      #expect(try await store.picture(of: "s") == spoiled)
    }
  }
}
