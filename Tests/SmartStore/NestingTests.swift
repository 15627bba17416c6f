import SalesforceSDKCommon
import Testing

@testable import SmartStore

/// How deep may an element nest?
@Suite struct NestingTests {
  /// An element of so many levels.
  private func element(levels: Int) -> JSONValue {
    var value: JSONValue = .array([])
    for _ in 2..<levels { value = .array([value]) }
    return ["a": value]
  }

  @Test func `SS-2 an element that newer versions of SQLite could not follow is refused`()
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
}
