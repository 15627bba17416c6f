import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore
@testable import SmartStoreTests

/// Query specs from unchecked JSON.
@Suite struct QuerySpecFuzzTests {
  private let values: [JSONValue] = [
    .null, true, false, 0, 1, -1, 3, .integer(.max), .integer(.min), 2.5, "", "key", "n", "text",
    "o.p", "none", "_soup", "_soupEntryId", "%", "word", "select 1", "select {a:n} from {a}",
    "descending", "ascending", "sideways", "a\u{0}b", "it's", [], ["key"], ["n", "n"], ["", 3], [:],
    ["a": 1], "AND", "\"",
  ]

  @Test(.covers("SS-121", "SS-122"))
  func `a random spec is refused or survives the way through JSON and runs`()
    async throws
  {
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "a",
        withIndices: [SoupIndex]("key:string", "n:integer", "text:full_text", "o.p:json1"))
      try await store.upsert(
        entries: (1...5).map { ["key": "k\($0)", "n": .integer($0), "text": "word \($0)"] },
        forSoupNamed: "a")
      try await Fuzz.run("query specs", rounds: 800) { seed, random in
        var members: JSONObject = [
          "queryType": random.pick([
            "exact", "range", "like", "match", "smart", "EXACT", .null, 1,
          ])
        ]
        for name in [
          "indexPath", "matchKey", "likeKey", "beginKey", "endKey", "smartSql", "orderPath",
          "order",
          "pageSize", "selectPaths", "unknown",
        ] where random.pick(2) == 0 {
          members[name] = random.pick(values)
        }
        let json = JSONValue.object(members)
        let spec: QuerySpec
        do throws(SmartStoreError) {
          spec = try QuerySpec(json: json, soupName: random.pick(["a", "a", "a", "none", "", nil]))
        } catch {
          #expect(error.code == .invalidQuerySpec, "seed \(seed): \(json.text)")
          return
        }
        #expect(try QuerySpec(json: spec.json, soupName: spec.soupName) == spec, "seed \(seed)")
        #expect(spec.pageSize >= 1)
        do {
          let page = try await store.query(using: spec)
          let count = try await store.count(using: spec)
          #expect(page.count == min(Int(count), spec.pageSize), "seed \(seed): \(json.text)")
          if let paths = spec.selectPaths {
            #expect(page.allSatisfy { $0.array?.count == paths.count }, "seed \(seed)")
          }
        } catch let error as SmartStoreError {
          #expect(
            [.unknownSoup, .invalidQuerySpec, .sql, .invalidReference, .refusedStatement]
              .contains(error.code), "seed \(seed): \(json.text): \(error)")
        }
      }
      #expect(try await store.elements(of: "a").count == 5)
    }
  }
}
