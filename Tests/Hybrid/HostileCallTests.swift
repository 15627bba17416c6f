import SalesforceHybridSDK
import SalesforceReact
import SalesforceSDKCommon
import TestSupport
import Testing

/// Does every call get one response, and does other data stay unchanged, whatever the arguments are?
struct HostileCallTests {
  /// Correct calls, on the soup `scratch` of the app's own store.
  static let calls: [(service: String, action: String, message: JSONObject)] = {
    let store = "com.salesforce.smartstore"
    let sync = "com.salesforce.mobilesync"
    let indexes: JSONValue = [
      ["path": "Name", "type": "string"], ["path": "n", "type": "integer"],
    ]
    let spec: JSONValue = [
      "queryType": "range", "indexPath": "Name", "beginKey": .null, "endKey": .null,
      "order": "ascending", "pageSize": 10, "selectPaths": .null,
    ]
    let soup: JSONObject = ["soupName": "scratch", "isGlobalStore": true, "storeName": .null]
    func with(_ members: JSONObject) -> JSONObject {
      var all = soup
      for (key, value) in members { all[key] = value }
      return all
    }
    return [
      (store, "pgRegisterSoup", with(["indexes": indexes])),
      (store, "pgSoupExists", soup), (store, "pgGetSoupIndexSpecs", soup),
      (store, "pgGetDatabaseSize", soup), (store, "pgGetSoupSpec", soup),
      (store, "pgAlterSoup", with(["indexes": indexes, "reIndexData": true])),
      (store, "pgReIndexSoup", with(["paths": ["Name"]])),
      (
        store, "pgUpsertSoupEntries",
        with(["entries": [["Name": "a", "n": 1], ["Name": "b"]], "externalIdPath": "Name"])
      ),
      (store, "pgRetrieveSoupEntries", with(["entryIds": [1, 2, 99]])),
      (store, "pgRemoveFromSoup", with(["entryIds": [7]])),
      (store, "pgRemoveFromSoup", with(["querySpec": spec])),
      (store, "pgQuerySoup", with(["querySpec": spec])),
      (
        store, "pgRunSmartQuery",
        with([
          "querySpec": [
            "queryType": "smart", "smartSql": "SELECT {scratch:Name} FROM {scratch}", "pageSize": 2,
          ]
        ])
      ),
      (store, "pgMoveCursorToPageIndex", with(["cursorId": 1, "index": 0])),
      (store, "pgCloseCursor", with(["cursorId": 1])), (store, "pgClearSoup", soup),
      (store, "pgGetAllGlobalStores", [:]),
      ("SFSmartStoreReactBridge", "soupExists", soup),
      ("SFSmartStoreReactBridge", "querySoup", with(["querySpec": spec])),
      (
        sync, "syncDown",
        with(["target": ["type": "soql", "query": "q"], "options": ["mergeMode": "OVERWRITE"]])
      ),
      (sync, "syncUp", with(["target": [:], "options": ["fieldlist": ["Name"]]])),
      (sync, "reSync", with(["syncId": 1])), (sync, "getSyncStatus", with(["syncName": "x"])),
      (sync, "deleteSync", with(["syncId": 1])), (sync, "cleanResyncGhosts", with(["syncId": 1])),
      (
        "com.salesforce.network", "pgSendRequest",
        [
          "endPoint": "/services/data", "path": "/v66.0/query", "method": "GET",
          "queryParams": ["q": "x"], "headerParams": ["a": "b"], "fileParams": [:],
          "returnBinary": false, "doesNotRequireAuthentication": false,
        ]
      ),
      ("com.salesforce.sdkinfo", "registerAppFeature", ["feature": ""]),
      ("com.salesforce.sfaccountmanager", "switchToUser", ["orgId": "o", "userId": "u"]),
      ("com.salesforce.sfaccountmanager", "logout", ["orgId": "o", "userId": "u"]),
      ("com.salesforce.oauth", "authenticate", [:]),
    ]
  }()

  /// What replaces a value. The name of the soup that must stay is not among them.
  static let values: [JSONValue] = [
    .null, true, false, 0, -1, 1.5, .double(9e99), .integer(.max), .integer(.min), "", "x",
    "scratch",
    "\u{0}", "'; DROP TABLE x; --", "../../x", [], [[]], [:], [.null], ["a": 1], ["", 1, .null],
    [[:], ["Name": ["a": [1]]]], .string(String(repeating: "é", count: 300)),
  ]

