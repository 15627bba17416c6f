import Foundation
import SalesforceSDKCommon
import Testing

@testable import SmartStore
import TestSupport

/// Writing elements.
@Suite struct UpsertTests {
  private let specs = [SoupIndex]("key:string", "n:integer", "f:floating", "j:json1", "t:full_text")

  @Test(.covers("SS-89", "SS-90", "SS-95"))
  func `the store writes its own members and columns`() async throws {
    let clock = TestClock()
    try await withStore(options: SmartStoreOptions(now: { clock.now })) { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specs)
      let created = clock.now
      let saved = try await store.upsert(
        entries: [["key": "x", "_soupLastModifiedDate": 1, "_soupEntryId": nil]], forSoupNamed: "a")
      #expect(
        saved == [["key": "x", "_soupEntryId": 1, "_soupLastModifiedDate": .integer(created)]])
      clock.advance()
      try await store.upsert(entries: saved, forSoupNamed: "a")
      #expect(
        try await store.rows("select id, created, lastModified, soup from TABLE_1") == [
          [
            1, .integer(created), .integer(clock.now),
            ["key": "x", "_soupEntryId": 1, "_soupLastModifiedDate": .integer(clock.now)],
          ]
        ])
      #expect(SmartStore.date(lastModifiedValue: 1500) == Date(timeIntervalSince1970: 1.5))
    }
  }

  @Test(.covers("SS-91"))
  func `everything else comes back as it was`() async throws {
    let text = """
      {"int":9223372036854775807,"neg":-9223372036854775808,"f":1.10,"big":123456789012345678901234567890, \
      "e":1E5,"n":null,"t":true,"deep":{"a":[1,{"b":[]},null,"x"]},"s":"a/b\\/c \\u0041 \\"q\\" \\n 🐘",\
      "":"empty key","it's":"quote","__local__":false}
      """
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specs)
      try await store.upsert(slices: [JSONSlice(parsing: text)], soup: "a")
      let stored = try await store.retrieve(usingSoupEntryIds: [1], fromSoupNamed: "a")[0]
      #expect(stored.description.hasPrefix(text.dropLast()))
      let saved = try await store.upsert(entries: [json(text)], forSoupNamed: "a")[0]
      var expected = try json(text)
      expected["_soupEntryId"] = 2
      expected["_soupLastModifiedDate"] = saved["_soupLastModifiedDate"]
      #expect(saved == expected)
      #expect(
        try await store.retrieve(usingSoupEntryIds: [2], fromSoupNamed: "a")[0].value == expected)
    }
  }

  @Test(
    .covers("SS-89"),
    arguments: ["{}", "{ }", #"{"a":1}"#, #" { "a" : 1 } "#, #"{"_soupEntryId":null}"#])
  func `the smallest entries are stored as JSON`(text: String) async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specs)
      try await store.upsert(
        slices: [JSONSlice(parsing: text)], setting: [("__local__", true)], soup: "a")
      let stored = try await store.retrieve(usingSoupEntryIds: [1], fromSoupNamed: "a")[0]
      #expect(stored["_soupEntryId"]?.int64 == 1)
      #expect(stored["__local__"]?.bool == true)
      #expect(try JSONSlice(parsing: stored.description) == stored)
    }
  }

  private var specsWithoutFullText: [SoupIndex] { specs.filter { $0.type != .fullText } }

  @Test(.covers("SS-89"), arguments: [true, false])
  func `many entries at once are stored as they would be one by one`(
    hasFullText: Bool
  ) async throws {
    let specs = hasFullText ? specs : specsWithoutFullText
    // Enough for several statements of many rows, some left over, and texts too large for such a statement.
    let slices = try (0..<83).map { number in
      let filling = String(repeating: "x", count: number / 16 == 2 ? 20_000 : number)
      return try JSONSlice(
        parsing:
          #"{"key":"k\#(number)","n":\#(number % 7),"t":"word\#(number % 5)","filling":"\#(filling)"}"#
      )
    }
    var queries = ["select * from TABLE_1 order by id"]
    if hasFullText {
      queries += [
        "select rowid, * from TABLE_1_fts order by rowid",
        "select rowid from TABLE_1_fts where TABLE_1_fts match 'word3'",
      ]
    }
    func rows(_ write: @Sendable (borrowing StoreTransaction) throws -> [Int64]) async throws
      -> [[[JSONValue]]]
    {
      var all: [[[JSONValue]]] = []
      try await withStore(options: SmartStoreOptions(now: { 1500 })) { store async throws in
        try await store.registerSoup(withName: "a", withIndices: specs)
        let ids = try await store.inTransaction { try write($0) }
        #expect(ids == Array(1...83))
        for query in queries { all.append(try await store.rows(query)) }
        let report = try await store.verify()
        #expect(report.isClean, "\(report.findings)")
      }
      return all
    }
    let together = try await rows { try $0.upsert(slices: slices, soup: "a") }
    let alone = try await rows { transaction in
      try slices.flatMap { try transaction.upsert(slices: [$0], soup: "a") }
    }
    #expect(together == alone)
    #expect(together[0].count == 83)
    #expect(together.last?.count == (hasFullText ? 16 : 83))
  }

  @Test(.covers("SS-96", "SS-101"))
  func `new entries and known ones are written in their order`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specsWithoutFullText)
      var texts = (0..<50).map { #"{"n":\#($0)}"# }
      // The first names the id that the element before it gets, the other one that there is not.
      texts[40] = #"{"n":40,"_soupEntryId":40}"#
      texts[45] = #"{"n":45,"_soupEntryId":999}"#
      let slices = try texts.map { try JSONSlice(parsing: $0) }
      try await store.inTransaction { transaction in
        let ids = try transaction.upsert(slices: slices, soup: "a")
        #expect(ids == Array(1...40) + [40] + Array(41...49))
        // A savepoint that fails takes its elements and its ids back, and nothing else.
        let wrong = try slices + [JSONSlice(parsing: "[1]")]
        #expect(throws: SmartStoreError.self) {
          try transaction.upsert(slices: wrong, soup: "a")
        }
        #expect(try transaction.upsert(slices: [slices[0]], soup: "a") == [50])
      }
      let numbers = try await store.column("select {a:n} from {a} order by {a:_soupEntryId}")
      #expect(numbers == (Array(0...38) + Array(40...49) + [0]).map { .integer($0) })
    }
  }

  @Test func `a batch is one segment of the full-text index, however many entries it has`()
    async throws
  {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specs)
      let slices = try (0..<83).map { try JSONSlice(parsing: #"{"t":"word\#($0)"}"#) }
      try await store.upsert(slices: slices, soup: "a")
      #expect(try await store.column("select count(distinct segid) from TABLE_1_fts_idx") == [1])
    }
  }

  @Test(.covers("SS-101"), arguments: [0, 15, 16, 35])
  func `of many entries with a wrong one among them none is stored`(wrong: Int) async throws {
    var texts = (0..<36).map { #"{"key":"\#($0)"}"# }
    texts[wrong] = "[1]"
    let slices = try texts.map { try JSONSlice(parsing: $0) }
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specsWithoutFullText)
      await #expect(throws: SmartStoreError.self) {
        try await store.upsert(slices: slices, soup: "a")
      }
      // What is appended is looked at when it is its turn, behind those that are written.
      try await store.bulkLoad(intoSoupNamed: "a") { load in
        await #expect(throws: SmartStoreError.self) { try await load.append(slices) }
      }
      #expect(try await store.column("select count(*) from TABLE_1") == [0])
      let ids = try await store.upsert(slices: [JSONSlice(parsing: "{}")], soup: "a")
      #expect(ids == [1])
    }
  }

  @Test(.covers("SS-92", "SS-106"))
  func `ids are never used twice`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specs)
      func add() async throws -> JSONValue? {
        try await store.upsert(entries: [["key": "x"]], forSoupNamed: "a")[0]["_soupEntryId"]
      }
      #expect(try await add() == 1)
      #expect(try await add() == 2)
      try await store.remove(entryIds: [2], forSoupNamed: "a")
      #expect(try await add() == 3)
      try await store.clearSoup("a")
      #expect(try await add() == 4)
      try await store.unsafelyExecute("UPDATE sqlite_sequence SET seq = 5000000000")
      #expect(try await add() == 5_000_000_001)
      #expect(
        try await store.lookupSoupEntryId(
          soupNamed: "a", fieldPath: "_soupEntryId", fieldValue: 5_000_000_001)
          == 5_000_000_001)
    }
  }

  @Test(.covers("SS-93.2", "SS-94"))
  func `sync flags are plain data and true is found as 1`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex]("__local__:string"))
      let saved = try await store.upsert(
        entries: [["__local__": true, "__last_error__": "e"], ["__local__": false]],
        forSoupNamed: "a")
      #expect(saved[0]["__last_error__"] == "e")
      #expect(
        try await store.column("select {a:_soupEntryId} from {a} where {a:__local__} = '1'") == [1])
      let byBool = try await store.query(
        using: .buildExactQuerySpec(
          soupName: "a", path: "__local__", matchKey: true, pageSize: 9))
      #expect(byBool.map { $0["_soupEntryId"] } == [1])
    }
  }

  @Test(.covers("SS-96"))
  func `a known id is replaced, an unknown one inserted under a new id`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specs)
      try await store.upsert(entries: [["key": "x", "n": 1, "extra": 1]], forSoupNamed: "a")
      let saved = try await store.upsert(
        entries: [
          ["key": "y", "_soupEntryId": 1], ["key": "z", "_soupEntryId": 99],
          ["key": "w", "_soupEntryId": "1"], ["key": "v", "_soupEntryId": 2.0],
        ], forSoupNamed: "a")
      #expect(saved.map { $0["_soupEntryId"] } == [1, 2, 1, 2])
      let stored = try await store.elements(of: "a")
      #expect(stored.map { $0["key"] } == ["w", "v"])
      #expect(stored[0]["extra"] == nil)
      #expect(try await store.column("select {a:n} from {a}") == [.null, .null])
      for id: JSONValue in [true, 1.5, "one", [1], [:]] {
        await expectFailure(.invalidEntry, "Invalid entry") {
          try await store.upsert(entries: [["_soupEntryId": id]], forSoupNamed: "a")
        }
      }
    }
  }

  @Test(.covers("SS-100"))
  func `a later entry of a batch sees the earlier ones`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specs)
      let saved = try await store.upsert(
        entries: [["key": "x", "n": 1], ["key": "x", "n": 2]], forSoupNamed: "a",
        withExternalIdPath: "key")
      #expect(saved.map { $0["_soupEntryId"] } == [1, 1])
      #expect(try await store.elements(of: "a").map { $0["n"] } == [2])
    }
  }

  @Test(.covers("SS-101", "SS-104"))
  func `a batch is written completely or not at all`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specs)
      try await store.upsert(entries: [["key": "old", "t": "cat"]], forSoupNamed: "a")
      let before = try await store.elements(of: "a")
      let bad: [JSONValue] = [
        .double(.nan), .double(.infinity), "text", 1, nil, [1], ["n": .double(.nan)],
      ]
      for entry in bad {
        await expectFailure(.invalidEntry, "Invalid entry") {
          try await store.upsert(
            entries: [["_soupEntryId": 1, "key": "new"], ["key": "x", "t": "cat"], entry],
            forSoupNamed: "a")
        }
      }
      #expect(try await store.elements(of: "a") == before)
      #expect(try await store.column("select count(*) from TABLE_1_fts") == [1])
      await expectFailure(.invalidEntry, "Invalid entry") {
        try await store.upsert(
          slices: [JSONSlice(parsing: "{}"), JSONSlice(parsing: "[]")], soup: "a")
      }
      #expect(try await store.elements(of: "a") == before)
    }
  }

  @Test(.covers("SS-102"))
  func `the result has the order and count of the input`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specs)
      #expect(try await store.upsert(entries: [], forSoupNamed: "a") == [])
      let entries: [JSONValue] = (0..<50).map { ["n": $0 % 2 == 0 ? 1 : 2, "key": .integer($0)] }
      let saved = try await store.upsert(entries: entries, forSoupNamed: "a")
      #expect(saved.map { $0["key"] } == entries.map { $0["key"] })
      #expect(entries[0]["_soupEntryId"] == nil)
      let stored = try await store.retrieve(
        usingSoupEntryIds: saved.compactMap { $0["_soupEntryId"]?.int64 }, fromSoupNamed: "a")
      #expect(stored.map(\.value) == saved)
    }
  }

  @Test(.covers("SS-103"))
  func `an unknown soup fails, for empty input too`() async throws {
    try await withStore { store async throws in
      for entries: [JSONValue] in [[], [["x": 1]]] {
        let error = await expectFailure(.unknownSoup, "Soup: nope does not exist") {
          try await store.upsert(entries: entries, forSoupNamed: "nope")
        }
        #expect(error?.number == 999)
        #expect(error?.domain == "com.salesforce.smartstore.error")
      }
      await expectFailure(.unknownSoup, "Soup: nope does not exist") {
        try await store.upsert(slices: [], soup: "nope")
      }
    }
  }

  @Test(.covers("SS-105"))
  func `create always inserts and update needs the entry`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specs)
      let one = try await store.create(entry: ["key": "x"], inSoupNamed: "a")
      let two = try await store.create(entry: one, inSoupNamed: "a")
      #expect(two["_soupEntryId"] == 2)
      let new = try await store.update(entry: ["key": "y"], withSoupEntryId: 2, inSoupNamed: "a")
      #expect(new["_soupEntryId"] == 2)
      await expectFailure(.noSuchEntry, "No such entry") {
        try await store.update(entry: ["key": "z"], withSoupEntryId: 3, inSoupNamed: "a")
      }
      #expect(try await store.elements(of: "a").map { $0["key"] } == ["x", "y"])
      for soup in ["b"] {
        await expectFailure(.unknownSoup) { try await store.create(entry: [:], inSoupNamed: soup) }
        await expectFailure(.unknownSoup) {
          try await store.update(entry: [:], withSoupEntryId: 1, inSoupNamed: soup)
        }
      }
    }
  }

  @Test(.covers("SS-107"))
  func `an entry of several megabytes is stored intact`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specs)
      let entry = JSONValue.object(
        JSONObject(
          (0..<5).map { index in
            (key: "m\(index)", value: .string(String(repeating: "\(index)é", count: 200_000)))
          }))
      try await store.upsert(entries: [entry], forSoupNamed: "a")
      var stored = try await store.retrieve(usingSoupEntryIds: [1], fromSoupNamed: "a")[0].value
      stored["_soupEntryId"] = nil
      stored["_soupLastModifiedDate"] = nil
      #expect(stored == entry)
    }
  }

  @Test func `members of a whole batch are set, removed and indexed`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "a",
        withIndices: [SoupIndex](
          "__local__:string", "Id:string", "attributes.type:string", "s.x:json1"))
      let page = try JSONSlice(
        parsing: """
          [{"attributes":{"type":"Account"},"Id":"1","Name":"_a"},
           {"Id":"2","__local__":true,"s":{"x":1},"attributes":{"type":"Account"}}]
          """)
      let ids = try await store.upsert(
        slices: Array(page.elements),
        setting: [("__local__", false), ("s", ["x": 5]), ("__local__", nil), ("__local__", true)],
        removing: ["attributes", "s"], soup: "a", externalIdPath: "Id", durability: .normal)
      #expect(ids == [1, 2])
      #expect(
        try await store.rows("select {a:__local__}, {a:attributes.type}, {a:s.x} from {a}") == [
          ["1", .null, 5], ["1", .null, 5],
        ])
      for element in try await store.elements(of: "a") {
        #expect(element["attributes"] == nil)
        #expect(element["__local__"] == true)
        #expect(element["s"] == ["x": 5])
      }
    }
  }
}
