import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore
@testable import SmartStoreTests

/// Random sequences of calls on a store and on a plain model give the same results.
@Suite struct ModelTests {
  /// What a store should hold: the soups `a` and `b`, without the times of the last writes.
  private struct Model: Equatable {
    var elements: [String: [Int64: JSONValue]] = ["a": [:], "b": [:]]
    var nextIds: [String: Int64] = ["a": 1, "b": 1]

    func nextId(_ soup: String) -> Int64 { nextIds[soup] ?? 1 }

    mutating func insert(_ entry: JSONValue, _ soup: String) -> Int64 {
      let id = nextId(soup)
      nextIds[soup] = id + 1
      elements[soup]?[id] = entry
      return id
    }

    func ids(_ soup: String, where isIncluded: (JSONValue) -> Bool = { _ in true }) -> [Int64] {
      (elements[soup] ?? [:]).filter { isIncluded($0.value) }.keys.sorted()
    }

    /// The element as the store gives it, but for its time.
    func stored(_ id: Int64, _ soup: String) -> JSONValue? {
      var entry = elements[soup]?[id]
      if entry != nil { entry?["_soupEntryId"] = .integer(id) }
      return entry
    }
  }

  private let words = ["red", "Red", "green", "it's", "%", "", "Ω", "dark blue", "_x"]

  private func entry(_ random: inout SeededGenerator) -> JSONValue {
    var entry: JSONValue = ["key": .string("k\(random.pick(12))")]
    if random.pick(2) == 0 { entry["word"] = .string(random.pick(words)) }
    switch random.pick(4) {
    case 0: entry["n"] = .integer(Int64(random.pick(7)) - 3)
    case 1: entry["n"] = .null
    case 2: entry["nested"] = ["n": .integer(Int64(random.pick(4))), "x": [1]]
    default: break
    }
    return entry
  }

  private func entries(_ random: inout SeededGenerator, atMost count: Int) -> [JSONValue] {
    (0..<random.pick(count + 1)).map { _ in entry(&random) }
  }

  /// Removes the one member that the model does not know.
  private func timeless(_ element: JSONValue) -> JSONValue {
    var element = element
    element["_soupLastModifiedDate"] = nil
    return element
  }

  // MARK: Calls that write

