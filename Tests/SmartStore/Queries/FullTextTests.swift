import SalesforceSDKCommon
import Testing

@testable import SmartStore
import TestSupport

/// Searching words.
@Suite struct FullTextTests {
  private typealias Version = SmartStoreOptions.FullTextVersion

  private func ids(
    _ store: SmartStore, _ soup: String, _ path: String?, _ key: String
  ) async throws -> [JSONValue] {
    let elements = try await store.query(
      using: .buildMatchQuerySpec(
        soupName: soup, path: path, matchKey: key, orderPath: "_soupEntryId", pageSize: 100))
    let selected = try await store.query(
      using: .buildMatchQuerySpec(
        soupName: soup, selectPaths: ["_soupEntryId"], path: path, matchKey: key,
        orderPath: "_soupEntryId", pageSize: 100))
    #expect(elements.map { $0["_soupEntryId"] } == selected.map { $0[0] })
    return elements.compactMap { $0["_soupEntryId"] }
  }

  @Test(.covers("SS-73"))
  func `a full_text path is a string for everything but a match`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "a", withIndices: [SoupIndex]("text:full_text", "same:string"))
      let values: [JSONValue] = ["b c", "B", "a", 1_500_000, 900_000, true, ["x"], .null, ""]
      try await store.upsert(
        entries: values.map { ["text": $0, "same": $0] }, forSoupNamed: "a")
      func both(_ make: (String) throws -> QuerySpec) async throws -> [JSONValue] {
        let rows = try await store.query(using: make("text"))
        #expect(try await store.query(using: make("same")) == rows)
        return rows
      }
      for value in values where !value.isNull {
        let found = try await both {
          try .buildExactQuerySpec(
            soupName: "a", selectPaths: ["_soupEntryId"], path: $0, matchKey: value, pageSize: 9)
        }
        #expect(found.count == 1, "\(value)")
      }
      let ordered = try await both {
        try .buildAllQuerySpec(soupName: "a", selectPaths: [$0], orderPath: $0, pageSize: 9)
      }
      #expect(ordered.first == [.null])
      #expect(ordered.last == ["b c"])
      let like = try await both {
        try .buildLikeQuerySpec(
          soupName: "a", selectPaths: [$0], path: $0, likeKey: "%b%", orderPath: $0, pageSize: 9)
      }
      #expect(like == [["B"], ["b c"]])
      let range = try await both {
        try .buildRangeQuerySpec(
          soupName: "a", selectPaths: [$0], path: $0, beginKey: "a", orderPath: $0, pageSize: 9)
      }
      #expect(range == [["a"], ["b c"]])
    }
  }

  @Test(.covers("SS-161", "SS-162", "SS-167"), arguments: [Version.fts5, .fts4])
  private func `the animals of the guide`(version: Version) async throws {
    try await withStore(options: SmartStoreOptions(fullTextVersion: version)) {
      store async throws in
      try await store.registerSoup(
        withName: "animals", withIndices: [SoupIndex]("name:full_text", "color:full_text"))
      try await store.upsert(
        entries: [
          ("cat", "black"), ("cat", "white"), ("dog", "black"), ("dog", "brown"), ("dog", "white"),
        ]
        .map { ["name": .string($0.0), "color": .string($0.1)] }, forSoupNamed: "animals")
      let expected: [(String?, String, [JSONValue])] = [
        (nil, "black", [1, 3]), (nil, "black cat", [1]), (nil, "black OR cat", [1, 2, 3]),
        (nil, "b*", [1, 3, 4]), (nil, "black NOT cat", [3]),
        (nil, "{animals:color}:black NOT cat", [3]), ("color", "black", [1, 3]),
        ("color", "black cat", []), ("color", "black OR cat", [1, 3]), ("color", "b*", [1, 3, 4]),
        ("color", "black NOT cat", [1, 3]),
      ]
      for (path, key, result) in expected {
        #expect(try await ids(store, "animals", path, key) == result, "\(path ?? "nil") \(key)")
      }
    }
  }

  @Test(.covers("SS-160.1", "SS-168"), arguments: [Version.fts5, .fts4])
  private func `the staff of the reference`(version: Version) async throws {
    try await withStore(options: SmartStoreOptions(fullTextVersion: version)) {
      store async throws in
      #expect(store.fullTextVersion == version)
      try await store.registerSoup(
        withName: "staff",
        withIndices: [SoupIndex]("first:full_text", "last:full_text", "no:string"))
      try await store.upsert(
        entries: [("Ada", "Lovelace"), ("Alan", "Turing"), ("Grace", "Hopper"), ("Hopper", "Ada")]
          .map { ["first": .string($0.0), "last": .string($0.1)] }, forSoupNamed: "staff")
      let expected: [(String?, String, [JSONValue])] = [
        (nil, "Hopper", [3, 4]), (nil, "Ada Hopper", [4]), (nil, "Ho*", [3, 4]),
        (nil, "Ada OR Grace NOT Hopper", [1, 4]), (nil, "Hopper NOT Ada", [3]),
        (nil, "{staff:first}:Hopper", [4]),
        (nil, "{staff:last}:Hopper OR {staff:first}:Alan", [2, 3]), (nil, "Hopperr", []),
        (nil, "hopper", [3, 4]), ("first", "A*", [1, 2]), ("first", "A* NOT Ada", [2]),
        ("first", "Ada OR Grace", [1, 3]), ("last", "Turing", [2]),
        (nil, "(Ada OR Grace) AND Lovelace", [1]),
      ]
      for (path, key, result) in expected {
        #expect(try await ids(store, "staff", path, key) == result, "\(path ?? "nil") \(key)")
      }
      await expectFailure(.invalidQuerySpec) { _ = try await ids(store, "staff", "no", "x") }
    }
  }

  @Test(.covers("SS-160.2", "SS-161"), arguments: [Version.fts5, .fts4])
  private func `operators are upper case, words ignore case and diacritics`(
    version: Version
  ) async throws {
    try await withStore(options: SmartStoreOptions(fullTextVersion: version)) {
      store async throws in
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex("x:full_text")])
      try await store.upsert(
        entries: [
          ["x": "black and white"], ["x": "black white"], ["x": "black or white"],
          ["x": "black not white"], ["x": "Café Société"], ["x": "CAFE"],
        ], forSoupNamed: "a")
      let expected: [(String, [JSONValue])] = [
        ("black AND white", [1, 2, 3, 4]), ("black and white", [1]), ("black or white", [3]),
        ("black not white", [4]), ("white NOT and", [2, 3, 4]),
        ("BLACK OR Cafe", version == .fts5 ? [1, 2, 3, 4, 5, 6] : [1, 2, 3, 4, 6]),
      ]
      for (key, result) in expected {
        #expect(try await ids(store, "a", "x", key) == result, "\(key)")
      }
      // FTS4's tokenizer knows ASCII alone.
      for key in version == .fts5 ? ["cafe", "CAFÉ", "café"] : [] {
        #expect(try await ids(store, "a", "x", key) == [5, 6], "\(key)")
      }
    }
  }

  @Test(
    .covers("SS-163", "SS-164"),
    arguments: [
      ("abc", "F:abc"), ("{s:p2}:abc", "{s:p2}:abc"), ("abc AND def", "F:abc AND F:def"),
      ("abc OR def", "F:abc OR F:def"), ("(abc AND def) OR ghi", "(F:abc AND F:def) OR F:ghi"),
      ("((a AND {s:p2}:b) AND c) OR d", "((F:a AND {s:p2}:b) AND F:c) OR F:d"),
      ("a  and(b)Or Not c", "F:a  and(F:b)Or Not F:c"), ("", ""), (" ( ", " ( "),
      (#""united states" x*"#, #"F:"united states" F:x*"#), (#""open phrase"#, #"F:"open phrase"#),
      ("android", "F:android"), ("{s:a b}:x y", "{s:a b}:x F:y"),
    ])
  func `qualifying aims every bare term`(key: String, qualified: String) {
    #expect(MatchKey.qualified(key, field: "F") == qualified)
    #expect(MatchKey.qualified(key, field: nil) == key)
  }

  @Test(.covers("SS-164"), arguments: [Version.fts5, .fts4])
  private func `a phrase is searched as one in its path`(version: Version) async throws {
    try await withStore(options: SmartStoreOptions(fullTextVersion: version)) {
      store async throws in
      try await store.registerSoup(
        withName: "a", withIndices: [SoupIndex]("x:full_text", "y:full_text"))
      try await store.upsert(
        entries: [
          ["x": "the united states"], ["x": "states united"], ["y": "united states"],
        ], forSoupNamed: "a")
      #expect(try await ids(store, "a", "x", #""united states""#) == [1])
      #expect(try await ids(store, "a", "x", "united states") == [1, 2])
      #expect(try await ids(store, "a", nil, #""united states""#) == [1, 3])
      #expect(try await ids(store, "a", "x", #"the "united states""#) == [1])
      #expect(try await ids(store, "a", "y", #"the "united states""#) == [])
      #expect(try await ids(store, "a", "x", #""united states" OR {a:y}:united"#) == [1, 3])
      #expect(try await ids(store, "a", "x", #"united NOT "united states""#) == [2])
    }
  }

  @Test(
    .covers("SS-164", "SS-165"),
    arguments: [
      #"{a:y}:"united states""#, #"the {a:y}:"united states""#, "{a:y}:(united states)",
      #"{a:y}: "united states""#, "{a:y} :united", "{a:y}:",
    ])
  func `FTS4 refuses to aim anything but a term from within the key`(key: String)
    async throws
  {
    try await withStore(options: SmartStoreOptions(fullTextVersion: .fts4)) { store async throws in
      try await store.registerSoup(
        withName: "a", withIndices: [SoupIndex]("x:full_text", "y:full_text"))
      try await store.upsert(entries: [["x": "the", "y": "united states"]], forSoupNamed: "a")
      for path in [nil, "x"] {
        await expectFailure(.invalidQuerySpec, "Invalid query spec") {
          _ = try await ids(store, "a", path, key)
        }
      }
    }
  }

  @Test(
    .covers("SS-165"),
    arguments: [
      "AND", "NOT cat", "\"open", "*", "cat AND", "(cat", "'", "'; drop table TABLE_1; --", "{",
      "{a",
      "{b:x}:cat", "{a:nope}:cat", "a:b:c", "cat NOT", "^", "\\", "cat')",
    ])
  func `a hostile key fails with the engine's words or finds nothing`(key: String)
    async throws
  {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex("x:full_text")])
      try await store.upsert(entries: [["x": "cat"]], forSoupNamed: "a")
      for path in [nil, "x"] {
        do {
          _ = try await ids(store, "a", path, key)
          Issue.record("\(key) was accepted")
        } catch let error as SmartStoreError {
          #expect(error.number == 999)
          #expect(error.code == .sql || error.code == .invalidReference, "\(error)")
        }
      }
      #expect(try await store.elements(of: "a").count == 1)
    }
  }

  @Test(
    .covers("SS-165"),
    arguments: ["AND", "\"open", "cat \"open", "cat AND", "(cat", "{", "{b:x}:cat"])
  func `a key that FTS4 cannot read fails and finds nothing`(key: String) async throws {
    try await withStore(options: SmartStoreOptions(fullTextVersion: .fts4)) { store async throws in
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex("x:full_text")])
      try await store.upsert(entries: [["x": "cat"]], forSoupNamed: "a")
      for path in [nil, "x"] {
        let error = await #expect(throws: SmartStoreError.self) {
          _ = try await ids(store, "a", path, key)
        }
        #expect(error?.code == .sql || error?.code == .invalidReference)
      }
    }
  }

  @Test(.covers("SS-124", "SS-165"))
  func `a quote in a phrase is data`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex("x:full_text")])
      try await store.upsert(entries: [["x": "o'brien {brace}"]], forSoupNamed: "a")
      #expect(try await ids(store, "a", "x", #""o'brien""#) == [1])
      #expect(try await ids(store, "a", "x", #""{brace}""#) == [1])
      let spec = try QuerySpec.buildMatchQuerySpec(
        soupName: "a", path: "x", matchKey: #""o'brien""#, pageSize: 9)
      #expect(spec.smartSql.contains(#"MATCH '{a:x}:"o''brien"'"#))
      #expect(try await store.query(spec.smartSql).count == 1)
      #expect(try await store.query(spec.countSmartSql) == [[1]])
      #expect(try await store.query(spec.idsSmartSql) == [[1]])
    }
  }

  @Test(.covers("SS-166"))
  func `an empty match key is refused`() async {
    for key in [nil, "", " \n"] {
      await expectFailure(.invalidQuerySpec, "Invalid query spec") {
        _ = try QuerySpec.buildMatchQuerySpec(soupName: "a", matchKey: key, pageSize: 9)
      }
    }
  }

  @Test(.covers("SS-169", "SS-170"))
  func `arrays are searched through their text, in the order asked for`()
    async throws
  {
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "a", withIndices: [SoupIndex]("attributes.color:full_text", "n:integer"))
      try await store.upsert(
        entries: [
          ["n": 1, "attributes": ["color": ["red", "dark green"]]],
          ["n": 2, "attributes": ["color": ["green"]]],
          ["n": 3, "attributes": [["color": "blue"], ["color": "green"]]],
        ], forSoupNamed: "a")
      let found = try await store.query(
        using: .buildMatchQuerySpec(
          soupName: "a", selectPaths: ["n"], path: "attributes.color", matchKey: "green",
          orderPath: "n", order: .descending, pageSize: 9))
      #expect(found == [[3], [2], [1]])
    }
  }

  @Test(.covers("SS-172"))
  func `a match reads the full-text index and the primary key`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex("x:full_text")])
      let spec = try QuerySpec.buildMatchQuerySpec(
        soupName: "a", path: "x", matchKey: "cat", pageSize: 9)
      let plan = try await store.plan(of: spec)
      #expect(plan.contains("VIRTUAL TABLE INDEX"))
      #expect(plan.contains("USING INTEGER PRIMARY KEY"))
    }
  }
}