  @Test(.timeLimit(.minutes(5)))
  func `5,000 seeded calls with wrong arguments get one response each and change nothing else`()
    async throws
  {
    let seed = Effort.seed(.random(in: 0..<1_000_000))
    var random = SeededGenerator(seed: seed)
    try await TestHost.with(modules: ReactModules.plugins) { host in
      let page = try Page(host.bridge)
      let kept: JSONValue = [
        "soupName": "kept", "isGlobalStore": true,
        "indexes": [["path": "Name", "type": "string"]],
        "entries": .array((0..<20).map { ["Name": .string("entry \($0)")] }),
      ]
      _ = try await page.value(TestHost.store, "pgRegisterSoup", kept)
      let before = try await page.value(TestHost.store, "pgUpsertSoupEntries", kept)
      var succeeded = 0
      for number in 0..<Effort.times(5_000) {
        let (service, action, message) = try #require(Self.calls.randomElement(using: &random))
        var arguments: JSONValue = .object(message)
        for _ in 0...Int.random(in: 0..<2, using: &random) {
          arguments = Self.mutated(arguments, using: &random)
        }
        let response = try await page.call(service, action, arguments)
        let note: Comment = "seed \(seed), call \(number): \(service).\(action) \(arguments.text)"
        #expect(["ok", "error"].contains(response["status"]), note)
        if response["status"] == "ok" {
          succeeded += 1
        } else {
          let value = response["value"]
          let text = value?.string ?? value?["message"]?.string
          #expect(text?.isEmpty == false, note)
        }
      }
      #expect(succeeded > 100)
      let ids: JSONValue = .array((before?.array ?? []).compactMap { $0["_soupEntryId"] })
      let after = try await page.value(
        TestHost.store, "pgRetrieveSoupEntries",
        ["soupName": "kept", "isGlobalStore": true, "entryIds": ids])
      #expect(after == before, "seed \(seed)")
      let responses = page.frames.compactMap { $0["id"]?.int64 }
      #expect(Set(responses).count == responses.count, "seed \(seed)")
    }
  }

  /// The value with one part of it dropped or replaced, at any depth.
  private static func mutated(_ value: JSONValue, using random: inout SeededGenerator) -> JSONValue
  {
    let replacement = values.randomElement(using: &random) ?? .null
    if var object = value.object, let key = object.keys.randomElement(using: &random),
      Int.random(in: 0..<8, using: &random) > 0
    {
      // A store for each text would take long.
      guard key != "storeName" else { return value }
      switch Int.random(in: 0..<6, using: &random) {
      case 0: object[key] = nil
      case 1, 2: object[key] = replacement
      default: object[key] = mutated(object[key] ?? .null, using: &random)
      }
      return .object(object)
    }
    if var array = value.array, !array.isEmpty {
      let index = Int.random(in: 0..<array.count, using: &random)
      array[index] =
        Bool.random(using: &random) ? replacement : mutated(array[index], using: &random)
      return .array(array)
    }
    return replacement
  }

  @Test(.timeLimit(.minutes(2)))
  func `a page that goes away in the middle of bulk upserts leaves whole batches and no cursor`()
    async throws
  {
    try await TestHost.with { host in
      let soup: JSONValue = [
        "soupName": "notes", "isGlobalStore": true,
        "indexes": [["path": "Name", "type": "string"]],
      ]
      let stays = try Page(host.bridge)
      _ = try await stays.value(TestHost.store, "pgRegisterSoup", soup)
      let spec: JSONValue = ["queryType": "range", "indexPath": "Name", "pageSize": 10]
      var accepted = 0
      for round in 0..<10 {
        let page = try Page(host.bridge)
        var upsert = soup
        upsert["entries"] = .array((0..<50).map { ["Name": .string("\(round) \($0)")] })
        for _ in 0..<round {
          _ = try await page.post(TestHost.store, "pgUpsertSoupEntries", upsert)
          accepted += 50
        }
        var query = soup
        query["querySpec"] = spec
        _ = try await page.post(TestHost.store, "pgQuerySoup", query)
        page.session.end()
      }
      while host.bridge.sessionCount > 1 {
        try Task.checkCancellation()
        await Task.yield()
      }
      var query = soup
      query["querySpec"] = spec
      // Calls that were accepted are carried out.
      let cursor = try await stays.value(TestHost.store, "pgQuerySoup", query)
      #expect(cursor?["totalEntries"] == .integer(Int64(accepted)))
      // No cursor of a page that is gone keeps the store open.
      _ = try await stays.value(TestHost.store, "pgRemoveStore", soup)
      #expect(try await stays.value(TestHost.store, "pgGetAllGlobalStores") == [])
    }
  }

  @Test func `two pages of one app share stores, not cursors, and each gets its own syncs`()
    async throws
  {
    try await SyncServiceTests.with { page, host, sync in
      let other = try Page(host.bridge)
      let query: JSONValue = [
        "soupName": "accounts", "querySpec": ["queryType": "range", "indexPath": "Name"],
      ]
      let cursor = try await page.value(TestHost.store, "pgQuerySoup", query)
      #expect(
        try await other.failure(
          TestHost.store, "pgMoveCursorToPageIndex",
          ["cursorId": cursor?["cursorId"] ?? .null, "index": 0]
        ).contains("Invalid cursor id"))
      var second = SyncServiceTests.down
      second["syncName"] = "second"
      let first = try await page.post(TestHost.sync, "syncDown", SyncServiceTests.down)
      let next = try await other.post(TestHost.sync, "syncDown", second)
      for (one, call, name) in [(page, first, "down"), (other, next, "second")] {
        #expect(await one.response(call)["value"]?["status"] == "RUNNING")
        _ = await one.frame { $0["detail"]?["status"] == "DONE" }
        let events = one.frames.filter { $0["event"] == "sync" }
        #expect(events.allSatisfy { $0["detail"]?["name"] == .string(name) })
        #expect(events.count { $0["detail"]?["status"] == "DONE" } == 1)
      }
    }
  }
}
