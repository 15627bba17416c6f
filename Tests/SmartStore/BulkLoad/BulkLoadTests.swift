import GRDB
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore

/// Does a soup that was filled with its indexes dropped end as any other, whatever happens?
@Suite struct BulkLoadTests {
  private let specs = [SoupIndex]("a:string", "b:integer", "d:full_text", "e.x:json1")
  private static let options = SmartStoreOptions(now: { 1_700_000_000_000 })

  private func slices(_ elements: [JSONValue] = mixedElements) throws -> [JSONSlice] {
    try elements.map { try JSONSlice(parsing: $0.serialized()) }
  }

  private func open(_ folder: TemporaryFolder) async throws -> SmartStore {
    try await SmartStore.open(
      at: folder.file("store"), encryption: testEncryption, options: Self.options)
  }

  /// What the soup looks like if it is filled in the usual way.
  private func expected(times: Int) async throws -> SoupPicture {
    try await TemporaryFolder.with { folder in
      let store = try await open(folder)
      try await store.registerSoup(withName: "s", withIndices: specs)
      for _ in 0..<times { try await store.upsert(slices: try slices(), soup: "s") }
      let picture = try await store.picture(of: "s")
      try await store.close()
      return picture
    }
  }

  private func indexCount(_ store: SmartStore) async throws -> JSONValue? {
    try await store.column(
      "select count(*) from sqlite_master where type = 'index' and tbl_name = 'TABLE_1'"
    ).first
  }

