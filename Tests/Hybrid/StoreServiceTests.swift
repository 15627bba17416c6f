import SalesforceHybridSDK
import SalesforceSDKCommon
import SmartStore
import TestSupport
import Testing

/// Does each action of the store's service do what its name says, through JSON alone?
struct StoreServiceTests {
  static let indexes: JSONValue = [
    ["path": "Name", "type": "string"], ["path": "rank", "type": "integer"],
    ["path": "active", "type": "string"], ["path": "text", "type": "full_text"],
  ]

  /// Runs `body` with a page and the app's own store, which needs no user.
  static func withSoup(
    _ body: (Page, TestHost, Calls) async throws -> Void
  ) async throws {
    try await TestHost.with { host in
      let page = try Page(host.bridge)
      let soup = Calls(page: page)
      _ = try await soup.call("pgRegisterSoup", ["soupName": "s", "indexes": indexes])
      try await body(page, host, soup)
    }
  }

  /// The calls of a page on the app's own store.
  struct Calls {
    let page: Page

    func call(_ action: String, _ message: JSONValue) async throws -> JSONValue? {
      try await page.value(TestHost.store, action, global(message))
    }
  }

  static func global(_ message: JSONValue) -> JSONValue {
    var message = message
    message["isGlobalStore"] = true
    return message
  }

