import Crypto
import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore

/// Can someone who writes the files, and has no key, have an encrypted store read or take over a database of
/// their own?
struct PlantedStoreTests {
  private let folder: TemporaryFolder
  private let secrets = InMemorySecretStore()
  private var store: URL { folder.file("store") }
  private var encryption: StoreEncryption { .encrypted(SecretStoreKeyProvider(secrets)) }

  init() throws { folder = try TemporaryFolder() }

  private func make(
    at place: URL, _ encryption: StoreEncryption, word: String, sql: String? = nil
  ) async throws {
    let store = try await SmartStore.open(at: place, encryption: encryption)
    try await store.registerSoup(
      withName: "notes", withIndices: .init("k:string", "text:full_text"))
    try await store.upsert(
      entries: [["k": .string(word), "text": "a"], ["k": "b"]], forSoupNamed: "notes")
    if let sql { try await store.unsafelyExecute(sql) }
    try await store.close()
  }

  private func open(converts: Bool = true, isReadOnly: Bool = false) async throws -> SmartStore {
    try await SmartStore.open(
      at: store, encryption: encryption,
      options: SmartStoreOptions(encryptsPlaintextStore: converts, isReadOnly: isReadOnly))
  }

  /// What an attacker leaves of the store's folder besides the planted database.
  enum Remains: String, CaseIterable, Sendable { case all, lockFiles, created, nothing }

  @Test(arguments: Remains.allCases)
  func `a plaintext database never takes the place of an encrypted store`(remains: Remains)
    async throws
  {
    try await make(at: store, encryption, word: "mine")
    try await make(at: folder.file("planted"), .plaintext, word: "planted")
    let files = FileManager.default
    if remains == .nothing { try files.removeItem(at: store) }
    for name in (try? files.contentsOfDirectory(atPath: store.path)) ?? [] {
      let isKept =
        switch remains {
        case .all: !name.hasPrefix("store.sqlite") && name != "store.key"
        case .lockFiles: StoreFolder.lockFiles.contains(name)
        case .created: name == "store.created"
        case .nothing: false
        }
      if !isKept { try files.removeItem(at: store.appending(path: name)) }
    }
    try files.createDirectory(at: store, withIntermediateDirectories: true)
    try files.copyItem(
      at: folder.file("planted/store.sqlite"), to: store.appending(path: "store.sqlite"))
    let planted = try Data(contentsOf: store.appending(path: "store.sqlite"))

    for converts in [true, false] {
      await expectFailure(.notADatabase) { _ = try await open(converts: converts) }
      await expectFailure(.keyMissing) {
        _ = try await open(converts: converts, isReadOnly: true)
      }
    }
    let maintenance = StoreMaintenance(at: store)
    let provider = SecretStoreKeyProvider(secrets)
    await expectFailure(.notADatabase) { try maintenance.encrypt(provider) }
    #expect(try Data(contentsOf: store.appending(path: "store.sqlite")) == planted)

    // Only two explicit calls have it taken over.
    try maintenance.acceptRestoredFiles(provider)
    await expectFailure(.keyMissing) { _ = try await open(converts: false) }
    try maintenance.encrypt(provider)
    let taken = try await open(converts: false)
    #expect(try await taken.elements(of: "notes").first?["k"] == "planted")
    try await taken.close()
  }

  @Test(arguments: [true, false])
  func `a planted database in a folder with a renamed key file has no file removed`(converts: Bool)
    async throws
  {
    try await make(at: store, encryption, word: "mine")
    try await make(at: folder.file("planted"), .plaintext, word: "planted")
    let key = store.appending(path: "store.key")
    let database = store.appending(path: "store.sqlite")
    // As if an encryption had been interrupted.
    try FileManager.default.moveItem(at: key, to: store.appending(path: "store.key.pending"))
    try Data(contentsOf: folder.file("planted/store.sqlite")).write(to: database)
    func files() throws -> [String: Data] {
      let names = try FileManager.default.contentsOfDirectory(atPath: store.path)
      return try Dictionary(
        uniqueKeysWithValues: names.map {
          ($0, try Data(contentsOf: store.appending(path: $0)))
        })
    }
    let before = try files()
    await expectFailure(.notADatabase) { _ = try await open(converts: converts) }
    let maintenance = StoreMaintenance(at: store)
    let provider = SecretStoreKeyProvider(secrets)
    await expectFailure(.notADatabase) { try maintenance.encrypt(provider) }
    for call in [maintenance.verify, maintenance.acceptLostLog] {
      #expect(throws: SmartStoreError.self) { _ = try call(encryption) }
    }
    let isKept = { (file: (key: String, value: Data)) in
      !StoreFolder.lockFiles.contains(file.key)
    }
    #expect(try files().filter(isKept) == before.filter(isKept))
  }

