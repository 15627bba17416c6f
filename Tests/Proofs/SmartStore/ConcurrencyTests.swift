import Foundation
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SmartStore
@testable import SmartStoreTests

/// Many tasks on one store.
@Suite struct ConcurrencyTests {
  /// How often each reader asks at least.
  private let rounds = Effort.times(4)

  /// What readers and writers know of each other.
  private final class Meeting: Sendable {
    private let writing: Mutex<Int>
    /// Opened by a reader who saw some writers' elements and not all.
    let hasMet = Latch()

    init(writers: Int) { writing = Mutex(writers) }

    var isOver: Bool { writing.withLock { $0 == 0 } }

    func leave() { writing.withLock { $0 -= 1 } }
  }

  @Test(
    .covers("SS-204", "SS-205", "SS-207"),
    arguments: [(50, 50), (1, 0), (0, 1), (1, 1), (50, 1), (1, 50)])
  func `readers and writers at once see whole transactions only`(
    readers: Int, writers: Int
  ) async throws {
    let perWriter = 50
    let meeting = Meeting(writers: writers)
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "a", withIndices: [SoupIndex("writer:integer"), SoupIndex("seq:integer")])
      try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in 0..<writers {
          group.addTask {
            // The last one waits until a reader has seen the work of others.
            if readers > 0, writers > 1, writer == writers - 1 { await meeting.hasMet.wait() }
            defer { meeting.leave() }
            try await store.inTransaction(durability: .normal) { transaction in
              for seq in 0..<perWriter {
                try transaction.upsert(
                  entries: [
                    ["writer": .integer(Int64(writer)), "seq": .integer(Int64(seq)), "end": "ok"]
                  ], forSoupNamed: "a")
              }
            }
          }
        }
        for _ in 0..<readers {
          group.addTask { [rounds] in
            var round = 0
            while round < rounds || !meeting.isOver {
              round += 1
              let rows = try await store.query(
                "select {a:writer}, count(*) from {a} group by {a:writer}")
              #expect(rows.allSatisfy { $0[1] == .integer(Int64(perWriter)) })
              if !rows.isEmpty, rows.count < writers { meeting.hasMet.open() }
              let elements = try await store.queryEntries(
                using: .buildAllQuerySpec(soupName: "a", pageSize: 25))
              #expect(elements.allSatisfy { $0["end"]?.string == "ok" })
            }
          }
        }
        try await group.waitForAll()
      }
      let pairs = try await store.rows("select distinct {a:writer}, {a:seq} from {a}")
      #expect(pairs.count == writers * perWriter)
      #expect(try await store.column("select count(*) from {a}") == [.integer(Int64(pairs.count))])
    }
  }

  @Test(.covers("SS-206"))
  func `concurrent batches by external id leave one whole batch, the last one`()
    async throws
  {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex("key:string")])
      var fields = JSONObject()
      for field in 0..<128 { fields["field\(field)"] = .string("value \(field)") }
      let times = try await withThrowingTaskGroup(of: Int64.self) { group in
        for batch in 0..<100 {
          group.addTask { [fields] in
            let saved = try await store.upsert(
              entries: (0..<20).map { key in
                var entry = fields
                entry["key"] = .string("k\(key)")
                entry["batch"] = .integer(Int64(batch))
                return .object(entry)
              }, forSoupNamed: "a", withExternalIdPath: "key")
            return saved.compactMap { $0["_soupLastModifiedDate"]?.int64 }.max() ?? 0
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      let elements = try await store.elements(of: "a")
      #expect(elements.count == 20)
      #expect(Set(elements.map { $0["batch"] }).count == 1)
      #expect(elements.allSatisfy { $0["field127"] == "value 127" })
      let newest = elements.compactMap { $0["_soupLastModifiedDate"]?.int64 }.max()
      #expect(newest == times.max())
    }
  }

  @Test func `readers are not kept waiting by a long write transaction`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "a", withIndices: [SoupIndex]("n:integer", "text:full_text"))
      try await store.upsert(
        entries: (0..<50).map { ["n": .integer($0), "text": "old"] }, forSoupNamed: "a")
      let (inside, mayEnd) = (Latch(), Latch())
      let writing = Task {
        try await store.inTransaction { transaction in
          // More than the page cache of a small store, with a changed schema besides.
          try transaction.clearSoup("a")
          try transaction.registerSoup(withName: "b", withIndices: [SoupIndex("x:string")])
          try transaction.upsert(
            entries: (0..<200).map { ["n": .integer($0), "text": "new"] }, forSoupNamed: "a")
          inside.open()
          mayEnd.waitBlocking()
        }
      }
      await inside.wait()
      // The writer does not go on before all of these have their results.
      try await withThrowingTaskGroup(of: Void.self) { group in
        for reader in 0..<20 {
          group.addTask {
            switch reader % 4 {
            case 0: #expect(try await store.elements(of: "a").count == 50)
            case 1:
              let found = try await store.query(
                using: .buildMatchQuerySpec(soupName: "a", matchKey: "new", pageSize: 1))
              #expect(found == [])
            case 2: #expect(try await store.allSoupNames() == ["a"])
            default:
              #expect(
                try await store.retrieve(usingSoupEntryIds: [1, 2], fromSoupNamed: "a").count == 2)
            }
          }
        }
        try await group.waitForAll()
      }
      mayEnd.open()
      try await writing.value
      #expect(try await store.elements(of: "a").count == 200)
      #expect(try await store.allSoupNames() == ["a", "b"])
    }
  }

  @Test(.covers("SS-204"))
  func `many synchronous transactions leave the tasks' own threads free`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex("n:integer")])
      let (inside, mayEnd) = (Latch(), Latch())
      // All of these wait for the first one; were they to wait on threads of the pool, no thread could
      // open the latch.
      try await withThrowingTaskGroup(of: Void.self) { group in
        for n in 0..<200 {
          group.addTask {
            try await store.inTransaction(durability: .normal) { transaction in
              inside.open()
              mayEnd.waitBlocking()
              try transaction.upsert(entries: [["n": .integer(Int64(n))]], forSoupNamed: "a")
            }
          }
        }
        await inside.wait()
        mayEnd.open()
        try await group.waitForAll()
      }
      #expect(try await store.elements(of: "a").count == 200)
    }
  }
}
