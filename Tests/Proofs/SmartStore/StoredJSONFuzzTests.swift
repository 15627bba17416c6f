import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore
@testable import SmartStoreTests

/// The JSON engine compared with SQLite's, on texts with something wrong in them.
@Suite struct StoredJSONFuzzTests {
  private let corpus = [
    #"{"Id":"001","Name":"Acme","n":-0,"d":1.5e-3,"ok":true,"no":false,"nil":null,"tags":[]}"#,
    #"{ "a" : [ 1 , [ 2 , { "b" : "\u00e9\n\"\\\/" } ] ] , "" : { } , "€" : "𝄞" }"#,
    #"{"big":123456789012345678901234567890,"tiny":1E-400,"deep":[[[[[[[[]]]]]]]]}"#,
    #"{"_soupEntryId":7,"_soupLastModifiedDate":"x","s":"\ud83d\ude00 \ud800"}"#,
    #"{"a":1,"a":2}"#,
  ]

  private let pieces = [
    "{", "}", "[", "]", "\"", ":", ",", "\\", "\\u", "\\ud800", "0", "-", "+", ".", "e", "E", "1e5",
    "true", "nul", "null", "NaN", "\u{1}", "\u{7f}", "\n", "\u{c}", "\u{feff}", "é", "//", "/**/",
    "'",
    "\"_soupEntryId\":1,", " ",
  ]

  @Test(.covers("CA-21", "SS-91", "SS-104"))
  func `a text is stored exactly if SQLite calls it JSON, and comes back as it was`()
    async throws
  {
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "a", withIndices: [SoupIndex]("a:string", "Name:full_text", "a.b:json1"))
      try await Fuzz.run("JSON texts", rounds: 700) { seed, random in
        let text = random.mutated(random.pick(corpus), with: pieces)
        let isJSON = try await store.column("select json_valid(?)", [.string(text)]) == [1]
        guard let slice = try? JSONSlice(parsing: text) else {
          #expect(!isJSON, "seed \(seed): \(text)")
          return
        }
        #expect(isJSON, "seed \(seed): \(text)")
        #expect(try JSONSlice(parsing: slice.value.serialized()).value == slice.value)
        let before = try await store.count(using: .buildAllQuerySpec(soupName: "a", pageSize: 1))
        do {
          let id = try await store.upsert(slices: [slice], soup: "a")[0]
          let stored = try await store.retrieve(usingSoupEntryIds: [id], fromSoupNamed: "a")[0]
          func plain(_ value: JSONValue) -> JSONValue {
            var value = value
            value["_soupEntryId"] = nil
            value["_soupLastModifiedDate"] = nil
            return value
          }
          #expect(plain(stored.value) == plain(slice.value), "seed \(seed): \(text)")
          #expect(stored.value["_soupEntryId"] == .integer(id))
          #expect(
            try await store.column("select json_valid({a:_soup}) from {a}") == [1],
            "seed \(seed): \(text)")
          try await store.clearSoup("a")
        } catch let error as SmartStoreError {
          #expect(error.code == .invalidEntry, "seed \(seed): \(text): \(error)")
          #expect(
            slice.kind != .object || slice["_soupEntryId"] != nil, "seed \(seed): \(text)")
          #expect(
            try await store.count(using: .buildAllQuerySpec(soupName: "a", pageSize: 1)) == before)
        }
      }
    }
  }
}
