import Foundation
import SalesforceSDKCommon
import Testing

@testable import SmartStore
import TestSupport

/// What does Smart SQL return?
@Suite struct SmartSQLTests {
  @Test(
    .covers("SS-148", "BX-78"),
    arguments: [
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
    ])
  func `anything but one SELECT is refused and changes nothing`(smartSQL: String)
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
        #expect(error.code == .refusedStatement, "\(error)")
        if error.code == .refusedStatement, !smartSQL.utf8.contains(0) {
          #expect(error.message.hasPrefix("Only SELECT are supported"))
        }
      }
      #expect(try await store.rows("select * from sqlite_master") == before)
      #expect(try await store.elements(of: "a").count == 1)
    }
  }

  @Test(.covers("SS-148"))
  func `a statement cannot close the one around it`() async throws {
    try await withStore { store async throws in
      await expectFailure(.sql) {
        _ = try await store.query("select 1) union select * from (select 2")
      }
    }
  }

  @Test(
    .covers("SS-148"),
    arguments: [
      "select 1 ;", "/* c */ -- d\n select 1", "select 1 -- end", "select 1 /* open",
      "SeLeCt 1;;; ",
      "with x as (select 1) select * from x", "select 1 ; -- that's all",
    ])
  func `one SELECT is accepted with comments and semicolons around it`(smartSQL: String)
    async throws
  {
    try await withStore { store async throws in
      #expect(try await store.query(smartSQL) == [[1]])
      #expect(
        try await store.count(using: .buildSmartQuerySpec(smartSql: smartSQL, pageSize: 1)) == 1)
    }
  }

  @Test(
    .covers("SS-149", "SS-155"),
    arguments: [
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
  func `a bad reference is named with its place`(
    smartSQL: String, code: SmartStoreError.Code, message: String
  ) async throws {
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex("x:string")])
      let error = await expectFailure(code, message) { _ = try await store.query(smartSQL) }
      #expect(error?.number == 999)
    }
  }

  @Test(.covers("SS-143", "BX-76"))
  func `unindexed paths filter, order and are returned`() async throws {
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

  @Test(.covers("SS-150"))
  func `element columns are recognized by the engine's name alone`() async throws {
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

  @Test(.covers("SS-151"))
  func `scalars keep their kind`() async throws {
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

  @Test(.covers("SS-152"))
  func `every form of SELECT works`() async throws {
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

  @Test(.covers("SS-153.1"))
  func `a join over json1 paths reads each path from its own soup`() async throws {
    try await withStore { store async throws in
      for name in ["a", "b"] {
        try await store.registerSoup(withName: name, withIndices: [SoupIndex("j:json1")])
        try await store.upsert(entries: [["j": 1, "x": .string(name)]], forSoupNamed: name)
      }
      #expect(
        try await store.query("select {a}.{a:j} from {a}, {b} where {a}.{a:j} = {b}.{b:j}") == [[1]]
      )
      #expect(
        try await store.query("select {a:x}, {b:x} from {a}, {b} where {a:j} = {b:j}") == [
          ["a", "b"]
        ])
      // A path of the outer soup, in a statement that stands inside another.
      #expect(
        try await store.query("select (select {b:j} from {b} where {a:x} = 'a') from {a}") == [[1]])
      // Of one soup that is there twice, or has another name, the statement must say which it means.
      #expect(
        try await store.query("select {b:x}, y.{a:x} from {a} as y, {b} where y.{a:j} = {b:j}")
          == [["b", "a"]])
      #expect(try await store.query("select {a:j} from {a} as y, {b}") == [[1]])
      let error = await expectFailure(.invalidReference) {
        _ = try await store.query("select {a:j} from {a} as y, {a} as z")
      }
      #expect(error?.message.contains("y and z") == true)
    }
  }

  @Test(.covers("SS-154"))
  func `MATCH in Smart SQL returns or fails but never crashes`() async throws {
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

  @Test(.covers("SS-156"))
  func `a changed mapping is seen by the next query`() async throws {
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

  @Test(.covers("SS-158"))
  func `LIKE finds text beyond ASCII`() async throws {
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
