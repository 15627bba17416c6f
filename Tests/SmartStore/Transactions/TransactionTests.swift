import Foundation
import SalesforceSDKCommon
import Testing

@testable import SmartStore
import TestSupport

private struct Stop: Error {}

/// Several calls in one transaction, roll-back, and many tasks at once.
@Suite struct TransactionTests {
  private let specs = [SoupIndex]("key:string", "n:integer", "t:full_text")

  @Test(.covers("SS-113"))
  func `each call is atomic by itself`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specs)
      await expectFailure(.invalidEntry) {
        try await store.upsert(entries: [["key": "x"], 5], forSoupNamed: "a")
      }
      #expect(try await store.elements(of: "a") == [])
      #expect(try await store.column("select count(*) from TABLE_1_fts") == [0])
    }
  }

  @Test(.covers("SS-113"), arguments: ["remove", "remove by query", "clear", "alter"])
  func `a call that fails in its midst leaves the soup as it was`(
    call: String
  ) async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specs)
      try await store.upsert(
        entries: [["key": "x", "t": "cat"], ["key": "y", "t": "dog"]], forSoupNamed: "a")
      // The first element goes, the second one does not; an alter finds its place taken.
      try await store.unsafelyExecute(
        """
        CREATE TRIGGER stop BEFORE DELETE ON TABLE_1 WHEN OLD.id = 2
        BEGIN SELECT RAISE(ABORT, 'stop'); END;
        CREATE VIEW TABLE_1_old AS SELECT 1;
        """)
      let elements = try await store.elements(of: "a")
      let words = try await store.column("select * from TABLE_1_fts order by rowid")
      let all = try QuerySpec.buildAllQuerySpec(
        soupName: "a", orderPath: SmartStore.soupEntryId, pageSize: 10)
      await #expect(throws: SmartStoreError.self) {
        switch call {
        case "remove": try await store.remove(entryIds: [1, 2], forSoupNamed: "a")
        case "remove by query":
          try await store.removeEntries(usingQuerySpec: all, forSoupNamed: "a")
        case "clear": try await store.clearSoup("a")
        default:
          try await store.alterSoup(
            named: "a", indexSpecs: [SoupIndex]("n:string"), reIndexData: true)
        }
      }
      #expect(try await store.elements(of: "a") == elements)
      #expect(try await store.column("select * from TABLE_1_fts order by rowid") == words)
      #expect(try await store.indices(forSoupNamed: "a").map(\.path) == ["key", "n", "t"])
      #expect(try await store.recordedOperations() == [])
    }
  }

  @Test(.covers("SS-114"))
  func `calls over several soups commit together`() async throws {
    try await withStore { store async throws in
      let specs = specs
      let count = try await store.inTransaction { transaction in
        for name in ["a", "b"] {
          try transaction.registerSoup(withName: name, withIndices: specs)
          try transaction.upsert(entries: [["key": "x", "t": "cat"]], forSoupNamed: name)
        }
        return try transaction.count(using: .buildAllQuerySpec(soupName: "b", pageSize: 1))
      }
      #expect(count == 1)
      #expect(try await store.elements(of: "a").count == 1)
      #expect(try await store.elements(of: "b").count == 1)
    }
  }

  @Test(.covers("SS-115"))
  func `after a roll-back everything is as before`() async throws {
    try await withStore { store async throws in
      let specs = specs
      try await store.registerSoup(withName: "kept", withIndices: specs)
      try await store.registerSoup(withName: "doomed", withIndices: specs)
      try await store.upsert(entries: [["key": "x", "t": "cat"]], forSoupNamed: "kept")
      _ = try await store.column("select {doomed:key} from {doomed}")
      let schema = try await store.rows("select name, sql from sqlite_master order by 1")
      let before = try await store.elements(of: "kept")
      await #expect(throws: Stop.self) {
        try await store.inTransaction { transaction in
          try transaction.removeSoup("doomed")
          try transaction.registerSoup(withName: "new", withIndices: specs)
          try transaction.upsert(entries: [["key": "y", "t": "dog"]], forSoupNamed: "new")
          _ = try transaction.query(
            using: .buildSmartQuerySpec(smartSql: "select {new:key} from {new}", pageSize: 1))
          try transaction.clearSoup("kept")
          try transaction.upsert(entries: [["key": "z"]], forSoupNamed: "kept")
          throw Stop()
        }
      }
      #expect(try await store.rows("select name, sql from sqlite_master order by 1") == schema)
      #expect(try await store.elements(of: "kept") == before)
      #expect(try await store.allSoupNames() == ["doomed", "kept"])
      #expect(try await store.column("select {doomed:key} from {doomed}") == [])
      await expectFailure(.unknownSoup, "Unknown soup new") {
        _ = try await store.column("select {new:key} from {new}")
      }
      #expect(
        try await store.count(
          using: .buildMatchQuerySpec(soupName: "kept", matchKey: "cat", pageSize: 1)) == 1)
      try await store.registerSoup(withName: "new", withIndices: specs)
      try await store.upsert(entries: [["key": "y"]], forSoupNamed: "new")
      #expect(try await store.column("select {new:key} from {new}") == ["y"])
    }
  }

  @Test(.covers("SS-115"))
  func `a call that fails inside a transaction leaves its soup as it was`()
    async throws
  {
    try await withStore { store async throws in
      let specs = specs
      try await store.registerSoup(withName: "a", withIndices: specs)
      try await store.inTransaction { transaction in
        try transaction.upsert(entries: [["key": "one"]], forSoupNamed: "a")
        #expect(throws: SmartStoreError.self) {
          try transaction.upsert(entries: [["key": "two"], "no object"], forSoupNamed: "a")
        }
        #expect(throws: SmartStoreError.self) {
          try transaction.registerSoup(
            withName: "b", withIndices: [SoupIndex(path: "x..y", type: .json1)])
        }
        #expect(transaction.soupExists(forName: "b") == false)
        try transaction.upsert(entries: [["key": "three"]], forSoupNamed: "a")
      }
      #expect(try await store.elements(of: "a").map { $0["key"] } == ["one", "three"])
    }
  }

  @Test(.covers("SS-116"))
  func `a transaction sees its own writes and readers see none of them`()
    async throws
  {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specs)
      let all = try QuerySpec.buildAllQuerySpec(soupName: "a", pageSize: 10)
      // The reader runs while the writer is inside its transaction: each waits for the other's
      // signal, never for its end.
      let written = DispatchSemaphore(value: 0)
      let seen = DispatchSemaphore(value: 0)
      async let writing = store.inTransaction { transaction in
        try transaction.upsert(entries: [["key": "x"]], forSoupNamed: "a")
        #expect(try transaction.count(using: all) == 1)
        written.signal()
        #expect(seen.wait(timeout: .now() + 30) == .success)
      }
      await StoreQueue.run { written.wait() }
      #expect(try await store.count(using: all) == 0)
      seen.signal()
      try await writing
      #expect(try await store.count(using: all) == 1)
    }
  }

  @Test(.covers("SS-116"))
  func `a nested transaction joins and its failure fails the outer one`()
    async throws
  {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specs)
      try await store.inTransaction { outer in
        try outer.upsert(entries: [["key": "x"]], forSoupNamed: "a")
        try outer.inTransaction { inner in
          try inner.upsert(entries: [["key": "y"]], forSoupNamed: "a")
        }
      }
      #expect(try await store.elements(of: "a").count == 2)
      await #expect(throws: (any Error).self) {
        try await store.inTransaction { outer in
          try outer.upsert(entries: [["key": "z"]], forSoupNamed: "a")
          #expect(throws: Stop.self) {
            try outer.inTransaction { _ in throw Stop() }
          }
        }
      }
      #expect(try await store.elements(of: "a").count == 2)
    }
  }

  @Test(.covers("SS-117"))
  func `a helper neither commits the enclosing transaction nor hides its failure`()
    async throws
  {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specs)
      try await store.upsert(entries: [["key": "x"]], forSoupNamed: "a")
      await #expect(throws: Stop.self) {
        try await store.inTransaction { transaction in
          try transaction.clearSoup("a")
          try transaction.removeAllSoups()
          throw Stop()
        }
      }
      #expect(try await store.elements(of: "a").count == 1)
    }
  }

  @Test func `a cancelled transaction leaves nothing and throws CancellationError`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specs)
      let task = Task {
        try await store.inTransaction { transaction in
          try transaction.upsert(entries: [["key": "x"]], forSoupNamed: "a")
          withUnsafeCurrentTask { $0?.cancel() }
          _ = try transaction.count(using: .buildAllQuerySpec(soupName: "a", pageSize: 1))
          try transaction.registerSoup(withName: "b", withIndices: [SoupIndex("x:string")])
        }
      }
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(try await store.elements(of: "a") == [])
      #expect(try await store.allSoupNames() == ["a"])
    }
  }
}
