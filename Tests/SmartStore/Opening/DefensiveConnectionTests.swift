import Foundation
import GRDB
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore

/// Can the schema of a database that someone else wrote do anything when the store is used?
struct DefensiveConnectionTests {
  @Test(arguments: [true, false])
  func `a planted trigger does not run, and a planted view is not read`(isSealed: Bool) async throws
  {
    let folder = try TemporaryFolder()
    let encryption = isSealed ? testEncryption : .plaintext
    let store = try await SmartStore.open(at: folder.file("store"), encryption: encryption)
    try await store.registerSoup(withName: "notes", withIndices: .init("k:string"))
    try await store.unsafelyExecute(
      """
      CREATE TRIGGER evil AFTER INSERT ON TABLE_1 BEGIN
        UPDATE TABLE_1 SET soup = replace(soup, 'honest', 'TAMPERED') WHERE id = new.id;
      END;
      CREATE VIEW seen AS SELECT * FROM TABLE_1;
      """)
    try await store.close()
    let again = try await SmartStore.open(at: folder.file("store"), encryption: encryption)
    try await again.upsert(entries: [["k": "honest"]], forSoupNamed: "notes")
    #expect(try await again.elements(of: "notes").map { $0["k"] } == ["honest"])
    await expectFailure(.sql) { _ = try await again.rows("SELECT * FROM seen") }
    try await again.close()
  }

  @Test func `no statement changes the schema table or the tables behind full text`() async throws {
    try await withStore { store in
      try await store.registerSoup(withName: "notes", withIndices: .init("k:full_text"))
      try await store.upsert(entries: [["k": "word"]], forSoupNamed: "notes")
      for statement in [
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 'x'",
        "DELETE FROM TABLE_1_fts_data", "DROP TABLE TABLE_1_fts_content",
      ] {
        await #expect(throws: SmartStoreError.self, "\(statement)") {
          try await store.unsafelyExecute(statement, isDefensive: true)
        }
      }
      #expect(try await store.verify().isClean)
    }
  }

  @Test func `the schema is not trusted where SQLite allows json1 indexes then`() async throws {
    try await withStore { store in
      let isTrusted = try await store.database.writer.read { database in
        try Int.fetchOne(database, sql: "PRAGMA trusted_schema")
      }
      #expect(isTrusted == (StoreConnection.canDistrustSchema ? 0 : 1))
      // Either way json1 indexes work.
      try await store.registerSoup(withName: "notes", withIndices: .init("a.b:json1"))
      try await store.upsert(entries: [["a": ["b": "x"]]], forSoupNamed: "notes")
      let found = try await store.query(
        using: .buildExactQuerySpec(
          soupName: "notes", path: "a.b", matchKey: "x", pageSize: 10))
      #expect(found.count == 1)
    }
  }

  @Test func `the schema cannot call the store's own function`() async throws {
    try await withStore { store in
      try await store.registerSoup(withName: "notes", withIndices: .init("k:string"))
      await expectFailure(.sql) {
        try await store.unsafelyExecute(
          "CREATE INDEX planted ON TABLE_1 (soup_value(soup, 'k'))")
      }
    }
  }
}
