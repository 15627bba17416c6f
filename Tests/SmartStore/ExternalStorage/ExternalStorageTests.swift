import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore

/// Does a soup that keeps its elements in files behave like any other?
@Suite struct ExternalStorageTests {
  let specs = [SoupIndex]("a:string", "b:integer", "c:floating", "d:full_text")
  let spec = SoupSpec(name: "s", features: ["externalStorage"])

  /// The element files of table `TABLE_1`, by name.
  private func files(_ store: SmartStore, table: String = "TABLE_1") -> [String] {
    let folder = store.directory.appending(path: "store_external_soup_blobs/\(table)").path
    return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
  }

  private func withExternalSoup(
    encryption: StoreEncryption = testEncryption, _ body: (SmartStore) async throws -> Void
  ) async throws {
    try await TemporaryFolder.with { folder in
      let store = try await SmartStore.open(
        at: folder.file("store"), encryption: encryption,
        options: SmartStoreOptions(now: { 1_700_000_000_000 }))
      try await store.registerSoup(withSpec: spec, withIndices: specs)
      try await body(store)
      try await store.close()
    }
  }

  @Test(.covers("SS-189", "SS-67"))
  func `a soup spec has a name and feature words`() throws {
    #expect(SoupSpec(name: "s").features == [])
    #expect(try SoupSpec(json: ["name": "s", "features": .null]) == SoupSpec(name: "s"))
    let spec = SoupSpec(name: "s", features: ["externalStorage", "unheardOf"])
    #expect(spec.json == ["name": "s", "features": ["externalStorage", "unheardOf"]])
    #expect(try SoupSpec(json: spec.json) == spec)
    #expect(throws: SmartStoreError.self) { try SoupSpec(json: ["features": []]) }
  }

  @Test(.timeLimit(.minutes(1)))
  func `an entry's file of 20 GB without content is refused and not read`() async throws {
    try await withExternalSoup { store async throws in
      try await store.upsert(entries: [["a": "x"]], forSoupNamed: "s")
      let name = try #require(files(store).first)
      let file = store.directory.appending(path: "store_external_soup_blobs/TABLE_1/\(name)")
      let bytes = try Data(contentsOf: file)
      try #require(truncate(file.path, 20 << 30) == 0)
      await #expect(throws: SmartStoreError.self) { _ = try await store.elements(of: "s") }
      let report = try? await store.verify()
      #expect(report?.isClean != true)
      try bytes.write(to: file)
      #expect(try await store.elements(of: "s").count == 1)
    }
  }