  /// One call, with the result that the model expects, which it changes likewise.
  private func change(
    _ transaction: borrowing StoreTransaction, _ model: inout Model,
    _ random: inout SeededGenerator, _ hint: String
  ) throws {
    let soup = random.pick(["a", "b"])
    let last = model.nextId(soup) + 2
    func anyId(_ random: inout SeededGenerator) -> Int64 {
      Int64.random(in: 1...last, using: &random)
    }
    switch random.pick(12) {
    case 0, 1:
      let entries = entries(&random, atMost: 5)
      let saved = try transaction.upsert(entries: entries, forSoupNamed: soup)
      let ids = entries.map { model.insert($0, soup) }
      #expect(saved.map { $0["_soupEntryId"]?.int64 } == ids, "\(hint)")
    case 2, 3:
      try upsertByKey(transaction, &model, entries(&random, atMost: 4), soup, hint)
    case 4:
      // By entry id, known or not.
      let id = anyId(&random)
      var changed = entry(&random)
      let expected: Int64
      if model.elements[soup]?[id] != nil {
        model.elements[soup]?[id] = changed
        expected = id
      } else {
        expected = model.insert(changed, soup)
      }
      changed["_soupEntryId"] = random.pick([.integer(id), .string("\(id)"), .double(Double(id))])
      let saved = try transaction.upsert(entries: [changed], forSoupNamed: soup)
      #expect(saved.first?["_soupEntryId"] == .integer(expected), "\(hint)")
    case 5:
      let ids = (0..<3).map { _ in anyId(&random) }
      try transaction.remove(entryIds: ids, forSoupNamed: soup)
      for id in ids { model.elements[soup]?[id] = nil }
    case 6:
      let n = Int64(random.pick(7)) - 3
      let size = 1 + random.pick(3)
      let order = random.pick([QuerySpec.Order.ascending, .descending])
      let removed = try transaction.removeEntries(
        usingQuerySpec: .buildRangeQuerySpec(
          soupName: soup, path: "n", beginKey: .integer(n), orderPath: "_soupEntryId",
          order: order, pageSize: size), forSoupNamed: soup)
      let found = model.ids(soup) { ($0["n"]?.int64).map { $0 >= n } ?? false }
      let chosen = (order == .ascending ? found : found.reversed()).prefix(size)
      for id in chosen { model.elements[soup]?[id] = nil }
      #expect(removed == chosen.count, "\(hint)")
    case 7:
      var created = entry(&random)
      let id = model.insert(created, soup)
      // An id in the entry counts for nothing.
      created["_soupEntryId"] = 1
      let saved = try transaction.create(entry: created, inSoupNamed: soup)
      #expect(timeless(saved) == model.stored(id, soup), "\(hint)")
    case 8:
      let id = anyId(&random)
      let changed = entry(&random)
      let isKnown = model.elements[soup]?[id] != nil
      do throws(SmartStoreError) {
        try transaction.update(entry: changed, withSoupEntryId: id, inSoupNamed: soup)
        #expect(isKnown, "\(hint)")
        model.elements[soup]?[id] = changed
      } catch {
        #expect(error.code == .noSuchEntry && !isKnown, "\(hint)")
      }
    case 9 where random.pick(4) == 0:
      try transaction.clearSoup(soup)
      model.elements[soup] = [:]
    case 10:
      // Many texts at once, some of which name an id.
      var (slices, ids): ([JSONSlice], [Int64]) = ([], [])
      for entry in entries(&random, atMost: 40) {
        var text = entry
        let named = random.pick(6) == 0 ? anyId(&random) : nil
        if let named { text["_soupEntryId"] = .integer(named) }
        slices.append(try JSONSlice(parsing: text.serialized()))
        if let named, model.elements[soup]?[named] != nil {
          model.elements[soup]?[named] = entry
          ids.append(named)
        } else {
          ids.append(model.insert(entry, soup))
        }
      }
      #expect(try transaction.upsert(slices: slices, soup: soup) == ids, "\(hint)")
    default:
      // A batch with something wrong in it changes nothing.
      var batch = entries(&random, atMost: 3)
      batch.insert(random.pick([[1], ["_soupEntryId": true]]), at: random.pick(batch.count + 1))
      do throws(SmartStoreError) {
        try transaction.upsert(entries: batch, forSoupNamed: soup)
        Issue.record("\(hint): \(batch) was stored")
      } catch {
        #expect(error.code == .invalidEntry, "\(hint)")
      }
    }
  }

  /// By external id; the key may be ambiguous, and then nothing changes.
  private func upsertByKey(
    _ transaction: borrowing StoreTransaction, _ model: inout Model, _ entries: [JSONValue],
    _ soup: String, _ hint: String
  ) throws {
    var after = model
    var isAmbiguous = false
    var ids: [Int64] = []
    for entry in entries {
      let known = after.ids(soup) { $0["key"] == entry["key"] }
      isAmbiguous = isAmbiguous || known.count > 1
      if let id = known.first {
        after.elements[soup]?[id] = entry
        ids.append(id)
      } else {
        ids.append(after.insert(entry, soup))
      }
    }
    let slices = try entries.map { try JSONSlice(parsing: $0.serialized()) }
    do throws(SmartStoreError) {
      let saved =
        entries.count % 2 == 0
        ? try transaction.upsert(slices: slices, soup: soup, externalIdPath: "key")
        : try transaction.upsert(
          entries: entries, forSoupNamed: soup, withExternalIdPath: "key"
        ).compactMap { $0["_soupEntryId"]?.int64 }
      #expect(saved == ids, "\(hint)")
      #expect(!isAmbiguous, "\(hint)")
      model = after
    } catch {
      #expect(error.code == .ambiguousMatch && isAmbiguous, "\(hint)")
    }
  }

  // MARK: Calls that read

