import Crypto
import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore

/// Does a check find what is wrong, name the place, and find nothing else?
struct StoreVerifyTests {
  private let soup = "visits"

  /// A store with a soup of every index type.
  private func withVisits(
    _ version: SmartStoreOptions.FullTextVersion = .fts5,
    _ body: (SmartStore) async throws -> Void
  ) async throws {
    try await withStore(options: SmartStoreOptions(fullTextVersion: version)) { store in
      try await store.registerSoup(
        withName: soup,
        withIndices: .init(
          "name:string", "count:integer", "ratio:floating", "note:full_text", "json:json1",
          "_soupEntryId:string", "tags.label:string"))
      let entries = try (0..<40).map { index in
        try json(
          """
          {"name": "n\\u00e9 \(index)", "count": \(index == 3 ? "true" : "\(index)"), \
          "ratio": \(Double(index) / 7), "note": "free text number \(index)", \
          "json": {"a": [1]}, "tags": [{"label": "x"}, {"label": \(index)}]}
          """)
      }
      try await store.upsert(entries: entries, forSoupNamed: soup)
      try await store.upsert(entries: [["name": .null], [:]], forSoupNamed: soup)
      try await body(store)
    }
  }

  @Test(arguments: [SmartStoreOptions.FullTextVersion.fts4, .fts5])
  func `a store that is whole has no findings`(
    version: SmartStoreOptions.FullTextVersion
  ) async throws {
    try await withVisits(version) { store in
      let report = try await store.verify()
      #expect(report.isClean, "\(report.findings)")
      #expect(report.soups == 1)
      #expect(report.elements == 42)
      #expect(report.pages > 5)
    }
  }

  /// Something done to a store's tables, and what a check has to say of it.
  struct Damage: Sendable, CustomTestStringConvertible {
    let sql: String
    let kind: StoreReport.Finding.Kind
    var entryId: Int64?
    var path: String?
    var testDescription: String { sql }
  }

  static let damages: [Damage] = [
    Damage(
      sql: "UPDATE TABLE_1 SET TABLE_1_0 = 'other' WHERE id = 5", kind: .indexColumn, entryId: 5,
      path: "name"),
    Damage(
      sql: "UPDATE TABLE_1 SET TABLE_1_1 = 99 WHERE id = 7", kind: .indexColumn, entryId: 7,
      path: "count"),
    Damage(
      sql: "UPDATE TABLE_1 SET TABLE_1_2 = 0.5 WHERE id = 8", kind: .indexColumn, entryId: 8,
      path: "ratio"),
    Damage(sql: "UPDATE TABLE_1 SET soup = '[]' WHERE id = 9", kind: .element, entryId: 9),
    Damage(
      sql: "UPDATE TABLE_1 SET soup = replace(soup, 'EntryId\":10', 'EntryId\":11') WHERE id = 10",
      kind: .element, entryId: 10),
    Damage(sql: "UPDATE TABLE_1 SET lastModified = 5 WHERE id = 11", kind: .element, entryId: 11),
    Damage(
      sql: "DELETE FROM TABLE_1_fts WHERE rowid = 12", kind: .fullText, entryId: 12, path: "note"),
    Damage(
      sql: "INSERT INTO TABLE_1_fts (rowid, TABLE_1_3) VALUES (500, 'a')", kind: .fullText,
      entryId: 500),
    Damage(
      sql: "UPDATE TABLE_1_fts SET TABLE_1_3 = 'b' WHERE rowid = 13", kind: .fullText, entryId: 13,
      path: "note"),
    Damage(
      sql: "UPDATE TABLE_1_fts_content SET c0 = 'b' WHERE id = 14", kind: .fullText, entryId: 14,
      path: "note"),
    Damage(sql: "CREATE TABLE TABLE_7 (id INTEGER PRIMARY KEY)", kind: .soup),
    Damage(sql: "INSERT INTO soup_attrs (id, soupName) VALUES (9, 'visits2')", kind: .soup),
    Damage(sql: "INSERT INTO soup_index_map VALUES ('visits3', 'a', 'b', 'string')", kind: .soup),
  ]

