import ArgumentParser
import Foundation
import SalesforceSDKCommon
import SmartStore

extension SmartStoreCommand {
  /// Loads one store and times every row on it, as the C loop does on its file.
  struct Rows: AsyncParsableCommand {
    @Argument var way: Way
    @Option var elements = 100_000
    @Option(help: "Run only these rows, besides the insertion that they need, with commas between.")
    var only: String?
    @Flag(help: "Leave out the json1 index, for a SQLite that has no JSON.")
    var withoutJSON = false

    private struct Seconds: Encodable {
      var rows: [String: Double] = [:]
    }

    func run() async throws {
      try await withTemporaryFolder { folder in
        let store = try await SmartStore.open(at: folder, encryption: way.encryption)
        let rows = StoreRows(
          store: store, elements: elements,
          indexes: StoreCommand.indexes.filter { !withoutJSON || $0.type != .json1 })
        let only = only.map { Set($0.split(separator: ",").map(String.init)) }
        var seconds = Seconds()
        for (name, row) in rows.all where name == "insert" || only?.contains(name) ?? true {
          seconds.rows[name] = try await row()
        }
        let text = try JSONEncoder().encode(seconds)
        FileHandle.standardOutput.write(text + Data("\n".utf8))
        try await store.close()
      }
    }
  }
}

/// The rows, in the order in which they run: each leaves the store as the next one expects it.
private struct StoreRows {
  let store: SmartStore
  let elements: Int
  let indexes: [SoupIndex]

  private let soup = SmartStoreCommand.soup
  private let batch = 2000

  var all: [(String, () async throws -> Double)] {
    [
      ("insert", insert), ("upsert", upsert), ("single", single), ("exact", exact),
      ("exactInSnapshot", exactInSnapshot), ("page", page), ("count", count), ("group", group),
      ("scan", scan), ("match", match), ("load", load),
    ]
  }

  private func timed(_ body: () async throws -> Void) async rethrows -> Double {
    let start = ContinuousClock.now
    try await body()
    return (ContinuousClock.now - start) / .seconds(1)
  }

  /// The same after one pass that is not counted, so that the connection's cache is filled.
  private func timedOnceWarm(_ body: () async throws -> Void) async throws -> Double {
    try await body()
    return try await timed(body)
  }

  /// The result is a page of bytes; reading it is part of the work.
  private func pages(_ indexes: [Int]) -> [[UInt8]] {
    stride(from: 0, to: indexes.count, by: batch).map { start in
      let texts = indexes[start..<min(start + batch, indexes.count)].map {
        SamplePage.record($0).text
      }
      return Array("[\(texts.joined(separator: ","))]".utf8)
    }
  }

  private func insert() async throws -> Double {
    try await store.registerSoup(withName: soup, withIndices: indexes)
    let pages = pages(Array(0..<elements))
    return try await timed {
      for page in pages {
        try await store.upsert(slices: Array(try JSONSlice(parsing: page).elements), soup: soup)
      }
    }
  }

  private func upsert() async throws -> Double {
    let pages = pages((0..<20_000).map { $0 * 7919 % elements })
    return try await timed {
      for page in pages {
        try await store.upsert(
          slices: Array(try JSONSlice(parsing: page).elements), soup: soup,
          externalIdPath: "AccountNumber")
      }
    }
  }

  private func single() async throws -> Double {
    let texts = (0..<300).map { Array(SamplePage.record($0).text.utf8) }
    return try await timed {
      for text in texts {
        try await store.upsert(slices: [JSONSlice(parsing: text)], soup: soup)
      }
    }
  }

  private func exactSpecs() throws -> [QuerySpec] {
    try (0..<20_000).map { index in
      try .buildExactQuerySpec(
        soupName: soup, path: "AccountNumber",
        matchKey: .string(SamplePage.record((300 + index * 7919) % elements).accountNumber),
        pageSize: 1)
    }
  }

  private func expect(_ isExpected: Bool) throws {
    guard isExpected else { throw ValidationError("a row gave another number of elements") }
  }

  /// Each query is a call, and a snapshot, of its own.
  private func exact() async throws -> Double {
    let specs = try exactSpecs()
    return try await timedOnceWarm {
      for spec in specs { try expect(try await store.queryEntries(using: spec).count == 1) }
    }
  }

  private func exactInSnapshot() async throws -> Double {
    let specs = try exactSpecs()
    return try await timedOnceWarm {
      try await store.read { reader in
        for spec in specs { try expect(try reader.queryEntries(using: spec).count == 1) }
      }
    }
  }

  private func page() async throws -> Double {
    let specs = try (0..<500).map { index in
      let low = Int64(index * 97 % 40_000)
      return try QuerySpec.buildRangeQuerySpec(
        soupName: soup, path: "NumberOfEmployees", beginKey: .integer(low),
        endKey: .integer(low + 5000), orderPath: "NumberOfEmployees", pageSize: 100)
    }
    return try await timedOnceWarm {
      for spec in specs { try expect(try await store.queryEntries(using: spec).count == 100) }
    }
  }

  private func count() async throws -> Double {
    let spec = try QuerySpec.buildAllQuerySpec(soupName: soup, pageSize: 1)
    return try await timedOnceWarm {
      for _ in 0..<20 { try expect(try await store.count(using: spec) == Int64(elements + 300)) }
    }
  }

  private func group() async throws -> Double {
    let spec = try QuerySpec.buildSmartQuerySpec(
      smartSql:
        "select {accounts:NumberOfEmployees}, count(*) from {accounts} group by {accounts:NumberOfEmployees}",
      pageSize: 65_536)
    return try await timedOnceWarm {
      for _ in 0..<10 { try expect(try await store.query(using: spec).count > 1000) }
    }
  }

  private func scan() async throws -> Double {
    let spec = try QuerySpec.buildExactQuerySpec(
      soupName: soup, path: "Phone", matchKey: "(617) 555-1234", pageSize: 1)
    return try await timedOnceWarm {
      for _ in 0..<2 { try expect(try await store.count(using: spec) > 0) }
    }
  }

  private func match() async throws -> Double {
    try await store.registerSoup(
      withName: "notes", withIndices: [SoupIndex(path: "notes", type: .fullText)])
    for start in stride(from: 0, to: elements, by: batch) {
      let texts = (start..<min(start + batch, elements)).map { index in
        let notes = SmartStoreCommand.notes(index, of: elements)
        return SamplePage.record(index).text.dropLast() + ",\"notes\":\"\(notes)\"}"
      }
      let page = Array("[\(texts.joined(separator: ","))]".utf8)
      try await store.upsert(slices: Array(try JSONSlice(parsing: page).elements), soup: "notes")
    }
    let specs = try (0..<2000).map { index in
      try QuerySpec.buildMatchQuerySpec(
        soupName: "notes", matchKey: "word\(index % (elements / 20))", pageSize: 100)
    }
    return try await timedOnceWarm {
      for spec in specs { try expect(try await store.queryEntries(using: spec).count == 20) }
    }
  }

  /// Fills another soup with its indexes built last.
  private func load() async throws -> Double {
    try await store.registerSoup(withName: "loaded", withIndices: indexes)
    let pages = pages(Array(0..<elements))
    return try await timed {
      try await store.bulkLoad(intoSoupNamed: "loaded") { load in
        for page in pages { try await load.append(Array(try JSONSlice(parsing: page).elements)) }
      }
    }
  }
}
