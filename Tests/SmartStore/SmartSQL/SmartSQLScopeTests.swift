import SalesforceSDKCommon
import Testing

@testable import SmartStore
import TestSupport

/// A path is read from the soup that it names, in every nesting of a statement.
@Suite struct SmartSQLScopeTests {
  private static let soups = Dictionary(
    [
      Soup(name: "a", number: 1, indexes: .init("k:string", "j:json1")),
      Soup(name: "b", number: 2, indexes: .init("k:string", "j:json1")),
    ].map { (MemberKey($0.name), $0) }, uniquingKeysWith: { first, _ in first })

  @Test(
    .covers("SS-152", "SS-153"),
    arguments: [
      ("select {a:u} from {a}", "select soup_value(soup, 'u') from TABLE_1"),
      ("select {a:u} from {a} x", "select soup_value(soup, 'u') from TABLE_1 x"),
      (
        "select {a:_soupEntryId} from {a} as \"x y\"",
        "select \"x y\".id from TABLE_1 as \"x y\""
      ),
      (
        "select 1 from {a}, {b} /* c */ as -- d\n y where {a:j} = {b:j}",
        "select 1 from TABLE_1, TABLE_2 /* c */ as -- d\n y where "
          + "json_extract(TABLE_1.soup, '$.j') = json_extract(y.soup, '$.j')"
      ),
      (
        "select {a:u} from {a} x where exists (select 1 from {b} where {b:u} = {a:u})",
        "select soup_value(x.soup, 'u') from TABLE_1 x where exists "
          + "(select 1 from TABLE_2 where soup_value(TABLE_2.soup, 'u') = soup_value(x.soup, 'u'))"
      ),
      (
        "select {a:u} from {a} where exists (select 1 from {a} x where {a:u} = 1)",
        "select soup_value(TABLE_1.soup, 'u') from TABLE_1 where exists "
          + "(select 1 from TABLE_1 x where soup_value(x.soup, 'u') = 1)"
      ),
      (
        "select {a:u} from ({a} join {b} on {a:k} = {b:k}) union select {b:u} from {b} limit 1",
        "select soup_value(TABLE_1.soup, 'u') from (TABLE_1 join TABLE_2 on TABLE_1_0 = TABLE_2_0) "
          + "union select soup_value(TABLE_2.soup, 'u') from TABLE_2 limit 1"
      ),
      // What no FROM knows is no column of another soup.
      (
        "select {b:u} from {a}", "select soup_value(TABLE_2.soup, 'u') from TABLE_1"
      ),
      (
        "select max({a:j}), {a:j} from {a}",
        "select max(json_extract(soup, '$.j')), soup_value(soup, 'j') from TABLE_1"
      ),
    ])
  func `a path has the name by which the innermost select knows its soup`(
    smartSQL: String, sql: String
  ) throws {
    #expect(try SmartSQLConverter.convert(smartSQL, soups: Self.soups).sql == sql)
  }

