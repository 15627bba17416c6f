import Foundation
import SalesforceSDKCommon
import Testing

@testable import SmartStore

/// The conversion of Smart SQL and what it answers.
@Suite struct SmartSQLTests {
  /// Soup `cases` is TABLE_1, `sites` is TABLE_2.
  private static let soups: [String: Soup] = [
    "cases": Soup(
      name: "cases", number: 1, indexes: [SoupIndex]("title:string", "owner:string", "site:json1")),
    "sites": Soup(name: "sites", number: 2, indexes: [SoupIndex]("code:string", "zone:json1")),
    "animals": Soup(
      name: "animals", number: 3, indexes: [SoupIndex]("name:full_text", "color:full_text")),
  ]

  private func convert(_ smartSQL: String) throws -> String {
    try SmartSQLConverter.convert(smartSQL, soups: Self.soups).sql
  }

  @Test(arguments: [
    (
      "select {cases:title} from {cases} order by {cases:owner}",
      "select TABLE_1_0 from TABLE_1 order by TABLE_1_1"
    ),
    (
      "select {sites:code} || '-' || {cases:title} from {cases}, {sites}",
      "select TABLE_2_0 || '-' || TABLE_1_0 from TABLE_1, TABLE_2"
    ),
    (
      "select a.{cases:title}, b.{cases:title} from {cases} as a, {cases} as b",
      "select a.TABLE_1_0, b.TABLE_1_0 from TABLE_1 as a, TABLE_1 as b"
    ),
    (
      "select a.{cases:site},b.{cases:site} from {cases} as a, {cases} as b where not (a.{cases:site}=b.{cases:site})",
      "select json_extract(a.soup, '$.site'),json_extract(b.soup, '$.site') from TABLE_1 as a, TABLE_1 as b where not (json_extract(a.soup, '$.site')=json_extract(b.soup, '$.site'))"
    ),
    (
      "select {cases:_soupEntryId}, {cases:_soupCreatedDate}, {cases:_soupLastModifiedDate}, {cases:_soup} from {cases}",
      "select TABLE_1.id, TABLE_1.created, TABLE_1.lastModified, TABLE_1.soup from TABLE_1"
    ),
    ("select a.{cases:_soupEntryId} from {cases} as a", "select a.id from TABLE_1 as a"),
    (
      "select {cases}.{cases:site} from {cases}",
      "select json_extract(TABLE_1.soup, '$.site') from TABLE_1"
    ),
    (
      "select a.{cases:site}, {sites:zone} from {cases} as a, {sites}",
      "select json_extract(a.soup, '$.site'), json_extract(soup, '$.zone') from TABLE_1 as a, TABLE_2"
    ),
    (
      "select {cases:addr.zip} from {cases} where {cases:addr.city} = 'Rome'",
      "select json_extract(soup, '$.addr.zip') from TABLE_1 where json_extract(soup, '$.addr.city') = 'Rome'"
    ),
    (
      "select '{x:y}', {cases:title} from {cases} where {cases:owner} like '{ { }'",
      "select '{x:y}', TABLE_1_0 from TABLE_1 where TABLE_1_1 like '{ { }'"
    ),
  ])
  func `SS-142 SS-144 the examples convert exactly`(smartSQL: String, sql: String) throws {
    #expect(try convert(smartSQL) == sql)
  }

