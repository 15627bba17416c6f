import SalesforceSDKCommon
import Testing

@testable import SmartStore
import TestSupport

/// A key finds the entries that hold the equal value, whatever the index of the path and the spelling of both.
@Suite struct EqualityTests {
  /// Values in several spellings; those in a row are equal.
  private static let values: [[String]] = [
    ["1", "1.0", "1e0", "10e-1"], ["-1.5", "-15e-1"], ["1.5", "1.50"], ["0.1"], ["0", "-0", "0.0"],
    ["9007199254740992", "9007199254740992.0"], ["9007199254740993", "9007199254740993.0"],
    ["9223372036854775807"], ["9223372036854775808", "9.223372036854775808e18"],
    ["1e19", "10000000000000000000"], ["-1e19"], [#""ab""#, #""\u0061b""#], [#""ab\u0000c""#],
    [#""""#], [#""\ufffd""#], [#""é""#], [#"["q"]"#, #"[ "q" ]"#], [#"{"a":1.0}"#, #"{"a":1}"#],
  ]

  private static let types = ["string", "integer", "floating", "json1", "none"]

  /// Whether an index of a type holds such a value at all.
  private static func holds(_ type: String, _ text: String) -> Bool {
    let isNumber = text.first.map { $0 == "-" || $0.isNumber } ?? false
    return isNumber || type != "integer" && type != "floating"
  }

  @Test(.covers("SS-99", "SS-112", "SS-125"), arguments: types)
  func `each value is found by each spelling of it, and by no other value`(
    type: String
  ) async throws {
    try await withStore { store async throws in
      let indexes = type == "none" ? "other:string" : "v:\(type)"
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex](indexes))
      var rows: [(text: String, value: Int)] = []
      for (number, spellings) in Self.values.enumerated() {
        for text in spellings where Self.holds(type, text) { rows.append((text, number)) }
      }
      try await store.upsert(
        slices: rows.map { try JSONSlice(parsing: #"{"v":\#($0.text)}"#) }, soup: "s")
      for key in rows {
        let value = try JSONValue(parsing: key.text)
        let spec = try QuerySpec.buildExactQuerySpec(
          soupName: "s", selectPaths: ["_soupEntryId"], path: "v", matchKey: value,
          orderPath: "_soupEntryId", pageSize: 99)
        let found = try await store.query(using: spec).compactMap { $0[0]?.int64 }
        let expected = rows.indices.filter { position in
          let isWhole = value.keyKind == .plain
          // An integer index shows -1.5 and 1.5 as whole numbers.
          return rows[position].value == key.value
            || type == "integer" && isWhole && Self.cut(rows[position].text) == value.int64
        }.map { Int64($0 + 1) }
        #expect(found == expected, "\(type): \(key.text)")
        #expect(try await store.count(using: spec) == Int64(expected.count))
      }
    }
  }

  /// The whole number that an integer index has for a fraction.
  private static func cut(_ text: String) -> Int64? {
    switch text {
    case "1.5", "1.50": 1
    case "-1.5", "-15e-1": -1
    case "0.1": 0
    default: nil
    }
  }

  @Test(.covers("SS-126"), arguments: types)
  func `a range has the numbers between its ends, whatever their spelling`(
    type: String
  ) async throws {
    let numbers = [
      "-1e19", "-1.5", "0", "0.1", "1", "1.5", "9007199254740992", "9007199254740993.0",
      "9223372036854775807", "1e19",
    ]
    // Text is in the order of its letters.
    guard type != "string" else { return }
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "s", withIndices: [SoupIndex](type == "none" ? "other:string" : "v:\(type)"))
      try await store.upsert(
        slices: numbers.map { try JSONSlice(parsing: #"{"v":\#($0)}"#) }, soup: "s")
      for (low, lowText) in numbers.enumerated() {
        for (high, highText) in numbers.enumerated() where high >= low {
          let (begin, end) = (try JSONValue(parsing: lowText), try JSONValue(parsing: highText))
          // A whole key finds what an integer index shows as that number.
          if type == "integer", [begin.keyKind, end.keyKind].contains(.plain) { continue }
          let spec = try QuerySpec.buildRangeQuerySpec(
            soupName: "s", selectPaths: ["_soupEntryId"], path: "v", beginKey: begin, endKey: end,
            orderPath: "_soupEntryId", pageSize: 99)
          let found = try await store.query(using: spec).compactMap { $0[0]?.int64 }
          #expect(found == (low...high).map { Int64($0 + 1) }, "\(type): \(lowText)...\(highText)")
        }
      }
    }
  }

  @Test(.covers("SS-97", "SS-99"), arguments: types.dropLast())
  func `one external id is one entry, and two are two`(type: String) async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex]("v:\(type)"))
      let groups = Self.values.map { $0.filter { Self.holds(type, $0) } }.filter { !$0.isEmpty }
      for (number, spellings) in groups.enumerated() {
        for text in spellings {
          let ids = try await store.upsert(
            slices: [try JSONSlice(parsing: #"{"v":\#(text)}"#)], soup: "s", externalIdPath: "v")
          #expect(ids == [Int64(number + 1)], "\(type): \(text)")
        }
      }
    }
  }

  @Test(.covers("SS-112"), arguments: ["integer", "floating", "json1", "string"])
  func `a text of digits finds a number where the platform finds it`(type: String) async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex]("v:\(type)"))
      try await store.upsert(entries: [["v": 1]], forSoupNamed: "s")
      let spec = try QuerySpec.buildExactQuerySpec(
        soupName: "s", path: "v", matchKey: "1", pageSize: 9)
      #expect(try await store.count(using: spec) == (type == "json1" ? 0 : 1))
    }
  }

  @Test(.covers("SS-2", "SS-125"), arguments: ["string", "json1", "none"])
  func `a removal by a key leaves what only begins with it`(type: String) async throws {
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "s", withIndices: [SoupIndex](type == "none" ? "other:string" : "v:\(type)"))
      try await store.upsert(slices: [JSONSlice(parsing: #"{"v":"ab\u0000c"}"#)], soup: "s")
      let removed = try await store.removeEntries(
        usingQuerySpec: .buildExactQuerySpec(
          soupName: "s", path: "v", matchKey: "ab", pageSize: 9), forSoupNamed: "s")
      #expect(removed == 0)
      let shown: JSONValue = [["ab\0c"]]
      let rows = try await store.rows("select {s:v} from {s}")
      #expect(.array(rows.map(JSONValue.array)) == shown)
      let spec = try QuerySpec.buildAllQuerySpec(soupName: "s", selectPaths: ["v"], pageSize: 9)
      #expect(try await store.query(using: spec) == [["ab\0c"]])
    }
  }

  @Test(.covers("SS-99"), arguments: ["string", "json1", "integer", "none"])
  func `of a name that stands twice the last member counts everywhere`(type: String) async throws {
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "s", withIndices: [SoupIndex](type == "none" ? "o:string" : "o.v:\(type)"))
      let (first, last) = type == "integer" ? ("1", "2") : (#""x""#, #""y""#)
      let element = try JSONSlice(parsing: #"{"o":{"v":0},"o":{"v":\#(first),"v":\#(last)}}"#)
      for _ in 0..<2 where type != "none" {
        let ids = try await store.upsert(slices: [element], soup: "s", externalIdPath: "o.v")
        #expect(ids == [1])
      }
      if type == "none" { try await store.upsert(slices: [element], soup: "s") }
      let key = try JSONValue(parsing: last)
      let spec = try QuerySpec.buildExactQuerySpec(
        soupName: "s", selectPaths: ["o.v"], path: "o.v", matchKey: key, pageSize: 9)
      #expect(try await store.query(using: spec) == [[key]])
      #expect(try await store.rows("select {s:o.v} from {s}") == [[key]])
    }
  }

  @Test(.covers("SS-112"))
  func `the item that a path shows is found by it`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex]("k:string"))
      try await store.upsert(
        slices: [
          JSONSlice(parsing: #"{"m":[["q"],2,{"n":3}]}"#), JSONSlice(parsing: #"{"m":["t",2]}"#),
        ], soup: "s")
      for (path, key, ids) in [
        ("m[0]", ["q"], [1]), ("m[0]", "t", [2]), ("m[1]", 2, [1, 2]), ("m[2].n", 3, [1]),
        ("m[#-1].n", 3, [1]), ("m[#-1]", 2, [2]), ("m[0][0]", "q", [1]), ("m[9]", 2, []),
        ("m[#]", 2, []),
      ] as [(String, JSONValue, [Int64])] {
        let spec = try QuerySpec.buildExactQuerySpec(
          soupName: "s", selectPaths: ["_soupEntryId"], path: path, matchKey: key,
          orderPath: "_soupEntryId", pageSize: 9)
        #expect(try await store.query(using: spec).map { $0[0]?.int64 } == ids, "\(path) \(key)")
      }
    }
  }

  @Test(.covers("SS-112"), arguments: ["string", "json1", "integer", "none"])
  func `a flag is found by the text by which apps on Android ask`(type: String) async throws {
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "s", withIndices: [SoupIndex](type == "none" ? "k:string" : "__local__:\(type)"))
      try await store.upsert(
        entries: [["__local__": true], ["__local__": false]], forSoupNamed: "s")
      let id = "select {s:_soupEntryId} from {s} where {s:__local__}"
      for (condition, ids) in [
        (" = 'true'", [1]), ("== 'false'", [2]), (" <> 'true'", [2]), (" != 'false' and 1", [1]),
        (" in ('true')", [1]), (" not in ('x', 'true')", [2]), (" = 1", [1]), (" = true", [1]),
        (" = 'true' or {s:__local__} = 'false'", [1, 2]), (" = 'other'", []),
      ] as [(String, [Int64])] {
        let rows = try await store.rows("\(id)\(condition) order by 1")
        #expect(rows == ids.map { [.integer($0)] }, "\(condition)")
      }
      for (key, ids) in [("true", [1]), ("false", [2])] as [(String, [Int64])] {
        let spec = try QuerySpec.buildExactQuerySpec(
          soupName: "s", selectPaths: ["_soupEntryId"], path: "__local__", matchKey: .string(key),
          pageSize: 9)
        #expect(try await store.query(using: spec).map { $0[0]?.int64 } == ids)
      }
    }
  }

  @Test(.covers("SS-112"), arguments: ["integer", "json1", "floating", "none"])
  func `a removal takes the entries whose value is the key, and no others`(type: String)
    async throws
  {
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "s", withIndices: [SoupIndex](type == "none" ? "other:string" : "k:\(type)"))
      try await store.upsert(
        entries: [["k": 1.5], ["k": 1], ["k": 2.5], ["k": 2]], forSoupNamed: "s")
      func remove(_ spec: QuerySpec) async throws -> [Double?] {
        try await store.removeEntries(usingQuerySpec: spec, forSoupNamed: "s")
        return try await store.elements(of: "s").map { $0["k"]?.double }
      }
      #expect(
        try await remove(
          .buildExactQuerySpec(soupName: "s", path: "k", matchKey: 1, pageSize: 9)) == [
            1.5, 2.5, 2,
          ])
      #expect(
        try await remove(
          .buildRangeQuerySpec(soupName: "s", path: "k", beginKey: 2, endKey: 2, pageSize: 9))
          == [1.5, 2.5])
      #expect(
        try await remove(
          .buildRangeQuerySpec(soupName: "s", path: "k", endKey: 1.5, pageSize: 9)) == [2.5])
    }
  }

  @Test(.covers("SS-112"), arguments: ["string", "json1"])
  func `an external id tells the text of a flag from its Boolean`(type: String) async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex]("__local__:\(type)"))
      func upsert(_ flag: JSONValue, _ name: String) async throws {
        try await store.upsert(
          entries: [["__local__": flag, "Name": .string(name)]], forSoupNamed: "s",
          withExternalIdPath: "__local__")
      }
      try await upsert(true, "Boolean")
      try await upsert("true", "text")
      try await upsert(false, "Boolean 2")
      try await upsert("false", "text 2")
      #expect(
        try await store.elements(of: "s").map { $0["Name"]?.string }
          == ["Boolean", "text", "Boolean 2", "text 2"])
      try await upsert(true, "again")
      try await upsert("true", "text again")
      #expect(
        try await store.elements(of: "s").map { $0["Name"]?.string }
          == ["again", "text again", "Boolean 2", "text 2"])
    }
  }

  /// The conditions that compare a flag with a text, where that finds nothing; `F` is the flag, `x` the soup.
  private static let conditions: [(String, [JSONValue])] = [
    ("'true' = F", []), ("'false' <> F", []), ("'true'=x.F", []), ("'true' is F", []),
    ("'true' is not F", []), ("'true' like F", []), ("F is 'true'", []), ("F is not 'false'", []),
    ("F is not distinct from 'true'", []), ("F like 'true'", []), ("F not like 'tr%'", []),
    ("F glob 'tru*'", []), ("F between 'false' and 'true'", []), ("F >= 'true'", []),
    ("F < 'true'", []), ("F = 'TRUE'", []), ("F in ('x', 'True')", []), ("(F) = 'true'", []),
    ("lower(F) = 'true'", []), ("F collate nocase = 'true'", []),
    ("case F when 'true' then 1 else 0 end", []), ("F = ?", ["true"]), ("F <> ?1", ["false"]),
    ("? = F", ["true"]), ("F is ?", ["true"]), ("F like ?", ["tr%"]),
    ("F in (?, ?)", ["x", "true"]),
    ("1 = ? and F = ?", [1, "true"]), ("F = :flag", ["true"]), ("1 = $a and F = @b", [1, "false"]),
  ]

  @Test(.covers("SS-112"), arguments: conditions.indices)
  func `a flag that is compared with a text in another way gives an error with the remedy`(
    number: Int
  ) async throws {
    let (condition, arguments) = Self.conditions[number]
    try await withStore { store async throws in
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex]("__local__:string"))
      try await store.upsert(
        entries: [["__local__": true], ["__local__": false]], forSoupNamed: "s")
      for flag in ["__local__", "__locally_updated__"] {
        let spec = try QuerySpec.buildSmartQuerySpec(
          smartSql: "select x.{s:_soupEntryId} from {s} x where "
            + condition.replacing("F", with: "{s:\(flag)}"), pageSize: 9)
        let error = await #expect(throws: SmartStoreError.self) {
          try await store.query(using: spec, whereArgs: arguments)
        }
        #expect(error?.code == .invalidQuerySpec, "\(condition)")
        #expect(
          error?.message.contains(
            arguments.isEmpty ? "Write {soup:\(flag)} = 1" : "Bind the Boolean")
            == true)
      }
    }
  }

  @Test(.covers("SS-112"))
  func `a flag is compared with everything that can find it, and other paths with any text`()
    async throws
  {
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "s", withIndices: [SoupIndex]("__local__:string", "k:string"))
      try await store.upsert(
        entries: [["__local__": true, "k": "true"], ["__local__": false, "k": "false"]],
        forSoupNamed: "s")
      for (condition, arguments, ids) in [
        ("F = ?", [true], [1]), ("? = F", [true], [1]), ("F = ?", [0], [2]), ("F is '1'", [], [1]),
        ("F like '%'", [], [1, 2]), ("'true' = K", [], [1]),
        ("K like ? and F = ?", ["tr%", true], [1]),
        ("K = 'true' and F", [], [1]), ("K = 'true' is (F = 1)", [], [1, 2]),
        ("K = ? and F in (?)", ["true", 1], [1]), ("F = 1 and K is 'true'", [], [1]),
      ] as [(String, [JSONValue], [Int64])] {
        let spec = try QuerySpec.buildSmartQuerySpec(
          smartSql: "select {s:_soupEntryId} from {s} where "
            + condition.replacing("F", with: "{s:__local__}").replacing("K", with: "{s:k}")
            + " order by 1", pageSize: 9)
        let rows = try await store.query(using: spec, whereArgs: arguments)
        #expect(rows.map { $0[0]?.int64 } == ids, "\(condition)")
      }
      for spec in [
        try QuerySpec.buildLikeQuerySpec(
          soupName: "s", path: "__local__", likeKey: "tr%", orderPath: "k", pageSize: 9),
        try QuerySpec.buildRangeQuerySpec(
          soupName: "s", path: "__local__", beginKey: "true", endKey: nil, orderPath: "k",
          pageSize: 9),
        try QuerySpec.buildExactQuerySpec(
          soupName: "s", path: "__local__", matchKey: "TRUE", orderPath: "k", pageSize: 9),
      ] {
        let error = await #expect(throws: SmartStoreError.self) {
          try await store.query(using: spec)
        }
        #expect(error?.code == .invalidQuerySpec)
      }
    }
  }
}
