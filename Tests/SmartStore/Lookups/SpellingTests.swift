import SalesforceSDKCommon
import Testing

@testable import SmartStore
import TestSupport

/// The same value in two spellings is the same value to every index, and a name the same name.
@Suite struct SpellingTests {
  private func slices(_ texts: String...) throws -> [JSONSlice] {
    try texts.map { try JSONSlice(parsing: $0) }
  }

  private func exact(_ path: String, _ key: JSONValue) throws -> QuerySpec {
    try .buildExactQuerySpec(
      soupName: "s", path: path, matchKey: key, orderPath: "_soupEntryId", pageSize: 99)
  }

  private func ids(_ store: SmartStore, _ spec: QuerySpec) async throws -> [Int64?] {
    try await store.query(using: spec).map { $0["_soupEntryId"]?.int64 }
  }

  @Test(.covers("SS-97", "SS-99"), arguments: ["json1", "string", "full_text"])
  func `one external id under a name in any spelling is one entry`(
    type: String
  ) async throws {
    try await withStore { store async throws in
      for (path, elements) in [
        (
          "caf\u{e9}",
          try slices(#"{"caf\u00e9":"v"}"#, #"{"café":"v"}"#, #"{"caf\u00E9":"\u0076"}"#)
        ),
        ("x/y", try slices(#"{"x\/y":"v"}"#, #"{"x/y":"v"}"#, #"{"\u0078/y":"v"}"#)),
        (
          "o.a", try slices(#"{"\u006f":{"a":"v"}}"#, #"{"o":{"\u0061":"v"}}"#, #"{"o":{"a":"v"}}"#)
        ),
      ] {
        try await store.registerSoup(
          withName: "s", withIndices: [SoupIndex(path: path, type: .init(rawValue: type))])
        for element in elements {
          let id = try await store.upsert(slices: [element], soup: "s", externalIdPath: path)
          #expect(id == [1], "\(path)")
        }
        #expect(try await ids(store, exact(path, "v")) == [1])
        try await store.removeSoup("s")
      }
    }
  }

  @Test(.covers("SS-143"))
  func `a path without an index finds its member, whatever the name holds`()
    async throws
  {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex]("k:string"))
      for (path, element) in [
        ("café", #"{"caf\u00e9":5}"#), ("x/y", #"{"x\/y":5}"#), (#"a"b"#, #"{"a\"b":5}"#),
        (#""q""#, #"{"\"q\"":5}"#), (#"a\b"#, #"{"a\\b":5}"#), ("tab\t", #"{"tab\t":5}"#),
        ("\u{1}", #"{"\u0001":5}"#), ("a[b", #"{"a[b":5}"#), ("a[0]", #"{"a[0]":5,"a":[6]}"#),
        (#"o.a"b.c"#, #"{"o":{"a\"b":{"c":5}}}"#), ("o..c", #"{"o":{"":{"c":5}}}"#),
        ("it's", #"{"it's":5}"#), ("list[1].n", #"{"list":[{"n":4},{"n":5}]}"#),
      ] {
        try await store.clearSoup("s")
        let id = try await store.upsert(slices: slices(element), soup: "s")
        #expect(try await ids(store, exact(path, 5)) == id, "\(path)")
        #expect(
          try await store.query(
            using: .buildAllQuerySpec(
              soupName: "s", selectPaths: [path], orderPath: path, pageSize: 9)) == [[5]], "\(path)"
        )
        #expect(
          try await store.rows("select x.{s:\(path)} from {s} as x where {s:\(path)} > 4") == [[5]],
          "\(path)")
      }
    }
  }

  @Test func `a json1 index on a name that SQLite reads otherwise is refused`() async throws {
    try await withStore { store async throws in
      for path in ["a[0]", #""a""#, "a..b", #"a\b"#, "a\tb", #"a"b"#] {
        let index = SoupIndex(path: path, type: .json1)
        do {
          try await store.registerSoup(withName: "s", withIndices: [index])
          // Later versions of SQLite follow some of them.
          #expect(path.contains("b") && !path.contains(".."))
          try await store.upsert(entries: [[path: 1]], forSoupNamed: "s")
          #expect(try await ids(store, exact(path, 1)) == [1])
          try await store.removeSoup("s")
        } catch let error as SmartStoreError {
          #expect(error.code == .invalidIndexSpec)
          #expect(error.message.hasPrefix("Invalid index spec: json1 cannot follow"))
          #expect(try await !store.soupExists(forName: "s"))
        }
      }
    }
  }

  @Test(.covers("SS-99"))
  func `a NUL in a json1 external id does not end it`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex]("j:json1"))
      for (element, id) in [
        (#"{"j":"c\u0000b"}"#, 1), (#"{"j":"c"}"#, 2), (#"{"j":"c\u0000b","x":1}"#, 1),
        (#"{"j":"c\u0000"}"#, 3), (#"{"j":"\u0063","x":1}"#, 2), (#"{"j":["c"]}"#, 4),
        (#"{"j":["\u0063"]}"#, 4), (#"{"j":{"k":1.0}}"#, 5), (#"{"j":{"\u006b":1}}"#, 5),
      ] as [(String, Int64)] {
        #expect(
          try await store.upsert(slices: slices(element), soup: "s", externalIdPath: "j") == [id],
          "\(element)")
      }
      #expect(try await ids(store, exact("j", "c\0b")) == [1])
      #expect(try await ids(store, exact("j", ["c"])) == [4])
      #expect(
        try await store.lookupSoupEntryId(soupNamed: "s", fieldPath: "j", fieldValue: "c") == 2)
      #expect(
        try await store.lookupSoupEntryId(soupNamed: "s", fieldPath: "j", fieldValue: "c\0") == 3)
    }
  }