  @Test(arguments: [
    ("select 'it''s {cases}' from {cases}", "select 'it''s {cases}' from TABLE_1"),
    ("select '' || {cases:title}", "select '' || TABLE_1_0"),
    ("select {cases:it's} , {cases:title}", "select json_extract(soup, '$.it''s') , TABLE_1_0"),
    (
      "select '{a:b}', ' { { { } } ', '{\"k\":1}' from {cases}",
      "select '{a:b}', ' { { { } } ', '{\"k\":1}' from TABLE_1"
    ),
    ("select 1 -- don't {cases\n from {cases}", "select 1 -- don't {cases\n from TABLE_1"),
    ("select /* it's {x */ 1 from {cases}", "select /* it's {x */ 1 from TABLE_1"),
    (
      "select \"o'clock\".{cases:site} from {cases} as \"o'clock\"",
      "select json_extract(\"o'clock\".soup, '$.site') from TABLE_1 as \"o'clock\""
    ),
    (
      "select `a`.{cases:x} from {cases} `a`",
      "select json_extract(`a`.soup, '$.x') from TABLE_1 `a`"
    ),
    ("select é.{cases:x} from {cases} é", "select json_extract(é.soup, '$.x') from TABLE_1 é"),
    (
      "select x from {animals}_fts where {animals}_fts match '{animals:color}:black NOT cat'",
      "select x from TABLE_3_fts where TABLE_3_fts match 'TABLE_3_1:black NOT cat'"
    ),
    (
      "select x MATCH /* c */ '{animals:name}:\"{a}\" ''q'''",
      "select x MATCH /* c */ 'TABLE_3_0:\"{a}\" ''q'''"
    ),
    ("select json_set('{}', '$.a', 1)", "select json_set('{}', '$.a', 1)"),
    ("  SELECT\t*\nFROM tab  ", "  SELECT\t*\nFROM tab  "),
  ])
  func `SS-145 SS-146 quoted text, comments and all else pass unchanged`(
    smartSQL: String, sql: String
  ) throws {
    #expect(try convert(smartSQL) == sql)
  }

  @Test func `SS-147 a reference at the first character is resolved`() throws {
    #expect(try convert("{cases:site}") == "json_extract(soup, '$.site')")
    #expect(try convert("{cases}") == "TABLE_1")
  }

