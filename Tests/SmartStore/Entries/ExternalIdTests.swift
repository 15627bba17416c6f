import Foundation
import SalesforceSDKCommon
import Testing

@testable import SmartStore
import TestSupport

/// Which element does an external id mean?
@Suite struct ExternalIdTests {
  private let specs = [SoupIndex]("key:string", "n:integer", "f:floating", "j:json1", "t:full_text")

  @Test(.covers("SS-97"))
  func `an external id decides, and an id in the entry does not`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specs)
      let saved = try await store.upsert(
        entries: [["key": "x", "n": 1], ["key": "y", "n": 2, "_soupEntryId": 1]],
        forSoupNamed: "a", withExternalIdPath: "key")
      #expect(saved.map { $0["_soupEntryId"] } == [1, 2])
      let again = try await store.upsert(
        entries: [["key": "y", "n": 3, "_soupEntryId": 1], ["key": "z", "n": 4]],
        forSoupNamed: "a", withExternalIdPath: "key")
      #expect(again.map { $0["_soupEntryId"] } == [2, 3])
      #expect(try await store.column("select {a:n} from {a}") == [1, 3, 4])
      let byEntryId = try await store.upsert(
        entries: [["key": "w", "_soupEntryId": 3]], forSoupNamed: "a",
        withExternalIdPath: "_soupEntryId")
      #expect(byEntryId[0]["_soupEntryId"] == 3)
    }
  }

  @Test(.covers("SS-98"))
  func `external id errors have their codes and texts and change nothing`()
    async throws
  {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specs)
      let notIndexed = await expectFailure(
        .notIndexed, "No index column defined for field 'other'."
      ) {
        try await store.upsert(
          entries: [["other": 1]], forSoupNamed: "a", withExternalIdPath: "other")
      }
      #expect(notIndexed?.number == 2)
      for entry: JSONValue in [["n": 1], ["key": nil]] {
        let missing = await expectFailure(
          .externalIdMissing,
          "For upsert with external ID path 'key', value cannot be empty for any entries."
        ) {
          try await store.upsert(
            entries: [["key": "fine"], entry], forSoupNamed: "a", withExternalIdPath: "key")
        }
        #expect(missing?.number == 3)
      }
      #expect(try await store.elements(of: "a") == [])
      try await store.upsert(entries: [["key": "d"], ["key": "d"]], forSoupNamed: "a")
      let ambiguous = await expectFailure(
        .ambiguousMatch,
        "Cannot update entry: the value for path 'key' does not represent a unique entry!"
      ) {
        try await store.upsert(
          entries: [["key": "e"], ["key": "d"]], forSoupNamed: "a", withExternalIdPath: "key")
      }
      #expect(ambiguous?.number == 1)
      // The value stands where only debugging shows it.
      let fixed =
        "Cannot update entry: the value 'd' for path 'key' does not represent a unique entry!"
      #expect(ambiguous?.detail == fixed)
      #expect(ambiguous.map { "\($0)".contains("'d'") } == false)
      #expect(ambiguous?.debugDescription.contains(fixed) == true)
      #expect(try await store.elements(of: "a").count == 2)
      try await store.upsert(
        entries: [["key": ""], ["key": ""]], forSoupNamed: "a", withExternalIdPath: "key")
      #expect(try await store.elements(of: "a").count == 3)
    }
  }

  @Test(.covers("SS-99"), arguments: ["key", "n", "f", "j", "t"])
  func `an entry just written is found again by the same value`(path: String) async throws {
    let values: [JSONValue] =
      switch path {
      case "n": [1, 2.5, true, 1e20, -3]
      case "f": [1, 2.5, true, -1e-9]
      case "j": ["x", 1, 2.5, true, [1, "a"], ["k": [:]], "", "it's"]
      default: ["x", 1, 2.5, true, false, [1, "a"], ["k": [:]], "", "it's", "1.0", "\u{1}🐘\"\\"]
      }
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specs)
      for value in values {
        try await store.clearSoup("a")
        let first = try await store.upsert(
          entries: [[path: value]], forSoupNamed: "a", withExternalIdPath: path)
        let second = try await store.upsert(
          entries: [[path: value, "again": true]], forSoupNamed: "a", withExternalIdPath: path)
        #expect(first[0]["_soupEntryId"] == second[0]["_soupEntryId"], "\(value)")
        #expect(
          try await store.lookupSoupEntryId(soupNamed: "a", fieldPath: path, fieldValue: value)
            == first[0]["_soupEntryId"]?.int64, "\(value)")
      }
    }
  }

  @Test(.covers("SS-106"))
  func `lookup finds the single match, null, or says why not`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specs)
      try await store.upsert(
        entries: [["key": "x", "n": 1], ["key": "y", "n": 1], ["n": 2]], forSoupNamed: "a")
      func lookup(_ path: String, _ value: JSONValue?) async throws -> Int64? {
        try await store.lookupSoupEntryId(soupNamed: "a", fieldPath: path, fieldValue: value)
      }
      #expect(try await lookup("key", "x") == 1)
      #expect(try await lookup("key", "nobody") == nil)
      #expect(try await lookup("key", nil) == 3)
      #expect(try await lookup("key", .null) == 3)
      #expect(try await lookup("_soupEntryId", 2) == 2)
      let ambiguous = await expectFailure(.ambiguousMatch) { _ = try await lookup("n", 1) }
      #expect(ambiguous?.message.contains("'1'") == false)
      #expect(ambiguous?.detail?.contains("the value '1' for path 'n'") == true)
      await expectFailure(.notIndexed) { _ = try await lookup("other", 1) }
      await expectFailure(.unknownSoup) {
        _ = try await store.lookupSoupEntryId(soupNamed: "b", fieldPath: "n", fieldValue: 1)
      }
    }
  }

  @Test func `a member that is set for the batch can be the external id`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex]("k:string", "j.x:json1"))
      for path in ["k", "j.x"] {
        let elements = [try JSONSlice(parsing: #"{"k":1}"#)]
        let first = try await store.upsert(
          slices: elements, setting: [("k", "same"), ("j", ["x": "same"])], soup: "a",
          externalIdPath: path)
        let second = try await store.upsert(
          slices: elements, setting: [("k", "same"), ("j", ["x": "same"])], soup: "a",
          externalIdPath: path)
        #expect(first == second)
      }
    }
  }
}
