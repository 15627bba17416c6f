import Foundation
import GRDB
import GRDBSQLite
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SmartStore

/// What happens to a store, and to those who use it, when it is removed or closed?
@Suite struct StoreRemovalTests {
  @Test(.covers("SS-16", "SS-17"))
  func `a removed store is gone and its instance stays closed`() async throws {
    try await withManager { manager async throws in
      let store = try await manager.sharedGlobal(withName: "s")
      let other = try await manager.sharedGlobal(withName: "other")
      try await mark(store, "a")
      try await manager.removeSharedGlobal(withName: "s")
      #expect(try manager.allGlobalStoreNames() == ["other"])
      #expect(FileManager.default.fileExists(atPath: store.directory.path) == false)

      let all = try QuerySpec.buildAllQuerySpec(soupName: "a", pageSize: 1)
      let calls: [() async throws -> Void] = [
        { _ = try await store.allSoupNames() }, { _ = try await store.query(using: all) },
        { try await store.upsert(entries: [["x": 1]], forSoupNamed: "a") },
        { try await mark(store, "b") }, { _ = try await store.databaseSize() },
        { _ = try await store.read { _ in 1 } }, { try await store.inTransaction { _ in } },
      ]
      for call in calls {
        let error = await expectFailure(.closed, "Store is closed", call)
        #expect(error?.number == 999)
      }
      #expect(FileManager.default.fileExists(atPath: store.directory.path) == false)

      let again = try await manager.sharedGlobal(withName: "s")
      #expect(again !== store)
      #expect(try await again.allSoupNames() == [])
      #expect(try await manager.sharedGlobal(withName: "other") === other)
      try await mark(other, "c")
      try await manager.removeSharedGlobal(withName: "never there")
      let left = try FileManager.default.contentsOfDirectory(atPath: manager.root.path)
      #expect(left == ["stores"])
    }
  }

  @Test(.covers("SS-18", "SS-19"))
  func `removing all of a user spares everybody else`() async throws {
    try await withManager { manager async throws in
      for owner in [ada, adaInClub, bob, .global] {
        for name in ["s", "t"] {
          _ = try await manager.shared(withName: name, forUserAccount: owner)
        }
      }
      try await manager.removeShared(withName: "s", forUserAccount: adaInClub)
      #expect(try manager.allStoreNames(forUserAccount: adaInClub) == ["t"])
      #expect(try manager.allStoreNames(forUserAccount: ada).count == 2)
      try await manager.removeShared(withName: "t", forUserAccount: ada)
      #expect(try manager.allStoreNames(forUserAccount: adaInClub) == [])
      #expect(try manager.allStoreNames(forUserAccount: ada) == ["s"])

      _ = try await manager.shared(withName: "new", forUserAccount: adaInClub)
      try await manager.removeAll(forUserAccount: ada)
      for owner in [ada, adaInClub] {
        #expect(try manager.allStoreNames(forUserAccount: owner) == [])
      }
      #expect(try manager.allStoreNames(forUserAccount: bob).count == 2)
      #expect(try manager.allGlobalStoreNames().count == 2)
      try await manager.removeAllGlobal()
      #expect(try manager.allGlobalStoreNames() == [])
      #expect(try manager.allStoreNames(forUserAccount: bob).count == 2)
    }
  }

