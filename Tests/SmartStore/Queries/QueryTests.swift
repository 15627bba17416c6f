import Foundation
import SalesforceSDKCommon
import Testing

@testable import SmartStore
import TestSupport

/// What does each kind of query find, in which order and shape?
@Suite struct QueryTests {
  private let specs = [SoupIndex]("k:string", "n:integer", "f:floating", "j:json1")

  private func filled(_ store: SmartStore) async throws {
    try await store.registerSoup(withName: "a", withIndices: specs)
    try await store.upsert(
      entries: [
        ["k": "b", "n": 100, "f": 1.5, "j": 100, "u": "x"], ["k": "A", "n": 3, "f": 2, "j": 3],
        ["k": "a", "n": 20, "j": 20, "u": "X"], ["u": "none"],
      ], forSoupNamed: "a")
  }

  private func ids(_ store: SmartStore, _ spec: QuerySpec) async throws -> [JSONValue?] {
    try await store.query(using: spec).map { $0["_soupEntryId"] }
  }

  @Test(.covers("SS-118", "SS-120", "SS-125", "SS-126", "SS-127"))
  func `each kind of query finds its entries`()
    async throws
  {
    try await withStore { store async throws in
      try await filled(store)
      let soup = "a"
      #expect(
        try await ids(store, .buildAllQuerySpec(soupName: soup, orderPath: "n", pageSize: 9))
          == [4, 2, 3, 1])
      #expect(
        try await ids(
          store, .buildExactQuerySpec(soupName: soup, path: "k", matchKey: "a", pageSize: 9)) == [3]
      )
      for path in ["n", "j"] {
        #expect(
          try await ids(
            store,
            .buildRangeQuerySpec(
              soupName: soup, path: path, beginKey: 5, endKey: 150, orderPath: path, pageSize: 9))
            == [3, 1])
        #expect(
          try await ids(
            store,
            .buildRangeQuerySpec(
              soupName: soup, path: path, beginKey: 3, endKey: 20, orderPath: path,
              order: .descending, pageSize: 9)) == [3, 2])
        #expect(
          try await ids(
            store, .buildRangeQuerySpec(soupName: soup, path: path, endKey: 3, pageSize: 9)) == [2])
        #expect(
          try await store.count(
            using: .buildRangeQuerySpec(soupName: soup, path: path, pageSize: 9)) == 4)
      }
      #expect(
        try await ids(
          store,
          .buildLikeQuerySpec(soupName: soup, path: "k", likeKey: "A", orderPath: "k", pageSize: 9))
          == [2, 3])
      #expect(
        try await ids(
          store,
          .buildLikeQuerySpec(soupName: soup, path: "u", likeKey: "_", orderPath: "u", pageSize: 9))
          == [3, 1])
    }
  }

  @Test(
    .covers("SS-127"),
    arguments: [("ÄRGER", [1]), ("äRGER", [2]), ("%é%", []), (#"50\%"#, [4]), ("50%", [3, 4])]
      as [(String, [JSONValue])])
  func `a like query ignores the case of ASCII letters alone, and a backslash is a character`(
    key: String, found: [JSONValue]
  ) async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specs)
      try await store.upsert(
        entries: [["k": "Ärger"], ["k": "ärger"], ["k": "50%"], ["k": #"50\ or so"#]],
        forSoupNamed: "a")
      #expect(
        try await ids(
          store,
          .buildLikeQuerySpec(
            soupName: "a", path: "k", likeKey: key, orderPath: "_soupEntryId", pageSize: 9))
          == found)
    }
  }

  @Test(.covers("SS-129.1"))
  func `order is binary and null comes first`() async throws {
    try await withStore { store async throws in
      try await filled(store)
      for path in ["k", "u"] {
        let up = try await ids(
          store, .buildAllQuerySpec(soupName: "a", orderPath: path, pageSize: 9))
        let down = try await ids(
          store,
          .buildAllQuerySpec(soupName: "a", orderPath: path, order: .descending, pageSize: 9))
        #expect(up == (path == "k" ? [4, 2, 3, 1] : [2, 3, 4, 1]))
        #expect(down == up.reversed())
      }
    }
  }

  @Test(.covers("SS-130", "SS-131"))
  func `select paths give rows of values as the index keeps them`()
    async throws
  {
    try await withStore { store async throws in
      try await filled(store)
      let spec = try QuerySpec.buildExactQuerySpec(
        soupName: "a", selectPaths: ["k", "k", "f", "u", "missing", "_soupEntryId", "_soup"],
        path: "n", matchKey: 3, pageSize: 9)
      let rows = try await store.query(using: spec)
      #expect(rows.count == 1)
      #expect(rows[0].array?.prefix(6) == ["A", "A", 2.0, .null, .null, 2])
      #expect(rows[0][6]?["k"] == "A")
      let dates = try await store.query(
        using: .buildAllQuerySpec(
          soupName: "a", selectPaths: ["_soupCreatedDate", "_soupLastModifiedDate"], pageSize: 1))
      #expect(dates[0][0] == dates[0][1])
      let one = try await store.query(
        using: .buildAllQuerySpec(soupName: "a", selectPaths: ["n"], orderPath: "n", pageSize: 9))
      #expect(one == [[.null], [3], [20], [100]])
      await expectFailure(.invalidQuerySpec) { _ = try await store.queryEntries(using: spec) }
    }
  }

  @Test(.covers("SS-132"))
  func `exact, range and order use the index of their path`() async throws {
    try await withStore { store async throws in
      try await filled(store)
      for (path, position) in [("k", 0), ("n", 1), ("j", 3)] {
        let exact = try await store.plan(
          of: .buildExactQuerySpec(soupName: "a", path: path, matchKey: "x", pageSize: 9))
        #expect(exact.contains("SEARCH TABLE_1 USING INDEX TABLE_1_\(position)_idx"))
        let range = try await store.plan(
          of: .buildRangeQuerySpec(soupName: "a", path: path, beginKey: 1, endKey: 2, pageSize: 9))
        #expect(range.contains("SEARCH TABLE_1 USING INDEX TABLE_1_\(position)_idx"))
        let order = try await store.plan(
          of: .buildAllQuerySpec(soupName: "a", orderPath: path, pageSize: 9))
        #expect(order.contains("SCAN TABLE_1 USING INDEX TABLE_1_\(position)_idx"))
        #expect(!order.contains("TEMP B-TREE"))
      }
      for (path, position) in [("k", 0), ("n", 1)] {
        let covering = try await store.plan(
          of: .buildExactQuerySpec(
            soupName: "a", selectPaths: [path], path: path, matchKey: "x", pageSize: 9))
        #expect(covering.contains("USING COVERING INDEX TABLE_1_\(position)_idx"))
      }
    }
  }

  @Test(.covers("SS-132"), .enabled(if: !SoupValueFunction.decidesTexts))
  func `selecting a json1 path reads its index alone`() async throws {
    try await withStore { store async throws in
      try await filled(store)
      for spec in [
        try QuerySpec.buildExactQuerySpec(
          soupName: "a", selectPaths: ["j"], path: "j", matchKey: "x", pageSize: 9),
        try .buildAllQuerySpec(soupName: "a", selectPaths: ["j"], orderPath: "j", pageSize: 9),
      ] {
        let sql = try await store.read { try QueryPlan(spec, whereArgs: nil, on: $0.access).sql }
        let program = try await store.read { reader in
          var steps: [(opcode: String, cursor: Int64)] = []
          let statement = try reader.access.reading("EXPLAIN \(sql)")
          while try statement.step() { steps.append((statement.string(1), statement.int64(2))) }
          return steps
        }
        #expect(!program.contains { $0.opcode == "Function" }, "\(program)")
        let reading = Set(program.filter { $0.opcode == "Column" }.map(\.cursor))
        let seeking = Set(program.filter { $0.opcode == "DeferredSeek" }.map(\.cursor))
        // All columns are read from one cursor: that of the index, whose seeks are deferred.
        #expect(reading.count == 1)
        #expect(seeking.isEmpty || seeking == reading, "\(program)")
      }
    }
  }

  @Test(.covers("SS-128"))
  func `a match query asks the full-text index of its soup`() async throws {
    try await withStore { store async throws in
      try await filled(store)
      let spec = try QuerySpec(
        json: ["queryType": "match", "indexPath": "f", "matchKey": "it's AND b*"], soupName: "a")
      #expect(spec.queryType == .match)
      #expect(spec.pageSize == 10)
      #expect(
        spec.smartSql == "SELECT {a:_soup} FROM {a} WHERE {a:_soupEntryId} IN "
          + "(SELECT rowid FROM {a}_fts WHERE {a}_fts MATCH '{a:f}:it''s AND {a:f}:b*') ")
      await expectFailure(.invalidQuerySpec) {
        _ = try await store.query(
          using: .buildMatchQuerySpec(soupName: "a", path: "k", matchKey: "x", pageSize: 1))
      }
    }
  }

  @Test(.covers("SS-133", "SS-134"))
  func `pages and counts cover the whole result`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: specs)
      try await store.upsert(
        entries: (0..<25).map { ["k": .string("k"), "n": .integer($0)] }, forSoupNamed: "a")
      let spec = try QuerySpec.buildAllQuerySpec(
        soupName: "a", selectPaths: ["n"], orderPath: "n", pageSize: 10)
      var all: [JSONValue] = []
      for page in 0..<4 {
        let rows = try await store.query(using: spec, startingFromPageIndex: page)
        #expect(rows.count == [10, 10, 5, 0][page])
        all += rows
      }
      #expect(all == (0..<25).map { [.integer($0)] })
      #expect(try await store.count(using: spec) == 25)
      #expect(try await store.query(using: spec, startingFromPageIndex: .max) == [])
      await expectFailure(.invalidQuerySpec, "Invalid query spec") {
        _ = try await store.query(using: spec, startingFromPageIndex: -1)
      }
      let limited = try QuerySpec.buildSmartQuerySpec(
        smartSql: "select {a:n} from {a} order by {a:n} limit 12", pageSize: 10)
      #expect(try await store.query(using: limited, startingFromPageIndex: 1) == [[10], [11]])
      #expect(try await store.count(using: limited) == 12)
      let grouped = try QuerySpec.buildSmartQuerySpec(
        smartSql: "select {a:n} % ?, count(*) from {a} group by 1", pageSize: 2)
      #expect(try await store.count(using: grouped, whereArgs: [3]) == 3)
      await expectFailure(.sql) {
        _ = try await store.count(using: .buildSmartQuerySpec(smartSql: "select nope", pageSize: 1))
      }
    }
  }

  @Test(.covers("SS-135", "BX-77"))
  func `bind arguments keep their kind and must fit`() async throws {
    try await withStore { store async throws in
      let spec = try QuerySpec.buildSmartQuerySpec(
        smartSql: "select typeof(?), typeof(?), typeof(?), typeof(?), typeof(?), ? || ''",
        pageSize: 5)
      #expect(
        try await store.query(using: spec, whereArgs: ["x", 1, 1.5, true, nil, "it's; --"]) == [
          ["text", "integer", "real", "integer", "null", "it's; --"]
        ])
      for arguments: [JSONValue]? in [nil, [], ["x"], Array(repeating: 1, count: 7)] {
        let error = await expectFailure(.bindArgumentCount) {
          _ = try await store.query(using: spec, whereArgs: arguments)
        }
        #expect(error?.number == 999)
        await expectFailure(.bindArgumentCount) {
          _ = try await store.count(using: spec, whereArgs: arguments)
        }
      }
      try await store.registerSoup(withName: "a", withIndices: specs)
      let all = try QuerySpec.buildAllQuerySpec(soupName: "a", pageSize: 1)
      let error = await expectFailure(
        .bindArgumentsNotAllowed, "whereArgs can only be provided for smart queries"
      ) {
        _ = try await store.query(using: all, whereArgs: [])
      }
      #expect(error?.number == 5)
    }
  }

  @Test(.covers("SS-136"))
  func `the serialised result is the JSON of the result`() async throws {
    try await withStore { store async throws in
      try await filled(store)
      let text = String(String.UnicodeScalarView((1...127).compactMap { Unicode.Scalar($0) }))
      try await store.upsert(entries: [["k": .string(text + "é🐘/\\\"")]], forSoupNamed: "a")
      let queries: [QuerySpec] = [
        try .buildAllQuerySpec(soupName: "a", orderPath: "_soupEntryId", pageSize: 9),
        try .buildAllQuerySpec(
          soupName: "a", selectPaths: ["k", "_soup", "f", "n"], orderPath: "_soupEntryId",
          pageSize: 9),
        try .buildSmartQuerySpec(
          smartSql: "select *, {a:_soup} as text, 1e300, -0.5, 9e999 from {a}", pageSize: 9),
        try .buildSmartQuerySpec(smartSql: "select 1 where 0", pageSize: 9),
      ]
      for spec in queries {
        let serialised = try await store.queryAsString(using: spec)
        #expect(try json(serialised) == .array(try await store.query(using: spec)))
      }
      let escaped = try await store.queryAsString(
        using: .buildSmartQuerySpec(
          smartSql: #"select '\"/' || char(8, 12, 10, 13, 9, 1)"#, pageSize: 1))
      #expect(escaped == #"[["\\\"\/\b\f\n\r\t\u0001"]]"#)
    }
  }

  @Test(.covers("SS-2"))
  func `an unknown soup fails in every kind of query`() async throws {
    try await withStore { store async throws in
      let spec = try QuerySpec.buildAllQuerySpec(soupName: "nope", pageSize: 1)
      await expectFailure(.unknownSoup, "Soup: nope does not exist") {
        _ = try await store.query(using: spec)
      }
      await expectFailure(.unknownSoup) { _ = try await store.count(using: spec) }
      await expectFailure(.unknownSoup) { _ = try await store.queryAsString(using: spec) }
      await expectFailure(.unknownSoup) { _ = try await store.queryEntries(using: spec) }
    }
  }
}

extension SmartStore {
  /// How the engine plans the first page of a query.
  func plan(of spec: QuerySpec) async throws -> String {
    try await read { reader in
      let plan = try QueryPlan(spec, whereArgs: nil, on: reader.access)
      let statement = try StoreStatement(
        reader.access.database, "EXPLAIN QUERY PLAN \(plan.pageSQL)", cached: false)
      var details: [String] = []
      while try statement.step() { details.append(statement.string(3)) }
      return details.joined(separator: "; ")
    }
  }
}