  @Test(arguments: damages)
  func `what was changed behind the store's back is found at its place`(
    damage: Damage
  ) async throws {
    try await withVisits { store in
      try await store.unsafelyExecute(damage.sql)
      let report = try await store.verify()
      let finding = try #require(report.findings.first { $0.kind == damage.kind })
      #expect(finding.entryId == damage.entryId, "\(report.findings)")
      #expect(finding.path == damage.path, "\(report.findings)")
      #expect(!finding.detail.isEmpty)
      if damage.entryId != nil { #expect(finding.soup == soup) }
    }
  }

  @Test func `a full-text index that misses a word is found`() async throws {
    try await withVisits { store in
      try await store.unsafelyExecute("DELETE FROM TABLE_1_fts_data WHERE id > 10")
      let report = try await store.verify()
      #expect(report.findings.contains { $0.kind == .fullText || $0.kind == .structure })
    }
  }

  @Test(.covers("SS-177"), arguments: [SmartStoreOptions.FullTextVersion.fts4, .fts5])
  func `values that an alter did not index are distinguished from damage`(
    version: SmartStoreOptions.FullTextVersion
  ) async throws {
    try await withVisits(version) { store in
      let new = [SoupIndex]("note:full_text", "name:full_text", "count:string", "ratio:floating")
      try await store.alterSoup(named: soup, indexSpecs: new, reIndexData: false)
      let report = try await store.verify()
      #expect(report.findings.map(\.kind) == [.notIndexed, .notIndexed], "\(report.findings)")
      // Two elements have neither value.
      #expect(
        report.findings.map(\.description)
          == ["count", "name"].map {
            "soup visits, path \($0): the values of 40 elements are not indexed; reIndexSoup puts "
              + "them in"
          })
      // A text that is missing in the full-text row alone is damage all the same.
      try await store.unsafelyExecute("UPDATE TABLE_1_fts SET TABLE_1_0 = NULL WHERE rowid = 4")
      #expect(
        try await store.verify().findings.filter { $0.kind != .notIndexed }.map(\.kind)
          == [.fullText])
      try await store.reIndexSoup(named: soup, indexPaths: ["note"])
      try await store.reIndexSoup(named: soup, indexPaths: ["name", "count"])
      #expect(try await store.verify().isClean)
    }
  }

  @Test func `damaged pages are named, and the others are checked all the same`() async throws {
    try await TemporaryFolder.with { folder in
      let directory = folder.file("store")
      let store = try await SmartStore.open(at: directory, encryption: testEncryption)
      try await store.registerSoup(withName: soup, withIndices: .init("name:string"))
      let entries = (0..<500).map { JSONValue.object(["name": .string("name \($0)")]) }
      try await store.upsert(entries: entries, forSoupNamed: soup)
      try await store.close()
      let files = StoreMaintenance(at: directory)
      // Opening may add a page once.
      _ = try files.verify(testEncryption)
      let clean = try files.verify(testEncryption)
      #expect(clean.isClean, "\(clean.findings)")
      #expect(clean.elements == 500)

      let path = directory.appendingPathComponent("store.sqlite")
      let whole = try Data(contentsOf: path)
      for damaged in [[clean.pages], [3, clean.pages - 1], [1]] {
        var bytes = whole
        for page in damaged { bytes[page * PageFormat.pageSize - 100] ^= 4 }
        try bytes.write(to: path)
        let report = try files.verify(testEncryption)
        #expect(
          report.findings.filter { $0.kind == .page }.map { $0.page.map(Int.init) } == damaged)
        #expect(report.pages == clean.pages)
      }
      // A file that was cut.
      try whole.dropLast(10).write(to: path)
      #expect(try !files.verify(testEncryption).isClean)
      try Data("no database".utf8).write(to: path)
      #expect(try !files.verify(testEncryption).isClean)
    }
  }

  @Test func `a check needs the right key and changes nothing without it`() async throws {
    try await TemporaryFolder.with { folder in
      let directory = folder.file("store")
      try await SmartStore.open(at: directory, encryption: testEncryption).close()
      let other = FixedKeyProvider(SymmetricKey(size: .bits256))
      await expectFailure(.wrongKey) {
        _ = try StoreMaintenance(at: directory).verify(.encrypted(other))
      }
      await expectFailure(.wrongKey) {
        _ = try StoreMaintenance(at: directory).verify(.plaintext)
      }
    }
  }

  @Test func `findings beyond the limit are counted`() async throws {
    try await withVisits { store in
      try await store.unsafelyExecute(
        """
        WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n LIMIT 1500) \
        INSERT INTO TABLE_1 (id, soup, lastModified) SELECT i, '[]', 0 FROM n
        """)
      let report = try await store.verify()
      #expect(report.findingCount >= 1500)
      #expect(report.findings.count == StoreReport.findingLimit)
    }
  }
}