  @Test(.covers("SS-72", "SS-169"))
  func `arrays and objects are indexed without needless escapes`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "s", withIndices: [SoupIndex]("t:full_text", "u:string"))
      try await store.upsert(
        slices: slices(
          #"{"t": ["gr\u0065y", 1.50], "u": {"\u0063olour": "gr\u0065y\/\n\"blue\""}}"#), soup: "s")
      for spec in [
        try QuerySpec.buildMatchQuerySpec(soupName: "s", path: "t", matchKey: "grey", pageSize: 9),
        try .buildLikeQuerySpec(soupName: "s", path: "t", likeKey: "%grey%", pageSize: 9),
        try .buildLikeQuerySpec(
          soupName: "s", path: "u", likeKey: "%\"colour\":\"grey/%", pageSize: 9),
        try exact("t", ["grey", 1.5]), try exact("t", #"["grey",1.5]"#),
        try exact("u", ["colour": "grey/\n\"blue\""]),
      ] {
        #expect(try await ids(store, spec) == [1], "\(spec.json)")
      }
    }
  }

  @Test(.covers("SS-112"))
  func `an integer beyond 2^53 is found in a floating index`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex]("f:floating"))
      let number: JSONValue = 9_007_199_254_740_993
      try await store.upsert(entries: [["f": number]], forSoupNamed: "s")
      #expect(try await ids(store, exact("f", number)) == [1])
      #expect(
        try await ids(
          store,
          .buildRangeQuerySpec(
            soupName: "s", path: "f", beginKey: number, endKey: number, pageSize: 9))
          == [1])
      #expect(
        try await store.lookupSoupEntryId(soupNamed: "s", fieldPath: "f", fieldValue: number) == 1)
      let huge = try JSONValue(parsing: "1e400")
      #expect(
        try await ids(
          store, .buildRangeQuerySpec(soupName: "s", path: "f", endKey: huge, pageSize: 9))
          == [1])
      #expect(try await ids(store, exact("f", huge)) == [])
    }
  }

  @Test(
    .covers("SS-72", "SS-112"),
    arguments: [
      ["1e5", "100000", "100000.0", "1E+5", "1000.00e2"], ["1.50", "1.5", "15e-1"],
      ["-0", "0", "0.0", "0e9"], ["1e400", "10E399"],
      ["12345678901234567890", "1234567890123456789e1"],
      ["0.00001", "1e-5"], ["9007199254740993", "9007199254740993.0"],
    ])
  func `a number is one value in a string index in all its spellings`(
    spellings: [String]
  ) async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex]("n:string"))
      for spelling in spellings {
        #expect(
          try await store.upsert(
            slices: slices("{\"n\":\(spelling)}"), soup: "s", externalIdPath: "n") == [1])
        for key in spellings {
          #expect(
            try await ids(store, exact("n", JSONValue(parsing: key))) == [1], "\(spelling) \(key)")
        }
        // What is stored stays as it was written.
        let stored = try await store.retrieve(usingSoupEntryIds: [1], fromSoupNamed: "s")
        #expect(stored.first?["n"]?.description == spelling)
      }
    }
  }

  @Test(.covers("SS-79"))
  func `an array whose items give only null is null in an index`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex]("r.v:string"))
      try await store.upsert(
        slices: slices(
          #"{"r":[{"v":null}]}"#, #"{"r":[{"v":null},{},{"v":[]}]}"#,
          #"{"r":[[{"v":null}],{"v":1}]}"#,
          #"{"r":{"v":[null]}}"#), soup: "s")
      #expect(
        try await store.column("select {s:r.v} from {s} order by {s:_soupEntryId}") == [
          .null, "[[]]", "[1]", "[null]",
        ])
      await expectFailure(.externalIdMissing) {
        try await store.upsert(
          slices: slices(#"{"r":[{"v":null}]}"#), soup: "s", externalIdPath: "r.v")
      }
    }
  }

  @Test func `only names get another spelling when an entry is stored`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex]("a:json1", "a:string"))
      for (element, stored) in [
        (#"{ "a" : "\u0061", "n":1.50 }"#, #"{ "a" : "\u0061", "n":1.50 "#),
        (
          #"{ "\u0061" : "\u0061\/", "n":1.50 , "l":[ {"x\/":0 } , 1e2] }"#,
          #"{ "a" : "\u0061\/", "n":1.50 , "l":[ {"x/":0 } , 1e2] "#
        ),
        (#"{"a\"\u000A\u001f\\":[]}"#, #"{"a\"\n\u001f\\":[]"#),
        (#"{"\ud800":1,"\ud801":2}"#, #"{"\ud800":1,"\ud801":2"#),
        (#"{"a":1,"\u0061":2,"b":3}"#, #"{"a":2,"b":3"#),
      ] {
        try await store.clearSoup("s")
        let id = try await store.upsert(slices: slices(element), soup: "s")
        let text = try await store.retrieve(
          usingSoupEntryIds: id.map(\.self), fromSoupNamed: "s")[0].description
        #expect(text.hasPrefix(stored + ",\"_soupEntryId\""), "\(text)")
        #expect(try await store.verify().isClean)
        let row = try await store.rows("select json_extract(soup, '$.a'), TABLE_1_1 from TABLE_1")[
          0]
        #expect(row[0].string ?? row[0].int64.map { "\($0)" } == row[1].string, "\(text)")
      }
    }
  }

  @Test func `entries and values that an older version wrote are named and repaired`()
    async throws
  {
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "s", withIndices: [SoupIndex]("caf\u{e9}:json1", "n:string", "t:full_text"))
      try await store.upsert(
        slices: slices(#"{"café":"v","n":1.50,"t":["gr\u0065y"]}"#), soup: "s")
      try await store.unsafelyExecute(
        #"""
        UPDATE TABLE_1 SET soup = replace(soup, 'é', '\u00e9'), TABLE_1_1 = '1.50',
          TABLE_1_2 = '["gr\u0065y"]';
        INSERT OR REPLACE INTO TABLE_1_fts (rowid, TABLE_1_2) VALUES (1, '["gr\u0065y"]');
        """#)
      #expect(try await ids(store, exact("caf\u{e9}", "v")) == [])
      let findings = try await store.verify().findings
      #expect(findings.map(\.kind) == [.notIndexed, .notIndexed, .notIndexed], "\(findings)")
      #expect(findings.allSatisfy { $0.detail.contains("reIndexSoup") })
      try await store.reIndexSoup(named: "s", indexPaths: ["caf\u{e9}"])
      #expect(try await ids(store, exact("caf\u{e9}", "v")) == [1])
      try await store.reIndexSoup(named: "s", indexPaths: ["n", "t"])
      #expect(try await store.verify().isClean)
      #expect(try await ids(store, exact("n", 1.5)) == [1])
    }
  }

  @Test(.covers("SS-58"))
  func `soups are listed in the order of their bytes`() async throws {
    try await withStore { store async throws in
      for name in ["z", "\u{e9}", "e\u{301}", "ez", "f"] {
        try await store.registerSoup(withName: name, withIndices: [SoupIndex]("k:string"))
      }
      let names = try await store.allSoupNames().map { Array($0.utf8) }
      #expect(names == ["ez", "e\u{301}", "f", "z", "\u{e9}"].map { Array($0.utf8) })
    }
  }
}
