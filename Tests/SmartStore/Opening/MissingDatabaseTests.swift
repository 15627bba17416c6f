import Crypto
import Foundation
import SalesforceSDKCommon
import Testing

@testable import SmartStore
import TestSupport

/// Is a database that is gone told from one that never was?
struct MissingDatabaseTests {
  let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  private func encryption(isPlaintext: Bool) -> StoreEncryption {
    isPlaintext ? .plaintext : .encrypted(FixedKeyProvider(folder.key))
  }

  private func makeStore(isPlaintext: Bool = false) throws {
    let store = try StoreDatabase.open(
      at: folder.store, encryption: encryption(isPlaintext: isPlaintext))
    try store.fill(10)
    try store.close()
  }

  private func remove(_ names: String...) throws {
    for name in names { try FileManager.default.removeItem(at: folder.file(name)) }
  }

  @Test(
    .covers("SS-12.3"), arguments: [["store.sqlite"], ["store.sqlite", "store.key"]], [false, true])
  func `a database that was there and is gone is reported, and no other takes its place`(
    names: [String], isPlaintext: Bool
  ) throws {
    try makeStore(isPlaintext: isPlaintext)
    for name in names where name != "store.key" || !isPlaintext { try remove(name) }
    let before = try folder.contents()
    for access in [StoreDatabaseOptions.Access.readWrite, .readOnly] {
      var options = StoreDatabaseOptions()
      options.access = access
      let error = #expect(throws: SmartStoreError.self) {
        _ = try StoreDatabase.open(
          at: folder.store, encryption: encryption(isPlaintext: isPlaintext), options: options)
      }
      #expect(error?.code == .databaseMissing)
      #expect(error?.message.contains("Restore it from a backup") == true)
      #expect(error?.message.contains("remove the store") == true)
    }
    #expect(try folder.contents() == before)
  }

  @Test func `a database that is put back opens again`() throws {
    try makeStore()
    let database = try Data(contentsOf: folder.file("store.sqlite"))
    try remove("store.sqlite")
    #expect(throws: SmartStoreError.self) { _ = try folder.open() }
    try database.write(to: folder.file("store.sqlite"))
    let store = try folder.open()
    #expect(try store.count() == 10)
    try store.close()
  }

  @Test func `an emptied plaintext database is not restarted`() throws {
    try makeStore(isPlaintext: true)
    try Data().write(to: folder.file("store.sqlite"))
    let error = #expect(throws: SmartStoreError.self) {
      _ = try StoreDatabase.open(at: folder.store, encryption: .plaintext)
    }
    #expect(error?.code == .notADatabase)
  }

  @Test func `a log without its database is reported, whatever else is there`() throws {
    let store = try folder.open()
    try store.fill(10)
    let copy = try folder.snapshot()
    try store.close()
    for name in ["store.sqlite", "store.created"] {
      try FileManager.default.removeItem(at: copy.appendingPathComponent(name))
      let error = #expect(throws: SmartStoreError.self) { _ = try folder.open(at: copy) }
      #expect(error?.code == .databaseMissing)
    }
  }

  /// What a creation that ends after each of its steps leaves.
  @Test(
    .covers("SS-10"),
    arguments: [
      ["store.key", "store.sqlite-anchor", "store.sqlite", "store.created"],
      ["store.sqlite-anchor", "store.sqlite", "store.created"], ["store.sqlite", "store.created"],
      ["store.created"],
    ])
  func `a creation that was interrupted goes on`(missing: [String]) throws {
    try folder.open().close()
    for name in missing { try remove(name) }
    let key = try? Data(contentsOf: folder.file("store.key"))
    let store = try folder.open()
    try store.fill(1)
    try store.close()
    if let key { #expect(try Data(contentsOf: folder.file("store.key")) == key) }
    #expect(FileManager.default.fileExists(atPath: folder.file("store.created").path))
  }

  @Test(.covers("SS-10"))
  func `what cannot be opened is not noted as there`() throws {
    try makeStore()
    try remove("store.created")
    #expect(throws: SmartStoreError.self) { _ = try folder.open(key: .init(size: .bits256)) }
    #expect(!FileManager.default.fileExists(atPath: folder.file("store.created").path))
  }

  @Test func `a missing store is not made for a reader`() throws {
    var options = StoreDatabaseOptions()
    options.access = .readOnly
    let error = #expect(throws: SmartStoreError.self) { _ = try folder.open(options) }
    #expect(error?.code == .databaseMissing)
    #expect(!FileManager.default.fileExists(atPath: folder.store.path))
  }
}
