import Crypto
import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore

/// Does a store from before there were anchors open, and get one?
struct UnanchoredStoreTests {
  private let folder: TemporaryFolder
  private let encryption = StoreEncryption.encrypted(
    FixedKeyProvider(SymmetricKey(data: Data(repeating: 7, count: 32))))

  init() throws { folder = try TemporaryFolder(inMemory: true) }

  /// The files that an earlier version left when it was killed: everything is in the WAL.
  private func place() throws -> URL {
    let place = folder.file(UUID().uuidString)
    try GoldenFiles.copy("format-1/crashed", to: place)
    return place
  }

  private func contents(_ place: URL) throws -> [String: Data] {
    var contents: [String: Data] = [:]
    for name in ["store.sqlite", "store.sqlite-anchor", "store.sqlite-wal", "store.key"] {
      contents[name] = try? Data(contentsOf: place.appending(path: name))
    }
    return contents
  }

  private func count(_ place: URL) async throws -> Int {
    let store = try await SmartStore.open(at: place, encryption: encryption)
    let count = try await store.elements(of: "notes").count
    try await store.close()
    return count
  }

  private func expectRefusal(_ place: URL) async {
    await expectFailure(.corruptLog) {
      try await SmartStore.open(at: place, encryption: encryption).close()
    }
  }

  @Test func `it is checked and read as it is`() async throws {
    let place = try place()
    let before = try contents(place)
    #expect(try StoreMaintenance(at: place).verify(encryption).isClean)
    #expect(try contents(place) == before)
    #expect(try await count(place) == 6)
    // Nothing was written: nothing needs an anchor.
    #expect(try contents(place)["store.sqlite-anchor"] == nil)
    #expect(try await count(place) == 6)
  }

  @Test func `its first write binds its log, with what a crash left in it`() async throws {
    let place = try place()
    var store = try await SmartStore.open(at: place, encryption: encryption)
    try await store.upsert(entries: [["k": "seven"]], forSoupNamed: "notes")
    let crashed = folder.file("crashed")
    try FileManager.default.copyItem(at: place, to: crashed)
    try await store.close()
    let whole = try contents(crashed)
    #expect(whole["store.sqlite-anchor"] != nil)
    for name in ["store.sqlite-wal", "store.sqlite-anchor"] {
      try FileManager.default.removeItem(at: crashed.appending(path: name))
      await expectRefusal(crashed)
      try whole[name]?.write(to: crashed.appending(path: name))
    }
    #expect(try await count(crashed) == 7)
    #expect(try await count(place) == 7)
    #expect(try StoreMaintenance(at: place).verify(encryption).isClean)
    // From its next session on, as with any store.
    store = try await SmartStore.open(at: place, encryption: encryption)
    try await store.upsert(entries: [["k": "eight"]], forSoupNamed: "notes")
    try await store.close()
    try FileManager.default.removeItem(at: place.appending(path: "store.sqlite-anchor"))
    await expectRefusal(place)
  }
}
