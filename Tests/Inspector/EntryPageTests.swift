import FieldforceInspector
import Foundation
import SalesforceSDKCommon
import SmartStore
import TestSupport
import Testing

/// Do pages of entries join, whatever the order, and is an entry shown as it is stored?
struct EntryPageTests {
  /// Entries with and without values, with equal ones and with long ones.
  private static let entries: [String] = (0..<40).map { number in
    var members = [#""Id":"\#(number)""#]
    if number % 3 > 0 { members.append(#""title":"\#(["b", "a", "Ä", "a\\u0000c"][number % 4])""#) }
    if number % 4 > 0 { members.append(#""rank":\#(number % 5 - 2)"#) }
    if number % 5 > 0 { members.append(#""weight":\#(Double(number % 7) / 3)"#) }
    if number % 2 > 0 { members.append(#""kind":\#(number % 3 == 0 ? "7" : #""x""#)"#) }
    if number == 11 { members[1] = #""title":"\#(String(repeating: "long", count: 500))""# }
    return "{\(members.joined(separator: ","))}"
  }

  @Test(.covers("HT-68"))
  func `pages join without a gap, forwards and backwards, in both directions of every order`()
    async throws
  {
    let fixture = try StoresFixture()
    try await fixture.fill(entries: Self.entries)
    try await fixture.inspect { client in
      let path = try await client.entries()
      for order in ["_soupEntryId", "_soupLastModifiedDate", "title", "rank", "weight", "kind"] {
        let whole = InspectorClient.ids(
          try await client.get(path, ["order": order, "limit": "500"]))
        #expect(Set(whole).count == 40)
        for direction in ["ascending", "descending"] {
          let query = ["order": order, "direction": direction, "limit": "7"]
          let expected = direction == "ascending" ? whole : whole.reversed()
          var pages = [try await client.get(path, query)]
          #expect(pages[0]["previous"]?.kind == .null)
          while let next = pages.last?["next"]?.string {
            pages.append(try await client.get(path, query.merging(["after": next]) { $1 }))
          }
          #expect(pages.flatMap(InspectorClient.ids) == expected, "\(order) \(direction)")
          for index in (1..<pages.count).reversed() {
            let previous = try #require(pages[index]["previous"]?.string)
            let back = try await client.get(path, query.merging(["before": previous]) { $1 })
            #expect(InspectorClient.ids(back) == InspectorClient.ids(pages[index - 1]))
          }
          let last = try await client.get(path, query.merging(["edge": "end"]) { $1 })
          #expect(last["next"]?.kind == .null)
          #expect(InspectorClient.ids(last) == expected.suffix(7))
        }
      }
      let cursor = try #require(try await client.get(path, ["limit": "1"])["next"]?.string)
      let other = try await client.call(path, ["order": "title", "after": cursor])
      #expect(other.error == "invalidCursor")
    }
  }

  @Test(.covers("HT-68"))
  func `a page is reached by a part of the range and by a value`() async throws {
    let fixture = try StoresFixture()
    try await fixture.fill(entries: Self.entries)
    try await fixture.inspect { client in
      let path = try await client.entries()
      #expect(InspectorClient.ids(try await client.get(path, ["at": "0.5", "limit": "1"])) == [21])
      #expect(InspectorClient.ids(try await client.get(path, ["at": "0"])).first == 1)
      #expect(InspectorClient.ids(try await client.get(path, ["at": "1"])) == [40])
      let from = try await client.get(path, ["from": "30", "limit": "2"])
      #expect(InspectorClient.ids(from) == [30, 31])
      #expect(from["previous"]?.kind == .string)
      let ranked = try await client.get(
        path, ["order": "rank", "from": "2", "columns": "rank", "limit": "500"])
      #expect(
        ranked["entries"]?.elements.allSatisfy { $0["values"]?[0]?.int64 == 2 } == true)
      let down = try await client.get(
        path,
        [
          "order": "rank", "from": "-2", "columns": "rank", "direction": "descending",
          "limit": "500",
        ])
      // Entries without a value come last.
      #expect(
        down["entries"]?.elements.allSatisfy { ($0["values"]?[0]?.int64 ?? -2) == -2 } == true)
      #expect((down["entries"]?.count ?? 0) > 10)
      #expect(try await client.call(path, ["order": "none"]).error == "notIndexed")
    }
  }

  @Test(.covers("HT-68"))
  func `a search finds parts, beginnings and whole values, and characters of patterns are text`()
    async throws
  {
    let fixture = try StoresFixture()
    try await fixture.fill(entries: [
      #"{"title":"Pump 7","rank":7,"kind":7}"#, #"{"title":"pumpe","rank":70,"kind":"7"}"#,
      #"{"title":"100%","note":"Dichtung GEPRÜFT"}"#, #"{"title":"a_b"}"#, #"{"title":"a\\b"}"#,
      #"{"title":"axb","nested":{"text":"seal"}}"#,
    ])
    try await fixture.inspect { client in
      let path = try await client.entries()
      func ids(_ query: [String: String]) async throws -> [Int64] {
        InspectorClient.ids(try await client.get(path, query))
      }
      #expect(try await ids(["search": "PUMP"]) == [1, 2])
      #expect(try await ids(["search": "geprüft"]) == [3])
      #expect(try await ids(["search": "seal"]) == [6])
      #expect(try await ids(["search": "%", "path": "title"]) == [3])
      #expect(try await ids(["search": "_", "path": "title"]) == [4])
      #expect(try await ids(["search": #"\"#, "path": "title"]) == [5])
      #expect(try await ids(["search": "seal", "path": "nested.text"]) == [6])
      #expect(try await ids(["search": "a", "path": "title", "match": "prefix"]) == [4, 5, 6])
      #expect(
        try await ids([
          "search": "a", "path": "title", "match": "prefix", "order": "title",
          "direction": "descending",
        ]) == [6, 4, 5])
      #expect(try await ids(["search": "Pump", "path": "title", "match": "exact"]) == [])
      #expect(try await ids(["search": "axb", "path": "title", "match": "exact"]) == [6])
      #expect(try await ids(["search": "7", "path": "rank", "match": "exact"]) == [1])
      #expect(try await ids(["search": "7", "path": "kind", "match": "exact"]) == [1, 2])
      #expect(
        try await client.call(path, ["search": "x", "path": "nested.text", "match": "prefix"])
          .error == "notIndexed")
      let page = try await client.get(
        path, ["search": "a", "path": "title", "match": "prefix", "order": "title", "limit": "2"])
      let next = try #require(page["next"]?.string)
      let rest = try await ids([
        "search": "a", "path": "title", "match": "prefix", "order": "title", "limit": "2",
        "after": next,
      ])
      #expect(InspectorClient.ids(page) + rest == [5, 4, 6])
    }
  }

  @Test(.covers("HT-68"))
  func `a search that takes long comes in parts, which together read every entry once`()
    async throws
  {
    let fixture = try StoresFixture()
    let entries = (0..<1_000).map { #"{"title":"\#($0)"}"# } + [#"{"title":"needle"}"#]
    try await fixture.fill(entries: entries)
    var limits = InspectorLimits()
    limits.searchTime = .zero
    try await fixture.inspect(limits: limits) { client in
      let path = try await client.entries()
      var (found, scanned, parts): ([Int64], Int64, Int) = ([], 0, 0)
      var query = ["search": "needle", "limit": "5"]
      while true {
        let page = try await client.get(path, query)
        found += InspectorClient.ids(page)
        scanned += page["scanned"]?.int64 ?? 0
        parts += 1
        guard let next = page["next"]?.string else { break }
        #expect(page["complete"]?.bool == false)
        query["after"] = next
      }
      #expect(found == [1_001])
      #expect(scanned == 1_001)
      #expect(parts > 5)
    }
  }

  @Test(.covers("HT-68"))
  func
    `unsynced entries are listed by what was done to them, with and without an index on the flag`()
    async throws
  {
    let fixture = try StoresFixture()
    let entries = [
      #"{"title":"clean"}"#, #"{"title":"c","__local__":true,"__locally_created__":true}"#,
      #"{"title":"u","__local__":true,"__locally_updated__":true}"#,
      #"{"title":"d","__local__":true,"__locally_deleted__":true,"__locally_created__":true}"#,
      #"{"title":"l","__local__":true}"#,
    ]
    try await fixture.fill(entries: entries)
    try await fixture.fill(
      soup: "plain", indexes: [SoupIndex(path: "title", type: .string)], entries: entries)
    try await fixture.inspect { client in
      let unsynced = try #require(
        try await client.get("\(try await client.store())/unsynced")["soups"])
      #expect(unsynced.elements.map { $0["total"]?.int64 } == [4, 4])
      for soup in ["notes", "plain"] {
        let path = try await client.entries(soup)
        for (state, expected) in [
          ("unsynced", [2, 3, 4, 5]), ("created", [2]), ("updated", [3, 5]), ("deleted", [4]),
          ("conflict", []),
        ] as [(String, [Int64])] {
          let page = try await client.get(path, ["state": state])
          #expect(InspectorClient.ids(page) == expected, "\(soup) \(state)")
        }
        let sorted = try await client.get(path, ["state": "unsynced", "order": "title"])
        #expect(InspectorClient.ids(sorted) == [2, 4, 5, 3])
      }
    }
  }

  @Test(.covers("HT-68"))
  func `an entry is given as it is stored, its long texts cut at whole characters`() async throws {
    let fixture = try StoresFixture()
    let text =
      #"{"a":12345678901234567890.10,"10":1.50,"2":-0,"a":"again","x/~y":["\ud83d\ude00😀aé\n\ud800z",{"deep":"1234567890"}],"title":"t"}"#
    try await fixture.fill(entries: [text])
    var limits = InspectorLimits()
    limits.textCharacters = 5
    limits.cellCharacters = 3
    try await fixture.inspect(limits: limits) { client in
      let path = try await client.entries()
      let stored = try await client.raw("api/\(path)/1/json")
      #expect(stored.headers["content-disposition"]?.hasPrefix("attachment") == true)
      #expect(stored.text.contains(#""a":12345678901234567890.10,"10":1.50,"2":-0,"a":"again""#))
      let shown = try await client.get("\(path)/1")
      let entry = try #require(shown["entry"]).description
      #expect(entry.contains(#""a":12345678901234567890.10,"10":1.50,"2":-0,"a":"again""#))
      #expect(entry.contains(#"["\ud83d\ude00😀aé\n",{"deep":"12345"}]"#), "\(entry)")
      #expect(shown["bytes"]?.int64 == Int64(stored.text.utf8.count))
      let cuts = try #require(shown["cut"])
      #expect(
        cuts.elements.map { $0["pointer"]?.string } == [
          "/entry/x~1~0y/0", "/entry/x~1~0y/1/deep",
        ])
      #expect(cuts.elements.map { $0["characters"]?.int64 } == [7, 10])
      let part = try await client.get(
        "\(path)/1/text", ["pointer": "/x~1~0y/1/deep", "from": "3", "length": "4"])
      #expect(part["text"]?.string == "4567")
      #expect(part["characters"]?.int64 == 10)
      #expect(try await client.call("\(path)/1/text", ["pointer": "/none"]).error == "notFound")
      let page = try await client.get(path, ["columns": #"x/~y.deep,x/~y,2"#])
      let values = try #require(page["entries"]?[0]?["values"])
      #expect(values[1]?.string == #"["\"#)
      #expect(values[2]?.description == "-0")
      #expect(page["cut"]?[0]?["pointer"]?.string == "/entries/0/values/0")
      for id in ["0", "2", "1e2", "-1", "99999999999999999999"] {
        #expect(try await client.call("\(path)/\(id)").error == "noSuchEntry", "\(id)")
      }
    }
  }
}