  @Test func `a bulk load ends like upserts, and the soup can be used in the meantime`()
    async throws
  {
    try await TemporaryFolder.with { folder in
      let store = try await open(folder)
      try await store.registerSoup(withName: "s", withIndices: specs)
      let ids = try await store.bulkLoad(intoSoupNamed: "s") { load in
        #expect(try await indexCount(store) == 2)
        #expect(try await store.recordedOperations().count == 1)
        var ids = try await load.append(try slices())
        #expect(
          try await store.lookupSoupEntryId(soupNamed: "s", fieldPath: "a", fieldValue: "one") == 1)
        #expect(
          try await store.count(
            using: .buildMatchQuerySpec(soupName: "s", path: "d", matchKey: "900000", pageSize: 5))
            == 1)
        ids += try await load.append(try slices(), durability: .normal)
        return ids
      }
      #expect(ids == Array(1...12))
      #expect(try await store.picture(of: "s") == expected(times: 2))
      #expect(try await store.recordedOperations() == [])
      try await store.close()
    }
  }

  @Test(.covers("SS-210"))
  func `what is appended after the indexes were built is on disk when a load ends`()
    async throws
  {
    try await TemporaryFolder.with { folder in
      let recorder = DiskRecorder()
      let disk = try #require(FaultyDisk(recorder: recorder))
      var files = StoreDatabaseOptions()
      files.vfs = EncryptedVFS(over: disk.name)
      let store = try await SmartStore.open(
        at: folder.file("store"), encryption: testEncryption, files: files)
      try await store.registerSoup(withName: "s", withIndices: specs)
      try await store.bulkLoad(intoSoupNamed: "s") { load in
        try await load.append(try slices())
        try await load.buildIndexes()
        try await load.append(try slices())
      }
      let last = recorder.events.last { $0.path.hasSuffix("-wal") }?.event
      guard case .sync? = last else {
        Issue.record("the log ends with \(String(describing: last))")
        return
      }
      try await store.close()
    }
  }

  @Test func `indexes that are kept are kept up, and the others built with little memory`()
    async throws
  {
    try await TemporaryFolder.with { folder in
      let store = try await open(folder)
      try await store.registerSoup(withName: "s", withIndices: specs)
      try await store.bulkLoad(
        intoSoupNamed: "s", keepingIndexesOn: ["a", "e.x", "none"], cacheBytes: 1 << 20
      ) { load in
        #expect(try await indexCount(store) == 4)
        for _ in 0..<300 { try await load.append(try slices()) }
      }
      #expect(try await store.picture(of: "s") == expected(times: 300))
      #expect(
        try await store.column(
          "select count(*) from pragma_integrity_check where integrity_check <> 'ok'") == [0])
      try await store.close()
    }
  }

  /// Pages, or kibibytes if negative, that the writing connection keeps.
  private func cacheSize(_ store: SmartStore) async throws -> Int? {
    try await store.inTransaction {
      try Int.fetchOne($0.access.database, sql: "PRAGMA cache_size")
    }
  }

  @Test(arguments: [
    (Int.min, 0), (-5 << 20, 0), (0, 0), (1 << 20, -1024), (Int.max, -Int(Int32.max)),
  ])
  func `the page cache of a load is the requested one, as far as it exists`(
    bytes: Int, size: Int
  ) async throws {
    try await withStore { store in
      try await store.registerSoup(withName: "s", withIndices: specs)
      let before = try await cacheSize(store)
      try await store.bulkLoad(intoSoupNamed: "s", cacheBytes: bytes) { load in
        #expect(try await cacheSize(store) == size)
        try await load.append(try slices())
      }
      #expect(try await cacheSize(store) == before)
      #expect(try await store.picture(of: "s").rows.count == 6)
    }
  }

  @Test func `a load that could not begin leaves the page cache as it was`() async throws {
    struct Stop: Error {}
    try await withStore { store in
      try await store.registerSoup(withName: "s", withIndices: specs)
      let before = try await cacheSize(store)
      await #expect(throws: Stop.self) {
        try await store.write { transaction in
          _ = try BulkLoadOperation(
            try transaction.access.soup(named: "s"), on: transaction.access)
          throw Stop()
        }
      }
      #expect(try await cacheSize(store) == before)
    }
  }

  @Test func `an append is written as a whole, with members set and removed`() async throws {
    try await TemporaryFolder.with { folder in
      let store = try await open(folder)
      try await store.registerSoup(withName: "s", withIndices: specs)
      try await store.bulkLoad(intoSoupNamed: "s") { load in
        try await load.append(
          [try JSONSlice(parsing: #"{"a":"x","b":1}"#)], setting: [(key: "d", value: "set")],
          removing: ["b"])
        await expectFailure(.invalidEntry) {
          try await load.append(try slices([["a": "y"], ["not", "an", "object"]]))
        }
      }
      #expect(
        try await store.elements(of: "s") == [
          [
            "a": "x", "d": "set", "_soupEntryId": 1,
            "_soupLastModifiedDate": 1_700_000_000_000,
          ]
        ])
      try await store.close()
    }
  }

  @Test(.covers("SS-183"), arguments: 0...2)
  func `a bulk load that a crash ended gets its indexes when the store is opened`(
    appends: Int
  ) async throws {
    try await TemporaryFolder.with { folder in
      let store = try await open(folder)
      try await store.registerSoup(withName: "s", withIndices: specs)
      let operation = try await store.write { transaction in
        try BulkLoadOperation(try transaction.access.soup(named: "s"), on: transaction.access)
      }
      let load = SoupLoad(store: store, operation: operation)
      for _ in 0..<appends { try await load.append(try slices()) }
      #expect(try await indexCount(store) == 2)
      try await store.close()
      let again = try await open(folder)
      #expect(try await again.recordedOperations() == [])
      #expect(try await again.picture(of: "s") == expected(times: appends))
      try await again.close()
    }
  }

  @Test func `indexes can be built before a load ends, and are kept up from then on`() async throws
  {
    try await TemporaryFolder.with { folder in
      let store = try await open(folder)
      try await store.registerSoup(withName: "s", withIndices: specs)
      try await store.bulkLoad(intoSoupNamed: "s") { load in
        try await load.append(try slices())
        try await load.buildIndexes()
        #expect(try await store.recordedOperations() == [])
        try await load.append(try slices())
        #expect(try await store.picture(of: "s") == expected(times: 2))
      }
      #expect(try await store.picture(of: "s") == expected(times: 2))
      try await store.close()
    }
  }

  @Test func `what was appended stays if the load fails or is cancelled`() async throws {
    struct Stop: Error {}
    try await TemporaryFolder.with { folder in
      let store = try await open(folder)
      try await store.registerSoup(withName: "s", withIndices: specs)
      await #expect(throws: Stop.self) {
        try await store.bulkLoad(intoSoupNamed: "s") { load in
          try await load.append(try slices())
          throw Stop()
        }
      }
      #expect(try await store.picture(of: "s") == expected(times: 1))
      let task = Task {
        try await store.bulkLoad(intoSoupNamed: "s") { load in
          try await load.append(try slices())
          withUnsafeCurrentTask { $0?.cancel() }
          try await load.append(try slices())
        }
      }
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(try await store.picture(of: "s") == expected(times: 2))
      #expect(try await store.recordedOperations() == [])
      try await store.close()
    }
  }

  @Test func `the soup may be altered, re-registered or unknown`() async throws {
    try await TemporaryFolder.with { folder in
      let store = try await open(folder)
      await expectFailure(.unknownSoup, "Soup: s does not exist") {
        try await store.bulkLoad(intoSoupNamed: "s") { _ in
          _ = Issue.record("it was begun")
        }
      }
      try await store.registerSoup(withName: "s", withIndices: specs)
      let new = [SoupIndex]("b:string", "a:full_text")
      try await store.bulkLoad(intoSoupNamed: "s") { load in
        try await load.append(try slices())
        try await store.alterSoup(named: "s", indexSpecs: new, reIndexData: true)
        try await load.append(try slices())
      }
      let altered = try await store.picture(of: "s")
      #expect(altered.rows.count == 12 && altered.schema.count == 6)
      try await store.bulkLoad(intoSoupNamed: "s") { load in
        try await store.removeSoup("s")
        await expectFailure(.unknownSoup) { try await load.append(try slices()) }
        try await store.registerSoup(withName: "s", withIndices: specs)
        try await load.append(try slices())
      }
      #expect(try await store.picture(of: "s") == expected(times: 1))
      #expect(try await store.recordedOperations() == [])
      try await store.close()
    }
  }
}
