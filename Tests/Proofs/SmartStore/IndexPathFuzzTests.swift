import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore
@testable import SmartStoreTests

/// Index paths of any form over elements of any form.
@Suite struct IndexPathFuzzTests {
  private let keys = ["a", "b", "c", "é", "a b", "it's", "x}y", "q:r", "[0]", "$", "\"", "", "A"]

  private func path(_ random: inout SeededGenerator) -> String {
    (0..<(1 + random.pick(3))).map { _ in random.pick(keys) }.joined(separator: ".")
  }

  private func value(_ random: inout SeededGenerator, depth: Int) -> JSONValue {
    switch random.pick(depth > 0 ? 9 : 5) {
    case 0: return .null
    case 1: return .bool(random.pick(2) == 0)
    case 2: return .integer(Int64(random.pick(7)) - 3)
    case 3, 4: return .string(random.pick(["", "x", "it's", "é", "\u{1}\"\\/", "12"]))
    case 5, 6, 7:
      var members = JSONObject()
      for _ in 0..<(1 + random.pick(4)) {
        members[random.pick(keys)] = value(&random, depth: depth - 1)
      }
      return .object(members)
    default:
      return .array((0..<random.pick(4)).map { _ in value(&random, depth: depth - 1) })
    }
  }

  /// The rules of SS-76, word for word.
  private func projected(_ value: JSONValue, _ keys: ArraySlice<String>) -> JSONValue? {
    guard let key = keys.first else { return value }
    switch value {
    case .object: return value[key].flatMap { projected($0, keys.dropFirst()) }
    case .array(let items):
      let found = items.compactMap { projected($0, keys) }
      return found.isEmpty ? nil : .array(found)
    default: return nil
    }
  }

  /// What a string index keeps (SS-72).
  private func text(_ value: JSONValue?) -> JSONValue {
    switch value {
    case nil, .null: .null
    case .bool(let flag): flag ? "1" : "0"
    case .string(let text): .string(text)
    case let other?: .string(other.text)
    }
  }

  @Test(.covers("SS-75", "SS-76", "SS-72"))
  func `any path is refused at registration or indexes what it leads to`()
    async throws
  {
    try await withStore { store async throws in
      try await Fuzz.run("index paths", rounds: 60) { seed, random in
        let paths = (0..<3).map { _ in path(&random) }
        let types = paths.map { _ in
          random.pick([SoupIndexType.string, .integer, .floating, .fullText, .json1])
        }
        let specs = zip(paths, types).map { SoupIndex(path: $0, type: $1) }
        let elements = (0..<4).map { _ -> JSONValue in
          var members = JSONObject()
          for _ in 0..<4 { members[random.pick(keys)] = value(&random, depth: 3) }
          return .object(members)
        }
        let soup = "s\(seed)"
        do {
          try await store.registerSoup(withName: soup, withIndices: specs)
        } catch let error as SmartStoreError {
          #expect(error.code == .invalidIndexSpec, "seed \(seed): \(paths)")
          #expect(
            zip(paths, types).contains { path, type in path.isEmpty || type == .json1 },
            "seed \(seed): \(paths)")
          return
        }
        try await store.upsert(entries: elements, forSoupNamed: soup)
        let rows = try await store.query(
          using: .buildAllQuerySpec(
            soupName: soup, selectPaths: paths, orderPath: "_soupEntryId", pageSize: 10))
        for (element, row) in zip(elements, rows) {
          for (position, (path, type)) in zip(paths, types).enumerated() {
            // Of two specs for one path the last counts (SS-82).
            guard paths.lastIndex(of: path) == position else { continue }
            let found = projected(element, JSONPath(path).keys[...])
            let kept = row[position]
            switch type {
            case .string, .fullText:
              #expect(kept == text(found), "seed \(seed): \(path) of \(element.text)")
            case .integer, .floating:
              let number = found?.double ?? found?.bool.map { $0 ? 1 : 0 }
              #expect(kept?.double == number, "seed \(seed): \(path) of \(element.text)")
            default: break
            }
          }
        }
        // What was written is found again by what was written (SS-99).
        for (element, id) in zip(elements, 1...) {
          guard let path = paths.first(where: { specs.map(\.path).lastIndex(of: $0) != nil }),
            let type = specs.last(where: { $0.path == path })?.type, type == .string,
            case let found? = projected(element, JSONPath(path).keys[...]), !found.isNull
          else { continue }
          let ids = try await store.query(
            using: .buildExactQuerySpec(
              soupName: soup, selectPaths: ["_soupEntryId"], path: path, matchKey: found,
              pageSize: 10)
          ).compactMap { $0[0]?.int64 }
          #expect(ids.contains(Int64(id)), "seed \(seed): \(path) of \(element.text)")
        }
        try await store.removeSoup(soup)
      }
    }
  }
}
