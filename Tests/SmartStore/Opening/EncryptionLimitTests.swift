import Crypto
import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore

/// Are the pages counted that a data key encrypts?
struct EncryptionLimitTests {
  private let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  private func open(_ limit: UInt64) async throws -> SmartStore {
    var files = StoreDatabaseOptions()
    files.encryptionLimit = limit
    return try await SmartStore.open(
      at: folder.store, encryption: .encrypted(FixedKeyProvider(folder.key)), files: files)
  }

  /// Writes until the key may not be used any more; returns the number of entries.
  private func fill(_ store: SmartStore) async throws -> Int {
    var count = 0
    await expectFailure(.keyExhausted) {
      while count < 1000 {
        try await store.upsert(entries: [["key": .integer(Int64(count))]], forSoupNamed: "notes")
        count += 1
      }
    }
    return count
  }

  @Test(arguments: [false, true])
  func `a data key that has encrypted its pages refuses writes until there is a new one`(
    isKilled: Bool
  ) async throws {
    var store = try await open(.max)
    try await store.registerSoup(withName: "notes", withIndices: .init("key:integer"))
    try await store.close()
    store = try await open(150)
    let count = try await fill(store)
    #expect((5..<150).contains(count))
    #expect(try await store.elements(of: "notes").count == count)
    if isKilled {
      let copy = try folder.snapshot()
      try await store.close()
      try FileManager.default.removeItem(at: folder.store)
      try FileManager.default.moveItem(at: copy, to: folder.store)
    } else {
      try await store.close()
    }
    store = try await open(150)
    #expect(try await fill(store) == 0)
    #expect(try await store.elements(of: "notes").count == count)
    try await store.close()
    let provider = FixedKeyProvider(folder.key)
    try StoreMaintenance(at: folder.store).reencrypt(from: provider, to: provider)
    store = try await open(150)
    #expect(try await fill(store) > 5)
    try await store.close()
  }
}
