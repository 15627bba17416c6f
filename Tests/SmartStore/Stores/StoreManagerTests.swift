import Crypto
import Foundation
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SmartStore

/// Who gets which store, where does it lie, and what is listed?
@Suite struct StoreManagerTests {
  @Test(.covers("SS-3", "SS-23"))
  func `one name is a store of its own for each owner`() async throws {
    try await withManager { manager async throws in
      let owners = [ada, adaInClub, bob]
      for (position, owner) in owners.enumerated() {
        try await mark(manager.shared(withName: "s", forUserAccount: owner), "soup\(position)")
      }
      try await mark(manager.sharedGlobal(withName: "s"), "global")
      for (position, owner) in owners.enumerated() {
        let store = try await manager.shared(withName: "s", forUserAccount: owner)
        #expect(try await store?.allSoupNames() == ["soup\(position)"])
        #expect(store?.owner == owner)
        #expect(store?.isGlobal == false)
      }
      #expect(try await manager.sharedGlobal(withName: "s").allSoupNames() == ["global"])
    }
  }

  @Test(.covers("SS-4", "SS-23"))
  func `the default name`() async throws {
    #expect(SmartStore.defaultStoreName == "defaultStore")
    try await withManager { manager async throws in
      #expect(try await manager.shared(forUserAccount: ada)?.name == "defaultStore")
      let global = try await manager.sharedGlobal()
      #expect(global.name == "defaultStore")
      #expect(global === (try await manager.sharedGlobal(withName: "defaultStore")))
    }
  }

  @Test(
    .covers("SS-5"),
    arguments: ["", ".", "..", "a/b", "/", "a\u{0}b", String(repeating: "x", count: 300)])
  func `a name that is not one part of a path is refused`(name: String) async throws {
    try await withManager { manager async throws in
      let error = await expectFailure(.invalidStoreName) {
        _ = try await manager.sharedGlobal(withName: name)
      }
      #expect(error?.number == 999)
      await expectFailure(.invalidStoreName) {
        _ = try await manager.shared(withName: name, forUserAccount: ada)
      }
      await expectFailure(.invalidStoreName) {
        try await manager.removeSharedGlobal(withName: name)
      }
      #expect(FileManager.default.fileExists(atPath: manager.root.path) == false)
    }
  }

  @Test(
    .covers("SS-5"),
    arguments: ["a b", "it's", "日本 🐘", "-x", "a:b", "%2e%2e", "store.sqlite", "a?b#c&d=e"])
  func `any other name works`(name: String) async throws {
    try await withManager { manager async throws in
      let store = try await manager.sharedGlobal(withName: name)
      try await mark(store, "x")
      #expect(try manager.allGlobalStoreNames() == [name])
      try await manager.close()
      #expect(try await manager.sharedGlobal(withName: name).allSoupNames() == ["x"])
      try await manager.removeSharedGlobal(withName: name)
      #expect(try manager.allGlobalStoreNames() == [])
    }
  }

  @Test(.covers("SS-6"))
  func `all who ask get the same instance, at once too`() async throws {
    try await withManager { manager async throws in
      let stores = try await withThrowingTaskGroup(of: SmartStore.self) { group in
        for _ in 0..<20 { group.addTask { try await manager.sharedGlobal(withName: "s") } }
        var found: [SmartStore] = []
        for try await store in group { found.append(store) }
        return found
      }
      #expect(Set(stores.map(ObjectIdentifier.init)).count == 1)
      #expect(try manager.globalStoreExists(withName: "other") == false)
      #expect(try manager.allGlobalStoreNames() == ["s"])
    }
  }

  @Test(.covers("SS-7"))
  func `without a user there is one warning, no store and nothing on disk`()
    async throws
  {
    try await TemporaryFolder.with { folder in
      let warnings = LogRecorder()
      let manager = SmartStoreManager(
        root: folder.file("root"), encryption: testEncryption,
        options: SmartStoreOptions(
          logger: warnings.logger(forComponent: "SmartStore", level: .warn)))
      #expect(try await manager.shared(forUserAccount: nil) == nil)
      #expect(warnings.lines.count == 1)
      #expect(warnings.lines.first?.contains("Use a global store instead") == true)
      #expect(try manager.allStoreNames(forUserAccount: nil) == [])
      try await manager.removeShared(forUserAccount: nil)
      try await manager.removeAll(forUserAccount: nil)
      #expect(warnings.lines.count == 3)
      #expect(FileManager.default.fileExists(atPath: manager.root.path) == false)
    }
  }

