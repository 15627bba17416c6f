import SalesforceSDKCommon
import Testing

@testable import SmartStore
import TestSupport

/// How deep may an element nest, and how long may it be?
@Suite struct NestingTests {
  /// An element of so many levels.
  private func element(levels: Int) -> JSONValue {
    var value: JSONValue = .array([])
    for _ in 2..<levels { value = .array([value]) }
    return ["a": value]
  }

  @Test(.covers("SS-2"))
  func `an entry that newer versions of SQLite could not follow is refused`()
    async throws
  {
    try await withStore { store in
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex]("b:string"))
      try await store.upsert(entries: [element(levels: 1000)], forSoupNamed: "s")
      await expectFailure(.invalidEntry) {
        try await store.upsert(entries: [element(levels: 1001)], forSoupNamed: "s")
      }
      let stored = try await store.elements(of: "s")
      #expect(stored.count == 1)
      #expect(stored.first?["a"] == element(levels: 1000)["a"])
      let extracted = try await store.column("select {s:a} from {s}")
      #expect(extracted.first?.string?.hasPrefix("[[[") == true)
    }
  }

  @Test(.covers("SS-2"))
  func `a member to set that nests too deep is refused`() async throws {
    try await withStore { store in
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex]("b:string"))
      let slice = try JSONSlice(parsing: "{}")
      for (levels, isTaken) in [(999, true), (1000, false), (2000, false)] {
        let value = try #require(element(levels: levels + 1)["a"])
        let setting = [(key: "a", value: value)]
        if isTaken {
          try await store.upsert(slices: [slice], setting: setting, soup: "s")
        } else {
          await expectFailure(.invalidEntry) {
            try await store.upsert(slices: [slice], setting: setting, soup: "s")
          }
          await expectFailure(.invalidEntry) {
            try await store.inTransaction {
              try $0.update(slice: slice, setting: setting, soup: "s", entryId: 1)
            }
          }
        }
      }
      #expect(try await store.elements(of: "s").count == 1)
    }
  }

  @Test(.covers("SS-2"))
  func `an entry that would be too long to be read again is refused`() async throws {
    try await withStore { store in
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex]("b:string"))
      // It can be read, but not with the members that the store adds.
      let (head, tail) = (Array(#"{"_x":0,"a":""#.utf8), Array(#""}"#.utf8))
      let room = JSONLimits.greatestSize - head.count - tail.count
      let slice = try JSONSlice(
        parsing: head + [UInt8](repeating: UInt8(ascii: "x"), count: room) + tail)
      await expectFailure(.entryTooLarge) {
        try await store.upsert(slices: [slice], soup: "s")
      }
      #expect(try await store.elements(of: "s").isEmpty)
    }
  }
}
