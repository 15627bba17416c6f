import Crypto
import Foundation
import GRDB
import SalesforceSDKCommon
import Testing

@testable import SmartStore
import TestSupport

/// Does any text of a record reach a file?
struct PlaintextLeakTests {
  let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  private static let canary = "CANARY-7f3a"

  /// The files below the folder that hold the canary in UTF-8 or UTF-16. Temporary files cannot hold
  /// it: the VFS opens none.
  private func findings() throws -> [String] {
    let needles = [Data(Self.canary.utf8), Self.canary.data(using: .utf16LittleEndian) ?? Data()]
    return try FileManager.default.subpathsOfDirectory(atPath: folder.url.path).filter { name in
      guard let data = try? Data(contentsOf: folder.url.appendingPathComponent(name)) else {
        return false
      }
      return needles.contains { data.range(of: $0) != nil }
    }
  }

  @Test(.covers("SS-26"))
  func `no text of a record, table or index is in any file, during and after`() throws {
    var options = StoreDatabaseOptions()
    options.writerCacheBytes = 200 << 10
    options.readerCacheBytes = 200 << 10
    let store = try folder.open(options)
    try store.writer.write { try $0.execute(sql: "CREATE TABLE \"\(Self.canary)\" (x)") }
    try store.fill(3000, marker: Self.canary)
    #expect(try findings() == [])

    try store.writer.write { database in
      try database.execute(sql: "CREATE INDEX body ON entry (body)")
      // A statement that fails half-way is undone from its journal.
      try database.execute(sql: "CREATE UNIQUE INDEX one ON \"\(Self.canary)\" (x)")
      #expect(throws: DatabaseError.self) {
        try database.execute(
          sql:
            "INSERT INTO \"\(Self.canary)\" SELECT body FROM entry UNION ALL SELECT 'a' UNION ALL SELECT 'a'"
        )
      }
      try database.execute(sql: "UPDATE entry SET body = body || '\(Self.canary)'")
      #expect(try findings() == [])
    }
    try store.writer.read { database in
      let rows = try Row.fetchCursor(
        database, sql: "SELECT DISTINCT body || id FROM entry ORDER BY body || random()")
      _ = try rows.next()
      #expect(try findings() == [])
    }
    try store.vacuum()
    #expect(try findings() == [])
    try store.checkpoint()
    #expect(try findings() == [])
    try store.close()
    #expect(try findings() == [])
    let start = try Data(contentsOf: folder.file("store.sqlite")).prefix(16)
    #expect(start != Data("SQLite format 3\0".utf8))
  }

  @Test func `the canary would be found in a plaintext store`() throws {
    let store = try StoreDatabase.open(at: folder.store, encryption: .plaintext)
    try store.fill(10, marker: Self.canary)
    try store.close()
    #expect(try findings() == ["defaultStore/store.sqlite"])
  }

  @Test(.covers("SS-38"))
  func `no log line and no captured plan of a session names a key`() async throws {
    let log = LogRecorder()
    let secret = SymmetricKey(size: .bits256)
    let other = SymmetricKey(size: .bits256)
    let options = SmartStoreOptions(logger: log.logger(forComponent: "SmartStore", level: .verbose))
    let place = folder.store
    let store = try await SmartStore.open(
      at: place, encryption: .encrypted(FixedKeyProvider(secret)), options: options)
    store.capturesExplainQueryPlan = true
    try await store.registerSoup(withName: "a", withIndices: [SoupIndex("x:string")])
    try await store.upsert(entries: [["x": "1"]], forSoupNamed: "a")
    _ = try await store.query("select {a:x} from {a} where {a:x} = '1'")
    let plan = try #require(store.lastExplainQueryPlan)
    try await store.reIndexSoup(named: "a", indexPaths: ["nowhere"])
    try await store.close()
    await #expect(throws: SmartStoreError.self) {
      _ = try await SmartStore.open(
        at: place, encryption: .encrypted(FixedKeyProvider(other)), options: options)
    }
    #expect(!log.lines.isEmpty)
    let texts = log.lines + [String(reflecting: plan)]
    for key in [secret, other] {
      let bytes = key.withUnsafeBytes { Data($0) }
      for form in [bytes.base64EncodedString(), bytes.map { String(format: "%02x", $0) }.joined()] {
        for text in texts { #expect(!text.localizedCaseInsensitiveContains(form)) }
      }
    }
  }

  @Test(.covers("SS-38"))
  func `errors and settings name no key`() throws {
    try folder.open().close()
    let bytes = folder.key.withUnsafeBytes { Data($0) }
    let forms = [bytes.base64EncodedString(), bytes.map { String(format: "%02x", $0) }.joined()]
    let provider = FixedKeyProvider(folder.key)
    let error = #expect(throws: SmartStoreError.self) {
      _ = try StoreDatabase.open(at: folder.store, encryption: .plaintext)
    }
    let texts = [
      String(reflecting: error), StoreEngine.runtimeSettings().joined(), "\(provider)",
      String(reflecting: provider),
    ]
    for text in texts {
      for form in forms { #expect(!text.localizedCaseInsensitiveContains(form)) }
    }
  }
}