  @Test(.covers("SS-8"))
  func `an account that is not logged in only gets what is open`() async throws {
    let loggedIn = Mutex(true)
    let warnings = LogRecorder()
    let options = SmartStoreOptions(
      logger: warnings.logger(forComponent: "SmartStore", level: .warn))
    try await withManager(
      isLoggedIn: { owner in loggedIn.withLock { $0 } || owner != ada }, options: options
    ) { manager async throws in
      let open = try await manager.shared(withName: "open", forUserAccount: ada)
      loggedIn.withLock { $0 = false }
      #expect(try await manager.shared(withName: "open", forUserAccount: ada) === open)
      #expect(warnings.lines == [])
      #expect(try await manager.shared(withName: "new", forUserAccount: ada) == nil)
      #expect(warnings.lines.count == 1)
      #expect(try manager.storeExists(withName: "new", forUserAccount: ada) == false)
      #expect(try await manager.shared(withName: "new", forUserAccount: bob) != nil)
      #expect(try await manager.sharedGlobal(withName: "new").isGlobal)
    }
  }

  @Test(.covers("SS-9", "SS-10.1", "SS-23"))
  func `files lie where they are expected, for their owner alone`()
    async throws
  {
    try await withManager { manager async throws in
      let expected: [(StoreOwner, String)] = [
        (ada, "00D1/0051/internal/stores/s/store.sqlite"),
        (adaInClub, "00D1/0051/0DB1/stores/s/store.sqlite"),
        (.global, "stores/s/store.sqlite"),
      ]
      for (owner, place) in expected {
        let store = try await manager.shared(withName: "s", forUserAccount: owner)
        let path = manager.root.appending(path: place).path
        #expect(store?.path == path)
        let files = FileManager.default
        let mode = try files.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let folder = URL(filePath: path).deletingLastPathComponent().path
        #expect(try files.attributesOfItem(atPath: folder)[.posixPermissions] as? Int == 0o700)
      }
      try FileManager.default.createDirectory(
        at: manager.root.appending(path: "stores/empty"), withIntermediateDirectories: true)
      #expect(try manager.allGlobalStoreNames() == ["s"])
      #expect(try manager.globalStoreExists(withName: "empty") == false)
    }
  }