  @Test func `a plaintext database is not encrypted by opening it unless the app wants it`()
    async throws
  {
    try await make(at: store, .plaintext, word: "plain")
    await expectFailure(.keyMissing) {
      _ = try await SmartStore.open(at: store, encryption: encryption)
    }
    let wanted = try await open()
    #expect(try await wanted.elements(of: "notes").count == 2)
    try await wanted.close()
    // From then on it counts as encrypted.
    try FileManager.default.removeItem(at: store)
    try await make(at: store, .plaintext, word: "planted")
    await expectFailure(.notADatabase) { _ = try await open() }
  }

  /// Statements of an attacker, each of which leaves what no store writes.
  static let plants = [
    "CREATE TRIGGER evil AFTER INSERT ON TABLE_1 BEGIN DELETE FROM TABLE_1; END",
    "CREATE VIEW evil AS SELECT * FROM TABLE_1",
    "CREATE TABLE evil (a)",
    "CREATE VIRTUAL TABLE evil USING fts5(a)",
    "CREATE INDEX evil ON TABLE_1 (upper(soup))",
    "CREATE UNIQUE INDEX evil ON TABLE_1 (TABLE_1_0)",
    "DROP INDEX TABLE_1_0_idx; CREATE INDEX TABLE_1_0_idx ON TABLE_1 ( TABLE_1_0 ) WHERE id > 5",
    "ALTER TABLE TABLE_1 ADD COLUMN evil TEXT DEFAULT 'x'",
    "ALTER TABLE TABLE_1 ADD COLUMN evil TEXT AS (upper(soup))",
    "ALTER TABLE soup_attrs ADD COLUMN evil TEXT",
    "UPDATE soup_index_map SET columnName = 'id FROM TABLE_1; DROP TABLE TABLE_1; --'",
    "UPDATE soup_index_map SET columnName = 'soup' WHERE path = 'k'",
    "UPDATE TABLE_1 SET soup = 'no JSON' WHERE id = 1",
    "UPDATE TABLE_1 SET soup = soup || ',{\"x\":2}' WHERE id = 1",
    "UPDATE TABLE_1 SET soup = replace(soup, '\"mine\"', CAST(x'22ff22' AS TEXT)) WHERE id = 1",
    "UPDATE TABLE_1 SET soup = CAST(x'ff00' AS BLOB) WHERE id = 1",
    "UPDATE TABLE_1 SET soup = replace(soup, '\"_soupEntryId\":1', '\"_soupEntryId\":2') WHERE id = 1",
    "UPDATE TABLE_1 SET soup = '{\"a\":' || printf('%.*c', 3000, '[') || printf('%.*c', 3000, ']') || '}' "
      + "WHERE id = 1",
    "UPDATE TABLE_1 SET TABLE_1_0 = 'another' WHERE id = 1",
    "DELETE FROM TABLE_1_fts WHERE rowid = 1",
    "INSERT INTO long_operations_status (type, details, status) VALUES ('AlterSoup', '{}', 'x')",
  ]

  @Test(arguments: plants)
  func `what no store writes is not encrypted`(sql: String) async throws {
    try await make(at: store, .plaintext, word: "mine", sql: sql)
    let isUnfinished = sql.contains("long_operations")
    for _ in 0..<2 {
      await expectFailure(isUnfinished ? .unfinishedOperation : .corrupt) {
        try StoreMaintenance(at: store).encrypt(SecretStoreKeyProvider(secrets))
      }
    }
    await expectFailure(isUnfinished ? .unfinishedOperation : .corrupt) { _ = try await open() }
    #expect(!FileManager.default.fileExists(atPath: store.appending(path: "store.key").path))
  }

  @Test(arguments: plants.prefix(12))
  func `a check of an encrypted store compares its schema with its soups`(sql: String) async throws
  {
    try await make(at: store, encryption, word: "mine", sql: sql)
    let report = try StoreMaintenance(at: store).verify(encryption)
    #expect(report.findings.contains { $0.kind == .schema }, "\(report.findings)")
  }

  @Test func `the spelling of a statement does not count, but each of its words does`() {
    func same(_ left: String, _ right: String) -> Bool {
      SchemaVerifier.tokens(of: left) == SchemaVerifier.tokens(of: right)
    }
    #expect(same("CREATE INDEX a on b ( c )", #"create index "a" ON [b](c)"#))
    #expect(same("CREATE TABLE 'a_data'(id)", #"CREATE TABLE "a_data" (id)"#))
    for other in [
      "CREATE INDEX a ON b (c, d)", "CREATE INDEX a ON b (json_extract(c, '$.C'))",
      "CREATE INDEX a ON b (c) -- x", "CREATE INDEX a ON b (c) /* x */", "CREATE INDEX a ON bc",
    ] {
      #expect(!same("CREATE INDEX a ON b (c)", other))
    }
    #expect(!same("json_extract(soup, '$.a')", "json_extract(soup, '$.A')"))
  }
}
