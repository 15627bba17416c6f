import Foundation
import SalesforceSDKCommon
import Testing

@testable import SmartStore
import TestSupport

/// What may a query spec say, and what Smart SQL does it stand for?
@Suite struct QuerySpecTests {
  @Test(.covers("SS-119", "SS-121", "SS-122"))
  func `a spec survives the way through JSON`() throws {
    let soup = "a"
    let all: [QuerySpec] = [
      try .buildAllQuerySpec(soupName: soup, selectPaths: ["x", "x"], orderPath: "y", pageSize: 3),
      try .buildExactQuerySpec(soupName: soup, path: "x", matchKey: true, pageSize: 1),
      try .buildRangeQuerySpec(
        soupName: soup, path: "x", beginKey: 1, endKey: 2.5, orderPath: "x", order: .descending,
        pageSize: 7),
      try .buildLikeQuerySpec(soupName: soup, path: "x", likeKey: "a%", pageSize: 1),
      try .buildMatchQuerySpec(soupName: soup, matchKey: "cat", pageSize: 1),
      try .buildSmartQuerySpec(smartSql: "select 1", pageSize: 2),
    ]
    for spec in all {
      #expect(try QuerySpec(json: spec.json, soupName: soup) == spec)
    }
    let defaults = try QuerySpec(
      json: json(
        #"{"queryType":"range","pageSize":0,"order":"upwards","orderPath":null,"indexPath":null}"#),
      soupName: soup)
    #expect(defaults.pageSize == 10)
    #expect(defaults.order == .ascending)
    #expect(defaults.orderPath == nil)
    #expect(
      all[2].json == [
        "queryType": "range", "pageSize": 7, "order": "descending", "indexPath": "x",
        "orderPath": "x", "beginKey": 1, "endKey": 2.5,
      ])
  }

  @Test(.covers("SS-119", "SS-127"))
  func `a like spec in JSON names its key likeKey`() async throws {
    let spec = try QuerySpec(
      json: json(#"{"queryType":"like","indexPath":"x","likeKey":"a%","pageSize":5}"#),
      soupName: "a")
    #expect(spec.json["likeKey"] == "a%")
    try await withStore { store async throws in
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex("x:string")])
      try await store.upsert(entries: [["x": "ab"], ["x": "ba"], ["x": "a"]], forSoupNamed: "a")
      #expect(try await store.query(using: spec).map { $0["x"] } == ["ab", "a"])
    }
  }

  @Test(
    .covers("SS-121", "SS-125"),
    arguments: [
      "{}", #"{"queryType":null}"#, #"{"queryType":"all"}"#, "[]",
      #"{"queryType":"exact","indexPath":"x"}"#,
      #"{"queryType":"exact","matchKey":"x"}"#,
      #"{"queryType":"like","indexPath":"x","likeKey":null}"#,
      #"{"queryType":"match","indexPath":"x"}"#, #"{"queryType":"smart"}"#,
      #"{"queryType":"exact","indexPath":"x","matchKey":null}"#,
      #"{"queryType":"range","beginKey":1}"#,
    ])
  func `a spec that asks nothing is refused`(text: String) async {
    let error = await expectFailure(.invalidQuerySpec, "Invalid query spec") {
      _ = try QuerySpec(json: json(text), soupName: "a")
    }
    #expect(error?.number == 999)
  }

  @Test(
    .covers("SS-2", "SS-121"),
    arguments: [
      (#"{"queryType":"range","selectPaths":["name",5]}"#, "selectPaths"),
      (#"{"queryType":"range","selectPaths":["name",null]}"#, "selectPaths"),
      (#"{"queryType":"range","selectPaths":"name"}"#, "selectPaths"),
      (#"{"queryType":"range","orderPath":5}"#, "orderPath"),
      (#"{"queryType":"range","indexPath":5}"#, "indexPath"),
      (#"{"queryType":"match","indexPath":["x"],"matchKey":"y"}"#, "indexPath"),
      (#"{"queryType":"range","pageSize":"20"}"#, "pageSize"),
      (#"{"queryType":"range","pageSize":2.5}"#, "pageSize"),
      (#"{"queryType":"smart","smartSql":5}"#, "smartSql"),
    ])
  func `a member of the wrong type is refused by its name`(text: String, name: String)
    async
  {
    let error = await expectFailure(.invalidQuerySpec, "Invalid query spec: \(name) ") {
      _ = try QuerySpec(json: json(text), soupName: "a")
    }
    #expect(error?.number == 999)
  }

  @Test(.covers("SS-121"))
  func `a builder refuses a page size below one`() async {
    await expectFailure(.invalidQuerySpec, "Invalid query spec") {
      _ = try QuerySpec.buildAllQuerySpec(soupName: "a", pageSize: 0)
    }
    await expectFailure(.invalidQuerySpec, "Invalid query spec") {
      _ = try QuerySpec.buildSmartQuerySpec(smartSql: "select 1", pageSize: -1)
    }
  }

  @Test(.covers("SS-123", "SS-124"))
  func `the generated Smart SQL has exactly this text`() throws {
    let soup = "S"
    let all = try QuerySpec.buildAllQuerySpec(soupName: soup, orderPath: "O", pageSize: 1)
    #expect(all.smartSql == "SELECT {S:_soup} FROM {S} ORDER BY {S:O} ASC ")
    #expect(all.countSmartSql == "SELECT count(*) FROM {S} ")
    #expect(all.idsSmartSql == "SELECT id FROM {S} ORDER BY {S:O} ASC ")
    let selected = try QuerySpec.buildExactQuerySpec(
      soupName: soup, selectPaths: ["p1", "p2"], path: "P", matchKey: "x", orderPath: "O",
      order: .descending, pageSize: 1)
    #expect(
      selected.smartSql
        == "SELECT {S:p1}, {S:p2} FROM {S} WHERE {S:P} = ? ORDER BY {S:O} DESC ")
    let like = try QuerySpec.buildLikeQuerySpec(
      soupName: soup, path: "P", likeKey: "x", pageSize: 1)
    #expect(like.smartSql == "SELECT {S:_soup} FROM {S} WHERE {S:P} LIKE ? ")
    for (begin, end, predicate) in [
      (1, 2, "WHERE {S:P} >= ? AND {S:P} <= ? "), (1, nil, "WHERE {S:P} >= ? "),
      (nil, 2, "WHERE {S:P} <= ? "), (nil, nil, ""),
    ] as [(JSONValue?, JSONValue?, String)] {
      let range = try QuerySpec.buildRangeQuerySpec(
        soupName: soup, path: "P", beginKey: begin, endKey: end, pageSize: 1)
      #expect(range.countSmartSql == "SELECT count(*) FROM {S} " + predicate)
    }
    let match = try QuerySpec.buildMatchQuerySpec(
      soupName: soup, path: "P", matchKey: "Bond", pageSize: 1)
    #expect(
      match.idsSmartSql
        == "SELECT id FROM {S} WHERE {S:_soupEntryId} IN (SELECT rowid FROM {S}_fts WHERE {S}_fts MATCH '{S:P}:Bond') "
    )
    let smart = try QuerySpec.buildSmartQuerySpec(smartSql: "select 1", pageSize: 1)
    #expect(smart.smartSql == "select 1")
    #expect(smart.countSmartSql == "SELECT count(*) FROM (select 1)")
    #expect(smart.idsSmartSql == "SELECT id FROM (select 1)")
  }
}