  @Test(.covers("SS-10"))
  func `a store that could not be made leaves no folder`() async throws {
    struct NoKey: StoreKeyProvider {
      func key() throws(SmartStoreError) -> SymmetricKey? {
        throw SmartStoreError(.keyLocked, "The key store is locked.")
      }
      func createKey() throws(SmartStoreError) -> SymmetricKey {
        throw SmartStoreError(.keyLocked, "The key store is locked.")
      }
    }
    try await TemporaryFolder.with { folder in
      let manager = SmartStoreManager(root: folder.url, encryption: .encrypted(NoKey()))
      await expectFailure(.keyLocked) { _ = try await manager.sharedGlobal(withName: "s") }
      #expect(
        FileManager.default.fileExists(atPath: folder.file("stores/s").path) == false)
    }
  }

  @Test(.covers("SS-11", "SS-51"))
  func `a store is as it was left`() async throws {
    try await withManager { manager async throws in
      let store = try await manager.sharedGlobal()
      try await mark(store, "a")
      try await store.upsert(entries: [["x": "1"]], forSoupNamed: "a")
      try await manager.close()
      let again = try await manager.sharedGlobal()
      #expect(again !== store)
      #expect(try await again.query("select {a:x} from {a}") == [["1"]])
    }
  }

  @Test(.covers("SS-12.2", "SS-12.3", "BX-82"))
  func `a store that cannot be read fails and stays as it is`() async throws {
    try await TemporaryFolder.with { folder in
      let manager = SmartStoreManager(root: folder.url, encryption: testEncryption)
      try await mark(manager.sharedGlobal(), "a")
      try await manager.close()
      let place = folder.file("stores/defaultStore/store.sqlite")
      let before = try Data(contentsOf: place)

      let other = SmartStoreManager(
        root: folder.url,
        encryption: .encrypted(
          FixedKeyProvider(SymmetricKey(data: Data(repeating: 8, count: 32)))))
      await expectFailure(.wrongKey) { _ = try await other.sharedGlobal() }
      #expect(try Data(contentsOf: place) == before)

      try Data("this is no database, but a text".utf8).write(to: place)
      await expectFailure(.notADatabase) { _ = try await manager.sharedGlobal() }
      try before.write(to: place)
      #expect(try await manager.sharedGlobal().allSoupNames() == ["a"])
      try await manager.close()
    }
  }

  @Test func `a second opener of the same store gets an error that it is in use`() async throws {
    try await withManager { manager async throws in
      _ = try await manager.sharedGlobal()
      let other = SmartStoreManager(root: manager.root, encryption: testEncryption)
      await expectFailure(.busyOtherProcess) { _ = try await other.sharedGlobal() }
    }
  }

  @Test(.covers("SS-14", "SS-15"))
  func `listing names stores and creates none`() async throws {
    try await withManager { manager async throws in
      #expect(try manager.allGlobalStoreNames() == [])
      #expect(try manager.allStoreNames(forUserAccount: ada) == [])
      for name in ["a", "b", "c"] {
        _ = try await manager.sharedGlobal(withName: "g" + name)
        _ = try await manager.shared(withName: "u" + name, forUserAccount: ada)
      }
      #expect(try manager.allGlobalStoreNames().sorted() == ["ga", "gb", "gc"])
      #expect(try manager.allStoreNames(forUserAccount: ada).sorted() == ["ua", "ub", "uc"])
      #expect(try manager.allStoreNames(forUserAccount: adaInClub) == [])
      #expect(try manager.storeExists(withName: "ua", forUserAccount: ada))
      #expect(try manager.storeExists(withName: "ua", forUserAccount: adaInClub) == false)
      #expect(try manager.storeExists(forUserAccount: ada) == false)
      #expect(try manager.allStoreNames(forUserAccount: ada).count == 3)
    }
  }

  @Test(.covers("SS-25"))
  func `a store writes while another one's transaction is open`() async throws {
    try await withManager { manager async throws in
      let one = try await manager.sharedGlobal(withName: "one")
      let two = try await manager.sharedGlobal(withName: "two")
      let isOpen = Latch()
      let mayEnd = Latch()
      async let held: Void = one.inTransaction { transaction in
        try transaction.registerSoup(withName: "a", withIndices: [SoupIndex("x:string")])
        isOpen.open()
        mayEnd.waitBlocking()
      }
      await isOpen.wait()
      try await two.registerSoup(withName: "a", withIndices: [SoupIndex("x:string")])
      try await two.upsert(entries: [["x": "1"]], forSoupNamed: "a")
      mayEnd.open()
      try await held
      #expect(try await one.soupExists(forName: "a"))
    }
  }

  @Test(.covers("SS-22"))
  func `a store grows by what is written`() async throws {
    try await withManager { manager async throws in
      let one = try await manager.sharedGlobal(withName: "one")
      let two = try await manager.sharedGlobal(withName: "two")
      let before = try await one.databaseSize()
      #expect(before > 0)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for store in [one, two] {
          group.addTask {
            try await store.registerSoup(withName: "a", withIndices: [SoupIndex("x:string")])
            try await store.upsert(
              entries: (0..<100).map { ["x": .integer($0)] }, forSoupNamed: "a")
          }
        }
        try await group.waitForAll()
      }
      #expect(try await one.databaseSize() > before)
    }
  }

  @Test func `no text of an entry, soup name or index value is readable on disk`() async throws {
    try await withManager { manager async throws in
      let store = try await manager.sharedGlobal()
      let canary = "canary-5f21"
      try await store.registerSoup(
        withName: canary, withIndices: [SoupIndex]("x:string", "\(canary)path:full_text"))
      try await store.upsert(
        entries: (0..<50).map { ["x": .string("\(canary)\($0)"), "y": .string(canary)] },
        forSoupNamed: canary)
      func check() throws {
        let files = FileManager.default.enumerator(
          at: manager.root, includingPropertiesForKeys: nil)
        for case let file as URL in files ?? .init() {
          let bytes = (try? Data(contentsOf: file)) ?? Data()
          #expect(bytes.range(of: Data("canary".utf8)) == nil, "\(file.lastPathComponent)")
        }
      }
      try check()
      _ = try await store.databaseSize()
      try check()
    }
  }
}
