import Foundation
import GRDB
import GRDBSQLite
import SalesforceSDKCommon
import Testing

@testable import SmartStore
import TestSupport

/// What is left of a store when the disk fails or fills up? All that was acknowledged, nothing half.
struct DiskFaultTests {
  let folder: StoreFolder
  let disk: FaultyDisk
  let options: StoreDatabaseOptions

  init() throws {
    folder = try StoreFolder()
    disk = try #require(FaultyDisk())
    var options = StoreDatabaseOptions()
    options.vfs = EncryptedVFS(over: disk.name)
    // Small, so that a short session evicts pages and copies its log to the database.
    options.checkpointPages = 20
    options.writerCacheBytes = 40 << 10
    self.options = options
  }

  @Test(.covers("SS-10.2"), arguments: [FaultyDisk.Operation.open, .write, .sync])
  private func `a creation whose disk fails says why, and the next opening completes it`(
    operation: FaultyDisk.Operation
  ) async throws {
    let encryption = StoreEncryption.encrypted(FixedKeyProvider(folder.key))
    var failures = 0
    for after in 0..<1_000 {
      disk.arm(.init(operations: [operation], after: after, count: .max, code: SQLITE_IOERR))
      var made: SmartStore?
      do {
        made = try await SmartStore.open(at: folder.store, encryption: encryption, files: options)
      } catch {
        failures += 1
        #expect(error.code == .io, "\(error)")
      }
      let isOver = disk.failures == 0
      disk.arm(nil)
      try await made?.close()
      let store = try await SmartStore.open(
        at: folder.store, encryption: encryption, files: options)
      #expect(try await store.allSoupNames() == [])
      try await store.close()
      try FileManager.default.removeItem(at: folder.store)
      if isOver { break }
    }
    #expect(failures > 0)
  }

  /// Writes ten transactions of ten rows; the number of each is in its rows.
  ///
  /// - Returns: The transactions that were acknowledged, and those that failed.
  private func session(_ store: StoreDatabase, from first: Int) -> (done: [Int], failed: [Int]) {
    var done: [Int] = []
    var failed: [Int] = []
    for number in first..<first + 10 {
      do {
        try store.writer.write { database in
          for _ in 0..<10 {
            try database.execute(
              sql: "INSERT INTO entry (body, rank) VALUES (?, ?)",
              arguments: [String(repeating: "x", count: 1500), number])
          }
          try database.execute(sql: "UPDATE entry SET rank = rank WHERE id % 5 = 0")
        }
        done.append(number)
      } catch {
        failed.append(number)
      }
    }
    return (done, failed)
  }

