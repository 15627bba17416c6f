import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore

/// Random sequences of calls on a store and on a plain model give the same answers.
@Suite struct ModelTests {
  /// What a soup should hold: elements by id, without the time of their last write.
  private struct Model {
    var elements: [Int64: JSONValue] = [:]
    var nextId: Int64 = 1

    mutating func insert(_ entry: JSONValue) -> Int64 {
      defer { nextId += 1 }
      elements[nextId] = entry
      return nextId
    }

    func ids(where isIncluded: (JSONValue) -> Bool) -> [Int64] {
      elements.filter { isIncluded($0.value) }.keys.sorted()
    }
  }

  private let words = ["red", "Red", "green", "it's", "%", "", "Ω", "dark blue"]

  private func entry(_ random: inout SeededGenerator) -> JSONValue {
    var entry: JSONValue = ["key": .string("k\(Int.random(in: 0..<12, using: &random))")]
    if Bool.random(using: &random) {
      entry["word"] = .string(words.randomElement(using: &random) ?? "")
    }
    switch Int.random(in: 0..<4, using: &random) {
    case 0: entry["n"] = .integer(Int64.random(in: -3...3, using: &random))
    case 1: entry["n"] = .null
    case 2: entry["nested"] = ["n": .integer(Int64.random(in: 0...3, using: &random)), "x": [1]]
    default: break
    }
    return entry
  }

  @Test(arguments: [1, 2, 3, 20_240_131, 987_654_321] as [UInt64])
  func `random calls on a store and on a model give the same answers`(seed: UInt64) async throws {
    print("ModelTests seed \(seed)")
    var random = SeededGenerator(seed: seed)
    var model = Model()
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "a",
        withIndices: [SoupIndex](
          "key:string", "word:full_text", "n:integer", "nested.n:json1"))
      for step in 0..<60 {
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1:
          let entries = (0..<Int.random(in: 0..<6, using: &random)).map { _ in entry(&random) }
          let saved = try await store.upsert(entries: entries, forSoupNamed: "a")
          let ids = entries.map { model.insert($0) }
          #expect(saved.map { $0["_soupEntryId"]?.int64 } == ids)
        case 2, 3:
          // By external id; the key may be ambiguous, and then nothing changes.
          let entries = (0..<Int.random(in: 1..<5, using: &random)).map { _ in entry(&random) }
          var after = model
          var isAmbiguous = false
          for entry in entries {
            let known = after.ids { $0["key"] == entry["key"] }
            isAmbiguous = isAmbiguous || known.count > 1
            if let id = known.first { after.elements[id] = entry } else { _ = after.insert(entry) }
          }
          if isAmbiguous {
            await expectFailure(.ambiguousMatch) {
              try await store.upsert(
                entries: entries, forSoupNamed: "a", withExternalIdPath: "key")
            }
          } else {
            try await store.upsert(entries: entries, forSoupNamed: "a", withExternalIdPath: "key")
            model = after
          }
        case 4:
          let id = Int64.random(in: 1...(model.nextId + 2), using: &random)
          var changed = entry(&random)
          if model.elements[id] != nil {
            model.elements[id] = changed
          } else {
            _ = model.insert(changed)
          }
          changed["_soupEntryId"] = .integer(id)
          try await store.upsert(entries: [changed], forSoupNamed: "a")
        case 5:
          let ids = (0..<3).map { _ in Int64.random(in: 1...(model.nextId + 2), using: &random) }
          try await store.remove(entryIds: ids, forSoupNamed: "a")
          for id in ids { model.elements[id] = nil }
        case 6:
          let n = Int64.random(in: -3...3, using: &random)
          try await store.removeEntries(
            usingQuerySpec: .buildExactQuerySpec(
              soupName: "a", path: "n", matchKey: .integer(n), orderPath: "_soupEntryId",
              pageSize: 2), forSoupNamed: "a")
          for id in model.ids(where: { $0["n"] == .integer(n) }).prefix(2) {
            model.elements[id] = nil
          }
        default:
          try await compareQueries(store, model, &random, step: step)
        }
      }
      try await compareAll(store, model)
    }
  }

  private func compareAll(_ store: SmartStore, _ model: Model) async throws {
    let stored = try await store.elements(of: "a").map { element in
      var element = element
      element["_soupLastModifiedDate"] = nil
      return element
    }
    let expected = model.elements.sorted { $0.key < $1.key }.map { id, entry in
      var entry = entry
      entry["_soupEntryId"] = .integer(id)
      return entry
    }
    #expect(stored == expected)
    // Index columns and full-text rows say the same as the elements.
    #expect(
      try await store.column(
        """
        select id from TABLE_1 where TABLE_1_0 is not json_extract(soup, '$.key') or \
        TABLE_1_1 is not json_extract(soup, '$.word') or TABLE_1_2 is not json_extract(soup, '$.n')
        """) == [])
    #expect(
      try await store.column(
        """
        select id from TABLE_1 left join TABLE_1_fts on id = TABLE_1_fts.rowid \
        where TABLE_1.TABLE_1_1 is not TABLE_1_fts.TABLE_1_1
        """) == [])
    #expect(
      try await store.rows(
        "select (select count(*) from TABLE_1) = (select count(*) from TABLE_1_fts)") == [[1]])
  }

  private func compareQueries(
    _ store: SmartStore, _ model: Model, _ random: inout SeededGenerator, step: Int
  ) async throws {
    func ids(_ spec: QuerySpec) async throws -> [Int64?] {
      try await store.query(using: spec).map { $0[0]?.int64 }
    }
    let select = ["_soupEntryId"]
    let key = "k\(Int.random(in: 0..<12, using: &random))"
    #expect(
      try await ids(
        .buildExactQuerySpec(
          soupName: "a", selectPaths: select, path: "key", matchKey: .string(key),
          orderPath: "_soupEntryId", pageSize: 100)) == model.ids { $0["key"] == .string(key) })
    let low = Int64.random(in: -3...3, using: &random)
    for (path, value) in [
      ("n", { $0["n"] }), ("nested.n", { $0["nested"]?["n"] }),
    ] as [(String, (JSONValue) -> JSONValue?)] {
      #expect(
        try await ids(
          .buildRangeQuerySpec(
            soupName: "a", selectPaths: select, path: path, beginKey: .integer(low),
            endKey: .integer(low + 2), orderPath: "_soupEntryId", pageSize: 100))
          == model.ids { element in
            guard let number = value(element)?.int64 else { return false }
            return (low...(low + 2)).contains(number)
          })
    }
    #expect(
      try await ids(
        .buildMatchQuerySpec(
          soupName: "a", selectPaths: select, path: "word", matchKey: "red OR blue",
          orderPath: "_soupEntryId", pageSize: 100))
        == model.ids { ["red", "Red", "dark blue"].contains($0["word"]?.string) })
    let page = Int.random(in: 0..<4, using: &random)
    let all = model.elements.keys.sorted()
    #expect(
      try await store.query(
        using: .buildAllQuerySpec(
          soupName: "a", selectPaths: select, orderPath: "_soupEntryId", pageSize: 3),
        startingFromPageIndex: page
      ).map { $0[0]?.int64 }
        == Array(all.dropFirst(page * 3).prefix(3)), "step \(step)")
    #expect(
      try await store.count(using: .buildAllQuerySpec(soupName: "a", pageSize: 1))
        == Int64(all.count))
  }
}
