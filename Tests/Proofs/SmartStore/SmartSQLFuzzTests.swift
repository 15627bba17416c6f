import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore
@testable import SmartStoreTests

/// The conversion of Smart SQL on random statements.
@Suite struct SmartSQLFuzzTests {
  private let soups = [
    MemberKey("cases"): Soup(
      name: "cases", number: 1,
      indexes: [SoupIndex]("title:string", "owner:full_text", "site:json1", "it's:json1")),
    MemberKey("odd name"): Soup(name: "odd name", number: 2, indexes: [SoupIndex]("n:integer")),
  ]

  /// A piece of a statement and what it becomes, among the results of a SELECT and elsewhere.
  ///
  /// No piece is the word FROM, so that each path is read from the only soup that there is.
  private func piece(
    _ random: inout SeededGenerator, amongResults: Bool
  ) -> (smart: String, sql: String) {
    func literal(_ random: inout SeededGenerator) -> String {
      let parts = ["{", "}", "{cases:title}", "''", "--", "/*", "x", " ", "\"", ":", "ü", "match"]
      return (0..<random.pick(6)).map { _ in random.pick(parts) }.joined()
    }
    let value = { (qualifier: String, path: String) in "soup_value(\(qualifier)soup, '\(path)')" }
    let extraction = { (qualifier: String, path: String) in
      amongResults
        ? value(qualifier, path) : "json_extract(\(qualifier)soup, '$.\(path)')"
    }
    switch random.pick(10) {
    case 0, 1, 2:
      let word = random.pick([
        "select", "having", "where", "é", "a1", "1", "=", "||", "(", ")", ",", "?", "*", "json_set",
        "\"it's\"", "`a'b`", "x.y",
      ])
      return (word, word)
    case 3:
      let text = "'\(literal(&random))'"
      return (text, text)
    case 4:
      let text = random.pick(["-- {cases} '\n", "/* {none:x} ' \" */", "/**/"])
      return (text, text)
    case 5: return random.pick([("{cases}", "TABLE_1"), ("{odd name}", "TABLE_2")])
    case 6:
      return random.pick([
        ("{cases:title}", "TABLE_1_0"), ("{cases:owner}", "TABLE_1_1"),
        ("{odd name:n}", "TABLE_2_0"), ("b.{cases:title}", "b.TABLE_1_0"),
        ("{odd name}.{odd name:n}", "TABLE_2.TABLE_2_0"),
      ])
    case 7:
      return random.pick([
        ("{cases:_soup}", "TABLE_1.soup"), ("{cases:_soupEntryId}", "TABLE_1.id"),
        ("b.{cases:_soupEntryId}", "b.id"), ("{odd name:_soupCreatedDate}", "TABLE_2.created"),
        ("b.{cases:_soupLastModifiedDate}", "b.lastModified"),
      ])
    case 8:
      return random.pick([
        ("{cases:site}", extraction("", "site")), ("b.{cases:site}", extraction("b.", "site")),
        ("{cases:it's}", extraction("", "it''s")),
        ("\"b c\".{cases:it's}", extraction("\"b c\".", "it''s")),
        ("{cases}.{cases:site}", extraction("TABLE_1.", "site")),
      ])
    default:
      return random.pick([
        ("{cases:addr.zip}", value("", "addr.zip")),
        ("{odd name:x y}", value("", "x y")), ("b.{odd name:é}", value("b.", "é")),
      ])
    }
  }

  @Test(.covers("SS-142", "SS-145"))
  func `every reference of a random statement is converted, and nothing else`()
    async throws
  {
    try await Fuzz.run("Smart SQL conversion", rounds: 1500) { seed, random in
      var levels: [Bool] = []
      var amongResults = false
      let pieces = (0..<(1 + random.pick(14))).map { _ in
        let piece = piece(&random, amongResults: amongResults)
        switch piece.smart {
        case "select": amongResults = true
        case "having", "where": amongResults = false
        case "(":
          levels.append(amongResults)
          amongResults = false
        case ")": amongResults = levels.popLast() ?? amongResults
        default: break
        }
        return piece
      }
      let smart = pieces.map(\.smart).joined(separator: " ")
      let converted = try SmartSQLConverter.convert(smart, soups: soups)
      #expect(converted.sql == pieces.map(\.sql).joined(separator: " "), "seed \(seed): \(smart)")
    }
  }

  /// Statements to begin with: what apps write, and what was wrong in the original.
  private let corpus = [
    "select {a:_soup} from {a} where {a:key} = 'x' order by {a:n} desc limit 3",
    "select b.{a:key}, count(*) from {a} as b group by b.{a:key} having count(*) > 1",
    "with t as (select {a:n} as n from {a}) select max(n), min(n) from t",
    "select {a:key} || '-' || {b:key} from {a}, {b} where {a}.{a:_soupEntryId} = {b}.{b:_soupEntryId}",
    "select {a:o.p}, {a:missing.path} from {a} where {a:o.p} is not null and {a:key} like '%é%'",
    "select * from {a} join {b} on {a}.{a:json} = {b}.{b:json}",
    "{a:key} select", "select '{a:key}' '' \"{b}\" from {a} -- {none}",
    "SELECT {a:_soup} FROM {a} WHERE {a:_soupEntryId} IN "
      + "(SELECT rowid FROM {a}_fts WHERE {a}_fts MATCH '{a:text}:word') ",
    "select case when {a:n} > 1 then 'many' else \"one\" end, soupName from {a}, soup_attrs",
    "insert into {a} values (1)", "select 1; delete from {a}", "pragma writable_schema = 1",
    "select load_extension('x')", "attach database ':memory:' as x", "select {a:key from {a}",
  ]

  @Test(.covers("SS-2", "SS-148"))
  func `a mutated statement gives rows or an error, and changes nothing`()
    async throws
  {
    let pieces = [
      "{", "}", "'", "\"", "`", ";", "--", "/*", "*/", ":", ".", "{a}", "{b:n}", "{a:_soup}", "(",
      ")", " select ", " union all ", " from ", " match ", "?", "\u{0}", "ü", "[", "]", ",", "$x",
      "delete from TABLE_1", "update", "x'00'", "1e999", "soup", " limit -1", " collate nocase ",
    ]
    try await withStore { store async throws in
      for soup in ["a", "b"] {
        try await store.registerSoup(
          withName: soup,
          withIndices: [SoupIndex]("key:string", "n:integer", "text:full_text", "json:json1"))
        try await store.upsert(
          entries: (1...3).map {
            ["key": "é\($0)", "n": .integer($0), "text": "word", "json": [1]]
          },
          forSoupNamed: soup)
      }
      let before = try await content(store)
      try await Fuzz.run("Smart SQL statements", rounds: 600) { seed, random in
        let sql = random.mutated(random.pick(corpus), with: pieces)
        do {
          let spec = try QuerySpec.buildSmartQuerySpec(smartSql: sql, pageSize: 50)
          let (rows, text) = try await store.read { reader in
            (try reader.query(using: spec), try reader.queryAsString(using: spec))
          }
          // SS-136: both forms say the same.
          #expect(try JSONValue(parsing: text) == .array(rows), "seed \(seed): \(sql)")
        } catch is SmartStoreError {
        } catch {
          Issue.record("seed \(seed): \(sql): \(error)")
        }
      }
      #expect(try await content(store) == before)
    }
  }

  private func content(_ store: SmartStore) async throws -> [[JSONValue]] {
    try await store.rows("select type, name, sql from sqlite_master")
      + store.rows("select * from {a}") + store.rows("select * from {b}")
      + store.rows("select rowid, * from TABLE_1_fts")
  }
}