  @Test(.covers("SS-208"))
  func `removal while the store is in use lets each call finish or fail as closed`()
    async throws
  {
    try await withManager { manager async throws in
      let store = try await manager.sharedGlobal(withName: "s")
      try await mark(store, "a")
      // Known to be short, so that it runs on the threads of those who ask.
      let short = try QuerySpec.buildExactQuerySpec(
        soupName: "a", path: "x", matchKey: "none", pageSize: 1)
      _ = try await store.query(using: short)
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<10 {
          group.addTask {
            for _ in 0..<20 {
              do {
                try await store.upsert(entries: [["x": "1"]], forSoupNamed: "a")
                _ = try await store.query("select count(*) from {a}")
                for _ in 0..<5 { _ = try await store.query(using: short) }
              } catch let error as SmartStoreError {
                #expect(error.code == .closed, "\(error)")
              } catch {
                Issue.record(error)
              }
            }
          }
        }
        group.addTask {
          do {
            try await manager.removeSharedGlobal(withName: "s")
          } catch {
            Issue.record(error)
          }
        }
      }
      #expect(try manager.globalStoreExists(withName: "s") == false)
    }
  }

  /// Removes the store while a call is under way, asks for it in the meantime, and lets the call end.
  private func askWhileEnding(
    _ manager: SmartStoreManager, end: @escaping @Sendable () async throws -> Void
  ) async throws -> (old: SmartStore, new: SmartStore) {
    let store = try await manager.sharedGlobal(withName: "s")
    try await mark(store, "old")
    let (began, mayEnd) = (Latch(), Latch())
    return try await withThrowingTaskGroup(of: SmartStore?.self) { group in
      group.addTask {
        try await store.inTransaction { _ in
          began.open()
          mayEnd.waitBlocking()
        }
        return nil
      }
      await began.wait()
      group.addTask {
        try await end()
        return nil
      }
      while !store.isClosed { await Task.yield() }
      let asked = (0..<3).map { _ in Latch() }
      for asked in asked {
        group.addTask {
          asked.open()
          return try await manager.sharedGlobal(withName: "s")
        }
      }
      for asked in asked { await asked.wait() }
      mayEnd.open()
      var found: [SmartStore] = []
      for try await store in group { if let store { found.append(store) } }
      let new = try #require(found.first)
      #expect(found.count == 3 && found.allSatisfy { $0 === new })
      return (store, new)
    }
  }

  @Test(.covers("SS-208"))
  func `who asks for a store during its removal gets a new one when it is gone`()
    async throws
  {
    try await withManager { manager async throws in
      let (old, new) = try await askWhileEnding(manager) {
        try await manager.removeSharedGlobal(withName: "s")
      }
      #expect(new !== old)
      #expect(try await new.allSoupNames() == [])
      // The new store's files are its own: they are not deleted under it.
      try await mark(new, "new")
      try await manager.close()
      #expect(try await manager.sharedGlobal(withName: "s").allSoupNames() == ["new"])
    }
  }

  @Test func `who asks for a store while the manager closes gets it again, with its content`()
    async throws
  {
    try await withManager { manager async throws in
      let (old, new) = try await askWhileEnding(manager) { try await manager.close() }
      #expect(new !== old)
      #expect(try await new.allSoupNames() == ["old"])
    }
  }

  @Test(.covers("SS-16"))
  func `removing a store twice at once is no error`() async throws {
    try await withManager { manager async throws in
      _ = try await manager.sharedGlobal(withName: "s")
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<4 { group.addTask { try await manager.removeSharedGlobal(withName: "s") } }
        try await group.waitForAll()
      }
      #expect(try manager.allGlobalStoreNames() == [])
    }
  }

  @Test func `closing goes on after a store that cannot be closed, and tells of it`() async throws {
    try await withManager { manager async throws in
      var stores: [SmartStore] = []
      for name in 0..<8 { stores.append(try await manager.sharedGlobal(withName: "\(name)")) }
      let statement = try await stores[3].inTransaction { transaction in
        var pending: OpaquePointer?
        sqlite3_prepare_v2(
          transaction.access.database.sqliteConnection, "SELECT 1", -1, &pending, nil)
        return Int(bitPattern: pending)
      }
      await expectFailure(.busy) { try await manager.close() }
      #expect(stores.allSatisfy { $0.isClosed })
      for name in 0..<8 where name != 3 {
        let again = try await manager.sharedGlobal(withName: "\(name)")
        #expect(again !== stores[name])
      }
      sqlite3_finalize(OpaquePointer(bitPattern: statement))
      // What failed is done again by who asks for the store.
      let again = try await manager.sharedGlobal(withName: "3")
      #expect(again !== stores[3])
      try await mark(again, "a")
    }
  }

  @Test func `a store that was closed by who had it is opened again for the next one`() async throws
  {
    try await withManager { manager async throws in
      for owner in [StoreOwner.global, ada] {
        let store = try #require(try await manager.shared(withName: "s", forUserAccount: owner))
        try await mark(store, "a")
        try await store.close()
        let again = try #require(try await manager.shared(withName: "s", forUserAccount: owner))
        #expect(again !== store)
        #expect(try await again.allSoupNames() == ["a"])
        try await again.close()
        try await manager.removeShared(withName: "s", forUserAccount: owner)
        #expect(try manager.allStoreNames(forUserAccount: owner) == [])
      }
    }
  }

  /// Something that closing has to wait for.
  private final class Work: Sendable {
    let hasEnded = Mutex(false)
  }

  /// ```
  /// work            .............. ends
  /// first   closes: waits
  /// second            closes: waits as well
  /// ```
  @Test func `each close returns when the store is closed, not before`() async throws {
    try await withManager { manager async throws in
      let store = try await manager.sharedGlobal(withName: "s")
      let (inside, mayEnd, asks) = (Latch(), Latch(), Latch())
      let work = Work()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          try await store.inTransaction { _ in
            inside.open()
            mayEnd.waitBlocking()
            work.hasEnded.withLock { $0 = true }
          }
        }
        await inside.wait()
        group.addTask { try await store.close() }
        while !store.isClosed { await Task.yield() }
        group.addTask {
          asks.open()
          try await store.close()
          #expect(work.hasEnded.withLock { $0 })
        }
        await asks.wait()
        for _ in 0..<100 { await Task.yield() }
        mayEnd.open()
        try await group.waitForAll()
      }
    }
  }

  @Test func `removals of one owner at once do not meet`() async throws {
    try await withManager { manager async throws in
      for name in 0..<12 { _ = try await manager.shared(withName: "\(name)", forUserAccount: ada) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for name in 0..<12 {
          group.addTask { try await manager.removeShared(withName: "\(name)", forUserAccount: ada) }
        }
        try await group.waitForAll()
      }
      let left = manager.root.appending(path: "00D1/0051/internal").path
      #expect(try FileManager.default.contentsOfDirectory(atPath: left) == ["stores"])
    }
  }

  @Test func `what an interrupted removal left is deleted with the owner's next store`()
    async throws
  {
    try await withManager { manager async throws in
      let left = [
        manager.root.appending(path: "removed-1"),
        manager.root.appending(path: "00D1/0051/internal/removed-1"),
      ]
      for folder in left {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("rest".utf8).write(to: folder.appending(path: "store.sqlite"))
      }
      #expect(try manager.allGlobalStoreNames() == [])
      _ = try await manager.sharedGlobal()
      #expect(left.map { FileManager.default.fileExists(atPath: $0.path) } == [false, true])
      _ = try await manager.shared(forUserAccount: ada)
      #expect(left.map { FileManager.default.fileExists(atPath: $0.path) } == [false, false])
    }
  }

  @Test func `a store that is open elsewhere is not removed from under its writer`() async throws {
    try await withManager { manager async throws in
      let store = try await manager.sharedGlobal(withName: "s")
      let other = SmartStoreManager(
        root: manager.root, encryption: testEncryption, isLoggedIn: { _ in true })
      await expectFailure(.busyOtherProcess) { try await other.removeSharedGlobal(withName: "s") }
      try await mark(store, "a")
      #expect(try manager.allGlobalStoreNames() == ["s"])
    }
  }

  @Test(.covers("SS-18"))
  func `what is left of a store without a database goes with all of them`()
    async throws
  {
    try await withManager { manager async throws in
      let store = try await manager.shared(withName: "s", forUserAccount: ada)
      try await manager.close()
      try FileManager.default.removeItem(atPath: #require(store).path)
      #expect(try manager.allStoreNames(forUserAccount: ada) == [])
      try await manager.removeAll(forUserAccount: ada)
      #expect(
        FileManager.default.fileExists(atPath: try #require(store).directory.path) == false)
    }
  }
}
