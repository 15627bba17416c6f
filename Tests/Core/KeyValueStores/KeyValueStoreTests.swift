import Foundation
import SalesforceSDKCommon
import Testing
import TestSupport

@testable import SalesforceSDKCore

/// CO-150, CO-151, SS-241, BX-75: the encrypted key-value store.
@Suite struct KeyValueStoreTests {
  private let folder: TemporaryFolder
  private let key = EncryptionKey.random()
  private var place: URL { folder.file("store") }

  init() throws { folder = try TemporaryFolder() }

  private func store(_ key: EncryptionKey? = nil) throws -> KeyValueEncryptedFileStore {
    try KeyValueEncryptedFileStore(at: place, key: key ?? self.key)
  }

  private func code(
    sourceLocation: Testing.SourceLocation = #_sourceLocation, _ call: () throws -> Void
  ) -> EncryptionError.Code? {
    #expect(throws: EncryptionError.self, sourceLocation: sourceLocation, performing: call)?.code
  }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: place.path).sorted() }
  }

  private var values: [String] { get throws { try names.filter { $0.hasSuffix("_value") } } }

  @Test(.covers("CO-150", "SS-241.1"))
  func `values are kept, read, listed, counted and removed`() throws {
    let store = try store()
    #expect(store.storeVersion == 2)
    #expect(try store.isEmpty())
    try store.saveValue("Grüße 😀", forKey: "a")
    try store.saveData([], forKey: "b/../ü\n")
    try store.saveData([0xff], forKey: "c")
    #expect(try store.readValue(forKey: "a") == "Grüße 😀")
    #expect(try store.readData(forKey: "b/../ü\n") == [])
    #expect(code { _ = try store.readValue(forKey: "c") } == .notText)
    #expect(try store.readValue(forKey: "d") == nil)
    #expect(try store.readStream(forKey: "d") == nil)
    #expect(Set(try store.allKeys()) == ["a", "b/../ü\n", "c"])
    #expect(try store.count() == 3)
    #expect(try store.contains("a"))
    #expect(try !store.contains("d"))
    try store.saveValue("new", forKey: "a")
    #expect(try store.readValue(forKey: "a") == "new")
    #expect(try store.count() == 3)
    #expect(try store.removeValue(forKey: "a"))
    #expect(try !store.removeValue(forKey: "a"))
    #expect(try store.readValue(forKey: "a") == nil)
    try store.removeAll()
    #expect(try store.isEmpty())
    #expect(try names == ["lock", "version"])
    try store.saveValue("x", forKey: "y")
    #expect(try self.store().readValue(forKey: "y") == "x")
  }

  @Test(.timeLimit(.minutes(1)))
  func `a pipe in place of a file of the store is an error and holds up no call`() throws {
    let first = try store()
    try first.saveValue("x", forKey: "a")
    let files = FileManager.default
    for name in try names {
      let file = place.appending(path: name)
      let saved = folder.file("saved")
      guard files.fileExists(atPath: file.path) else { continue }
      try files.moveItem(at: file, to: saved)
      try #require(mkfifo(file.path, 0o600) == 0)
      if name != "lock" {
        #expect(throws: (any Error).self, "\(name)") {
          guard try store().readValue(forKey: "a") == "x", try store().allKeys() == ["a"] else {
            throw CocoaError(.fileReadUnknown)
          }
        }
      }
      unlink(file.path)
      try files.moveItem(at: saved, to: file)
    }
    #expect(try store().readValue(forKey: "a") == "x")
  }

  @Test(.covers("CO-150", "SS-241.2"))
  func `an empty key is refused and nothing is stored`() throws {
    let store = try store()
    #expect(code { try store.saveValue("x", forKey: "") } == .emptyKey)
    #expect(code { _ = try store.readValue(forKey: "") } == .emptyKey)
    #expect(code { _ = try store.contains("") } == .emptyKey)
    #expect(code { try store.removeValue(forKey: "") } == .emptyKey)
    #expect(try store.isEmpty())
  }

  @Test(.covers("CO-150"))
  func `no name of a file and no byte in one tells a key or a value`() throws {
    try store().saveValue("the secret value", forKey: "the secret key")
    for name in try names {
      #expect(!name.contains("secret"))
      #expect(name != Digests.sha256Hex("the secret key") + "_value")
      let bytes = try Array(Data(contentsOf: place.appending(path: name)))
      #expect(bytes.firstRange(of: Array("secret".utf8)) == nil)
    }
    let other = folder.file("other")
    let second = try KeyValueEncryptedFileStore(at: other, key: key)
    try second.saveValue("x", forKey: "the secret key")
    let there = try FileManager.default.contentsOfDirectory(atPath: other.path)
    #expect(Set(there).isDisjoint(with: try values))
  }

  @Test(.covers("SS-241.1"))
  func `a value of 5 MB is written and read in pieces`() async throws {
    let store = try store()
    let piece = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let pieces = AsyncStream { continuation in
      for _ in 0..<100 { continuation.yield(piece) }
      continuation.finish()
    }
    try await store.saveStream(pieces, forKey: "large")
    var total = 0
    var largest = 0
    var digest = Array(repeating: 0, count: 50_000)
    for try await part in try #require(try store.readStream(forKey: "large")) {
      for byte in part {
        digest[total % 50_000] += Int(byte)
        total += 1
      }
      largest = max(largest, part.count)
    }
    #expect(total == 5_000_000)
    #expect(largest <= 131_072)
    #expect(digest == piece.map { Int($0) * 100 })
    #expect(code { _ = try store.readData(forKey: "large", maxBytes: 1000) } == .tooLarge)
    let file = folder.file("file")
    try Data(piece).write(to: file)
    try store.saveFile(file, forKey: "file")
    #expect(try store.readData(forKey: "file") == piece)
    #expect(code { try store.saveFile(folder.file("none"), forKey: "file") } == .inputOutput)
    #expect(try store.readData(forKey: "file") == piece)
  }

  @Test(.covers("CO-150"))
  func `a stream that breaks off leaves the former value`() async throws {
    struct Broken: Error {}
    let store = try store()
    try store.saveValue("old", forKey: "a")
    let pieces = AsyncThrowingStream<[UInt8], any Error> { continuation in
      continuation.yield([1])
      continuation.finish(throwing: Broken())
    }
    await #expect(throws: Broken.self) { try await store.saveStream(pieces, forKey: "a") }
    #expect(try store.readValue(forKey: "a") == "old")
    #expect(try names.count == 4)
  }

  @Test(.covers("CO-150"))
  func `a reader keeps the value it began to read`() async throws {
    let store = try store()
    let old = [UInt8](repeating: 1, count: 300_000)
    try store.saveData(old, forKey: "a")
    var reader = try #require(try store.readStream(forKey: "a")).makeAsyncIterator()
    var read = try await reader.next() ?? []
    try store.saveData([2], forKey: "a")
    while let piece = try await reader.next() { read += piece }
    #expect(read == old)
    #expect(try store.readData(forKey: "a") == [2])
  }

  @Test(.covers("CO-150"))
  func `what a killed process leaves between its writes is old or new, never half`()
    throws
  {
    let store = try store()
    try store.saveValue("old", forKey: "a")
    let before = try Dictionary(
      uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: place.appending(path: $0))) })
    try store.saveValue("new", forKey: "b")
    let after = try Dictionary(
      uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: place.appending(path: $0))) })
    let added = after.keys.filter { before[$0] == nil }.sorted()
    #expect(added.count == 2)
    // A save is: draft of the value, draft of the key, the key's name, the value's name.
    let value = try #require(added.first { $0.hasSuffix("_value") })
    let keyName = try #require(added.first { $0.hasSuffix("_key") })
    let dead = "2147483646.7.new"
    let states: [[(String, String, Int?)]] = [
      [("\(value).\(dead)", value, 10)], [("\(value).\(dead)", value, nil)],
      [("\(value).\(dead)", value, nil), ("\(keyName).\(dead)", keyName, 3)],
      [("\(value).\(dead)", value, nil), (keyName, keyName, nil)],
    ]
    for (step, state) in states.enumerated() {
      for name in added { try FileManager.default.removeItem(at: place.appending(path: name)) }
      for (name, source, cut) in state {
        let bytes = try #require(after[source])
        try bytes.prefix(cut ?? bytes.count).write(to: place.appending(path: name))
      }
      let reopened = try self.store()
      #expect(try reopened.readValue(forKey: "a") == "old", "\(step)")
      #expect(try reopened.readValue(forKey: "b") == nil, "\(step)")
      #expect(try reopened.allKeys() == ["a"], "\(step)")
      #expect(try names.allSatisfy { !$0.hasSuffix(".new") }, "\(step)")
      try reopened.saveValue("new", forKey: "b")
      #expect(Set(try reopened.allKeys()) == ["a", "b"], "\(step)")
    }
  }

  @Test(.covers("CO-150"))
  func `values that stand in each other's place, or were changed, do not open`() throws {
    let store = try store()
    try store.saveValue("one", forKey: "a")
    try store.saveValue("two", forKey: "b")
    let files = try values
    let first = place.appending(path: files[0]), second = place.appending(path: files[1])
    let bytes = try Data(contentsOf: first)
    try Data(contentsOf: second).write(to: first)
    try bytes.write(to: second)
    for key in ["a", "b"] {
      #expect(code { _ = try store.readValue(forKey: key) } == .decryptionFailed)
    }
    try Data(bytes.dropLast()).write(to: first)
    #expect(code { _ = try store.readValue(forKey: "a") } != nil)
    #expect(code { _ = try store.readValue(forKey: "b") } != nil)
    #expect(try values == files)
    #expect(try store.removeValue(forKey: "a"))
  }

  @Test(.covers("SS-241.5"))
  func `a key that cannot be read is left out, and removed with the rest`() throws {
    let store = try store()
    try store.saveValue("one", forKey: "a")
    try store.saveValue("two", forKey: "b")
    let broken = try #require(try names.first { $0.hasSuffix("_key") })
    try Data([1]).write(to: place.appending(path: broken))
    #expect(try store.allKeys().count == 1)
    #expect(try store.count() == 1)
    #expect(try store.readValue(forKey: "a") == "one")
    try store.removeAll()
    #expect(try store.isEmpty())
    #expect(try names == ["lock", "version"])
  }

  @Test(.covers("CO-150"))
  func `another key, or none, is reported and changes nothing`() throws {
    try store().saveValue("x", forKey: "a")
    let before = try names
    #expect(code { _ = try store(.random()) } == .wrongKey)
    #expect(try names == before)
    let version = place.appending(path: "version")
    let bytes = try Data(contentsOf: version)
    try Data(bytes.dropLast()).write(to: version)
    #expect(code { _ = try store() } == .truncated)
    try Data([1, 2]).write(to: version)
    #expect(code { _ = try store() } == .unknownFormat)
    try FileManager.default.removeItem(at: version)
    #expect(code { _ = try store() } == .keyMissing)
    try bytes.write(to: version)
    #expect(try store().readValue(forKey: "a") == "x")
  }

  @Test(.covers("CO-151.1", "SS-241.7", "BX-98"))
  func `another key for the store leaves the values untouched`()
    throws
  {
    let store = try store()
    try store.saveValue("x", forKey: "a")
    let value = place.appending(path: try #require(try values.first))
    let sealed = try Data(contentsOf: value)
    let new = EncryptionKey.random()
    #expect(code { try store.changeEncryptionKey(from: new, to: key) } == .wrongKey)
    try store.changeEncryptionKey(from: key, to: new)
    #expect(try Data(contentsOf: value) == sealed)
    #expect(try store.readValue(forKey: "a") == "x")
    #expect(code { _ = try self.store() } == .wrongKey)
    #expect(try self.store(new).readValue(forKey: "a") == "x")
  }

  @Test(.covers("CO-151.2"))
  func `an interrupted change of the key leaves the old or the new one`() throws {
    let store = try store()
    try store.saveValue("x", forKey: "a")
    let file = place.appending(path: "version")
    let before = try Data(contentsOf: file)
    let new = EncryptionKey.random()
    try store.changeEncryptionKey(from: key, to: new)
    let after = try Data(contentsOf: file)
    #expect(before != after)
    // The change replaces one file: before that there is a draft at most, whole or cut.
    for draft in [after, after.prefix(after.count / 2), Data()] {
      try before.write(to: file)
      try draft.write(to: place.appending(path: "version.1.2.new"))
      #expect(code { _ = try self.store(new) } == .wrongKey)
      #expect(try self.store(key).readValue(forKey: "a") == "x")
    }
    try after.write(to: file)
    #expect(code { _ = try self.store(key) } == .wrongKey)
    #expect(try self.store(new).readValue(forKey: "a") == "x")
  }

  @Test(.covers("CO-150", "SS-241.4"))
  func `a store of version 1 has values and no list of keys`() throws {
    var sealed = EncryptStream(
      key: key, context: Array(Digests.sha256Hex("a").utf8))
    let bytes = try sealed.update(Array("old".utf8)) + sealed.finish()
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    try Data(bytes).write(to: place.appending(path: Digests.sha256Hex("a")))
    let store = try store()
    #expect(store.storeVersion == 1)
    #expect(try store.readValue(forKey: "a") == "old")
    #expect(try store.count() == 1)
    #expect(code { _ = try store.allKeys() } == .notListed)
    #expect(code { try store.changeEncryptionKey(from: key, to: .random()) } == .notListed)
    try store.saveValue("new", forKey: "b")
    #expect(try self.store().storeVersion == 1)
    #expect(try self.store().readValue(forKey: "b") == "new")
    #expect(try store.removeValue(forKey: "a"))
    try store.removeAll()
    #expect(try store.isEmpty())
  }

  @Test(.covers("SS-241.6"))
  func `after the folder was removed all is absent and saving says so`() throws {
    let store = try store()
    try store.saveValue("x", forKey: "a")
    try FileManager.default.removeItem(at: place)
    #expect(try store.readValue(forKey: "a") == nil)
    #expect(try !store.contains("a"))
    #expect(try store.count() == 0)
    #expect(try store.isEmpty())
    #expect(try store.allKeys() == [])
    #expect(try !store.removeValue(forKey: "a"))
    try store.removeAll()
    #expect(code { try store.saveValue("x", forKey: "a") } == .removed)
    #expect(!FileManager.default.fileExists(atPath: place.path))
  }

  @Test(.covers("CO-198.2", "BX-75"))
  func `many tasks at once leave each value whole and listed`() async throws {
    let store = try store()
    let other = try self.store()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          for round in 0..<10 {
            let key = "k\((task + round) % 5)"
            switch (task + round) % 4 {
            case 0: try store.removeValue(forKey: key)
            case 1: try other.saveValue(String(repeating: "\(task)", count: 5000), forKey: key)
            case 2: try store.saveValue(String(repeating: "\(task)", count: 5000), forKey: key)
            default:
              if let text = try other.readValue(forKey: key) {
                #expect(text.count == 5000 && Set(text).count == 1)
              }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try store.allKeys().count == values.count)
  }

  // MARK: Stores of users and of the app

  private func stores(_ accounts: UserAccountManager) -> KeyValueStores {
    KeyValueStores(
      folders: UserFolders(root: folder.url), keys: KeyGenerator(InMemorySecretStore()),
      accounts: accounts)
  }

  @Test(.covers("CO-150", "BX-75", "SS-241.9"))
  func `stores belong to a user or to the app, and are named`() async throws {
    let jane = TestOrg().account()
    let joe = TestOrg().account(
      identity: UserAccountIdentity(
        userId: "005000000000002AAA", organizationId: "00D000000000001EAA"))
    let accounts = try await TestOrg().manager([jane, joe])
    let stores = stores(accounts)
    try stores.store(named: "drafts", for: jane).saveValue("hers", forKey: "a")
    try stores.store(named: "drafts", for: joe).saveValue("his", forKey: "a")
    try stores.globalStore(named: "drafts").saveValue("all", forKey: "a")
    #expect(try stores.store(named: "drafts", for: jane).readValue(forKey: "a") == "hers")
    #expect(try stores.store(named: "drafts", for: joe).readValue(forKey: "a") == "his")
    #expect(try stores.globalStore(named: "drafts").readValue(forKey: "a") == "all")
    #expect(
      try stores.store(named: "drafts", for: jane) === stores.store(named: "drafts", for: jane))
    _ = try stores.store(named: "Z_9", for: jane)
    #expect(try stores.storeNames(for: jane) == ["Z_9", "drafts"])
    #expect(try stores.globalStoreNames() == ["drafts"])
    try stores.removeStore(named: "Z_9", for: jane)
    try stores.removeStore(named: "Z_9", for: jane)
    #expect(try stores.storeNames(for: jane) == ["drafts"])
    try stores.removeAllStores(for: jane)
    #expect(try stores.storeNames(for: jane) == [])
    #expect(try stores.store(named: "drafts", for: jane).isEmpty())
    try stores.removeGlobalStore(named: "drafts")
    #expect(try stores.globalStoreNames() == [])
    _ = try stores.globalStore(named: "x")
    try stores.removeAllGlobalStores()
    #expect(try stores.globalStoreNames() == [])
    #expect(try stores.store(named: "drafts", for: joe).readValue(forKey: "a") == "his")
    for wrong in ["", "a b", "a/b", "..", "ä", String(repeating: "a", count: 97)] {
      #expect(code { _ = try stores.globalStore(named: wrong) } == .invalidStoreName)
      #expect(code { try stores.removeStore(named: wrong, for: jane) } == .invalidStoreName)
    }
    _ = try stores.globalStore(named: String(repeating: "a", count: 96))
  }

  @Test(.covers("CO-150", "CO-87.1", "SS-241.10"))
  func `a logout removes the user's stores, in all communities, and no others`()
    async throws
  {
    let org = TestOrg()
    var member = org.account()
    member.credentials.communityId = "0DB000000000001AAA"
    let jane = org.account()
    let joe = org.account(
      identity: UserAccountIdentity(
        userId: "005000000000002AAA", organizationId: "00D000000000001EAA"))
    let accounts = try await org.manager([jane, joe])
    let stores = stores(accounts)
    for account in [jane, member, joe] {
      try stores.store(named: "s", for: account).saveValue("x", forKey: "a")
    }
    try stores.globalStore(named: "s").saveValue("x", forKey: "a")
    _ = try await accounts.logOut(jane.identity)
    #expect(code { _ = try stores.store(named: "s", for: jane) } == .removed)
    let ofApp = KeyValueStores(
      folders: UserFolders(root: folder.url), keys: KeyGenerator(InMemorySecretStore()))
    #expect(code { _ = try ofApp.store(named: "s", for: joe) } == .accountsMissing)
    #expect(try stores.storeNames(for: jane) == [])
    #expect(try stores.storeNames(for: member) == [])
    #expect(try stores.storeNames(for: joe) == ["s"])
    #expect(try stores.globalStoreNames() == ["s"])
  }

  @Test(.covers("SS-241.8"))
  func `a cache in memory keeps what was used last, up to its size`() throws {
    let store = try store()
    // Room for two entries of a key of one byte and five bytes of value.
    let entry = MemCachedKeyValueStore.entryBytes + 1
    let cache = MemCachedKeyValueStore(store, maxBytes: 2 * (entry + 5))
    try cache.saveData([1, 2, 3, 4], forKey: "a")
    try cache.saveData([5, 6, 7, 8], forKey: "b")
    #expect(cache.cachedBytes == 2 * entry + 8)
    #expect(try store.readData(forKey: "a") == [1, 2, 3, 4])
    // Read from memory: what lies on disk does not show.
    try store.saveData([9], forKey: "a")
    #expect(try cache.readData(forKey: "a") == [1, 2, 3, 4])
    // "b" is the one that was used longest ago.
    try cache.saveData([0, 0, 0, 0], forKey: "c")
    #expect(cache.cachedBytes == 2 * entry + 8)
    try store.saveData([7], forKey: "b")
    #expect(try cache.readData(forKey: "b") == [7])
    let large = [UInt8](repeating: 1, count: 2 * entry)
    try cache.saveData(large, forKey: "a")
    #expect(try cache.readData(forKey: "a") == large)
    #expect(cache.cachedBytes == 2 * entry + 5)
    try cache.saveValue("text", forKey: "d")
    #expect(try cache.readValue(forKey: "d") == "text")
    #expect(try cache.removeValue(forKey: "d"))
    #expect(try cache.readValue(forKey: "d") == nil)
    try cache.removeAll()
    #expect(cache.cachedBytes == 0)
    #expect(try store.isEmpty())
  }

  @Test(.covers("SS-241.8"))
  func `empty values make room for others too`() throws {
    let store = try store()
    let cache = MemCachedKeyValueStore(store, maxBytes: 1000)
    for number in 0..<40 {
      try cache.saveData([], forKey: "key-\(number)")
      // The first one is in use all the time.
      #expect(try cache.readData(forKey: "key-0") == [])
      #expect(cache.cachedBytes <= 1000)
    }
    try store.saveData([1], forKey: "key-0")
    #expect(try cache.readData(forKey: "key-0") == [])
    try store.saveData([1], forKey: "key-1")
    #expect(try cache.readData(forKey: "key-1") == [1])
  }
}
