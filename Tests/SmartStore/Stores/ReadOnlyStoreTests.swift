import Crypto
import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore

/// Does reading change nothing, and block no other user?
@Suite struct ReadOnlyStoreTests {
  private func reading(_ manager: SmartStoreManager) -> SmartStoreManager {
    SmartStoreManager(
      root: manager.root, encryption: testEncryption, options: SmartStoreOptions(isReadOnly: true),
      isLoggedIn: { _ in true })
  }

  private func filled(_ manager: SmartStoreManager) async throws -> SmartStore {
    let store = try await manager.sharedGlobal()
    try await mark(store, "a")
    try await store.upsert(entries: [["x": "1"], ["x": "2"]], forSoupNamed: "a")
    return store
  }

  @Test func `a store that is only read stays the same to the byte`() async throws {
    try await withManager { manager async throws in
      let place = URL(filePath: try await filled(manager).path)
      try await manager.close()
      let before = try Data(contentsOf: place)
      for _ in 0..<2 {
        let readers = reading(manager)
        let store = try await readers.sharedGlobal()
        #expect(try await store.query("select {a:x} from {a} order by {a:x}") == [["1"], ["2"]])
        #expect(try await store.allSoupNames() == ["a"])
        #expect(try await store.databaseSize() > 0)
        try await readers.close()
        #expect(try Data(contentsOf: place) == before)
      }
      #expect(try await manager.sharedGlobal().allSoupNames() == ["a"])
    }
  }

  @Test func `a store is read while another writes it`() async throws {
    try await withManager { manager async throws in
      let writer = try await filled(manager)
      let readers = reading(manager)
      let reader = try await readers.sharedGlobal()
      #expect(try await reader.query("select count(*) from {a}") == [[2]])
      try await writer.upsert(entries: [["x": "3"]], forSoupNamed: "a")
      try await mark(writer, "b")
      #expect(try await reader.query("select count(*) from {a}") == [[3]])
      #expect(try await reader.allSoupNames().sorted() == ["a", "b"])
      try await readers.close()
      try await writer.upsert(entries: [["x": "4"]], forSoupNamed: "a")
    }
  }

  @Test
  func `a store is opened to be read while another fills it in bulk, and after that one's end`()
    async throws
  {
    try await withManager { manager async throws in
      let writer = try await filled(manager)
      let slices = try (0..<50).map { try JSONSlice(parsing: #"{"x":"\#($0)"}"#) }
      try await writer.bulkLoad(intoSoupNamed: "a") { load in
        for count in [52, 102] {
          try await load.append(slices)
          let readers = reading(manager)
          let store = try await readers.sharedGlobal()
          #expect(try await store.query("select count(*) from {a}") == [[.integer(Int64(count))]])
          #expect(
            try await store.query("select {a:x} from {a} where {a:x} = '2'").count == count / 50 + 1
          )
          try await readers.close()
        }
      }
      // A load that its process did not end waits for the next writer, and can be read.
      _ = try await writer.write { transaction in
        try BulkLoadOperation(try transaction.access.soup(named: "a"), on: transaction.access)
      }
      try await manager.close()
      let readers = reading(manager)
      #expect(try await readers.sharedGlobal().query("select count(*) from {a}") == [[102]])
      try await readers.close()
      #expect(try await manager.sharedGlobal().recordedOperations() == [])
    }
  }

  @Test func `a store with an alter to be finished is not opened to be read`() async throws {
    try await withManager { manager async throws in
      let writer = try await filled(manager)
      _ = try await writer.write { transaction in
        try transaction.access.recordOperation(type: "AlterSoup", details: "{}", status: "0")
      }
      try await manager.close()
      await expectFailure(.readOnly) { _ = try await reading(manager).sharedGlobal() }
    }
  }

  @Test func `what writes is refused, and so is removing`() async throws {
    try await withManager { manager async throws in
      _ = try await filled(manager)
      try await manager.close()
      let readers = reading(manager)
      let store = try await readers.sharedGlobal()
      let calls: [() async throws -> Void] = [
        { try await mark(store, "b") },
        { try await store.upsert(entries: [["x": "3"]], forSoupNamed: "a") },
        { try await store.clearSoup("a") }, { try await store.inTransaction { _ in } },
        { _ = try await store.verify() }, { try await readers.removeSharedGlobal() },
        { try await readers.removeAllGlobal() },
        { try await readers.changeKey(from: FixedKeyProvider(SymmetricKey(size: .bits256))) },
        { try await readers.withClosedStore(owner: .global) { _ in } },
      ]
      for call in calls { await expectFailure(.readOnly, "", call) }
      #expect(try await store.query("select count(*) from {a}") == [[2]])
      try await readers.close()
    }
  }

  @Test func `a store that is not there is not made`() async throws {
    try await withManager { manager async throws in
      await expectFailure(.databaseMissing) { _ = try await reading(manager).sharedGlobal() }
      #expect(FileManager.default.fileExists(atPath: manager.root.path) == false)
    }
  }

  @Test func `a store whose making ended early is not read but finished by a writer`()
    async throws
  {
    try await withManager { manager async throws in
      let place = manager.root.appending(path: "stores/defaultStore")
      try StoreDatabase.open(at: place, encryption: testEncryption).close()
      await expectFailure(.readOnly) { _ = try await reading(manager).sharedGlobal() }
      #expect(try await manager.sharedGlobal().allSoupNames() == [])
      let readers = reading(manager)
      #expect(try await readers.sharedGlobal().allSoupNames() == [])
      try await readers.close()
    }
  }
}