  @Test(arguments: [
    "insert into {a} values (1)", "update {a} set id = 1", "delete from {a}",
    "replace into {a} values (1)",
    "create table x (y)", "drop table {a}", "alter table {a} rename to b", "pragma journal_mode",
    "attach 'x' as y", "vacuum", "begin", "commit", "explain select 1",
    "EXPLAIN QUERY PLAN select 1",
    "reindex", "analyze", "values (1)", "", "   ", "-- select 1", "/* select 1 */", ";select 1",
    "select 1; select 2", "select 1; drop table {a}", "select 1 ; ; x", "selectx 1",
    "with x as (select 1) delete from {a}",
    "with x as (select 1) insert into {a} (id) select * from x",
    "select load_extension('x')", "select \"fts3_tokenizer\"('x', 'y')", "select\u{0}1",
    "select 1) union select * from (select 2",
  ])
  func `SS-148 anything but one SELECT is refused and changes nothing`(smartSQL: String)
    async throws
  {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex("x:string")])
      try await store.upsert(entries: [["x": 1]], forSoupNamed: "a")
      let before = try await store.rows("select * from sqlite_master")
      do {
        _ = try await store.query(smartSQL)
        Issue.record("accepted")
      } catch let error as SmartStoreError {
        #expect(error.number == 999)
        #expect(error.code == .refusedStatement || error.code == .sql, "\(error)")
        if error.code == .refusedStatement, !smartSQL.utf8.contains(0) {
          #expect(error.message.hasPrefix("Only SELECT are supported"))
        }
      }
      #expect(try await store.rows("select * from sqlite_master") == before)
      #expect(try await store.elements(of: "a").count == 1)
    }
  }

  @Test(arguments: [
    "select 1 ;", "/* c */ -- d\n select 1", "select 1 -- end", "select 1 /* open", "SeLeCt 1;;; ",
    "with x as (select 1) select * from x", "select 1 ; -- that's all",
  ])
  func `SS-148 one SELECT is accepted with comments and semicolons around it`(smartSQL: String)
    async throws
  {
    try await withStore { store async throws in
      #expect(try await store.query(smartSQL) == [[1]])
      #expect(
        try await store.count(using: .buildSmartQuerySpec(smartSql: smartSQL, pageSize: 1)) == 1)
    }
  }

  @Test(arguments: [
    (
      "select 'é🐘', {nope:x} from {a}", SmartStoreError.Code.unknownSoup,
      "Unknown soup nope at character 13"
    ),
    ("select {a:b:c}", .invalidReference, "Invalid soup/path reference {a:b:c} at character 7"),
    ("select {}", .invalidReference, "Invalid soup/path reference {} at character 7"),
    ("select {:x}", .invalidReference, "Invalid soup/path reference {:x}"),
    ("select {a:}", .invalidReference, "Invalid soup/path reference {a:}"),
    ("select {a", .invalidReference, "Invalid soup/path reference {a"),
    ("select {a:x, a:y}", .invalidReference, "Invalid soup/path reference {a:x, a:y}"),
  ])
  func `SS-149 SS-155 a bad reference is named with its place`(
    smartSQL: String, code: SmartStoreError.Code, message: String
  ) async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex("x:string")])
      let error = await expectFailure(code, message) { _ = try await store.query(smartSQL) }
      #expect(error?.number == 999)
    }
  }

  @Test func `SS-143 unindexed paths filter, order and are returned`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex("k:string")])
      try await store.upsert(
        entries: [
          ["k": "1", "x": ["y": 2]], ["k": "2", "x": ["y": 1]], ["k": "3", "x": [["y": 1]]],
        ], forSoupNamed: "a")
      #expect(
        try await store.rows(
          "select {a:k}, {a:x.y} from {a} where {a:x.y} > 0 order by {a:x.y}") == [
            ["2", 1], ["1", 2],
          ])
    }
  }

  @Test func `SS-150 element columns are told by the engine's name alone`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex("k:string")])
      try await store.registerSoup(withName: "b", withIndices: [SoupIndex("k:string")])
      try await store.upsert(entries: [["k": "x"]], forSoupNamed: "a")
      try await store.upsert(entries: [["k": "y"]], forSoupNamed: "b")
      let row = try await store.rows(
        """
        select {a:_soup}, {b:_soup}, {a:_soup} as element, {a:_soup} as soupName, 'x' as "soup:x" \
        from {a}, {b}
        """)[0]
      #expect(row[0]["k"] == "x")
      #expect(row[1]["k"] == "y")
      #expect(row[2].string?.hasPrefix("{") == true)
      #expect(row[3].string?.hasPrefix("{") == true)
      #expect(row[4] == "x")
      let all = try await store.rows("select * from {a}")[0]
      #expect(all.count == 5)
      #expect(all[1]["k"] == "x")
      #expect(all[4] == "x")
      try await store.unsafelyExecute("UPDATE TABLE_1 SET soup = '{broken'")
      #expect(try await store.rows("select {a:k}, {a:_soup} from {a}") == [["x", .null]])
      await expectFailure(.corrupt, "Database is corrupted") {
        _ = try await store.retrieve(usingSoupEntryIds: [1], fromSoupNamed: "a")
      }
    }
  }

  @Test func `SS-151 scalars keep their kind`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "a", withIndices: [SoupIndex]("n:integer", "f:floating", "j:json1"))
      try await store.upsert(
        entries: [0.1, 0.2, 0.5].map { ["n": 2, "f": .double($0), "j": .double($0)] },
        forSoupNamed: "a")
      #expect(try await store.query("select count(*) from {a}") == [[3]])
      #expect(try await store.query("select sum({a:n}) from {a}") == [[6]])
      let sums = try await store.rows("select sum({a:f}), sum({a:j}) from {a} where {a:f} < 0.3")[0]
      #expect(sums == [.double(0.1 + 0.2), .double(0.1 + 0.2)])
      #expect(
        try await store.query("select 1, 1.5, 'x', null, 1 = 1, x'6162', 9e999") == [
          [1, 1.5, "x", .null, 1, "ab", .null]
        ])
    }
  }

  @Test func `SS-152 every form of SELECT works`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(
        withName: "e",
        withIndices: [SoupIndex]("id:string", "boss:string", "dept:string", "pay:integer"))
      try await store.upsert(
        entries: [
          ["id": "1", "dept": "x", "pay": 10], ["id": "2", "boss": "1", "dept": "x", "pay": 20],
          ["id": "3", "boss": "1", "dept": "y", "pay": 30], ["id": "4", "boss": "2", "dept": ""],
        ], forSoupNamed: "e")
      func rows(_ sql: String) async throws -> [[JSONValue]] { try await store.rows(sql) }
      #expect(
        try await rows(
          """
          select m.{e:id}, e.{e:id} from {e} as m, {e} as e where m.{e:id} = e.{e:boss} \
          order by e.{e:id}
          """) == [["1", "2"], ["1", "3"], ["2", "4"]])
      #expect(
        try await rows(
          """
          select {e:dept}, count(*), avg({e:pay}), max({e:pay}) from {e} group by {e:dept} \
          having count(*) > 1
          """) == [["x", 2, 15.0, 20]])
      #expect(
        try await rows("select {e:id} from {e} where {e:pay} in (select max({e:pay}) from {e})")
          == [["3"]])
      #expect(try await rows("select {e:id} from {e} where {e:dept} = \"\"") == [["4"]])
      #expect(
        try await rows(
          """
          select case when {e:pay} is null then 'none' when {e:pay} between 15 and 25 then 'mid' \
          else 'other' end from {e} order by {e:id}
          """) == [["other"], ["mid"], ["other"], ["none"]])
    }
  }

  @Test func `SS-153 a join over json1 paths must say which element it means`() async throws {
    try await withStore { store async throws in
      for name in ["a", "b"] {
        try await store.registerSoup(withName: name, withIndices: [SoupIndex("j:json1")])
        try await store.upsert(entries: [["j": 1]], forSoupNamed: name)
      }
      #expect(
        try await store.query("select {a}.{a:j} from {a}, {b} where {a}.{a:j} = {b}.{b:j}") == [[1]]
      )
      let error = await expectFailure(.sql) {
        _ = try await store.query("select {a:j} from {a}, {b} where {a:j} = {b:j}")
      }
      #expect(error?.message.contains("ambiguous") == true)
    }
  }

  @Test func `SS-154 MATCH in Smart SQL answers or fails but never crashes`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex("t:full_text")])
      try await store.upsert(entries: [["t": "cat"]], forSoupNamed: "a")
      _ = try? await store.query("select * from {a} where {a:t} match 'cat'")
      #expect(
        try await store.query("select rowid from {a}_fts where {a}_fts match '{a:t}:cat'") == [[1]])
      await expectFailure(.invalidReference) {
        _ = try await store.query("select rowid from {a}_fts where {a}_fts match '{a:x''y}:cat'")
      }
    }
  }

  @Test func `SS-156 the cache drops the oldest, and what mentions a soup`() throws {
    var cache = SmartSQLCache(capacity: 2)
    let texts = [
      "select {cases:title} from {cases}", "select {sites:code} from {sites}",
      "select {cases:title}, {sites:zone} from {cases}, {sites}",
    ]
    for text in texts {
      cache.put(try SmartSQLConverter.convert(text, soups: Self.soups), for: text)
    }
    #expect(cache.count == 2)
    #expect(cache.statement(for: texts[0]) == nil)
    #expect(cache.statement(for: texts[1]) != nil)
    cache.removeStatements(mentioning: "cases")
    #expect(cache.statement(for: texts[2]) == nil)
    #expect(cache.statement(for: texts[1])?.sql == "select TABLE_2_0 from TABLE_2")
  }

  @Test func `SS-156 a changed mapping is seen by the next query`() async throws {
    try await withStore { store async throws in
      let byPath = "select {a:x} from (select 1 as TABLE_1_0, 2 as TABLE_2_0)"
      await expectFailure(.unknownSoup) { _ = try await store.query(byPath) }
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex("x:string")])
      #expect(try await store.query(byPath) == [[1]])
      try await store.removeSoup("a")
      await expectFailure(.unknownSoup) { _ = try await store.query(byPath) }
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex("x:string")])
      #expect(try await store.query(byPath) == [[2]])
    }
  }

  @Test func `SS-157 a statement of 100,000 characters is converted whole`() throws {
    let text = "select {cases:title}, '{x}', a.{cases:site} from {cases} where {cases:owner} = ? "
    let copies = 1400
    let once = try SmartSQLConverter.convert(text, soups: Self.soups)
    let all = try SmartSQLConverter.convert(
      String(repeating: text, count: copies), soups: Self.soups)
    #expect(all.sql == String(repeating: once.sql, count: copies))
  }

  @Test func `SS-158 LIKE finds text beyond ASCII`() async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex]("s:string", "j:json1"))
      for text in ["Zoë Åkesson", "한국어", "x🐘𝒳y"] {
        try await store.clearSoup("a")
        try await store.upsert(
          entries: [["s": .string(text), "j": .string(text), "u": .string(text)], ["s": "other"]],
          forSoupNamed: "a")
        let part = text.dropFirst().dropLast()
        for path in ["s", "j", "u"] {
          #expect(
            try await store.query("select {a:s} from {a} where {a:\(path)} like '%\(part)%'") == [
              [.string(text)]
            ])
        }
      }
    }
  }
}
