import Foundation
import SalesforceSDKCommon
@testable import SmartStore
import Testing
import TestSupport

/// What the indexes keep of a value.
@Suite struct IndexTests {
  /// What columns of each type keep of one element's value at path `v`.
  private func kept(_ value: JSONValue, path: String = "v") async throws -> [JSONValue] {
    var result: [JSONValue] = []
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "a",
        withIndices: [.string, .integer, .floating, .json1].map { SoupIndex(path: path, type: $0) }
      )
      try await store.upsert(entries: [["v": value]], forSoupNamed: "a")
      result = try await store.rows(
        "select TABLE_1_0, TABLE_1_1, TABLE_1_2, json_extract(soup, '$.v') from TABLE_1")[0]
    }
    return result
  }

  @Test(
    .covers("SS-70", "SS-71", "SS-72", "SS-74"),
    arguments: [
      (#""text""#, #"["text",null,null,"text"]"#), ("4", #"["4",4,4.0,4]"#),
      ("4.9", #"["4.9",4,4.9,4.9]"#), ("-4.9", #"["-4.9",-4,-4.9,-4.9]"#),
      ("1.50", #"["1.5",1,1.5,1.5]"#), ("true", #"["1",1,1.0,1]"#), ("false", #"["0",0,0.0,0]"#),
      ("null", "[null,null,null,null]"),
      (#"["grey",1]"#, #"["[\"grey\",1]",null,null,"[\"grey\",1]"]"#),
      (#"{"b":1,"a":null}"#, #"["{\"b\":1,\"a\":null}",null,null,"{\"b\":1,\"a\":null}"]"#),
      (
        "9223372036854775807",
        #"["9223372036854775807",9223372036854775807,9.223372036854776e18,9223372036854775807]"#
      ),
      (#""""#, #"["",null,null,""]"#),
      (#""Å\u0001 🐘\\ \"q\"""#, #"["Å\u0001 🐘\\ \"q\"",null,null,"Å\u0001 🐘\\ \"q\""]"#),
    ])
  func `each type keeps its form of a value`(
    value: String, kept: String
  ) async throws {
    #expect(try await self.kept(json(value)) == json(kept).array)
  }

  @Test(.covers("SS-70"))
  func `integers round-trip exactly and doubles out of range saturate`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex]("n:integer"))
      try await store.upsert(
        slices: ["-9223372036854775808", "9223372036854775807", "1e300", "-1e300", "1e2"].map {
          try JSONSlice(parsing: "{\"n\":\($0)}")
        }, soup: "a")
      #expect(
        try await store.column("select {a:n} from {a} order by {a:_soupEntryId}") == [
          .integer(.min), .integer(.max), .integer(.max), .integer(.min), 100,
        ])
    }
  }

  @Test(.covers("SS-71"))
  func `the smallest and largest doubles round-trip`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex]("f:floating", "j:json1"))
      let values: [Double] = [
        .leastNonzeroMagnitude, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, 0.1,
      ]
      try await store.upsert(
        entries: values.map { ["f": .double($0), "j": .double($0)] }, forSoupNamed: "a")
      #expect(
        try await store.column("select {a:f} from {a} order by {a:_soupEntryId}")
          == values.map { .double($0) })
    }
  }

  @Test(.covers("SS-112", "SS-125"))
  func `a key with a fraction finds its own value, and no integers that lost theirs`()
    async throws
  {
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "a", withIndices: [SoupIndex]("i:integer", "f:floating", "s:string", "j:json1"))
      try await store.upsert(
        entries: ([5, 5.5, 1e300] as [JSONValue]).map { ["i": $0, "f": $0, "s": $0, "j": $0] },
        forSoupNamed: "a")
      func count(_ path: String, _ key: JSONValue) async throws -> Int64 {
        try await store.count(
          using: .buildExactQuerySpec(soupName: "a", path: path, matchKey: key, pageSize: 9))
      }
      for key in [5.5, 1e300] as [JSONValue] {
        for path in ["i", "f", "s", "j"] { #expect(try await count(path, key) == 1, "\(path)") }
      }
      #expect(try await count("i", 5) == 2)
    }
  }

  @Test(.covers("SS-72"))
  func `every control character survives in one value`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex]("s:string"))
      let text = String(String.UnicodeScalarView((1...127).compactMap { Unicode.Scalar($0) }))
      try await store.upsert(entries: [["s": .string(text)]], forSoupNamed: "a")
      #expect(try await store.rows("select {a:s}, {a:_soup} from {a}")[0][0] == .string(text))
      let found = try await store.query(
        using: .buildExactQuerySpec(
          soupName: "a", path: "s", matchKey: .string(text), pageSize: 1))
      #expect(found.first?["s"] == .string(text))
    }
  }

  @Test(.covers("SS-72"))
  func `numbers in a string index sort as text`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex]("n:string", "c:string"))
      try await store.upsert(
        entries: [["n": 900_000, "c": ["grey"]], ["n": 1_500_000, "c": ["greyish", "blue"]]],
        forSoupNamed: "a")
      #expect(
        try await store.column("select {a:n} from {a} order by {a:n}") == ["1500000", "900000"])
      #expect(
        try await store.count(
          using: .buildLikeQuerySpec(soupName: "a", path: "c", likeKey: "%grey%", pageSize: 9)) == 2
      )
      #expect(
        try await store.count(
          using: .buildExactQuerySpec(
            soupName: "a", path: "c", matchKey: #"["grey"]"#, pageSize: 9)) == 1)
    }
  }

  @Test(
    .covers("SS-75", "SS-76", "SS-77"),
    arguments: [
      ("t", #""x""#), ("n", "4"), ("l", "[7,8]"), ("o", #"{"s":"y","l":[9],"m":{"k":1}}"#),
      ("o.s", #""y""#), ("o.l", "[9]"), ("o.m", #"{"k":1}"#), ("o.m.k", "1"), ("o.z", nil),
      ("r.v", #"["p",3,[4,5],{"w":6}]"#), ("r.v.w", "[6]"),
      ("q.u", #"[[{"z":1},{"z":2}],[{"z":3}],[{"z":4},{"y":5}]]"#), ("q.u.z", "[[1,2],[3],[4]]"),
      ("q.u.y", "[[5]]"), ("q.u.x", nil),
    ])
  func `an index keeps what its path leads to`(
    path: String, expected: String?
  ) async throws {
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "a", withIndices: [SoupIndex(path: path, type: .string)])
      try await store.upsert(
        slices: [
          JSONSlice(
            parsing: """
              {"t":"x", "n":4, "l":[7, 8], "o":{"s":"y","l":[9],"m":{"k":1}},
               "r":[{"v":"p"},{"v":3},{"v":[4,5]},{},{"v":{"w":6}}],
               "q":[{"u":[{"z":1},{"z":2}]},{"u":[{"z":3}]},{"u":[{"z":4},{"y":5}]}]}
              """)
        ], soup: "a")
      let kept = try await store.column("select TABLE_1_0 from TABLE_1")
      let text = expected.flatMap { $0.hasPrefix("\"") ? String($0.dropFirst().dropLast()) : $0 }
      #expect(kept == [text.map { .string($0) } ?? .null])
    }
  }

  @Test(
    .covers("SS-78"),
    arguments: [
      (#"{"a":{"b":{"c":1}}}"#, "1"), (#"{"a":{"b":{"c":[1,2,3]}}}"#, "[1,2,3]"),
      (#"{"a":{"b":[{"c":1},{"d":0},{"c":2}]}}"#, "[1,2]"),
      (#"{"a":[{"b":{"c":0}},{"b":[{"c":1},{"c":2}]}]}"#, "[0,[1,2]]"),
    ])
  func `the guide's table of paths through arrays`(element: String, kept: String)
    async throws
  {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex]("a.b.c:string"))
      try await store.upsert(entries: [json(element)], forSoupNamed: "a")
      #expect(try await store.column("select {a:a.b.c} from {a}") == [.string(kept)])
    }
  }

  @Test(.covers("SS-74"))
  func `json1 cannot look into arrays`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex]("r.v:json1"))
      try await store.upsert(entries: [["r": [["v": 1]]], ["r": ["v": 2]]], forSoupNamed: "a")
      #expect(try await store.column("select {a:r.v} from {a}") == [.null, 2])
    }
  }

  @Test(.covers("SS-79", "SS-159"))
  func `null and missing are both null and an empty string is neither`()
    async throws
  {
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "a", withIndices: [SoupIndex]("k:string", "v:string", "w:json1"))
      let entries: [JSONValue] = [
        ["k": "null", "v": nil, "w": nil], ["k": "missing"], ["k": "empty", "v": "", "w": ""],
      ]
      let saved = try await store.upsert(entries: entries, forSoupNamed: "a")
      #expect(saved[0]["v"] == .null)
      #expect(saved[1]["v"] == nil)
      for path in ["v", "w", "x"] {
        let isNull = try await store.column(
          "select {a:k} from {a} where {a:\(path)} is null order by 1")
        #expect(isNull == (path == "x" ? ["empty", "missing", "null"] : ["missing", "null"]))
        let isEmpty = try await store.column(
          "select {a:k} from {a} where {a:\(path)} = \"\" order by 1")
        #expect(isEmpty == (path == "x" ? [] : ["empty"]))
      }
      #expect(
        try await store.rows("select {a:v}, {a:v}, {a:k} from {a} where {a:k} = 'null'") == [
          [.null, .null, "null"]
        ])
      let stored = try await store.retrieve(usingSoupEntryIds: [1], fromSoupNamed: "a")
      #expect(stored.first?["v"]?.isNull == true)
    }
  }

  @Test(.covers("SS-80", "SS-171"))
  func `indexes follow insert, update, delete and clear`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "a", withIndices: [SoupIndex]("t:full_text", "n:integer"))
      func found(_ word: String) async throws -> [JSONValue] {
        try await store.query(
          using: .buildMatchQuerySpec(
            soupName: "a", selectPaths: ["n"], path: "t", matchKey: word, pageSize: 9)
        ).compactMap { $0[0] }
      }
      try await store.upsert(
        entries: [["t": "cat", "n": 1], ["t": "dog", "n": 2]], forSoupNamed: "a")
      #expect(try await found("cat") == [1])
      try await store.update(entry: ["t": "bird", "n": 3], withSoupEntryId: 1, inSoupNamed: "a")
      #expect(try await found("cat") == [])
      #expect(try await found("bird") == [3])
      try await store.unsafelyExecute("DELETE FROM TABLE_1_fts WHERE rowid = 2")
      try await store.update(entry: ["t": "fish", "n": 4], withSoupEntryId: 2, inSoupNamed: "a")
      #expect(try await found("fish") == [4])
      try await store.remove(entryIds: [1], forSoupNamed: "a")
      #expect(try await found("bird") == [])
      try await store.clearSoup("a")
      #expect(try await found("fish") == [])
      #expect(try await store.column("select count(*) from TABLE_1_fts") == [0])
    }
  }

  @Test(.covers("SS-81"))
  func `entries without an indexed member are stored and found otherwise`()
    async throws
  {
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "a", withIndices: [SoupIndex]("k:string", "v:full_text"))
      try await store.upsert(entries: [["k": "x"]], forSoupNamed: "a")
      let page = 9
      #expect(
        try await store.count(
          using: .buildExactQuerySpec(soupName: "a", path: "k", matchKey: "x", pageSize: page)) == 1
      )
      #expect(
        try await store.count(
          using: .buildAllQuerySpec(soupName: "a", orderPath: "v", pageSize: page)) == 1)
      for spec in [
        try QuerySpec.buildExactQuerySpec(soupName: "a", path: "v", matchKey: "", pageSize: page),
        try QuerySpec.buildLikeQuerySpec(soupName: "a", path: "v", likeKey: "%", pageSize: page),
        try QuerySpec.buildRangeQuerySpec(soupName: "a", path: "v", beginKey: "", pageSize: page),
        try QuerySpec.buildMatchQuerySpec(soupName: "a", path: "v", matchKey: "x*", pageSize: page),
      ] {
        #expect(try await store.count(using: spec) == 0)
      }
    }
  }

  @Test(.covers("SS-82"))
  func `of two specs for one path the last counts and full_text matches`()
    async throws
  {
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "a", withIndices: [SoupIndex]("v:full_text", "v:string"))
      try await store.upsert(entries: [["v": "one two"]], forSoupNamed: "a")
      #expect(try await store.rows("select TABLE_1_0, TABLE_1_1, {a:v} from {a}")[0].count == 3)
      let plan = try await store.inTransaction { transaction in
        transaction.access.catalog.soup(named: "a")?.expression(forPath: "v")
      }
      #expect(plan == "TABLE_1_1")
      #expect(
        try await store.count(
          using: .buildMatchQuerySpec(soupName: "a", path: "v", matchKey: "two", pageSize: 9)) == 1)
    }
  }

  @Test(.covers("SS-83"))
  func `ISO texts order as dates do`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex]("d:string"))
      try await store.upsert(
        entries: ["2024-02-29", "2023-12-31", "2024-03-01"].map {
          ["d": .string("\($0)T00:00:00.000Z")]
        }, forSoupNamed: "a")
      let found = try await store.query(
        using: .buildRangeQuerySpec(
          soupName: "a", path: "d", beginKey: "2024", endKey: "2025", orderPath: "d", pageSize: 9))
      #expect(found.map { $0["d"]?.string?.prefix(10) } == ["2024-02-29", "2024-03-01"])
    }
  }

  @Test(.covers("SS-84"))
  func `reserved paths keep their meaning when they are registered`() async throws {
    let clock = TestClock()
    try await withStore(options: SmartStoreOptions(now: { clock.now })) { store async throws in
      try await store.registerSoup(
        withName: "a",
        withIndices: [SoupIndex](
          "_soup:string", "_soupEntryId:integer", "_soupLastModifiedDate:integer",
          "_soupCreatedDate:integer"))
      try await store.upsert(
        entries: [["_soupEntryId": 77, "_soupLastModifiedDate": 5, "x": 1]], forSoupNamed: "a")
      let row = try await store.rows(
        """
        select {a:_soupEntryId}, {a:_soupLastModifiedDate}, {a:_soupCreatedDate}, {a:_soup}, \
        TABLE_1_1, TABLE_1_2 from {a}
        """)[0]
      #expect(row[0] == 1)
      #expect(row[1] == .integer(clock.now))
      #expect(row[2] == .integer(clock.now))
      #expect(row[3]["x"] == 1)
      #expect(row[4...] == [1, .integer(clock.now)])
    }
  }
}
