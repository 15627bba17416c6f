import Foundation
import SalesforceSDKCommon
import Testing

@testable import SmartStore
import TestSupport

/// What does Smart SQL become?
@Suite struct SmartSQLConversionTests {
  /// Soup `cases` is TABLE_1, `sites` is TABLE_2.
  private static let soups: [MemberKey: Soup] = [
    MemberKey("cases"): Soup(
      name: "cases", number: 1, indexes: [SoupIndex]("title:string", "owner:string", "site:json1")),
    MemberKey("sites"): Soup(
      name: "sites", number: 2, indexes: [SoupIndex]("code:string", "zone:json1")),
    MemberKey("animals"): Soup(
      name: "animals", number: 3, indexes: [SoupIndex]("name:full_text", "color:full_text")),
  ]

  private func convert(_ smartSQL: String) throws -> String {
    try SmartSQLConverter.convert(smartSQL, soups: Self.soups).sql
  }

  @Test(
    .covers("SS-142", "SS-144"),
    arguments: [
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
        "select soup_value(a.soup, 'site'),soup_value(b.soup, 'site') from TABLE_1 as a, TABLE_1 as b where not (json_extract(a.soup, '$.site')=json_extract(b.soup, '$.site'))"
      ),
      (
        "select {cases:_soupEntryId}, {cases:_soupCreatedDate}, {cases:_soupLastModifiedDate}, {cases:_soup} from {cases}",
        "select TABLE_1.id, TABLE_1.created, TABLE_1.lastModified, TABLE_1.soup from TABLE_1"
      ),
      ("select a.{cases:_soupEntryId} from {cases} as a", "select a.id from TABLE_1 as a"),
      (
        "select {cases}.{cases:site} from {cases}",
        "select soup_value(TABLE_1.soup, 'site') from TABLE_1"
      ),
      (
        "select a.{cases:site}, {sites:zone} from {cases} as a, {sites}",
        "select soup_value(a.soup, 'site'), soup_value(TABLE_2.soup, 'zone') from TABLE_1 as a, TABLE_2"
      ),
      (
        "select {cases:addr.zip} from {cases} where {cases:addr.city} = 'Rome'",
        "select soup_value(soup, 'addr.zip') from TABLE_1 where soup_value(soup, 'addr.city') = 'Rome'"
      ),
      (
        "select '{x:y}', {cases:title} from {cases} where {cases:owner} like '{ { }'",
        "select '{x:y}', TABLE_1_0 from TABLE_1 where TABLE_1_1 like '{ { }'"
      ),
    ])
  func `the examples convert exactly`(smartSQL: String, sql: String) throws {
    #expect(try convert(smartSQL) == sql)
  }

  @Test(
    .covers("SS-145", "SS-146", "BX-78"),
    arguments: [
      ("select 'it''s {cases}' from {cases}", "select 'it''s {cases}' from TABLE_1"),
      ("select '' || {cases:title}", "select '' || TABLE_1_0"),
      ("select {cases:it's} , {cases:title}", "select soup_value(soup, 'it''s') , TABLE_1_0"),
      (
        "select '{a:b}', ' { { { } } ', '{\"k\":1}' from {cases}",
        "select '{a:b}', ' { { { } } ', '{\"k\":1}' from TABLE_1"
      ),
      ("select 1 -- don't {cases\n from {cases}", "select 1 -- don't {cases\n from TABLE_1"),
      ("select /* it's {x */ 1 from {cases}", "select /* it's {x */ 1 from TABLE_1"),
      (
        "select \"o'clock\".{cases:site} from {cases} as \"o'clock\"",
        "select soup_value(\"o'clock\".soup, 'site') from TABLE_1 as \"o'clock\""
      ),
      (
        "select `a`.{cases:x} from {cases} `a`",
        "select soup_value(`a`.soup, 'x') from TABLE_1 `a`"
      ),
      ("select é.{cases:x} from {cases} é", "select soup_value(é.soup, 'x') from TABLE_1 é"),
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
  func `quoted text, comments and all else pass unchanged`(
    smartSQL: String, sql: String
  ) throws {
    #expect(try convert(smartSQL) == sql)
  }

  @Test(.covers("SS-147"))
  func `a reference at the first character is resolved`() throws {
    #expect(try convert("{cases:site}") == "json_extract(soup, '$.site')")
    #expect(try convert("{cases}") == "TABLE_1")
  }

  @Test(.covers("SS-156", "BX-78"))
  func `the cache drops the oldest, and what mentions a soup`() throws {
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

  @Test(.covers("SS-156"))
  func `a statement that was used again outlives an older one`() throws {
    var cache = SmartSQLCache(capacity: 2)
    let texts = ["title", "site", "owner"].map { "select {cases:\($0)} from {cases}" }
    func put(_ text: String) throws {
      cache.put(try SmartSQLConverter.convert(text, soups: Self.soups), for: text)
    }
    try put(texts[0])
    try put(texts[1])
    #expect(cache.statement(for: texts[0]) != nil)
    try put(texts[2])
    #expect(cache.statement(for: texts[1]) == nil)
    #expect(cache.statement(for: texts[0]) != nil && cache.statement(for: texts[2]) != nil)
  }

  @Test(.covers("SS-157"))
  func `a statement of 100,000 characters is converted whole`() throws {
    let text = "select {cases:title}, '{x}', a.{cases:site} from {cases} where {cases:owner} = ? "
    let copies = 1400
    let once = try SmartSQLConverter.convert(text, soups: Self.soups)
    let all = try SmartSQLConverter.convert(
      String(repeating: text, count: copies), soups: Self.soups)
    #expect(all.sql == String(repeating: once.sql, count: copies))
  }
}