  /// Asks the store, or a transaction that is being written, what the model knows.
  private func compare(
    _ reader: borrowing some StoreReading & ~Copyable, _ model: Model,
    _ random: inout SeededGenerator, _ hint: String
  ) throws {
    let soup = random.pick(["a", "b"])
    let select = ["_soupEntryId"]
    func ids(_ results: [JSONValue]) -> [Int64?] { results.map { $0[0]?.int64 } }

    let key = "k\(random.pick(12))"
    let withKey = model.ids(soup) { $0["key"] == .string(key) }
    let exact = try reader.query(
      using: .buildExactQuerySpec(
        soupName: soup, selectPaths: select, path: "key", matchKey: .string(key),
        orderPath: "_soupEntryId", pageSize: 100))
    #expect(ids(exact) == withKey, "\(hint)")
    do throws(SmartStoreError) {
      let found = try reader.lookupSoupEntryId(
        soupNamed: soup, fieldPath: "key", fieldValue: .string(key))
      #expect(found == withKey.first && withKey.count < 2, "\(hint)")
    } catch {
      #expect(error.code == .ambiguousMatch && withKey.count > 1, "\(hint)")
    }

    let low = Int64(random.pick(7)) - 3
    for (path, value) in [
      ("n", { $0["n"] }), ("nested.n", { $0["nested"]?["n"] }),
    ] as [(String, (JSONValue) -> JSONValue?)] {
      let spec = try QuerySpec.buildRangeQuerySpec(
        soupName: soup, selectPaths: select, path: path, beginKey: .integer(low),
        endKey: .integer(low + 2), orderPath: "_soupEntryId", pageSize: 100)
      let expected = model.ids(soup) { element in
        (value(element)?.int64).map { (low...(low + 2)).contains($0) } ?? false
      }
      let (found, count) = (try reader.query(using: spec), try reader.count(using: spec))
      #expect(ids(found) == expected, "\(hint)")
      #expect(count == Int64(expected.count), "\(hint)")
    }
    // The other soup has no full text: its elements are written many at a time.
    if soup == "a" {
      let matching = try reader.query(
        using: .buildMatchQuerySpec(
          soupName: soup, selectPaths: select, path: random.pick([nil, "word"]),
          matchKey: "red OR blue", orderPath: "_soupEntryId", pageSize: 100))
      let reddish = model.ids(soup) { ["red", "Red", "dark blue"].contains($0["word"]?.string) }
      #expect(ids(matching) == reddish, "\(hint)")
    }
    let like = try reader.query(
      using: .buildLikeQuerySpec(
        soupName: soup, selectPaths: select, path: "word", likeKey: "%R_d%",
        orderPath: "_soupEntryId", pageSize: 100))
    let red = model.ids(soup) { ["red", "Red"].contains($0["word"]?.string) }
    #expect(ids(like) == red, "\(hint)")

    try comparePages(reader, model, soup, &random, hint)

    let some = (0..<4).map { _ in Int64.random(in: 0...model.nextId(soup), using: &random) }
    let retrieved = try reader.retrieve(usingSoupEntryIds: some, fromSoupNamed: soup)
    #expect(
      Set(retrieved.map { timeless($0.value) }) == Set(some.compactMap { model.stored($0, soup) }),
      "\(hint)")

