import SalesforceSDKCommon
import SmartStore
import TestSupport
import Testing
@testable import SmartStoreTests

/// Does a store find what it holds? Names and texts in every spelling that JSON allows, numbers at their
/// limits, all index types, all kinds of query, upserts by external id, removals by query and alters,
/// against a model that knows what the values mean and not how they are spelled.
@Suite struct LookupModelTests {
  private struct Entry {
    let value: SpelledValue
    let text: String
  }

  /// A history under way.
  private struct History {
    let values: LookupValues
    var types: [[String]: SoupIndexType] = [:]
    var entries: [Int64: Entry] = [:]
    var nextId: Int64 = 1
    var random: SeededGenerator
    let seed: UInt64
    var step = 0

    var hint: String { "seed \(seed), step \(step)" }

    func kept(_ path: [String]) -> [Int64: KeptValue] {
      entries.compactMapValues { KeptValue($0.value, path, types[path]) }
    }

    func ids(_ path: [String], where isIncluded: (KeptValue) -> Bool) -> [Int64] {
      kept(path).filter { isIncluded($0.value) }.keys.sorted()
    }

    /// The ids of the entries that a key is to find.
    func ids(_ path: [String], equalTo key: SpelledValue) -> [Int64] {
      let type = types[path]
      if KeptValue.isWhole(key, type) {
        let whole = KeptValue(typed: key)
        return entries.filter { KeptValue(whole: $0.value.value, path, type) == whole }.keys
          .sorted()
      }
      guard let kept = KeptValue(key: key, type) else { return [] }
      return ids(path) { $0 == kept }
    }

    /// The ids of the entries with the external id of another.
    func ids(_ path: [String], ofExternalId element: SpelledValue) -> [Int64] {
      let type = types[path]
      guard type == .integer || type == .floating else {
        guard let id = KeptValue(element, path, type) else { return [] }
        return ids(path) { $0 == id }
      }
      guard let id = KeptValue(whole: element, path, type) else { return [] }
      return entries.filter { KeptValue(whole: $0.value.value, path, type) == id }.keys.sorted()
    }

    /// Whether an entry is within a bound.
    func isWithin(
      _ entry: Entry, _ path: [String], _ bound: SpelledValue,
      _ precedes: (_ bound: KeptValue, _ value: KeptValue) -> Bool
    ) -> Bool {
      let type = types[path]
      let isWhole = KeptValue.isWhole(bound, type)
      let value =
        isWhole
        ? KeptValue(whole: entry.value, path, type) : KeptValue(entry.value, path, type)
      let kept = isWhole ? KeptValue(typed: bound) : KeptValue(key: bound, type)
      guard let value, let kept else { return false }
      return precedes(kept, value)
    }

    mutating func entry() -> Entry {
      let value = values.element(&random)
      return Entry(value: value, text: value.spelled(&random))
    }

    mutating func insert(_ entry: Entry) -> Int64 {
      defer { nextId += 1 }
      entries[nextId] = entry
      return nextId
    }

    /// An indexed path with its type.
    mutating func indexedPath() -> (path: [String], type: SoupIndexType)? {
      let paths = types.keys.sorted { $0.joined() < $1.joined() }
      guard let path = paths.randomElement(using: &random), let type = types[path] else {
        return nil
      }
      return (path, type)
    }

    /// The type of the index on a path; nil if it has none.
    func type(ofPath text: String?) -> SoupIndexType? {
      types.first { $0.key.joined(separator: ".").utf8.elementsEqual((text ?? "").utf8) }?.value
    }

    /// Index specs for some of the paths. json1 refuses names that SQLite does not follow.
    mutating func drawTypes() -> [SoupIndex] {
      types = [:]
      let hard = Set("\"\\[\t\u{1}".unicodeScalars)
      for path in values.paths.shuffled(using: &random).prefix(2 + random.pick(3)) {
        let allowed: [SoupIndexType] =
          path.joined().unicodeScalars.contains(where: hard.contains)
          ? [.string, .integer, .floating, .fullText]
          : [.string, .integer, .floating, .fullText, .json1, .json1]
        types[path] = random.pick(allowed)
      }
      return types.map { SoupIndex(path: $0.key.joined(separator: "."), type: $0.value) }
    }
  }

  // MARK: Writing