  /// The transactions whose ten rows are there; throws if one is there in part.
  private func transactions(_ store: StoreDatabase) async throws -> [Int] {
    try await store.readers.read { database, _ in
      let counts = try Row.fetchAll(
        database,
        sql: "SELECT rank, count(*) AS rows FROM entry GROUP BY rank ORDER BY rank")
      for count in counts { #expect(count["rows"] == 10, "transaction \(count["rank"] as Int)") }
      return counts.map { $0["rank"] }
    }
  }

  private func makeStore() throws -> StoreDatabase {
    let store = try folder.open(options)
    try store.fill(0)
    return store
  }

  @Test
  func `a full disk is reported as such, loses nothing, and the store goes on when there is room`()
    async throws
  {
    let store = try makeStore()
    #expect(session(store, from: 0).failed == [])
    disk.arm(.init(operations: [.write], after: 3, count: .max, code: SQLITE_FULL))
    let error = #expect(throws: DatabaseError.self) { try store.fill(5000) }
    let told = try SmartStoreError(storage: #require(error), at: store.url.path)
    #expect(told.code == .diskFull)
    #expect(session(store, from: 10).done == [])
    #expect(try await transactions(store) == Array(0..<10))
    disk.arm(nil)
    #expect(session(store, from: 20).failed == [])
    #expect(try await transactions(store) == Array(0..<10) + Array(20..<30))
    #expect(try store.integrity() == "ok")
    try store.close()
    let reopened = try folder.open()
    #expect(try await transactions(reopened) == Array(0..<10) + Array(20..<30))
    try reopened.close()
  }

  @Test(arguments: [
    (FaultyDisk.Operation.write, SQLITE_FULL, false), (.write, StoreIOError.write, true),
    (.sync, SQLITE_IOERR | (4 << 8), false), (.read, StoreIOError.read, false),
    (.truncate, StoreIOError.truncate, false),
  ])
  func `one failure at any operation of a session loses no acknowledged transaction`(
    operation: FaultyDisk.Operation, code: Int32, tears: Bool
  ) async throws {
    var step = 0
    while true {
      let directory = folder.url.appendingPathComponent("step-\(operation)-\(step)")
      let store = try folder.open(options, at: directory)
      try store.fill(0)
      disk.arm(
        .init(operations: [operation], after: step, count: 1, code: code, tearsWrites: tears))
      let (done, _) = session(store, from: 0)
      _ = try? store.checkpoint()
      let failures = disk.failures
      disk.arm(nil)
      // The disk works again: the store does too, and after a crash at this point as well.
      let crashed = try folder.snapshot(of: directory)
      for check in [directory, crashed] {
        let opened = check == directory ? store : try folder.open(at: crashed)
        let found = try await transactions(opened)
        #expect(Set(found).isSuperset(of: done), "step \(step)")
        #expect(try opened.integrity() == "ok", "step \(step)")
        #expect(session(opened, from: 100).failed == [], "step \(step)")
        try opened.close()
      }
      try FileManager.default.removeItem(at: directory)
      try FileManager.default.removeItem(at: crashed)
      if failures == 0 { break }
      // Every operation at first, then a sample: the session repeats itself.
      step += step < 20 ? 1 : 9
    }
    #expect(step > 0)
  }

  @Test
  func `a transaction that the disk refused is not there after a crash, whatever is done next`()
    async throws
  {
    let store = try makeStore()
    #expect(session(store, from: 0).failed == [])
    // The frames of a small transaction go to the disk in one write.
    disk.arm(.init(operations: [.write], after: 0, count: 1, code: SQLITE_FULL))
    #expect(throws: DatabaseError.self) {
      try store.writer.write { try $0.execute(sql: "INSERT INTO entry (rank) VALUES (500)") }
    }
    #expect(disk.failures == 1)
    disk.arm(nil)
    try store.checkpoint()
    let crashed = try folder.open(at: try folder.snapshot())
    #expect(try await transactions(crashed) == Array(0..<10))
    try crashed.close()
    #expect(session(store, from: 10).failed == [])
    #expect(try await transactions(store) == Array(0..<20))
    try store.close()
  }

  /// A soup in rows or in files with an old element, in a store on the disk that can fail.
  private func soupStore(usesFiles: Bool) async throws -> SmartStore {
    var files = options
    // No checkpoint comes between.
    files.checkpointPages = 8000
    let store = try await SmartStore.open(
      at: folder.store, encryption: .encrypted(FixedKeyProvider(folder.key)), files: files)
    let features = usesFiles ? [SoupSpec.featureExternalStorage] : []
    try await store.registerSoup(
      withSpec: SoupSpec(name: "s", features: features),
      withIndices: [SoupIndex(path: "key", type: .string)])
    try await put([("a", "old")], in: store)
    return store
  }

  private func put(_ elements: [(key: String, text: String)], in store: SmartStore) async throws {
    let entries: [JSONValue] = elements.map { ["key": .string($0.key), "text": .string($0.text)] }
    try await store.upsert(entries: entries, forSoupNamed: "s", withExternalIdPath: "key")
  }

  private func texts(in store: SmartStore) async throws -> [String] {
    try await store.elements(of: "s").map {
      ($0["key"]?.string ?? "") + " " + ($0["text"]?.string ?? "")
    }
  }

  /// What a process finds that opens the store after a crash at this point.
  private func textsAfterCrash() async throws -> [String] {
    let copy = folder.url.appending(path: UUID().uuidString)
    try FileManager.default.copyItem(at: folder.store, to: copy)
    for name in ["store.lock", "store.opening", "store.sqlite-shm"] {
      try FileManager.default.removeItem(at: copy.appending(path: name))
    }
    let store = try await SmartStore.open(
      at: copy, encryption: .encrypted(FixedKeyProvider(folder.key)))
    let found = try await texts(in: store)
    #expect(try await store.verify().isClean)
    try await store.close()
    return found
  }

  @Test(.covers("SS-194"), arguments: [false, true], [1, Int.max])
  func `a transaction whose sync failed does not come back after a crash`(
    usesFiles: Bool, failures: Int
  ) async throws {
    let store = try await soupStore(usesFiles: usesFiles)
    disk.arm(
      .init(operations: [.sync], after: 0, count: failures, code: SQLITE_IOERR | (4 << 8)))
    await expectFailure(.io) { try await put([("a", "new"), ("b", "new")], in: store) }
    #expect(disk.failures > 0)
    disk.arm(nil)
    #expect(try await texts(in: store) == ["a old"])
    #expect(try await textsAfterCrash() == ["a old"])
    try await put([("c", "next")], in: store)
    #expect(try await textsAfterCrash() == ["a old", "c next"])
    try await store.close()
  }

  @Test(.covers("SS-194"), arguments: [false, true])
  func `a transaction that cannot be taken back is whole or gone after a crash, and told so`(
    usesFiles: Bool
  ) async throws {
    let store = try await soupStore(usesFiles: usesFiles)
    // The frames are written; their sync fails, and what would take them back cannot be written.
    disk.arm(
      .init(
        operations: [.write, .sync], after: 1, count: .max, code: SQLITE_IOERR))
    await expectFailure(.io) { try await put([("a", "new"), ("b", "new")], in: store) }
    disk.arm(.init(operations: [.write], after: 0, count: .max, code: StoreIOError.write))
    #expect(try await texts(in: store) == ["a old"])
    await expectFailure(.io) { try await put([("c", "next")], in: store) }
    let found = try await textsAfterCrash()
    #expect(found == ["a new", "b new"])
    disk.arm(nil)
    #expect(try await texts(in: store) == ["a old"])
    try await put([("c", "next")], in: store)
    #expect(try await texts(in: store) == ["a old", "c next"])
    #expect(try await textsAfterCrash() == ["a old", "c next"])
    try await store.close()
  }

  @Test(arguments: FaultyDisk.Operation.allCases)
  func `a failure at any operation of opening leaves the store's files as they are`(
    operation: FaultyDisk.Operation
  ) async throws {
    let store = try makeStore()
    #expect(session(store, from: 0).failed == [])
    let crashed = try folder.snapshot(as: "crashed")
    try store.close()
    var step = 0
    while true {
      disk.arm(.init(operations: [operation], after: step, count: .max, code: SQLITE_IOERR))
      let opened = try? folder.open(options, at: crashed)
      let failures = disk.failures
      disk.arm(nil)
      if let opened { try opened.close() }
      let reopened = try folder.open(at: crashed)
      #expect(try await transactions(reopened) == Array(0..<10), "step \(step)")
      #expect(try reopened.integrity() == "ok", "step \(step)")
      try reopened.close()
      if failures == 0 { break }
      step += 1
    }
  }
}
