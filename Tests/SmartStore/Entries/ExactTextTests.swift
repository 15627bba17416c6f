import SalesforceSDKCommon
import Testing

@testable import SmartStore
import TestSupport

/// Which texts are the same to a store? Those with the same bytes, as to JSON and to SQLite, and not
/// those that Unicode shows alike.
@Suite struct ExactTextTests {
  private let one = "caf\u{e9}"
  private let two = "cafe\u{301}"

  /// A spec that asks for the value at `path` of all elements.
  private func values(at path: String) throws -> QuerySpec {
    try .buildAllQuerySpec(
      soupName: "s", selectPaths: [path], orderPath: "_soupEntryId", pageSize: 9)
  }

  @Test(.covers("SS-125", "SS-156"))
  func `two statements that look alike are converted each for itself`()
    async throws
  {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex]("n:string"))
      try await store.upsert(
        entries: [["n": .string(one)], ["n": .string(two)]], forSoupNamed: "s")
      for (id, name) in [one, two].enumerated() {
        #expect(
          try await store.column("select {s:_soupEntryId} from {s} where {s:n} = '\(name)'")
            == [.integer(Int64(id + 1))])
      }
    }
  }

  @Test(.covers("SS-55"))
  func `two soups whose names look alike live side by side`() async throws {
    try await withStore { store async throws in
      let maps = "select count(*) from soup_index_map"
      try await store.registerSoup(withName: one, withIndices: [SoupIndex]("a:string"))
      #expect(try await !store.soupExists(forName: two))
      try await store.removeSoup(two)
      #expect(try await store.soupExists(forName: one))
      try await store.registerSoup(withName: two, withIndices: [SoupIndex]("b:string", "c:string"))
      try await store.upsert(entries: [["a": "x"]], forSoupNamed: one)
      #expect(try await store.rows("select {\(one):a} from {\(one)}") == [["x"]])
      #expect(try await store.rows("select {\(two):b} from {\(two)}") == [])
      #expect(try await store.indices(forSoupNamed: two).map(\.path) == ["b", "c"])
      await expectFailure(.invalidQuerySpec) {
        try await store.removeEntries(
          usingQuerySpec: .buildAllQuerySpec(soupName: one, pageSize: 9), forSoupNamed: two)
      }
      try await store.removeSoup(one)
      #expect(try await store.column(maps) == [2])
      try await store.registerSoup(withName: one, withIndices: [SoupIndex]("a:string"))
      #expect(try await store.column(maps) == [3])
      #expect(try await store.indices(forSoupNamed: one).map(\.path) == ["a"])
    }
  }

  @Test(.covers("SS-131"))
  func `two paths that look alike lead to their own members, indexed or not`()
    async throws
  {
    for indexes in [
      [SoupIndex]("n:string"), [SoupIndex]("\(one):string", "\(two):string"),
      [SoupIndex]("\(one):json1", "\(two):integer"),
    ] {
      try await withStore { store async throws in
        try await store.registerSoup(withName: "s", withIndices: indexes)
        let element = "{\"\(one)\":1,\"\(two)\":2}"
        try await store.upsert(slices: [try JSONSlice(parsing: element)], soup: "s")
        for (path, value) in [(one, 1), (two, 2)] as [(String, Int64)] {
          let row = try await store.query(using: values(at: path)).first
          #expect(row?[0]?.int64 == value || row?[0]?.string == "\(value)", "\(indexes)")
          guard indexes.count == 2 else { continue }
          for pass in 0..<2 {
            let id = try await store.lookupSoupEntryId(
              soupNamed: "s", fieldPath: path, fieldValue: .integer(value))
            #expect(id == 1, "\(indexes), pass \(pass)")
            try await store.upsert(
              slices: [try JSONSlice(parsing: element)], soup: "s", externalIdPath: path)
          }
        }
        #expect(try await store.elements(of: "s").count == 1)
      }
    }
  }

  @Test(.covers("SS-162"))
  func `a match is aimed at exactly the path that was named`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "s", withIndices: [SoupIndex]("\(one):full_text", "\(two):full_text"))
      try await store.upsert(
        slices: [try JSONSlice(parsing: "{\"\(one)\":\"x\",\"\(two)\":\"y\"}")], soup: "s")
      for (path, key) in [(one, "x"), (two, "y")] {
        for (path, key) in [(path, key), (nil, "{s:\(path)}:\(key)")] as [(String?, String)] {
          let spec = try QuerySpec.buildMatchQuerySpec(
            soupName: "s", path: path, matchKey: key, pageSize: 9)
          #expect(try await store.count(using: spec) == 1, "\(key)")
        }
      }
    }
  }

  @Test(.covers("SS-176"))
  func `an alter that corrects the bytes of a path indexes it again`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex]("\(two):string"))
      try await store.upsert(entries: [["caf\u{e9}": "x"]], forSoupNamed: "s")
      try await store.alterSoup(
        named: "s", indexSpecs: [SoupIndex]("\(one):string"), reIndexData: true)
      #expect(try await store.query(using: values(at: one)) == [["x"]])
    }
  }

  @Test func `a member that only looks like a removed one stays in its index`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex]("\(two):string"))
      try await store.upsert(
        slices: [try JSONSlice(parsing: "{\"\(two)\":\"x\"}")], removing: [one], soup: "s")
      #expect(try await store.query(using: values(at: two)) == [["x"]])
    }
  }

  @Test(.timeLimit(.minutes(1))) func `a live query notices when only the bytes of a text change`()
    async throws
  {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "s", withIndices: [SoupIndex]("n:string"))
      func put(_ text: String) async throws {
        try await store.upsert(
          entries: [["_soupEntryId": 1, "n": .string(text)]], forSoupNamed: "s")
      }
      try await put(one)
      var texts = store.observe(try values(at: "n")).makeAsyncIterator()
      #expect(try await texts.next()?.first?[0]?.string?.utf8.elementsEqual(one.utf8) == true)
      try await put(two)
      #expect(try await texts.next()?.first?[0]?.string?.utf8.elementsEqual(two.utf8) == true)
    }
  }
}