    // A join, counted by group.
    let joined = try reader.query(
      using: .buildSmartQuerySpec(
        smartSql: """
          select {a}.{a:key}, count(*) from {a}, {b} where {a}.{a:key} = {b}.{b:key} \
          group by {a}.{a:key} order by {a}.{a:key}
          """, pageSize: 100))
    let keys = { (soup: String) in
      Dictionary(grouping: model.ids(soup).compactMap { model.elements[soup]?[$0]?["key"]?.string })
      {
        $0
      }.mapValues(\.count)
    }
    let (left, right) = (keys("a"), keys("b"))
    let expected = left.keys.filter { right[$0] != nil }.sorted().map { key -> JSONValue in
      [.string(key), .integer(Int64((left[key] ?? 0) * (right[key] ?? 0)))]
    }
    #expect(joined == expected, "\(hint)")
  }

  /// All elements in an order that nulls and equal values take part in, page by page.
  private func comparePages(
    _ reader: borrowing some StoreReading & ~Copyable, _ model: Model, _ soup: String,
    _ random: inout SeededGenerator, _ hint: String
  ) throws {
    let order = random.pick([QuerySpec.Order.ascending, .descending])
    let page = random.pick(4)
    let values = try reader.query(
      using: .buildAllQuerySpec(
        soupName: soup, selectPaths: ["n"], orderPath: "n", order: order, pageSize: 3),
      startingFromPageIndex: page
    ).map { $0[0]?.int64 ?? .min }
    let all = model.ids(soup).map { model.elements[soup]?[$0]?["n"]?.int64 ?? .min }.sorted()
    let ordered = order == .ascending ? all : all.reversed()
    #expect(values == Array(ordered.dropFirst(page * 3).prefix(3)), "\(hint)")
  }

  private func compareAll(_ store: SmartStore, _ model: Model, _ hint: String) async throws {
    for (soup, table) in [("a", "TABLE_1"), ("b", "TABLE_2")] {
      let stored = try await store.elements(of: soup).map(timeless)
      #expect(stored == model.ids(soup).compactMap { model.stored($0, soup) }, "\(hint)")
      // Index columns and full-text rows say the same as the elements.
      #expect(
        try await store.column(
          """
          select id from \(table) where \(table)_0 is not json_extract(soup, '$.key') or \
          \(table)_1 is not json_extract(soup, '$.word') or \
          \(table)_2 is not json_extract(soup, '$.n')
          """) == [], "\(hint)")
    }
    #expect(
      try await store.column(
        """
        select id from TABLE_1 left join TABLE_1_fts on id = TABLE_1_fts.rowid \
        where TABLE_1.TABLE_1_1 is not TABLE_1_fts.TABLE_1_1
        """) == [], "\(hint)")
    #expect(
      try await store.rows(
        "select (select count(*) from TABLE_1) = (select count(*) from TABLE_1_fts)") == [[1]],
      "\(hint)")
  }

  // MARK: Sequences

  private struct GaveUp: Error {}

  /// A few calls in one transaction, which may be rolled back at its end.
  private func transact(
    _ store: SmartStore, _ model: inout Model, _ random: inout SeededGenerator, _ hint: String
  ) async throws {
    let before = model
    let (start, seed) = (model, random.next())
    let isGivenUp = random.pick(3) == 0
    do {
      model = try await store.inTransaction(durability: .normal) { transaction in
        var model = start
        var random = SeededGenerator(seed: seed)
        for _ in 0..<(1 + random.pick(4)) {
          try change(transaction, &model, &random, hint)
          try compare(transaction, model, &random, hint)
        }
        if isGivenUp { throw GaveUp() }
        return model
      }
    } catch is GaveUp {
      model = before
    }
  }

  @Test func `random calls on a store and on a model give the same results`() async throws {
    try await Fuzz.run("model", rounds: 6) { seed, random in
      try await TemporaryFolder.with { folder in
        func open() async throws -> SmartStore {
          try await SmartStore.open(
            at: folder.file("store"), encryption: seed % 3 == 0 ? .plaintext : testEncryption)
        }
        var store = try await open()
        for soup in ["a", "b"] {
          try await store.registerSoup(
            withName: soup,
            withIndices: [SoupIndex](
              "key:string", soup == "a" ? "word:full_text" : "word:string", "n:integer",
              "nested.n:json1"))
        }
        var model = Model()
        for step in 0..<40 {
          let hint = "seed \(seed), step \(step)"
          try await transact(store, &model, &random, hint)
          let (known, nextSeed) = (model, random.next())
          try await store.read { reader in
            var random = SeededGenerator(seed: nextSeed)
            try compare(reader, known, &random, hint)
          }
          if random.pick(15) == 0 {
            // What is stored does not depend on who has it open.
            try await store.close()
            store = try await open()
          }
        }
        try await compareAll(store, model, "seed \(seed)")
        try await store.close()
      }
    }
  }
}
