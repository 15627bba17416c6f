import Foundation
import SalesforceSDKCommon
import SmartStore
import TestSupport
import Testing

/// What lies on disk: other programs inspect it, and other versions open it.
@Suite struct SchemaTests {
  private let specs = [SoupIndex](
    "s:string", "i:integer", "f:floating", "j:json1", "t:full_text")

  @Test(.covers("SS-42"))
  func `soup numbers start at 1 and are never used again`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specs)
      try await store.registerSoup(withName: "b", withIndices: specs)
      #expect(
        try await store.rows("select id, soupName from soup_attrs") == [[1, "a"], [2, "b"]])
      try await store.removeSoup("b")
      try await store.registerSoup(withName: "b", withIndices: specs)
      #expect(
        try await store.rows("select id, soupName from soup_attrs") == [[1, "a"], [3, "b"]])
    }
  }

  @Test(.covers("SS-43", "SS-45"))
  func `a soup table has a column for each spec but json1`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specs)
      let columns = try await store.rows("select name, type from pragma_table_info('TABLE_1')")
      #expect(
        columns == [
          ["id", "INTEGER"], ["soup", "TEXT"], ["created", "INTEGER"],
          ["lastModified", "INTEGER"], ["TABLE_1_0", "TEXT"], ["TABLE_1_1", "INTEGER"],
          ["TABLE_1_2", "REAL"], ["TABLE_1_4", "TEXT"],
        ])
      let table = try await store.column("select sql from sqlite_master where name = 'TABLE_1'")
      #expect(
        table.first?.string?.hasPrefix(
          "CREATE TABLE TABLE_1 (id INTEGER PRIMARY KEY AUTOINCREMENT, soup TEXT, ") == true)
      #expect(
        try await store.indices(forSoupNamed: "a").map(\.columnName) == [
          "TABLE_1_0", "TABLE_1_1", "TABLE_1_2", "json_extract(soup, '$.j')", "TABLE_1_4",
        ])
    }
  }

  @Test(.covers("SS-44"))
  func `indexes are created with exactly this text`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specs)
      let texts = try await store.column(
        "select sql from sqlite_master where type = 'index' and tbl_name = 'TABLE_1' order by name")
      #expect(
        Set(texts.compactMap(\.string)) == [
          "CREATE INDEX TABLE_1_0_idx ON TABLE_1 ( TABLE_1_0 )",
          "CREATE INDEX TABLE_1_1_idx ON TABLE_1 ( TABLE_1_1 )",
          "CREATE INDEX TABLE_1_2_idx ON TABLE_1 ( TABLE_1_2 )",
          "CREATE INDEX TABLE_1_3_idx ON TABLE_1 ( json_extract(soup, '$.j') )",
          "CREATE INDEX TABLE_1_4_idx ON TABLE_1 ( TABLE_1_4 )",
          "CREATE INDEX TABLE_1_created_idx ON TABLE_1 ( created )",
          "CREATE INDEX TABLE_1_lastModified_idx ON TABLE_1 ( lastModified )",
        ])
    }
  }

  @Test(.covers("SS-45"))
  func `a quote in a json1 path cannot end the literal`() async throws {
    try await withStore { store async throws in
      let path = "it's') ; drop table soup_attrs; --"
      try await store.registerSoup(
        withName: "a", withIndices: [SoupIndex(path: path, type: .json1)])
      let column = "json_extract(soup, '$.it''s'') ; drop table soup_attrs; --')"
      #expect(try await store.indices(forSoupNamed: "a").first?.columnName == column)
      try await store.upsert(entries: [[path: "x"]], forSoupNamed: "a")
      let found = try await store.count(
        using: .buildExactQuerySpec(soupName: "a", path: path, matchKey: "x", pageSize: 10))
      #expect(found == 1)
      let unindexed = try await store.count(
        using: .buildExactQuerySpec(soupName: "a", path: "o'x", matchKey: "x", pageSize: 10))
      #expect(unindexed == 0)
      #expect(try await store.column("select {a:it's} from {a}") == [.null])
    }
  }

  @Test(.covers("SS-46", "SS-47"), arguments: [SmartStoreOptions.FullTextVersion.fts4, .fts5])
  func `the full-text table holds the full_text columns of every entry`(
    version: SmartStoreOptions.FullTextVersion
  ) async throws {
    try await withStore(options: SmartStoreOptions(fullTextVersion: version)) {
      store async throws in
      try await store.registerSoup(
        withName: "a", withIndices: [SoupIndex]("t:full_text", "s:string", "u:full_text"))
      let texts = try await store.column(
        "select sql from sqlite_master where name = 'TABLE_1_fts'")
      #expect(
        texts == [
          .string(
            "CREATE VIRTUAL TABLE TABLE_1_fts USING \(version.rawValue)(TABLE_1_0, TABLE_1_2)")
        ])
      try await store.upsert(
        entries: [["t": "one", "u": "two"], ["s": "neither"]], forSoupNamed: "a")
      #expect(
        try await store.rows("select rowid, TABLE_1_0, TABLE_1_2 from TABLE_1_fts") == [
          [1, "one", "two"], [2, .null, .null],
        ])
      #expect(
        try await store.rows("select id, TABLE_1_0, TABLE_1_2 from TABLE_1") == [
          [1, "one", "two"], [2, .null, .null],
        ])
      try await store.registerSoup(withName: "b", withIndices: [SoupIndex]("s:string"))
      #expect(
        try await store.column("select name from sqlite_master where name = 'TABLE_2_fts'")
          == [])
    }
  }

  @Test(.covers("SS-48", "SS-49", "SS-50"))
  func `the meta tables have these columns`() async throws {
    try await withStore { store async throws in
      func columns(_ table: String) async throws -> [[JSONValue]] {
        try await store.rows("select name, type from pragma_table_info('\(table)')")
      }
      #expect(
        try await columns("soup_attrs") == [
          ["id", "INTEGER"], ["soupName", "TEXT"], ["externalStorage", "INTEGER"],
        ])
      #expect(
        try await columns("soup_index_map") == [
          ["soupName", "TEXT"], ["path", "TEXT"], ["columnName", "TEXT"], ["columnType", "TEXT"],
        ])
      #expect(
        try await columns("long_operations_status") == [
          ["id", "INTEGER"], ["type", "TEXT"], ["details", "TEXT"], ["status", "TEXT"],
          ["created", "INTEGER"], ["lastModified", "INTEGER"],
        ])
      #expect(
        try await store.column("select sql from sqlite_master where name = 'soup_attrs_0'") == [
          "CREATE INDEX soup_attrs_0 ON soup_attrs ( soupName )"
        ])
      #expect(
        try await store.rows(
          "select name, dflt_value from pragma_table_info('soup_attrs') where dflt_value is not null"
        )
          == [["externalStorage", "0"]])
      try await store.registerSoup(withName: "a", withIndices: specs)
      #expect(
        try await store.rows("select * from soup_index_map order by rowid") == [
          ["a", "s", "TABLE_1_0", "string"], ["a", "i", "TABLE_1_1", "integer"],
          ["a", "f", "TABLE_1_2", "floating"],
          ["a", "j", "json_extract(soup, '$.j')", "json1"],
          ["a", "t", "TABLE_1_4", "full_text"],
        ])
    }
  }

  @Test(.covers("SS-51"))
  func `the journal is a write-ahead log`() async throws {
    try await withStore { store async throws in
      #expect(try await store.column("select * from pragma_journal_mode") == ["wal"])
    }
  }

  @Test(.covers("SS-52", "SS-11"))
  func `a store of version 1 is brought up to date and keeps its soups`()
    async throws
  {
    try await TemporaryFolder.with { folder in
      let place = folder.file("store")
      let old = try await SmartStore.open(at: place, encryption: testEncryption)
      try await old.registerSoup(withName: "other", withIndices: specs)
      try await old.registerSoup(withName: "a", withIndices: specs)
      try await old.removeSoup("other")
      try await old.upsert(entries: [["s": "x"]], forSoupNamed: "a")
      try await old.unsafelyExecute(
        "DROP TABLE long_operations_status; ALTER TABLE soup_attrs RENAME TO soup_names")
      try await old.close()

      let store = try await SmartStore.open(at: place, encryption: testEncryption)
      #expect(try await store.rows("select id, soupName from soup_attrs") == [[2, "a"]])
      #expect(try await store.elements(of: "a").first?["s"] == "x")
      #expect(try await store.column("select count(*) from long_operations_status") == [0])
      try await store.close()
    }
  }

  @Test(.covers("SS-52"))
  func `a store whose table of soups lacks the column for external storage gets it`() async throws {
    try await TemporaryFolder.with { folder in
      let place = folder.file("store")
      let old = try await SmartStore.open(at: place, encryption: testEncryption)
      try await old.registerSoup(withName: "a", withIndices: specs)
      try await old.upsert(entries: [["s": "x"]], forSoupNamed: "a")
      try await old.unsafelyExecute("ALTER TABLE soup_attrs DROP COLUMN externalStorage")
      try await old.close()

      let store = try await SmartStore.open(at: place, encryption: testEncryption)
      #expect(try await store.rows("select * from soup_attrs") == [[1, "a", 0]])
      #expect(try await store.elements(of: "a").first?["s"] == "x")
      try await store.registerSoup(
        withSpec: SoupSpec(name: "files", features: [SoupSpec.featureExternalStorage]),
        withIndices: [SoupIndex("s:string")])
      try await store.upsert(entries: [["s": "y"]], forSoupNamed: "files")
      #expect(try await store.elements(of: "files").first?["s"] == "y")
      try await store.close()
    }
  }

  @Test(.covers("SS-160.1"))
  func `a store searches with FTS5 unless its options say otherwise`() async throws {
    try await TemporaryFolder.with { folder in
      let store = try await SmartStore.open(at: folder.file("store"), encryption: testEncryption)
      try await store.registerSoup(withName: "a", withIndices: specs)
      #expect(store.fullTextVersion == .fts5)
      let table = try await store.column("select sql from sqlite_master where name = 'TABLE_1_fts'")
      #expect(table.first?.string?.contains("USING fts5") == true)
      try await store.close()
    }
  }

  @Test(.covers("SS-53"))
  func `a smart query reads the meta tables and soupName is text there`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex]("s:string"))
      #expect(
        try await store.rows("select soupName, path, columnType from soup_index_map") == [
          ["a", "s", "string"]
        ])
    }
  }
}