  @Test(.covers("SS-190", "SS-48"))
  func `registering makes a table without texts and a folder`() async throws {
    try await withExternalSoup { store async throws in
      #expect(
        try await store.column("select name from pragma_table_info('TABLE_1')") == [
          "id", "created", "lastModified", "TABLE_1_0", "TABLE_1_1", "TABLE_1_2", "TABLE_1_3",
        ])
      #expect(
        try await store.rows("select soupName, externalStorage from soup_attrs") == [["s", 1]])
      let folder = store.directory.appending(path: "store_external_soup_blobs/TABLE_1")
      #expect(FileManager.default.fileExists(atPath: folder.path))
      #expect(try await store.soupSpec(forSoupNamed: "s") == spec)
      await expectFailure(.unknownSoup, "Soup: x does not exist") {
        _ = try await store.soupSpec(forSoupNamed: "x")
      }
      // Again, with other features: unchanged. Unknown words have no effect.
      try await store.registerSoup(
        withSpec: SoupSpec(name: "s"), withIndices: [SoupIndex]("x:string"))
      #expect(try await store.soupSpec(forSoupNamed: "s") == spec)
      try await store.registerSoup(
        withSpec: SoupSpec(name: "plain", features: ["unheardOf"]), withIndices: specs)
      #expect(try await store.soupSpec(forSoupNamed: "plain") == SoupSpec(name: "plain"))
    }
  }

  @Test(.covers("SS-191.1"))
  func `json1 indexes are refused at registering and altering`() async throws {
    try await withExternalSoup { store async throws in
      let json1 = specs + [SoupIndex("e:json1")]
      let message = "Can't have JSON1 index specs in externally stored soup"
      await expectFailure(.invalidIndexSpec, message) {
        try await store.registerSoup(
          withSpec: SoupSpec(name: "t", features: ["externalStorage"]), withIndices: json1)
      }
      #expect(try await store.allSoupNames() == ["s"])
      await expectFailure(.invalidIndexSpec, message) {
        try await store.alterSoup(named: "s", indexSpecs: json1, reIndexData: true)
      }
      try await store.registerSoup(withName: "t", withIndices: json1)
      await expectFailure(.invalidIndexSpec, message) {
        try await store.alterSoup(
          named: "t", soupSpec: SoupSpec(name: "t", features: ["externalStorage"]),
          indexSpecs: json1, reIndexData: true)
      }
      #expect(try await store.recordedOperations() == [])
    }
  }

  @Test(.covers("SS-143", "SS-191.2"))
  func `paths without an index cannot be queried`() async throws {
    try await withExternalSoup { store async throws in
      try await store.upsert(entries: mixedElements, forSoupNamed: "s")
      let statements = [
        "select {s:e} from {s}", "select {s:a} from {s} where {s:e.x} = 3",
        "select x.{s:e} from {s} as x",
      ]
      for statement in statements {
        await expectFailure(.invalidReference, "Invalid path") {
          _ = try await store.rows(statement)
        }
      }
      let queries: [QuerySpec] = [
        try .buildExactQuerySpec(soupName: "s", path: "e", matchKey: 1, pageSize: 5),
        try .buildAllQuerySpec(soupName: "s", orderPath: "e", pageSize: 5),
        try .buildAllQuerySpec(soupName: "s", selectPaths: ["a", "e"], pageSize: 5),
        try .buildLikeQuerySpec(soupName: "s", path: "_soup", likeKey: "%", pageSize: 5),
      ]
      for query in queries {
        await expectFailure(.invalidReference, "Invalid path") {
          _ = try await store.query(using: query)
        }
      }
    }
  }

  @Test(.covers("SS-193"))
  func `each entry has one file, encrypted in an encrypted store`() async throws {
    try await withExternalSoup { store async throws in
      try await store.upsert(entries: [["a": "CANARY-1"], ["a": "two"]], forSoupNamed: "s")
      #expect(files(store) == ["soupelt_1", "soupelt_2"])
      let file = store.directory.appending(path: "store_external_soup_blobs/TABLE_1/soupelt_1")
      let content = try Data(contentsOf: file)
      #expect(content.range(of: Data("CANARY".utf8)) == nil)
      let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
      #expect(mode as? Int == 0o600)
    }
    try await withExternalSoup(encryption: .plaintext) { store async throws in
      try await store.upsert(entries: [["a": "CANARY-1"]], forSoupNamed: "s")
      let file = store.directory.appending(path: "store_external_soup_blobs/TABLE_1/soupelt_1")
      let content = try JSONValue(parsing: String(decoding: Data(contentsOf: file), as: UTF8.self))
      #expect(
        content == [
          "a": "CANARY-1", "_soupEntryId": 1, "_soupLastModifiedDate": 1_700_000_000_000,
        ])
    }
  }

  @Test(
    .covers("SS-192", "SS-193", "SS-107"),
    arguments: [0, 1, 4_095, 4_096, 65_535, 1_048_576, 5_000_000])
  func `text of any size and alphabet is read back intact`(
    size: Int
  ) async throws {
    try await withExternalSoup { store async throws in
      // Characters of one to four bytes, so that every boundary falls into one.
      let text = String(String(repeating: "aé€😀", count: size / 4 + 1).prefix(size))
      let saved = try await store.upsert(
        entries: [["a": "x", "big": .string(text)]], forSoupNamed: "s")
      #expect(saved.first?["big"]?.string == text)
      #expect(try await store.elements(of: "s").first?["big"]?.string == text)
    }
  }

  @Test(.covers("SS-195"))
  func `calls and queries return what they return for a soup without files`() async throws {
    try await withExternalSoup { store async throws in
      try await store.registerSoup(withName: "twin", withIndices: specs)
      for soup in ["s", "twin"] {
        try await store.upsert(entries: mixedElements, forSoupNamed: soup)
        try await store.upsert(
          entries: [["a": "one", "d": "changed"], ["a": "new"]], forSoupNamed: soup,
          withExternalIdPath: "a")
        try await store.update(entry: ["b": 4], withSoupEntryId: 2, inSoupNamed: soup)
        try await store.create(entry: ["a": "made", "d": "900000 words"], inSoupNamed: soup)
        try await store.remove(entryIds: [3, 77], forSoupNamed: soup)
        try await store.removeEntries(
          usingQuerySpec: .buildExactQuerySpec(
            soupName: soup, path: "a", matchKey: "new", pageSize: 9), forSoupNamed: soup)
      }
      func answers(_ soup: String) async throws -> [JSONValue] {
        var answers: [JSONValue] = []
        let queries: [QuerySpec] = [
          try .buildAllQuerySpec(soupName: soup, orderPath: "_soupEntryId", pageSize: 3),
          try .buildAllQuerySpec(
            soupName: soup, selectPaths: ["_soup", "a", "_soup", "_soupEntryId"],
            orderPath: "_soupEntryId", pageSize: 100),
          try .buildExactQuerySpec(soupName: soup, path: "a", matchKey: "one", pageSize: 5),
          try .buildRangeQuerySpec(
            soupName: soup, path: "b", beginKey: 0, orderPath: "b", order: .descending,
            pageSize: 5),
          try .buildLikeQuerySpec(soupName: soup, path: "a", likeKey: "m%", pageSize: 5),
          try .buildMatchQuerySpec(
            soupName: soup, path: "d", matchKey: "900000 OR changed", orderPath: "_soupEntryId",
            pageSize: 5),
        ]
        for query in queries {
          for page in 0..<3 {
            answers += try await store.query(using: query, startingFromPageIndex: page)
            answers.append(
              try json(try await store.queryAsString(using: query, startingFromPageIndex: page)))
          }
          answers.append(.integer(try await store.count(using: query)))
        }
        let paged = try QuerySpec.buildSmartQuerySpec(
          smartSql:
            "select {\(soup):_soup}, {\(soup):a} from {\(soup)} order by {\(soup):_soupEntryId}",
          pageSize: 2)
        for page in 0..<4 {
          answers += try await store.query(using: paged, startingFromPageIndex: page)
        }
        for query in [queries[0], paged] {
          var cursor = try await store.openCursor(using: query)
          while true {
            answers += cursor.currentPageOrderedEntries
            guard cursor.currentPageIndex + 1 < cursor.totalPages else { break }
            cursor = try await store.moveCursorToNextPage(cursor)
          }
        }
        answers += try await store.retrieve(usingSoupEntryIds: [1, 5, 5, 70], fromSoupNamed: soup)
          .map(\.value)
        answers += try await store.queryEntries(using: queries[0]).map(\.value)
        return answers
      }
      let external = try await answers("s")
      #expect(try await external == answers("twin"))
      #expect(external.count > 55)
      #expect(files(store) == ["1", "2", "4", "5", "6", "8"].map { "soupelt_\($0)" })
    }
  }

  @Test(.covers("SS-196"))
  func `in Smart SQL an entry is one column`() async throws {
    try await withExternalSoup { store async throws in
      try await store.registerSoup(withName: "t", withIndices: [SoupIndex]("ref:string"))
      try await store.upsert(entries: [["a": "x", "b": 1], ["a": "y"]], forSoupNamed: "s")
      try await store.upsert(entries: [["ref": "x"], ["ref": "z"]], forSoupNamed: "t")
      let soups = try await store.read { $0.access.catalog.soups }
      let converted = try SmartSQLConverter.convert(
        "select {s:_soup}, {s:a} from {s}", soups: soups)
      #expect(
        converted.sql
          == "select 'TABLE_1' as 'externalStorage', TABLE_1.id as '_soupEntryId', TABLE_1_0 "
          + "from TABLE_1")
      #expect(
        try SmartSQLConverter.convert("select x.{s:_soup} from {s} as x", soups: soups).sql
          == "select 'TABLE_1' as 'externalStorage', x.id as '_soupEntryId' from TABLE_1 as x")
      let elements = try await store.elements(of: "s")
      #expect(
        try await store.rows("select {s:b}, {s:_soup}, {s:a} from {s} order by {s:a}")
          == [[1, elements[0], "x"], [.null, elements[1], "y"]])
      let twin = try await store.elements(of: "t")
      #expect(
        try await store.rows(
          """
          select {t:_soup}, one.{s:_soup}, two.{s:_soup} from {t} \
          left join {s} as one on one.{s:a} = {t:ref} left join {s} as two on two.{s:b} = one.{s:b} \
          order by {t:_soupEntryId}
          """) == [[twin[0], elements[0], elements[0]], [twin[1], .null, .null]])
      #expect(
        try await store.rows("select * from {s} order by id").first
          == [1, 1_700_000_000_000, 1_700_000_000_000, "x", 1, .null, .null])
    }
  }

  @Test(.covers("SS-197"))
  func `a missing or damaged file is an error that names soup and id`() async throws {
    try await withExternalSoup { store async throws in
      try await store.upsert(entries: [["a": "x"], ["a": "y"], ["a": "z"]], forSoupNamed: "s")
      let folder = store.directory.appending(path: "store_external_soup_blobs/TABLE_1")
      let second = folder.appending(path: "soupelt_2")
      let prefix = "com.salesforce.smartstore.LoadExternalSoupError"
      func expectUnreadable() async {
        for query in ["select {s:_soup} from {s}", "select {s:a}, {s:_soup} from {s}"] {
          let error = await expectFailure(.externalFileUnreadable, prefix) {
            _ = try await store.rows(query)
          }
          #expect(error?.number == 999)
          #expect(error?.message.contains("element 2 of soup s") == true)
        }
        await expectFailure(.externalFileUnreadable, prefix) {
          _ = try await store.retrieve(usingSoupEntryIds: [1, 2], fromSoupNamed: "s")
        }
      }
      let content = try Data(contentsOf: second)
      var damaged = content
      damaged[content.count / 2] ^= 1
      try damaged.write(to: second)
      await expectUnreadable()
      try content.prefix(5).write(to: second)
      await expectUnreadable()
      // Another element's file, whole as it is.
      try Data(contentsOf: folder.appending(path: "soupelt_1")).write(to: second)
      await expectUnreadable()
      try FileManager.default.removeItem(at: second)
      await expectUnreadable()
      #expect(try await store.rows("select {s:a} from {s}").count == 3)
      try content.write(to: second)
      #expect(try await store.elements(of: "s").count == 3)
    }
  }

  @Test(.covers("SS-198", "SS-203", "SS-22", "SS-109"))
  func `files come and go with their entries`() async throws {
    try await withExternalSoup { store async throws in
      func usage() async throws -> (Int, UInt64) {
        (
          try await store.externalFilesCount(forSoupNamed: "s"),
          try await store.externalFileStorageSize(forSoupNamed: "s")
        )
      }
      #expect(try await usage() == (0, 0))
      let before = try await store.databaseSize()
      let text = String(repeating: "x", count: 1 << 20)
      for _ in 0..<5 {
        try await store.upsert(
          entries: Array(repeating: ["a": "x", "t": .string(text)], count: 5), forSoupNamed: "s")
      }
      let (count, size) = try await usage()
      #expect(count == 25 && size >= 25 << 20)
      #expect(try await store.databaseSize() >= before + 25 << 20)

      try await store.update(entry: ["a": "small"], withSoupEntryId: 1, inSoupNamed: "s")
      #expect(try await usage().0 == 25)
      try await store.remove(entryIds: [1, 2, 99], forSoupNamed: "s")
      #expect(Set(files(store)) == Set((3...25).map { "soupelt_\($0)" }))
      try await store.removeEntries(
        usingQuerySpec: .buildAllQuerySpec(
          soupName: "s", orderPath: "_soupEntryId", pageSize: 3), forSoupNamed: "s")
      #expect(try await usage().0 == 20)
      #expect(files(store).contains("soupelt_6") && !files(store).contains("soupelt_5"))
      try await store.clearSoup("s")
      #expect(try await usage() == (0, 0))
      try await store.upsert(entries: [["a": "x"]], forSoupNamed: "s")
      #expect(files(store) == ["soupelt_26"])
      try await store.removeSoup("s")
      let root = store.directory.appending(path: "store_external_soup_blobs").path
      #expect(!FileManager.default.fileExists(atPath: root + "/TABLE_1"))

      try await store.registerSoup(withName: "plain", withIndices: specs)
      try await store.upsert(entries: mixedElements, forSoupNamed: "plain")
      #expect(try await store.externalFilesCount(forSoupNamed: "plain") == 0)
      #expect(try await store.externalFileStorageSize(forSoupNamed: "plain") == 0)
      await expectFailure(.unknownSoup) {
        _ = try await store.externalFilesCount(forSoupNamed: "s")
      }
    }
  }

  @Test(.covers("SS-26", "SS-193"))
  func `no text of an entry is in any file during and after a session`()
    async throws
  {
    try await TemporaryFolder.with { folder in
      let store = try await SmartStore.open(at: folder.file("store"), encryption: testEncryption)
      @Sendable func expectNoCanary() throws {
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.url.path) {
          let data = (try? Data(contentsOf: folder.file(name))) ?? Data()
          #expect(data.range(of: Data("CANARY".utf8)) == nil, "\(name)")
        }
      }
      try await store.registerSoup(withSpec: spec, withIndices: specs)
      let entries = (0..<20).map { JSONValue.object(["a": .string("CANARY \($0)")]) }
      try await store.inTransaction { transaction in
        try transaction.upsert(entries: entries, forSoupNamed: "s")
        try expectNoCanary()
      }
      try expectNoCanary()
      try await store.alterSoup(
        named: "s", soupSpec: SoupSpec(name: "s"),
        indexSpecs: [SoupIndex]("a:full_text", "b:json1"),
        reIndexData: true)
      try expectNoCanary()
      try await store.alterSoup(
        named: "s", soupSpec: spec, indexSpecs: [SoupIndex]("a:string"), reIndexData: true)
      try expectNoCanary()
      #expect(try await store.elements(of: "s").count == 20)
      try await store.close()
      try expectNoCanary()
    }
  }
}
