import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore
@testable import SmartStoreTests

/// Match keys: how they are aimed at a path, and what they find.
@Suite struct MatchKeyFuzzTests {
  @Test(.covers("SS-163", "SS-164"))
  func `each bare term of a random key is aimed at the field, and nothing else`()
    async throws
  {
    try await Fuzz.run("match key qualification", rounds: 1500) { seed, random in
      var key = ""
      var expected = ""
      for _ in 0..<(1 + random.pick(10)) {
        let (text, isTerm) = random.pick([
          ("abc", true), ("b*", true), ("é", true), ("android", true),
          ("\"two (words) AND\"", true),
          ("\"\"", true), ("AND", false), ("or", false), ("Not", false), ("{s:p}:abc", false),
          ("{s:p q}:\"x (y)\"", false), ("(", false), (")", false),
        ])
        let blank = random.pick([" ", "  ", "\n", "\t"])
        key += text + blank
        expected += (isTerm ? "F:" : "") + text + blank
      }
      #expect(MatchKey.qualified(key, field: "F") == expected, "seed \(seed)")
      #expect(MatchKey.qualified(key, field: nil) == key)
    }
  }

  /// A search as a tree, which can be written as a key and evaluated by comparison.
  private indirect enum Search {
    case term(String, column: String?)
    case and(Search, Search)
    case or(Search, Search)
    case not(Search, Search)

    init(_ random: inout SeededGenerator, depth: Int) {
      guard depth > 0, random.pick(4) > 0 else {
        self = .term(
          random.pick(["red", "green", "blue", "gr*", "none"]),
          column: random.pick([nil, nil, "x", "y"]))
        return
      }
      let (left, right) = (Search(&random, depth: depth - 1), Search(&random, depth: depth - 1))
      self = random.pick([.and(left, right), .or(left, right), .not(left, right)])
    }

    var key: String {
      switch self {
      case .term(let term, nil): term
      case .term(let term, let column?): "{a:\(column)}:\(term)"
      case .and(let left, let right): "(\(left.key) AND \(right.key))"
      case .or(let left, let right): "(\(left.key) OR \(right.key))"
      case .not(let left, let right): "(\(left.key) NOT \(right.key))"
      }
    }

    /// Whether an element is found, bare terms being sought in `path` or in both columns.
    func finds(_ words: [String: [String]], path: String?) -> Bool {
      switch self {
      case .term(let term, let column):
        let columns = (column ?? path).map { [$0] } ?? ["x", "y"]
        return columns.flatMap { words[$0] ?? [] }.contains { word in
          term.hasSuffix("*") ? word.hasPrefix(term.dropLast()) : word == term
        }
      case .and(let left, let right):
        return left.finds(words, path: path) && right.finds(words, path: path)
      case .or(let left, let right):
        return left.finds(words, path: path) || right.finds(words, path: path)
      case .not(let left, let right):
        return left.finds(words, path: path) && !right.finds(words, path: path)
      }
    }
  }

  @Test(.covers("SS-161", "SS-162"), arguments: [SmartStoreOptions.FullTextVersion.fts4, .fts5])
  func `a random search finds what looking finds`(
    version: SmartStoreOptions.FullTextVersion
  ) async throws {
    try await withStore(options: SmartStoreOptions(fullTextVersion: version)) {
      store async throws in
      try await store.registerSoup(
        withName: "a", withIndices: [SoupIndex]("x:full_text", "y:full_text"))
      let words = ["red", "green", "grey", "blue"]
      var random = SeededGenerator(seed: 3)
      let elements = (0..<25).map { _ in
        Dictionary(
          uniqueKeysWithValues: ["x", "y"].map { column in
            (column, words.filter { _ in random.pick(3) == 0 })
          })
      }
      try await store.upsert(
        entries: elements.map { element in
          [
            "x": .string(element["x"]?.joined(separator: " ") ?? ""),
            "y": .string(element["y"]?.joined(separator: " ") ?? ""),
          ]
        }, forSoupNamed: "a")
      try await Fuzz.run("searches, \(version)", rounds: 120) { seed, random in
        let search = Search(&random, depth: 3)
        let path = random.pick([nil, "x", "y"])
        let found = try await store.query(
          using: .buildMatchQuerySpec(
            soupName: "a", selectPaths: ["_soupEntryId"], path: path, matchKey: search.key,
            orderPath: "_soupEntryId", pageSize: 100)
        ).compactMap { $0[0]?.int64 }
        let expected = elements.indices.filter { search.finds(elements[$0], path: path) }
        #expect(found == expected.map { Int64($0 + 1) }, "seed \(seed): \(search.key)")
      }
    }
  }

  @Test(.covers("SS-165"))
  func `a mutated key finds something or fails with the engine's words, never more`()
    async throws
  {
    let corpus = [
      "red", "red AND blue", "(red OR gr*) NOT blue", "\"red blue\"", "{a:x}:red OR {a:y}:blue",
      "it's", "NEAR(red blue, 2)", "^red", "x : red", "-red", "red + blue",
    ]
    let pieces = [
      "'", "\"", "(", ")", "{", "}", ":", "*", "^", "+", "-", "AND", "OR", "NOT", "NEAR", " ", "\\",
      ";", "--", "ü", "\u{0}", ",", "{a:x}:", "{none:x}:", "rowid", "rank",
    ]
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "a", withIndices: [SoupIndex]("x:full_text", "y:full_text"))
      try await store.upsert(
        entries: [["x": "red", "y": "blue"], ["x": "it's"]], forSoupNamed: "a")
      try await Fuzz.run("match keys", rounds: 400) { seed, random in
        let key = random.mutated(random.pick(corpus), with: pieces)
        do {
          let found = try await store.query(
            using: .buildMatchQuerySpec(
              soupName: "a", path: random.pick([nil, "x"]), matchKey: key, pageSize: 10))
          #expect(found.count <= 2, "seed \(seed): \(key)")
        } catch let error as SmartStoreError {
          #expect(
            [.sql, .invalidReference, .invalidQuerySpec].contains(error.code),
            "seed \(seed): \(key): \(error)")
        }
      }
      #expect(try await store.elements(of: "a").count == 2)
    }
  }
}