  private func upsertByExternalId(_ store: SmartStore, _ history: inout History) async throws {
    guard let (path, type) = history.indexedPath() else { return }
    var after = history
    var batch: [Entry] = []
    var expected: [Int64] = []
    var failure: SmartStoreError.Code?
    for _ in 0...history.random.pick(3) {
      let entry = after.entry()
      batch.append(entry)
      guard failure == nil else { continue }
      guard KeptValue(entry.value, path, type) != nil else {
        failure = .externalIdMissing
        continue
      }
      let found = after.ids(path, ofExternalId: entry.value)
      if found.count > 1 { failure = .ambiguousMatch }
      if let known = found.first {
        after.entries[known] = entry
        expected.append(known)
      } else {
        expected.append(after.insert(entry))
      }
    }
    let pathText = path.joined(separator: ".")
    do {
      let slices = try batch.map { try JSONSlice(parsing: $0.text) }
      let ids = try await store.upsert(slices: slices, soup: "s", externalIdPath: pathText)
      #expect(
        failure == nil && ids == expected, "\(history.hint): \(type) \(path) \(batch.map(\.text))")
      history = after
    } catch let error as SmartStoreError {
      #expect(
        error.code == failure, "\(history.hint): \(error) \(type) \(path) \(batch.map(\.text))")
      history.random = after.random
    }
  }

  private func insert(_ store: SmartStore, _ history: inout History) async throws {
    let entries = (0...history.random.pick(18)).map { _ in history.entry() }
    let ids = try await store.upsert(
      slices: entries.map { try JSONSlice(parsing: $0.text) }, soup: "s")
    #expect(ids == entries.map { history.insert($0) }, "\(history.hint)")
  }

  private func remove(_ store: SmartStore, _ history: inout History) async throws {
    guard let (spec, ids) = try exact(&history, pageSize: 2) else { return }
    let removed = try await store.removeEntries(usingQuerySpec: spec, forSoupNamed: "s")
    let expected = ids.prefix(2)
    #expect(removed == expected.count, "\(history.hint): \(spec.json)")
    for id in expected { history.entries[id] = nil }
  }

  private func alter(_ store: SmartStore, _ history: inout History) async throws {
    let specs = history.drawTypes()
    try await store.alterSoup(named: "s", indexSpecs: specs, reIndexData: true)
  }

  // MARK: Looking up

  /// A key that an exact query of a path may be given, and what it is to find.
  private func exact(
    _ history: inout History, pageSize: Int = 1_000
  ) throws -> (QuerySpec, [Int64])? {
    let path = history.random.pick(history.values.paths)
    let type = history.types[path]
    // One that an element has, or any.
    let held = history.entries.values.compactMap {
      type == nil || type == .json1 ? $0.value.extracted(path[...]) : $0.value.projected(path[...])
    }
    let meaning =
      history.random.pick(3) > 0
      ? held.randomElement(using: &history.random) : history.values.value(&history.random)
    guard let meaning else { return nil }
    if case .null = meaning { return nil }
    if type == .integer || type == .floating {
      // SQLite would make numbers of texts that look like some.
      switch meaning {
      case .number, .bool: break
      default: return nil
      }
    }
    let spec = try QuerySpec(
      json: [
        "queryType": "exact", "indexPath": .string(path.joined(separator: ".")),
        "matchKey": JSONValue(parsing: meaning.spelled(&history.random)),
        "orderPath": "_soupEntryId",
        "pageSize": .integer(Int64(pageSize)),
      ], soupName: "s")
    return (spec, history.ids(path, equalTo: meaning))
  }

  private func check(
    _ store: SmartStore, _ spec: QuerySpec, _ expected: [Int64], _ history: History
  ) async throws {
    let found = try await store.query(using: spec).map { $0["_soupEntryId"]?.int64 ?? 0 }
    let type = history.type(ofPath: spec.indexPath)?.rawValue ?? "no index"
    let wrong = Set(found).symmetricDifference(expected).sorted().prefix(3)
      .map { history.entries[$0]?.text ?? "" }
    #expect(found == expected, "\(history.hint): \(type) \(spec.json) wrong: \(wrong)")
    #expect(try await store.count(using: spec) == Int64(expected.count), "\(history.hint)")
  }

  private func checkExact(_ store: SmartStore, _ history: inout History) async throws {
    guard let (spec, ids) = try exact(&history) else { return }
    try await check(store, spec, ids, history)
    guard let path = spec.indexPath, history.type(ofPath: path) != nil else { return }
    do throws(SmartStoreError) {
      let found = try await lookup(store, path, spec.matchKey)
      #expect(found == ids.first && ids.count < 2, "\(history.hint): \(spec.json)")
    } catch {
      #expect(error.code == .ambiguousMatch && ids.count > 1, "\(history.hint): \(spec.json)")
    }
  }

  private func lookup(
    _ store: SmartStore, _ path: String, _ key: JSONValue?
  ) async throws(SmartStoreError) -> Int64? {
    do {
      return try await store.lookupSoupEntryId(soupNamed: "s", fieldPath: path, fieldValue: key)
    } catch let error as SmartStoreError {
      throw error
    } catch {
      preconditionFailure("\(error)")
    }
  }

  private func checkRange(_ store: SmartStore, _ history: inout History) async throws {
    guard let (path, type) = history.indexedPath() else { return }
    let isText = type == .string || type == .fullText
    // Bounds that elements have: the ends belong to a range.
    let bounds = history.entries.values.compactMap { $0.value.projected(path[...]) }.filter {
      value in
      switch value {
      case .text(let text): isText && !text.contains("\0")
      case .number(let number):
        isText || number.double.isFinite
      default: false
      }
    }
    guard let begin = bounds.randomElement(using: &history.random),
      let end = bounds.randomElement(using: &history.random)
    else { return }
    let spec = try QuerySpec(
      json: [
        "queryType": "range", "indexPath": .string(path.joined(separator: ".")),
        "beginKey": JSONValue(parsing: begin.spelled(&history.random)),
        "endKey": JSONValue(parsing: end.spelled(&history.random)), "orderPath": "_soupEntryId",
        "pageSize": 1_000,
      ], soupName: "s")
    let expected = history.entries.filter { _, entry in
      history.isWithin(entry, path, begin) { low, value in !value.precedes(low) }
        && history.isWithin(entry, path, end) { high, value in !high.precedes(value) }
    }
    try await check(store, spec, expected.keys.sorted(), history)
  }

  private func checkTexts(_ store: SmartStore, _ history: inout History) async throws {
    for (path, type) in history.types where type == .string || type == .fullText {
      let pathText = path.joined(separator: ".")
      let word = history.random.pick(LookupValues.words)
      let texts = history.kept(path).compactMapValues { kept -> String? in
        if case .text(let text) = kept { text } else { nil }
      }
      // LIKE reads a text up to its first NUL.
      if !texts.values.contains(where: { $0.contains("\0") }) {
        let like = try QuerySpec.buildLikeQuerySpec(
          soupName: "s", path: pathText, likeKey: "%\(word.uppercased())%",
          orderPath: "_soupEntryId",
          pageSize: 1_000)
        let ids = texts.filter { $0.value.lowercased().contains(word) }.keys.sorted()
        try await check(store, like, ids, history)
      }
      guard type == .fullText else { continue }
      let match = try QuerySpec.buildMatchQuerySpec(
        soupName: "s", path: pathText, matchKey: word, orderPath: "_soupEntryId", pageSize: 1_000)
      let ids = texts.filter { text in
        text.value.lowercased().split { !$0.isLetter && !$0.isNumber }.contains { $0 == word }
      }.keys.sorted()
      try await check(store, match, ids, history)
    }
  }

  /// All elements page by page in the order of a path, and those without a value there.
  private func checkAll(_ store: SmartStore, _ history: inout History) async throws {
    let path = history.random.pick(history.values.paths)
    let pathText = path.joined(separator: ".")
    let spec = try QuerySpec.buildAllQuerySpec(
      soupName: "s", selectPaths: ["_soupEntryId"], orderPath: pathText, pageSize: 7)
    var found: [Int64] = []
    for page in 0...(history.entries.count / 7) {
      found += try await store.query(using: spec, startingFromPageIndex: page)
        .compactMap { $0[0]?.int64 }
    }
    #expect(found.sorted() == history.entries.keys.sorted(), "\(history.hint)")
    let kept = history.kept(path)
    let empty = found.prefix { kept[$0] == nil }
    #expect(
      Set(empty) == Set(history.entries.keys.filter { kept[$0] == nil }), "\(history.hint) \(path)")

    // Braces and colons cannot stand in a reference; no path here has one.
    let rows = try await store.query(
      using: .buildSmartQuerySpec(
        smartSql: "select {s:_soupEntryId} from {s} where {s:\(pathText)} is null order by 1",
        pageSize: 1_000))
    #expect(
      rows.compactMap { $0[0]?.int64 } == history.entries.keys.filter { kept[$0] == nil }.sorted(),
      "\(history.hint) \(path)")
  }

  /// What is stored means what was given.
  private func checkElements(_ store: SmartStore, _ history: History) async throws {
    let ids = history.entries.keys.sorted()
    let stored = try await store.retrieve(usingSoupEntryIds: ids, fromSoupNamed: "s")
    #expect(stored.count == ids.count, "\(history.hint)")
    for slice in stored {
      var value = slice.value
      let id = value["_soupEntryId"]?.int64 ?? 0
      value["_soupEntryId"] = nil
      value["_soupLastModifiedDate"] = nil
      #expect(try value == JSONValue(parsing: history.entries[id]?.text ?? ""), "\(history.hint)")
    }
    let report = try await store.verify()
    #expect(report.isClean, "\(history.hint): \(report.findings.prefix(3))")
  }

  @Test(.covers("SS-99", "SS-112", "SS-143"))
  func `a store finds what it holds, however it is spelled`() async throws {
    let first = Effort.seed(1)
    for seed in first..<first + UInt64(Effort.times(12)) {
      try await withStore { store async throws in
        var random = SeededGenerator(seed: seed)
        let values = LookupValues(&random)
        var history = History(values: values, random: random, seed: seed)
        try await store.registerSoup(withName: "s", withIndices: history.drawTypes())
        try await insert(store, &history)
        for step in 1...30 {
          history.step = step
          switch history.random.pick(9) {
          case 0, 1: try await insert(store, &history)
          case 2...5: try await upsertByExternalId(store, &history)
          case 6: try await remove(store, &history)
          case 7: try await alter(store, &history)
          default: break
          }
          for _ in 0..<3 { try await checkExact(store, &history) }
          try await checkRange(store, &history)
          try await checkTexts(store, &history)
          if step % 5 == 0 { try await checkAll(store, &history) }
        }
        try await checkElements(store, history)
      }
    }
  }
}