  @Test(
    .covers("SS-146", "SS-152"),
    arguments: [
      (#"select {a:u} from "{a}" where 1"#, [["a"]]),
      (#"select {a:u}, {b:u} from "{a}", `{b}` as y"#, [["a", "b"]]),
      ("select {a:j} from {a} union select {a:j} from {a} order by {a:j}", [["a"]]),
      ("select {a:j} from {a} except select {b:j} from {b} order by {a:j} limit 1", [["a"]]),
      ("select {a:u} from {a} p union select {b:u} from {b} q order by {a:u}", [["a"], ["b"]]),
      ("select {a:u} from (select * from {a})", [["a"]]),
      ("with t as (select * from {a}) select {a:u} from t", [["a"]]),
      ("select (select {b:u} from {b} y where {b:k} = {a:k}) from {a} x", [["b"]]),
      (
        "select {a:k} from {a} where {a:__local__} in (select 'true' from {b} where {b:u} = 'true')",
        []
      ),
      ("select {a:k} from {a} where {a:__local__} in (lower('true'), 'x')", []),
      ("select {a:k} from {a} where {a:__local__} in ('x', 'true') and {a:u} in ('a')", [["1"]]),
      ("select {a:k} from {a} where ({a:__local__} = 'true') and ({a:u} = 'a')", [["1"]]),
    ] as [(String, [[String]])])
  func `a statement gives the rows of its soups`(sql: String, rows: [[String]]) async throws {
    try await withStore { store async throws in
      for soup in ["a", "b"] {
        try await store.registerSoup(
          withName: soup, withIndices: [SoupIndex]("k:string", "j:json1", "__local__:string"))
        try await store.upsert(
          entries: [
            ["k": "1", "u": .string(soup), "j": .string(soup), "__local__": true]
          ], forSoupNamed: soup)
      }
      #expect(try await store.rows(sql) == rows.map { $0.map { .string($0) } })
    }
  }

  @Test(.covers("SS-149"))
  func `a path of a soup that is read twice needs the name of one`() {
    for (statement, names) in [
      ("select {a:u} from {a} x, {a} y", "x and y"),
      ("select x.{a:k} from {a} x, {a} y where {a:j} = 1", "x and y"),
    ] {
      let error = #expect(throws: SmartStoreError.self) {
        try SmartSQLConverter.convert(statement, soups: Self.soups)
      }
      #expect(error?.code == .invalidReference)
      #expect(error?.message.contains(names) == true)
    }
  }

  /// Statements over two soups whose entries have the same paths, drawn at random, with the rows that a walk over all
  /// entries gives.
  @Test(.covers("SS-2", "SS-152", "SS-153"))
  func `random joins and sub-queries give the rows of their own soups`() async throws {
    try await withStore { store async throws in
      // Swift takes the last two names for one.
      let soups = [("a", "a"), ("one", "\u{e9}"), ("two", "e\u{301}")]
      var entries: [String: [(k: Int, u: Int)]] = [:]
      var random = SeededGenerator(seed: 7)
      func pick<T>(_ items: [T]) -> T { items[Int.random(in: 0..<items.count, using: &random)] }
      for (name, soup) in soups {
        try await store.registerSoup(
          withName: soup, withIndices: [SoupIndex]("k:integer", "j:json1"))
        let drawn = (0..<6).map { _ in
          (k: Int.random(in: 0..<4, using: &random), u: Int.random(in: 0..<4, using: &random))
        }
        entries[name] = drawn
        try await store.upsert(
          entries: drawn.map {
            ["k": .integer(Int64($0.k)), "j": .integer(Int64($0.u)), "u": .integer(Int64($0.u))]
          }, forSoupNamed: soup)
      }
      for round in 0..<200 {
        let (outer, outerName) = pick(soups)
        let (inner, innerName) = pick(soups.filter { $0.0 != outer })
        let (outerAs, innerAs) = (pick(["", " x", " as \"x\""]), pick(["", " y"]))
        let path = pick(["u", "j"])
        let (left, right) = ("{\(outerName):\(path)}", "{\(innerName):\(path)}")
        let isJoin = Bool.random(using: &random)
        let sql =
          isJoin
          ? "select {\(outerName):k}, \(right) from {\(outerName)}\(outerAs), {\(innerName)}\(innerAs) "
            + "where \(left) < \(right) order by 1, 2"
          : "select {\(outerName):k}, \(left) from {\(outerName)}\(outerAs) where "
            + "\(pick(["", "not "]))exists (select 1 from {\(innerName)}\(innerAs) "
            + "where \(right) = \(left)) order by 1, 2"
        let (all, others) = (entries[outer] ?? [], entries[inner] ?? [])
        let expected =
          isJoin
          ? all.flatMap { mine in others.filter { mine.u < $0.u }.map { [mine.k, $0.u] } }
          : all.filter { mine in
            others.contains { $0.u == mine.u } != sql.contains("not exists")
          }.map { [$0.k, $0.u] }
        let sorted = expected.sorted { $0.lexicographicallyPrecedes($1) }
        let rows = try await store.rows(sql)
        #expect(rows == sorted.map { $0.map { .integer(Int64($0)) } }, "round \(round): \(sql)")
      }
    }
  }
}
