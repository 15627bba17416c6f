import Crypto
import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore

/// Are older files of a store noticed that fit each other, but not the rest?
struct WALReplayTests {
  private let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  /// Changes an entry, so that neither the size nor the schema of the database changes.
  private func update(_ store: SmartStore, _ values: Range<Int>) async throws {
    for value in values {
      try await store.upsert(
        entries: [["key": 1, "text": .string("value \(value % 10)")]], forSoupNamed: "notes",
        withExternalIdPath: "key")
    }
  }

  private func open(checkpointInterval: Int = 8 << 20) async throws -> SmartStore {
    var files = StoreDatabaseOptions()
    files.checkpointInterval = checkpointInterval
    return try await SmartStore.open(
      at: folder.store, encryption: folder.encryption, files: files)
  }

  /// The files of a store that was closed, with a few entries.
  private func makeStore() async throws -> [String: Data] {
    let store = try await open()
    try await store.registerSoup(withName: "notes", withIndices: .init("key:integer"))
    try await update(store, 0..<5)
    try await store.close()
    return try folder.stored(at: folder.store)
  }

  /// The files with WAL and anchor as they were at another time.
  private func files(
    _ files: [String: Data], withLogOf others: [String: Data]
  ) -> [String: Data] {
    var files = files
    for name in [StoreFolder.names.log, StoreFolder.names.anchor] { files[name] = others[name] }
    return files
  }

  @Test func `an older log with its anchor is refused after a checkpoint of the same log`()
    async throws
  {
    _ = try await makeStore()
    let store = try await open()
    try await update(store, 0..<4)
    let older = try folder.stored(at: folder.store)
    try await update(store, 4..<7)
    let crashed = try folder.stored(at: folder.store)
    try await store.close()
    let closed = try folder.stored(at: folder.store)
    #expect(closed["store.sqlite"]?.count == older["store.sqlite"]?.count)
    for files in [files(closed, withLogOf: older), files(closed, withLogOf: crashed)] {
      try folder.expectRefusal(files, "from before the end of the session")
      try folder.expectAcceptance(files, "from before the end of the session")
    }
  }

  @Test func `an older log with its anchor is refused after any later session`() async throws {
    _ = try await makeStore()
    var store = try await open()
    try await update(store, 0..<4)
    let older = try folder.stored(at: folder.store)
    try await store.close()
    for session in 0..<3 {
      store = try await open()
      try await update(store, 0..<1)
      let crashed = try folder.stored(at: folder.store)
      try await store.close()
      for newer in [crashed, try folder.stored(at: folder.store)] {
        try folder.expectRefusal(files(newer, withLogOf: older), "session \(session)")
      }
    }
  }

  @Test func `an older log with its anchor is refused after checkpoints in the background`()
    async throws
  {
    _ = try await makeStore()
    let store = try await open(checkpointInterval: 1)
    try await update(store, 0..<4)
    let older = try folder.stored(at: folder.store)
    for _ in 0..<6 {
      try await update(store, 0..<4)
      store.database.checkpoints?.waitUntilIdle()
    }
    let newer = try folder.stored(at: folder.store)
    try await store.close()
    try folder.expectRefusal(files(newer, withLogOf: older), "during a session")
    let whole = try folder.open(at: try folder.place(newer))
    try whole.close()
  }

  @Test func `an older database is refused with newer files`() async throws {
    let older = try await makeStore()
    var store = try await open()
    try await update(store, 5..<8)
    try await store.close()
    store = try await open()
    try await update(store, 8..<10)
    let crashed = try folder.stored(at: folder.store)
    try await store.close()
    for newer in [crashed, try folder.stored(at: folder.store)] {
      var changed = newer
      changed["store.sqlite"] = older["store.sqlite"]
      try folder.expectRefusal(changed, "an older database")
      try folder.expectAcceptance(changed, "an older database")
    }
  }

  @Test func `a call that changes nothing writes nothing`() async throws {
    _ = try await makeStore()
    let store = try await open()
    try await store.remove(entryIds: [99], forSoupNamed: "notes")
    #expect(try folder.stored(at: folder.store)[StoreFolder.names.log]?.isEmpty ?? true)
    try await store.close()
  }
}
