import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore

/// Random alters between random writes leave what registering and writing alone would have left.
@Suite struct AlterModelTests {
  private static let paths = ["a", "b", "c", "d", "e", "e.x"]

  private func specs(
    _ random: inout SeededGenerator, isExternal: Bool
  ) -> [SoupIndex] {
    let types = isExternal ? AlterTests.types.dropLast() : AlterTests.types[...]
    return Self.paths.shuffled(using: &random).prefix(Int.random(in: 1...5, using: &random)).map {
      SoupIndex("\($0):\(types.randomElement(using: &random) ?? "string")")
    }
  }

  @Test(.covers("SS-173", "SS-186", "SS-199"), arguments: [1, 2, 3, 4, 20_240_131] as [UInt64])
  func `a soup after random alters is as a soup that had none`(
    seed: UInt64
  ) async throws {
    print("AlterModelTests seed \(seed)")
    var random = SeededGenerator(seed: seed)
    try await withStore(options: SmartStoreOptions(now: { 1_700_000_000_000 })) {
      store async throws in
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex]("a:string"))
      var elements: [Int64: JSONValue] = [:]
      var last: Int64 = 0
      for round in 0..<6 {
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          let element = mixedElements.randomElement(using: &random) ?? [:]
          let id = Int64.random(in: 1...(last + 2), using: &random)
          if elements[id] != nil {
            try await store.update(entry: element, withSoupEntryId: id, inSoupNamed: "s")
            elements[id] = element
          } else {
            try await store.create(entry: element, inSoupNamed: "s")
            last += 1
            elements[last] = element
          }
          if Int.random(in: 0..<4, using: &random) == 0 {
            let gone = Int64.random(in: 1...last, using: &random)
            try await store.remove(entryIds: [gone], forSoupNamed: "s")
            elements[gone] = nil
          }
        }
        let isExternal = Bool.random(using: &random)
        let spec = SoupSpec(
          name: "fresh", features: isExternal ? [SoupSpec.featureExternalStorage] : nil)
        let indexes = specs(&random, isExternal: isExternal)
        try await store.alterSoup(
          named: "s", soupSpec: spec, indexSpecs: indexes, reIndexData: true)

        try await store.registerSoup(withSpec: spec, withIndices: indexes)
        for id in 1...last {
          try await store.create(entry: elements[id] ?? [:], inSoupNamed: "fresh")
        }
        try await store.remove(
          entryIds: (1...last).filter { elements[$0] == nil }, forSoupNamed: "fresh")
        let (altered, fresh) = (
          try await store.picture(of: "s"), try await store.picture(of: "fresh")
        )
        #expect(altered == fresh, "round \(round)")
        #expect(try await store.elements(of: "s") == store.elements(of: "fresh"))
        #expect(
          try await store.externalFilesCount(forSoupNamed: "s") == (isExternal ? elements.count : 0)
        )
        try await store.removeSoup("fresh")
      }
    }
  }

  @Test(.covers("SS-187"))
  func `a live query goes on over an alter and sees no half of it`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex]("a:string"))
      try await store.upsert(entries: mixedElements, forSoupNamed: "s")
      let query = try QuerySpec.buildSmartQuerySpec(
        smartSql: "select {s:b} from {s} where {s:b} > 5 order by {s:b}", pageSize: 9)
      var results = store.observe(query).makeAsyncIterator()
      // Without an index a text is greater than any number.
      #expect(try await results.next() == [[900_000], [1_500_000], ["text"]])
      let alter = Task {
        for type in ["integer", "string", "integer"] {
          try await store.alterSoup(
            named: "s", indexSpecs: [SoupIndex("b:\(type)")], reIndexData: true)
        }
      }
      var seen: [[JSONValue]] = []
      while let next = try await results.next() {
        seen.append(next)
        if next == [[900_000], [1_500_000]] { break }
      }
      try await alter.value
      #expect(seen.allSatisfy { !$0.isEmpty })
      #expect(seen.last == [[900_000], [1_500_000]])
    }
  }
}
