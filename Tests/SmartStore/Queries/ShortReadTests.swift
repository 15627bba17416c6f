import Foundation
import GRDB
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore

/// Does a query return the same wherever it runs, and does no query keep a caller's thread for long?
@Suite struct ShortReadTests {
  @Test func `a read that takes too long is broken off, and its connection goes on`() throws {
    let folder = try StoreFolder()
    let store = try folder.open()
    try store.fill(10)
    let endless = """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n
      """
    try store.writer.read { database in
      let broken = try ReadBudget.spend(on: database) {
        try Int.fetchOne(database, sql: endless) ?? 0
      }
      #expect(broken == nil)
      #expect(try ReadBudget.spend(on: database) { 7 }?.value == 7)
      #expect(throws: DatabaseError.self) {
        try ReadBudget.spend(on: database) {
          try database.execute(sql: "SELECT nothing FROM entry")
        }
      }
      // Without a budget nothing is counted any longer.
      let rows = try Int.fetchOne(
        database,
        sql: "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 300000) "
          + "SELECT count(*) FROM n")
      #expect(rows == 300_000)
    }
    try store.close()
  }

  @Test(.covers("SS-208"))
  func `a short read on a connection that was closed in the meantime fails`() throws {
    let folder = try StoreFolder()
    let store = try folder.open()
    try store.close()
    let error = #expect(throws: DatabaseError.self) {
      try store.writer.unsafeRead { try ReadBudget.spend(on: $0) { 7 } }
    }
    #expect(error?.resultCode == .SQLITE_MISUSE)
  }

  @Test func `a query gives what is stored, asked for the first time or again`() async throws {
    try await withStore { store in
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex("key:string")])
      let spec = try QuerySpec.buildExactQuerySpec(
        soupName: "s", path: "key", matchKey: "a", pageSize: 10)
      for count in 1...5 {
        try await store.upsert(entries: [["key": "a"], ["key": "b"]], forSoupNamed: "s")
        #expect(try await store.queryEntries(using: spec).count == count)
        #expect(try await store.query(using: spec).count == count)
        #expect(try await store.count(using: spec) == Int64(count))
      }
    }
  }

  @Test func `a query whose shape was short gives all results when it is long`() async throws {
    try await withStore { store in
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex("key:string")])
      let spec = try QuerySpec.buildLikeQuerySpec(
        soupName: "s", path: "other", likeKey: "%x%", pageSize: 100_000)
      for _ in 0..<3 { #expect(try await store.query(using: spec).isEmpty) }
      let count = 20_000
      let element = try JSONSlice(parsing: #"{"other":"xyz"}"#)
      try await store.upsert(slices: Array(repeating: element, count: count), soup: "s")
      for _ in 0..<3 {
        #expect(try await store.queryEntries(using: spec).count == count)
        #expect(try await store.count(using: spec) == Int64(count))
      }
    }
  }

  @Test(arguments: [true, false])
  func
    `a stored text that is no JSON fails a plain store's query and reads as null in a sealed one`(
      isSealed: Bool
    ) async throws
  {
    try await TemporaryFolder.with { folder in
      let store = try await SmartStore.open(
        at: folder.file("store"), encryption: isSealed ? testEncryption : .plaintext)
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex("key:string")])
      try await store.upsert(entries: [["key": "a"], ["key": "b"]], forSoupNamed: "s")
      let spec = try QuerySpec.buildAllQuerySpec(
        soupName: "s", orderPath: SmartStore.soupEntryId, pageSize: 10)
      let whole = try await store.queryEntries(using: spec)
      #expect(whole.map { $0["key"]?.string } == ["a", "b"])
      #expect(whole.map(\.description) == whole.map(\.value.text))
      // Cut off: found at once in any store.
      try await store.unsafelyExecute("UPDATE TABLE_1 SET soup = '{\"key\":\"a' WHERE id = 1")
      await expectFailure(.corrupt) { _ = try await store.queryEntries(using: spec) }
      try await store.unsafelyExecute("UPDATE TABLE_1 SET soup = '{\"key\":a}' WHERE id = 1")
      if isSealed {
        let elements = try await store.queryEntries(using: spec)
        #expect(elements.map(\.isNull) == [true, false])
        #expect(elements[0].value == .null && elements[0]["key"] == nil && elements[0].count == 0)
        #expect(elements[1]["key"]?.string == "b")
      } else {
        await expectFailure(.corrupt) { _ = try await store.queryEntries(using: spec) }
      }
      await expectFailure(.corrupt) {
        _ = try await store.retrieve(usingSoupEntryIds: [1], fromSoupNamed: "s")
      }
      try await store.close()
    }
  }

  @Test func `reads of many tasks at once see whole transactions, short ones too`() async throws {
    try await withStore { store in
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex("key:string")])
      let spec = try QuerySpec.buildExactQuerySpec(
        soupName: "s", path: "key", matchKey: "a", pageSize: 100)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          for _ in 0..<40 {
            try await store.upsert(entries: [["key": "a"], ["key": "a"]], forSoupNamed: "s")
          }
        }
        for _ in 0..<8 {
          group.addTask {
            for _ in 0..<40 {
              let count = try await store.count(using: spec)
              let elements = try await store.queryEntries(using: spec)
              #expect(count % 2 == 0 && elements.count % 2 == 0)
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try await store.count(using: spec) == 80)
    }
  }

  @Test func `a text holds an underscore key wherever it stands`() {
    for size in 0..<70 {
      for place in 0..<max(size - 1, 0) {
        for pair in [#""_"#, #""\"#, #"_""#, #""a"#] {
          var text = [UInt8](repeating: UInt8(ascii: " "), count: size)
          text.replaceSubrange(place..<place + 2, with: Array(pair.utf8))
          let expected = pair.hasPrefix("\"") && pair != #""a"#
          let found = text.withUnsafeBytes { EntrySplicer.mayHoldUnderscoreKey($0) }
          #expect(found == expected, "\(pair) at \(place) of \(size)")
        }
      }
    }
  }
}
