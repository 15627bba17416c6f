import SalesforceHybridSDK
import SalesforceMockOrg
import SalesforceSDKCommon
import TestSupport
import Testing

/// Do syncs of a page run, respond first and report their states afterwards?
struct SyncServiceTests {
  static let down: JSONValue = [
    "target": ["type": "soql", "query": "SELECT Id, Name FROM Account"], "soupName": "accounts",
    "options": ["mergeMode": "OVERWRITE"], "syncName": "down",
  ]

  static func with(
    _ body: (Page, TestHost, Calls) async throws -> Void
  ) async throws {
    try await TestHost.withOrg { host, org in
      _ = try await org.generate("Account", count: 30, seed: 1) { _ in }
      let page = try Page(host.bridge)
      _ = try await page.value(
        TestHost.store, "pgRegisterSoup",
        [
          "soupName": "accounts",
          "indexes": [
            ["path": "Id", "type": "string"], ["path": "Name", "type": "string"],
            ["path": "__local__", "type": "string"],
          ],
        ])
      try await body(page, host, Calls(page: page))
    }
  }

  /// The calls of a page on its syncs.
  struct Calls {
    let page: Page

    func call(_ action: String, _ message: JSONValue) async throws -> JSONValue? {
      try await page.value(TestHost.sync, action, message)
    }
  }

  @Test(.covers("HT-32", "HT-33", "MS-337", "MS-338"))
  func
    `a sync responds first, then reports each state, the last one once`()
    async throws
  {
    try await Self.with { page, host, sync in
      let other = try Page(host.bridge)
      let started = try await sync.call("syncDown", Self.down)
      #expect(started?["status"] == "RUNNING")
      #expect(started?["name"] == "down")
      _ = await page.frame { $0["detail"]?["status"] == "DONE" }
      let place = page.frames.firstIndex { $0["value"]?["status"] == "RUNNING" }
      let events = page.frames.indices.filter { page.frames[$0]["event"] == "sync" }
      #expect((place ?? .max) < (events.first ?? -1))
      #expect(page.frames.last?["detail"]?["status"] == "DONE")
      #expect(page.frames.last?["detail"]?["isGlobalStore"] == false)
      #expect(page.frames.last?["detail"]?["storeName"] == "defaultStore")
      #expect(page.frames.count { $0["detail"]?["status"] == "DONE" } == 1)
      #expect(other.frames.isEmpty)

      let status = try await sync.call("getSyncStatus", ["syncName": "down"])
      #expect(status?["status"] == "DONE")
      #expect(status?["totalSize"] == 30)
      let id = status?["_soupEntryId"] ?? .null
      #expect(try await sync.call("getSyncStatus", ["syncId": id]) == status)
      #expect(try await sync.call("cleanResyncGhosts", ["syncId": id]) == 0)
      let again = try await sync.call("reSync", ["syncId": id])
      #expect(again?["status"] == "RUNNING")
      _ = await page.frame { frame in
        frame["detail"]?["status"] == "DONE"
          && frame["detail"]?["startTime"] == again?["startTime"]
      }
      while try await sync.call("getSyncStatus", ["syncId": id])?["status"] != "DONE" {}
      #expect(try await sync.call("deleteSync", ["syncId": id]) == nil)
      #expect(try await sync.call("getSyncStatus", ["syncId": id]) == [:])
    }
  }

  @Test(.covers("HT-32", "MS-336", "MS-339"))
  func
    `a text names a sync, also one of digits, and one of both must be given`()
    async throws
  {
    try await Self.with { page, _, sync in
      let named = try await sync.call("getSyncStatus", ["syncName": "7"])
      #expect(named == [:])
      #expect(try await sync.call("getSyncStatus", ["syncId": 7]) == [:])
      for action in ["getSyncStatus", "reSync", "deleteSync", "cleanResyncGhosts"] {
        #expect(
          try await page.failure(TestHost.sync, action)
            .contains("neither syncId nor syncName were specified"))
      }
      #expect(
        try await page.failure(TestHost.sync, "reSync", ["syncName": "x"])
          .contains("does not exist"))
      var message = Self.down
      message["target"] = .null
      #expect(try await page.failure(TestHost.sync, "syncDown", message).contains("target"))
      message["target"] = ["type": "unknown"]
      #expect(try await page.failure(TestHost.sync, "syncDown", message).contains("unknown"))
      #expect(try await page.failure(TestHost.sync, "sync").hasPrefix("invalid action"))
    }
  }

  @Test(.covers("MS-335", "HT-32"))
  func `a sync up without a target uses the default one, under the name of 7.1 too`()
    async throws
  {
    try await Self.with { page, _, _ in
      _ = try await page.value(
        TestHost.store, "pgUpsertSoupEntries",
        [
          "soupName": "accounts",
          "entries": [
            [
              "attributes": ["type": "Account"], "Id": "local_1", "Name": "Made in a page",
              "__local__": true, "__locally_created__": true, "__locally_updated__": false,
              "__locally_deleted__": false,
            ]
          ],
        ])
      let options: JSONValue = ["mergeMode": "OVERWRITE", "fieldlist": ["Name"]]
      let started = try await page.value(
        "com.salesforce.smartsync", "syncUp",
        ["target": .null, "soupName": "accounts", "options": options])
      #expect(started?["type"] == "syncUp")
      let last = await page.frame { ["DONE", "FAILED"].contains($0["detail"]?["status"]) }
      #expect(last["detail"]?["status"] == "DONE")
      let found = try await page.value(
        "com.salesforce.network", "pgSendRequest",
        [
          "endPoint": "/services/data", "path": "/v66.0/query", "method": "GET",
          "queryParams": ["q": "SELECT Name FROM Account WHERE Name = 'Made in a page'"],
        ])
      #expect(found?["totalSize"] == 1)
    }
  }

  @Test
  func `a sync whose page goes away in the middle runs to its end`()
    async throws
  {
    try await Self.with { page, host, _ in
      let id = try await page.value(TestHost.sync, "syncDown", Self.down)?["_soupEntryId"]
      page.session.end()
      let other = try Page(host.bridge)
      var status: JSONValue?
      repeat {
        status = try await other.value(
          TestHost.sync, "getSyncStatus", ["syncId": id ?? .null])?["status"]
      } while status == "RUNNING"
      #expect(status == "DONE")
    }
  }
}