  @Test(.covers("HT-24", "SS-229"))
  func `the actions on soups succeed with the values of the table`() async throws {
    try await Self.withSoup { page, _, soup in
      let registered = try await soup.call(
        "pgRegisterSoup", ["soupName": "s", "indexes": Self.indexes])
      #expect(registered == "s")
      #expect(try await soup.call("pgSoupExists", ["soupName": "s"]) == true)
      #expect(try await soup.call("pgSoupExists", ["soupName": "t"]) == false)
      #expect(try await soup.call("pgGetSoupIndexSpecs", ["soupName": "s"]) == Self.indexes)
      #expect(
        try await soup.call("pgGetSoupSpec", ["soupName": "s"]) == ["name": "s", "features": []])
      #expect(
        try await soup.call(
          "pgAlterSoup",
          [
            "soupName": "s", "reIndexData": true, "indexes": [["path": "rank", "type": "integer"]],
          ]) == "s")
      #expect(
        try await soup.call("pgReIndexSoup", ["soupName": "s", "paths": ["rank"]]) == "s")
      #expect(try await soup.call("pgClearSoup", ["soupName": "s"]) == "OK")
      #expect((try await soup.call("pgGetDatabaseSize", [:])?.int64 ?? 0) > 0)
      #expect(try await soup.call("pgRemoveSoup", ["soupName": "s"]) == "OK")
      #expect(try await soup.call("pgRemoveSoup", ["soupName": "s"]) == "OK")
      #expect(try await soup.call("pgSoupExists", ["soupName": "s"]) == false)
    }
  }

  @Test(.covers("HT-28"))
  func `a soup with external storage is registered, described and altered by its spec`()
    async throws
  {
    try await Self.withSoup { _, _, soup in
      let spec: JSONValue = ["name": "files", "features": ["externalStorage"]]
      let index: JSONValue = [["path": "k", "type": "string"]]
      #expect(
        try await soup.call("pgRegisterSoup", ["soupSpec": spec, "indexes": index]) == "files")
      #expect(try await soup.call("pgGetSoupSpec", ["soupName": "files"]) == spec)
      let plain: JSONValue = ["name": "files", "features": []]
      _ = try await soup.call(
        "pgAlterSoup",
        ["soupName": "files", "soupSpec": plain, "indexes": index, "reIndexData": true])
      #expect(try await soup.call("pgGetSoupSpec", ["soupName": "files"]) == plain)
    }
  }

  @Test(.covers("HT-24", "SS-229"))
  func `entries are upserted, retrieved and removed`() async throws {
    try await Self.withSoup { _, _, soup in
      let entries: JSONValue = [["Name": "a", "rank": 1], ["Name": "b", "rank": 2]]
      let stored = try await soup.call(
        "pgUpsertSoupEntries",
        ["soupName": "s", "entries": entries, "externalIdPath": "_soupEntryId"])
      #expect(stored?.array?.map { $0["_soupEntryId"] } == [1, 2])
      #expect(stored?.array?.allSatisfy { $0["_soupLastModifiedDate"]?.int64 != nil } == true)
      #expect(
        try await soup.call("pgRetrieveSoupEntries", ["soupName": "s", "entryIds": [2, 99, 1.0]])
          == .array([stored?[1] ?? .null, stored?[0] ?? .null]))
      let again = try await soup.call(
        "pgUpsertSoupEntries",
        [
          "soupName": "s", "externalIdPath": "Name",
          "entries": [["Name": "b", "rank": 3], ["Name": "b", "rank": 4]],
        ])
      #expect(again?.array?.map { $0["_soupEntryId"] } == [2, 2])
      #expect(
        try await soup.call("pgRemoveFromSoup", ["soupName": "s", "entryIds": [1]]) == "OK")
      let spec: JSONValue = ["queryType": "exact", "indexPath": "Name", "matchKey": "b"]
      #expect(
        try await soup.call("pgRemoveFromSoup", ["soupName": "s", "querySpec": spec]) == "OK")
      #expect(
        try await soup.call("pgRetrieveSoupEntries", ["soupName": "s", "entryIds": [1, 2]]) == [])
    }
  }

  @Test(
    .covers("SS-229"),
    arguments: [
      ["soupName": "plain"], ["soupName": "s"],
      ["soupName": "files", "soupSpec": ["name": "files", "features": ["externalStorage"]]],
    ] as [JSONValue])
  func `an upsert responds with what the store then holds, in the order of the entries`(
    soupMessage: JSONValue
  ) async throws {
    try await Self.withSoup { _, _, soup in
      var register = soupMessage
      register["indexes"] = [
        ["path": "Name", "type": "string"], ["path": "n", "type": "integer"],
      ]
      if soupMessage["soupName"] != "s" { _ = try await soup.call("pgRegisterSoup", register) }
      var message: JSONValue = ["soupName": soupMessage["soupName"] ?? .null]
      func upsert(_ entries: [JSONValue], path: String? = nil) async throws -> [JSONValue] {
        message["entries"] = .array(entries)
        message["externalIdPath"] = path.map { .string($0) } ?? .null
        let stored = try await soup.call("pgUpsertSoupEntries", message)?.array ?? []
        message["entryIds"] = .array(stored.compactMap { $0["_soupEntryId"] })
        let held = try await soup.call("pgRetrieveSoupEntries", message)?.array ?? []
        #expect(stored == held)
        return stored
      }
      #expect(try await upsert([]) == [])
      // More than one statement inserts at once.
      let new: [JSONValue] = (0..<50).map {
        ["Name": .string("é\($0)"), "n": .integer($0), "__local__": false]
      }
      let first = try await upsert(new)
      #expect(first.count == 50)
      var mixed = new
      for index in [0, 20, 49] {
        mixed[index] = first[index]
        mixed[index]["n"] = 7
      }
      let second = try await upsert(mixed)
      #expect(second.map { $0["Name"] } == mixed.map { $0["Name"] })
      #expect(second[20]["_soupEntryId"] == first[20]["_soupEntryId"])
      #expect(second[20]["n"] == 7)
      let third = try await upsert([["Name": "x", "n": 1], ["Name": "y", "n": 2]], path: "Name")
      #expect(third.map { $0["n"] } == [1, 2])
      // An entry that is written twice has both of its versions in the response.
      message["entries"] = [["Name": "x", "n": 3], ["Name": "x", "n": 4]]
      message["externalIdPath"] = "Name"
      let twice = try await soup.call("pgUpsertSoupEntries", message)?.array
      #expect(twice?.map { $0["n"] } == [3, 4])
      #expect(
        twice?.map { $0["_soupEntryId"] } == [third[0]["_soupEntryId"], third[0]["_soupEntryId"]])
    }
  }

  @Test
  func `entries cross the bridge as the text that the store holds`() async throws {
    try await Self.withSoup { page, _, soup in
      let text = #"{"z":1.10,"Name":"\u00e9é\/","big":12345678901234567890.5,"a":{"y":[1e2, 2]}}"#
      try await page.send(
        #"{"id":"up","service":"com.salesforce.smartstore","action":"pgUpsertSoupEntries","args":[{"isGlobalStore":true,"soupName":"s","entries":[\#(text)]}]}"#
      )
      _ = await page.frame { $0["id"] == "up" }
      let spec: JSONValue = ["queryType": "range", "indexPath": "Name"]
      _ = try await soup.call("pgQuerySoup", ["soupName": "s", "querySpec": spec])
      _ = try await soup.call("pgRetrieveSoupEntries", ["soupName": "s", "entryIds": [1]])
      // Without its closing brace, behind which the store puts its own members.
      #expect(page.texts.count { $0.contains(text.dropLast()) } == 3)
    }
  }

  @Test(.covers("SS-231"))
  func `each kind of query has its own function, and an order alone means the index path`()
    async throws
  {
    try await Self.withSoup { page, _, soup in
      let entries: JSONValue = [["Name": "a", "rank": 1], ["Name": "b", "rank": 2]]
      _ = try await soup.call("pgUpsertSoupEntries", ["soupName": "s", "entries": entries])
      let smart: JSONValue = ["queryType": "smart", "smartSql": "select count(*) from {s}"]
      let all: JSONValue = ["queryType": "range", "indexPath": "rank", "order": "descending"]
      #expect(
        try await page.failure(
          TestHost.store, "pgQuerySoup", Self.global(["soupName": "s", "querySpec": smart]))
          == "Smart queries can only be run using runSmartQuery")
      #expect(
        try await page.failure(
          TestHost.store, "pgRunSmartQuery", Self.global(["querySpec": all]))
          == "runSmartQuery can only run smart queries")
      let none: JSONValue = ["queryType": .null, "indexPath": "rank"]
      #expect(
        try await page.failure(
          TestHost.store, "pgQuerySoup", Self.global(["soupName": "s", "querySpec": none])
        )
        .hasPrefix("Invalid query spec"))
      let cursor = try await soup.call("pgQuerySoup", ["soupName": "s", "querySpec": all])
      #expect(cursor?["currentPageOrderedEntries"]?.array?.map { $0["Name"] } == ["b", "a"])
      let counted = try await soup.call("pgRunSmartQuery", ["querySpec": smart])
      #expect(counted?["currentPageOrderedEntries"] == [[2]])
    }
  }

  @Test(.covers("HT-26", "SS-234"))
  func `a cursor moves over its pages, in its page and its store alone, until closed`()
    async throws
  {
    try await Self.withSoup { page, host, soup in
      let entries = JSONValue.array((0..<25).map { ["Name": "n", "rank": .integer($0)] })
      _ = try await soup.call("pgUpsertSoupEntries", ["soupName": "s", "entries": entries])
      let spec: JSONValue = ["queryType": "range", "indexPath": "rank", "orderPath": "rank"]
      let cursor = try await soup.call("pgQuerySoup", ["soupName": "s", "querySpec": spec])
      #expect(cursor?["pageSize"] == 10)
      #expect(cursor?["totalEntries"] == 25)
      #expect(cursor?["totalPages"] == 3)
      #expect(cursor?["currentPageIndex"] == 0)
      #expect(cursor?["currentPageOrderedEntries"]?.array?.count == 10)
      let id = cursor?["cursorId"] ?? .null
      let last = try await soup.call("pgMoveCursorToPageIndex", ["cursorId": id, "index": 2])
      #expect(last?["currentPageIndex"] == 2)
      #expect(last?["cursorId"] == id)
      #expect(
        last?["currentPageOrderedEntries"]?.array?.map { $0["rank"] } == [20, 21, 22, 23, 24])

      let move: JSONValue = ["cursorId": id, "index": 1]
      var elsewhere = Self.global(move)
      elsewhere["storeName"] = "other"
      let refused = "Invalid cursor id"
      #expect(
        try await page.failure(TestHost.store, "pgMoveCursorToPageIndex", elsewhere)
          .hasPrefix(refused))
      let other = try Page(host.bridge)
      #expect(
        try await other.failure(TestHost.store, "pgMoveCursorToPageIndex", Self.global(move))
          .hasPrefix(refused))
      #expect(try await soup.call("pgCloseCursor", ["cursorId": id]) == "OK")
      #expect(try await soup.call("pgCloseCursor", ["cursorId": id]) == "OK")
      #expect(
        try await page.failure(TestHost.store, "pgMoveCursorToPageIndex", Self.global(move))
          .hasPrefix(refused))
    }
  }

  @Test(.covers("HT-26"))
  func `page sizes, cursor ids and indexes may be texts of numbers`() async throws {
    try await Self.withSoup { page, _, soup in
      let entries = JSONValue.array((0..<5).map { ["rank": .integer($0)] })
      _ = try await soup.call("pgUpsertSoupEntries", ["soupName": "s", "entries": entries])
      let spec: JSONValue = [
        "queryType": "range", "indexPath": "rank", "orderPath": "rank", "pageSize": "2",
      ]
      let query: JSONValue = ["soupName": "s", "querySpec": spec]
      let cursor = try await soup.call("pgQuerySoup", query)
      #expect(cursor?["pageSize"] == 2)
      let id = JSONValue.string(try #require(cursor?["cursorId"]).text)
      let last = try await soup.call("pgMoveCursorToPageIndex", ["cursorId": id, "index": "2"])
      #expect(last?["currentPageOrderedEntries"]?.array?.map { $0["rank"] } == [4])
      #expect(try await soup.call("pgCloseCursor", ["cursorId": id]) == "OK")
      let closed: JSONValue = ["cursorId": id, "index": "2"]
      let failure = try await page.failure(
        TestHost.store, "pgMoveCursorToPageIndex", Self.global(closed))
      #expect(failure.hasPrefix("Invalid cursor id"))
      for (member, value) in [("pageSize", "two"), ("pageSize", "1.5"), ("pageSize", "")] {
        var wrong = query
        wrong["querySpec"]?[member] = .string(value)
        let failure = try await page.failure(TestHost.store, "pgQuerySoup", Self.global(wrong))
        #expect(failure.contains("pageSize must be a whole number"), "\(value)")
      }
    }
  }

  @Test(.covers("HT-25"))
  func `the queries of existing apps work: quoted texts in Smart SQL, a Boolean match key`()
    async throws
  {
    try await Self.withSoup { _, _, soup in
      let entries: JSONValue = [
        ["Name": "Ccc", "active": true, "text": "red fox"],
        ["Name": "Ddd", "active": false, "text": "blue fox"],
      ]
      _ = try await soup.call("pgUpsertSoupEntries", ["soupName": "s", "entries": entries])
      let quoted = #"select {s:Name} from {s} where {s:Name} = "Ccc""#
      let specs: [(String, JSONValue)] = [
        ("pgRunSmartQuery", ["queryType": "smart", "smartSql": .string(quoted)]),
        ("pgQuerySoup", ["queryType": "exact", "indexPath": "active", "matchKey": true]),
        ("pgQuerySoup", ["queryType": "like", "indexPath": "Name", "likeKey": "C%"]),
        ("pgQuerySoup", ["queryType": "match", "indexPath": "text", "matchKey": "red"]),
        ("pgQuerySoup", ["queryType": "match", "indexPath": .null, "matchKey": "red"]),
        (
          "pgQuerySoup",
          [
            "queryType": "exact", "indexPath": "Name", "matchKey": "Ccc", "likeKey": .null,
            "smartSql": .null, "pageSize": .null, "selectPaths": ["Name"],
          ]
        ),
      ]
      for (action, spec) in specs {
        let cursor = try await soup.call(action, ["soupName": "s", "querySpec": spec])
        #expect(cursor?["totalEntries"] == 1, "\(spec)")
        #expect(cursor?.text.contains("Ccc") == true, "\(spec)")
      }
    }
  }

  @Test(.covers("SS-233"))
  func `the lists of stores tell user and global stores apart`() async throws {
    try await TestHost.withOrg { host, _ in
      let page = try Page(host.bridge)
      for (name, isGlobal) in [("mine", false), ("ours", true)] {
        _ = try await page.value(
          TestHost.store, "pgSoupExists",
          ["soupName": "s", "storeName": .string(name), "isGlobalStore": .bool(isGlobal)])
      }
      let mine: JSONValue = [["isGlobalStore": false, "storeName": "mine"]]
      let ours: JSONValue = [["isGlobalStore": true, "storeName": "ours"]]
      #expect(try await page.value(TestHost.store, "pgGetAllStores") == mine)
      #expect(try await page.value(TestHost.store, "pgGetAllGlobalStores") == ours)
      #expect(try await page.value(TestHost.store, "pgRemoveAllStores") == "OK")
      #expect(try await page.value(TestHost.store, "pgGetAllStores") == [])
      #expect(
        try await page.value(
          TestHost.store, "pgRemoveStore", ["isGlobalStore": true, "storeName": "ours"]) == "OK")
      #expect(try await page.value(TestHost.store, "pgGetAllGlobalStores") == [])
      #expect(try await page.value(TestHost.store, "pgRemoveAllGlobalStores") == "OK")
    }
  }

  @Test(.covers("HT-27", "SS-232"))
  func `a store of a user needs one, the app's store does not`() async throws {
    try await TestHost.with { host in
      let page = try Page(host.bridge)
      for action in ["pgSoupExists", "pgGetAllStores", "pgRemoveStore", "pgRemoveAllStores"] {
        #expect(
          try await page.failure(TestHost.store, action, ["soupName": "s"])
            == "No user account found")
      }
      #expect(
        try await page.value(
          TestHost.store, "pgSoupExists", ["soupName": "s", "isGlobalStore": true]) == false)
    }
  }

  @Test(.covers("SS-228"))
  func `a store's name that is missing, null or undefined is the default one`() async throws {
    try await Self.withSoup { page, _, _ in
      for name: JSONValue in [.null, "undefined", "", "defaultStore"] {
        let exists = try await page.value(
          TestHost.store, "pgSoupExists",
          ["soupName": "s", "isGlobalStore": true, "storeName": name])
        #expect(exists == true)
      }
    }
  }

  @Test
  func `arguments of the wrong type get an error that names them, and nothing is written`()
    async throws
  {
    try await Self.withSoup { page, _, soup in
      let cases: [(String, JSONValue, String)] = [
        ("pgSoupExists", [:], "Bogus soup name"),
        ("pgSoupExists", ["soupName": 7], "soupName"),
        ("pgRegisterSoup", ["soupName": "t"], "No indexSpecs"),
        ("pgRegisterSoup", ["soupName": "t", "indexes": "x"], "indexes"),
        ("pgRegisterSoup", ["soupName": "t", "indexes": [1]], "Invalid index spec"),
        ("pgUpsertSoupEntries", ["soupName": "s"], "entries"),
        ("pgUpsertSoupEntries", ["soupName": "s", "entries": [["a": 1], 5]], "Invalid entry"),
        ("pgUpsertSoupEntries", ["soupName": "u", "entries": [[:]]], "Soup: u does not exist"),
        (
          "pgUpsertSoupEntries",
          ["soupName": "s", "entries": [["Name": "x"], [:]], "externalIdPath": "Name"],
          "For upsert with external ID path"
        ),
        ("pgRetrieveSoupEntries", ["soupName": "s", "entryIds": [1.5]], "entryIds"),
        ("pgRemoveFromSoup", ["soupName": "s"], "entryIds"),
        ("pgQuerySoup", ["soupName": "s"], "querySpec"),
        ("pgMoveCursorToPageIndex", ["cursorId": "x", "index": 0], "cursorId"),
        ("pgCloseCursor", [:], "Invalid cursor id"),
        ("pgReIndexSoup", ["soupName": "s", "paths": [1]], "paths"),
        ("pgSoupExists", ["soupName": "s", "storeName": 5], "storeName"),
        ("pgSoupExists", ["soupName": "s", "storeName": "../x"], "cannot name a folder"),
        ("pgShowInspector", [:], "inspector"),
      ]
      for (action, message, text) in cases {
        let failure = try await page.failure(TestHost.store, action, Self.global(message))
        #expect(failure.contains(text), "\(action) \(message): \(failure)")
      }
      let failure = try await page.failure(
        TestHost.store, "pgSoupExists", ["soupName": "s", "isGlobalStore": "yes"])
      #expect(failure.contains("isGlobalStore"))
      let count = try await soup.call(
        "pgRunSmartQuery",
        ["querySpec": ["queryType": "smart", "smartSql": "select count(*) from {s}"]])
      #expect(count?["currentPageOrderedEntries"] == [[0]])
    }
  }

  @Test
  func `an upsert whose page goes away is stored, and its cursors are closed`() async throws {
    try await Self.withSoup { page, host, soup in
      let entries = JSONValue.array((0..<5_000).map { ["Name": "n", "rank": .integer($0)] })
      _ = try await page.post(
        TestHost.store, "pgUpsertSoupEntries",
        Self.global(["soupName": "s", "entries": entries]))
      page.session.end()
      let store = try await host.stores.sharedGlobal()
      let other = try Page(host.bridge)
      await host.bridge.close()
      #expect(other.frames.isEmpty)
      #expect(
        try await store.count(using: .buildAllQuerySpec(soupName: "s", pageSize: 1)) == 5_000)
    }
  }
}
