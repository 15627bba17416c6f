import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore

/// How long stores live: until their owner's session ends, and no shorter.
@Suite struct LifetimeTests {
  private let ada = StoreOwner.user(organizationId: "00D1", userId: "0051")
  private let adaInClub = StoreOwner.user(
    organizationId: "00D1", userId: "0051", communityId: "0DB1")
  private let bob = StoreOwner.user(organizationId: "00D1", userId: "0052")

  private func makeManager(_ folder: TemporaryFolder) -> SmartStoreManager {
    SmartStoreManager(
      root: folder.file("root"), encryption: testEncryption, isLoggedIn: { _ in true })
  }

  private func fill(_ store: SmartStore?) async throws {
    let store = try #require(store)
    try await store.registerSoup(withName: "a", withIndices: [SoupIndex("x:string")])
    try await store.upsert(entries: [["x": "y"]], forSoupNamed: "a")
  }

  /// The names of all files below a folder.
  private func files(_ folder: URL) -> [String] {
    (FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String] ?? []).sorted()
  }

  @Test(.covers("SS-209.3"))
  func `removing an account's stores removes those, and no switch of users does`()
    async throws
  {
    try await TemporaryFolder.with { folder in
      let owners = [ada, adaInClub, bob, .global]
      for round in 0..<3 {
        // A new manager is the app's next start; who the current user is plays no part.
        let manager = makeManager(folder)
        for owner in owners {
          for name in ["s", nil] {
            let store = try await manager.shared(withName: name, forUserAccount: owner)
            if round == 0 { try await fill(store) }
            #expect(try await store?.elements(of: "a").count == 1)
          }
        }
        try await manager.close()
      }

      let manager = makeManager(folder)
      let open = try #require(try await manager.shared(forUserAccount: ada))
      try await manager.removeAll(forUserAccount: ada)
      await expectFailure(.closed) { _ = try await open.allSoupNames() }
      #expect(try manager.allStoreNames(forUserAccount: ada) == [])
      #expect(try manager.allStoreNames(forUserAccount: adaInClub) == [])
      for owner in [bob, .global] {
        #expect(try manager.allStoreNames(forUserAccount: owner).sorted() == ["defaultStore", "s"])
        let store = try await manager.shared(forUserAccount: owner)
        #expect(try await store?.elements(of: "a").count == 1)
      }
      try await manager.close()
    }
  }

  @Test(.covers("SS-21"))
  func `logout waits for the work under way, leaves no file, and a new login starts afresh`()
    async throws
  {
    try await TemporaryFolder.with { folder in
      let manager = makeManager(folder)
      let store = try #require(try await manager.shared(forUserAccount: ada))
      try await fill(store)
      let (inside, mayEnd) = (Latch(), Latch())
      let writing = Task {
        try await store.inTransaction { transaction in
          inside.open()
          mayEnd.waitBlocking()
          try transaction.upsert(entries: [["x": "last"]], forSoupNamed: "a")
        }
      }
      await inside.wait()
      let logout = Task { try await manager.removeAll(forUserAccount: ada) }
      mayEnd.open()
      do {
        try await writing.value
      } catch let error as SmartStoreError {
        // The other of the two ways: the work failed as that of a closed store.
        #expect(error.code == .closed)
      }
      try await logout.value
      #expect(files(manager.root).filter { $0.contains("store.") } == [])
      await expectFailure(.closed) {
        try await store.upsert(entries: [["x": "z"]], forSoupNamed: "a")
      }
      #expect(files(manager.root).filter { $0.contains("store.") } == [])

      let fresh = try #require(try await manager.shared(forUserAccount: ada))
      #expect(fresh !== store)
      #expect(try await fresh.allSoupNames() == [])
      try await fill(fresh)
      try await manager.close()
    }
  }
}
