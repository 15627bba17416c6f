import Foundation
import SalesforceSDKCommon
import SmartStore
import Testing
import TestSupport

/// Registering, describing and removing soups.
@Suite struct SoupTests {
  private let specs = [SoupIndex]("key:string", "n:integer")

  @Test(.covers("SS-54"))
  func `registering an existing soup changes nothing`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specs)
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex]("other:string"))
      #expect(try await store.indices(forSoupNamed: "a").map(\.path) == ["key", "n"])
      #expect(try await store.column("select count(*) from soup_attrs") == [1])
    }
  }

  @Test(.covers("SS-54"))
  func `a registration that fails leaves neither rows nor tables`() async throws {
    try await withStore { store async throws in
      await expectFailure(.invalidIndexSpec, "Invalid index spec") {
        try await store.registerSoup(
          withName: "a", withIndices: [SoupIndex]("x:string", "b..c:json1"))
      }
      #expect(try await store.column("select count(*) from soup_attrs") == [0])
      #expect(
        try await store.column("select count(*) from sqlite_master where name like 'TABLE_%'")
          == [0])
      #expect(try await store.soupExists(forName: "a") == false)
    }
  }

  @Test(
    .covers("SS-55"),
    arguments: [
      "123This should-be a_valid.soup+name!?100", "it's", "\"quoted\"", "{a}", "a:b", "`x`", "[y]",
      "'; drop table soup_attrs; --", "日本語 🐘", "%", "?1", " ",
    ])
  func `any name works with every call`(name: String) async throws {
    try await withStore { store async throws in
      let indices = [SoupIndex]("key:string", "n:integer", "t:full_text", "j:json1")
      try await store.registerSoup(withName: name, withIndices: indices)
      #expect(try await store.soupExists(forName: name))
      #expect(try await store.allSoupNames() == [name])
      let saved = try await store.upsert(
        entries: [["key": "a", "n": 1, "t": "cat", "j": "x"], ["key": "b", "n": 2, "t": "dog"]],
        forSoupNamed: name)
      #expect(saved.map { $0["_soupEntryId"] } == [1, 2])
      try await store.upsert(
        entries: [["key": "a", "n": 3, "t": "bird"]], forSoupNamed: name, withExternalIdPath: "key")
      let page = 10
      let specs: [QuerySpec] = [
        try .buildAllQuerySpec(soupName: name, orderPath: "key", pageSize: page),
        try .buildExactQuerySpec(soupName: name, path: "key", matchKey: "a", pageSize: page),
        try .buildRangeQuerySpec(soupName: name, path: "n", beginKey: 2, pageSize: page),
        try .buildLikeQuerySpec(soupName: name, path: "key", likeKey: "b%", pageSize: page),
        try .buildMatchQuerySpec(
          soupName: name, path: "t", matchKey: "dog OR bird", pageSize: page),
      ]
      var counts: [Int64] = []
      for spec in specs {
        counts.append(try await store.count(using: spec))
        #expect(try await store.query(using: spec).count == Int(counts.last ?? -1))
      }
      #expect(counts == [2, 1, 2, 1, 2])
      #expect(
        try await store.lookupSoupEntryId(soupNamed: name, fieldPath: "key", fieldValue: "b") == 2)
      try await store.removeEntries(usingQuerySpec: specs[1], forSoupNamed: name)
      try await store.remove(entryIds: [2], forSoupNamed: name)
      #expect(try await store.count(using: specs[0]) == 0)
      try await store.clearSoup(name)
      try await store.removeSoup(name)
      #expect(try await store.allSoupNames() == [])
      #expect(try await store.column("select count(*) from soup_index_map") == [0])
    }
  }

  @Test(.covers("SS-55"))
  func `an empty name is refused`() async throws {
    try await withStore { store async throws in
      let error = await expectFailure(.invalidSoupName, "Bogus soup name") {
        try await store.registerSoup(withName: "", withIndices: specs)
      }
      #expect(error?.number == 999)
    }
  }

  @Test(.covers("SS-56"))
  func `a soup needs an index spec, whether it exists or not`() async throws {
    try await withStore { store async throws in
      await expectFailure(.noIndexSpecs, "No indexSpecs specified for soup: a") {
        try await store.registerSoup(withName: "a", withIndices: [])
      }
      #expect(try await store.soupExists(forName: "a") == false)
      try await store.registerSoup(withName: "a", withIndices: specs)
      await expectFailure(.noIndexSpecs) {
        try await store.registerSoup(withName: "a", withIndices: [])
      }
    }
  }

  @Test(.covers("SS-57"))
  func `a soup exists while both its row and its table do`() async throws {
    try await withStore { store async throws in
      #expect(try await store.soupExists(forName: "a") == false)
      try await store.registerSoup(withName: "a", withIndices: specs)
      #expect(try await store.soupExists(forName: "a"))
      #expect(try await store.soupExists(forName: "A") == false)
      try await store.unsafelyExecute("DROP TABLE TABLE_1")
      #expect(try await store.soupExists(forName: "a") == false)
    }
  }

  @Test(.covers("SS-58"))
  func `soup names come sorted`() async throws {
    try await withStore { store async throws in
      #expect(try await store.allSoupNames() == [])
      for name in ["b", "C", "a"] {
        try await store.registerSoup(withName: name, withIndices: specs)
      }
      #expect(try await store.allSoupNames() == ["C", "a", "b"])
    }
  }

  @Test(.covers("SS-59", "SS-60"))
  func `index specs come back as registered`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specs)
      let found = try await store.indices(forSoupNamed: "a")
      #expect(
        found.map(\.json) == [
          ["path": "key", "type": "string"], ["path": "n", "type": "integer"],
        ])
      #expect(try await store.hasIndex(forPath: "key", inSoupNamed: "a"))
      #expect(try await store.hasIndex(forPath: "ke", inSoupNamed: "a") == false)
      await expectFailure(.unknownSoup, "Soup: b does not exist") {
        _ = try await store.indices(forSoupNamed: "b")
      }
    }
  }

  @Test(.covers("SS-61", "SS-62", "SS-92"))
  func `ten rounds of register and remove, each with a new table`()
    async throws
  {
    try await withStore { store async throws in
      for round in 1...10 {
        try await store.registerSoup(
          withName: "a", withIndices: [SoupIndex]("key:string", "t:full_text"))
        let tables = try await store.column(
          "select name from sqlite_master where type = 'table' and name like 'TABLE\\__' escape '\\' or name like 'TABLE\\___' escape '\\'"
        )
        #expect(tables == [.string("TABLE_\(round)")])
        let saved = try await store.upsert(entries: [["key": "x"]], forSoupNamed: "a")
        #expect(saved.first?["_soupEntryId"] == 1)
        #expect(try await store.column("select {a:key} from {a}") == ["x"])
        try await store.removeSoup("a")
        #expect(try await store.soupExists(forName: "a") == false)
      }
      #expect(
        try await store.column("select count(*) from sqlite_master where name like 'TABLE%'")
          == [0])
      try await store.removeSoup("never there")
      await expectFailure(.unknownSoup) {
        try await store.upsert(entries: [["key": "x"]], forSoupNamed: "a")
      }
    }
  }

  @Test(.covers("SS-63"))
  func `removing all soups leaves a usable store`() async throws {
    try await withStore { store async throws in
      for name in ["a", "b", "it's"] {
        try await store.registerSoup(withName: name, withIndices: specs)
      }
      try await store.removeAllSoups()
      #expect(try await store.allSoupNames() == [])
      try await store.registerSoup(withName: "a", withIndices: specs)
      try await store.upsert(entries: [["key": "x"]], forSoupNamed: "a")
    }
  }

  @Test(.covers("SS-64", "SS-92"))
  func `a cleared soup keeps its specs and goes on counting`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "a", withIndices: [SoupIndex]("key:string", "t:full_text"))
      try await store.upsert(
        entries: [["key": "x", "t": "cat"], ["key": "y"]], forSoupNamed: "a")
      try await store.clearSoup("a")
      #expect(try await store.elements(of: "a") == [])
      #expect(try await store.column("select count(*) from TABLE_1_fts") == [0])
      let saved = try await store.upsert(entries: [["key": "z"]], forSoupNamed: "a")
      #expect(saved.first?["_soupEntryId"] == 3)
      await expectFailure(.unknownSoup, "Soup: b does not exist") {
        try await store.clearSoup("b")
      }
    }
  }

  @Test(.covers("SS-65"))
  func `a count query gives the number of entries`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specs)
      try await store.upsert(entries: [["key": "x"], ["key": "y"]], forSoupNamed: "a")
      #expect(
        try await store.count(using: .buildAllQuerySpec(soupName: "a", pageSize: 1)) == 2)
    }
  }

  @Test(.covers("SS-66", "BX-84"))
  func `registering by paths makes json1 indexes`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndexPaths: ["x", "y.z"])
      #expect(try await store.indices(forSoupNamed: "a").map(\.type) == [.json1, .json1])
      await expectFailure(.invalidSoupName) {
        try await store.registerSoup(withName: "", withIndexPaths: ["x"])
      }
    }
  }

  @Test(.covers("SS-68", "SS-69"))
  func `unknown types and missing paths are refused`() async throws {
    try await withStore { store async throws in
      for (path, type) in [("x", "boolean"), ("x", "String"), ("x", ""), ("", "string")] {
        await expectFailure(.invalidIndexSpec, "Invalid index spec") {
          try await store.registerSoup(
            withName: "a",
            withIndices: [SoupIndex(path: path, type: SoupIndexType(rawValue: type))])
        }
      }
      for text in [#"{"path":"x"}"#, #"{"type":"string"}"#, #"{"path":"x","type":"blob"}"#, "[]"] {
        await expectFailure(.invalidIndexSpec, "Invalid index spec") {
          _ = try SoupIndex(json: json(text))
        }
      }
      #expect(try await store.allSoupNames() == [])
      let spec = try SoupIndex(json: json(#"{"path":"x","type":"full_text"}"#))
      #expect(spec == SoupIndex(path: "x", type: .fullText))
      #expect(spec != SoupIndex(path: "x", type: .fullText, columnName: "TABLE_1_0"))
    }
  }

  @Test(.covers("SS-68"))
  func `an unknown type word in an old database is read as string`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specs)
      // The extra table makes the store read the meta tables again.
      try await store.unsafelyExecute(
        "UPDATE soup_index_map SET columnType = 'boolean' WHERE path = 'key'; CREATE TABLE x (y)")
      #expect(
        try await store.indices(forSoupNamed: "a").map(\.type) == [.string, .integer])
    }
  }
}
