import SalesforceHybridSDK
import SalesforceMockOrg
import SalesforceReact
import SalesforceSDKCommon
import TestSupport
import Testing

/// Do the modules of React Native respond as its JavaScript expects, under both platforms' names?
struct ReactModuleTests {
  static let accounts: JSONValue = [
    "soupName": "accounts",
    "indexes": [
      ["path": "Id", "type": "string"], ["path": "Name", "type": "string"],
      ["path": "__local__", "type": "string"],
    ],
  ]
  static let stores = ["SFSmartStoreReactBridge", "SmartStoreReactBridge"]
  static let syncs = ["SFMobileSyncReactBridge", "MobileSyncReactBridge"]
  static let nets = ["SFNetReactBridge", "SalesforceNetReactBridge"]
  static let oauths = ["SFOauthReactBridge", "SalesforceOauthReactBridge"]

  static func withOrg(_ body: (TestHost, Page, MockOrg) async throws -> Void) async throws {
    try await TestHost.withOrg(modules: ReactModules.plugins) { host, org in
      try await body(host, try Page(host.bridge), org)
    }
  }

  @Test(.covers("SS-227"), arguments: stores)
  func `the store's methods take a version in front of their object`(_ module: String)
    async throws
  {
    try await TestHost.with(modules: ReactModules.plugins) { host in
      let page = try Page(host.bridge)
      var message = Self.accounts
      message["isGlobalStore"] = true
      let id = try await page.post(module, "registerSoup", "pluginSDKVersion:14.0.0", message)
      #expect(await page.response(id)["value"] == "accounts")
    }
  }

  @Test(.covers("HT-39", "HT-42"), arguments: stores)
  func `the store's methods have no prefix and take one object`(_ module: String)
    async throws
  {
    try await TestHost.with(modules: ReactModules.plugins) { host in
      let page = try Page(host.bridge)
      let call = { (method: String, message: JSONValue) in
        var message = message
        message["isGlobalStore"] = true
        return try await page.value(module, method, message)
      }
      #expect(try await call("registerSoup", Self.accounts) == "accounts")
      #expect(try await call("soupExists", ["soupName": "accounts"]) == true)
      let stored = try await call(
        "upsertSoupEntries",
        ["soupName": "accounts", "entries": [["Name": "a"], ["Name": "b"]]])
      // Numbers come as doubles.
      let id = try #require(stored?[0]?["_soupEntryId"]?.int64)
      #expect(
        try await call(
          "retrieveSoupEntries", ["soupName": "accounts", "entryIds": [.double(Double(id))]])?[0]?[
            "Name"] == "a")
      let cursor = try await call(
        "querySoup",
        [
          "soupName": "accounts",
          "querySpec": ["queryType": "range", "indexPath": "Name", "pageSize": 1],
        ])
      let cursorId = try #require(cursor?["cursorId"]?.int64)
      #expect(cursor?["totalPages"] == 2)
      let next = try await call(
        "moveCursorToPageIndex", ["cursorId": .double(Double(cursorId)), "index": 1.0])
      #expect(next?["currentPageOrderedEntries"]?[0]?["Name"] == "b")
      #expect(try await call("closeCursor", ["cursorId": .integer(cursorId)]) == "OK")
      #expect(
        try await call("getAllGlobalStores", [:]) == [
          ["isGlobalStore": true, "storeName": "defaultStore"]
        ])
      let failure = { (method: String, message: JSONValue) in
        var message = message
        message["isGlobalStore"] = true
        return try await page.failure(module, method, message)
      }
      #expect(
        try await failure("moveCursorToPageIndex", ["cursorId": .integer(cursorId), "index": 0])
          .contains("Invalid cursor id"))
      #expect(
        try await failure("runSmartQuery", ["querySpec": ["queryType": "range"]])
          .contains("smart queries"))
      #expect(try await failure("getSoupIndexSpecs", ["soupName": "none"]).contains("none"))
      for ids: JSONValue in [[1.5], [9_007_199_254_740_994.0], [1e300]] {
        #expect(
          try await failure("removeFromSoup", ["soupName": "accounts", "entryIds": ids])
            .contains("2^53"))
      }
      for method in ["pgSoupExists", "soup", "", "SoupExists"] {
        #expect(try await failure(method, [:]).hasPrefix("invalid action"), "\(method)")
      }
      #expect(
        try await page.failure(module, "soupExists", ["soupName": "accounts"])
          .hasPrefix("soupExists failed: no store found"))
    }
  }

  @Test(.covers("HT-43", "MS-341", "MS-342"), arguments: syncs)
  func `a sync gets its response when it has ended, with the last state`(
    _ module: String
  ) async throws {
    try await Self.withOrg { host, page, org in
      _ = try await org.generate("Account", count: 30, seed: 1) { _ in }
      _ = try await page.value(Self.stores[0], "registerSoup", Self.accounts)
      let down: JSONValue = [
        "target": ["type": "soql", "query": "SELECT Id, Name FROM Account"],
        "soupName": "accounts", "options": ["mergeMode": "OVERWRITE"], "syncName": "down",
      ]
      let done = try await page.value(module, "syncDown", down)
      #expect(done?["status"] == "DONE")
      #expect(done?["totalSize"] == 30)
      #expect(done?["isGlobalStore"] == false)
      #expect(done?["storeName"] == "defaultStore")
      // The event of the login may arrive after the page does.
      let events = page.frames.compactMap { $0["event"] }
      #expect(events.allSatisfy { $0 == "fieldforceReload" }, "\(events)")
      let id = try #require(done?["_soupEntryId"]?.int64)
      #expect(
        try await page.value(module, "reSync", ["syncId": .double(Double(id))])?["status"] == "DONE"
      )
      #expect(
        try await page.value(module, "getSyncStatus", ["syncName": "down"])?["status"] == "DONE")
      #expect(try await page.value(module, "getSyncStatus", ["syncName": "none"]) == .null)
      #expect(try await page.value(module, "cleanResyncGhosts", ["syncId": .integer(id)]) == 0)
      #expect(try await page.value(module, "deleteSync", ["syncName": "down"]) == "OK")

      var broken = down
      broken["target"] = ["type": "soql", "query": "SELECT Id FROM Nothing__c"]
      broken["syncName"] = "broken"
      let failed = try await page.call(module, "syncDown", broken)
      #expect(failed["status"] == "error")
      #expect(failed["value"]?["message"] == "Sync failed")
      #expect(failed["value"]?["status"] == "FAILED")
      #expect(failed["value"]?["name"] == "broken")
      for method in ["reSync", "getSyncStatus", "deleteSync", "cleanResyncGhosts"] {
        let neither = try await page.call(module, method)
        #expect(
          neither["value"]?["message"]?.string?.contains("neither syncId nor syncName") == true)
      }
      let wrong = try await page.call(module, "cleanResyncGhosts", ["syncId": 4_711])
      #expect(wrong["value"]?["message"]?.string?.hasPrefix("cleanResyncGhosts failed") == true)
      let unknown = try await page.call(module, "stop")
      #expect(unknown["value"]?["message"]?.string?.contains("invalid action") == true)
    }
  }

  @Test(.covers("HT-41"), arguments: nets)
  func `a request gets its body, and its error is an object with the response`(
    _ module: String
  ) async throws {
    try await Self.withOrg { host, page, _ in
      let request: JSONValue = [
        "endPoint": "/services/data", "path": "/v66.0/sobjects/Account/", "method": "POST",
        "queryParams": ["Name": "Ada"],
      ]
      #expect(try await page.value(module, "sendRequest", request)?["success"] == true)
      let missing: JSONValue = [
        "endPoint": "/services/data", "path": "/v66.0/sobjects/Account/001000000000000AAA",
      ]
      let failure = try await page.call(module, "sendRequest", missing)["value"]
      #expect(failure?["message"]?.string?.hasPrefix("sendRequest failed") == true)
      #expect(failure?["error"]?.string != nil)
      #expect(failure?["response"]?["statusCode"] == 404)
      #expect(failure?["response"]?["body"]?[0]?["errorCode"] == "NOT_FOUND")
      let broken = try await page.call(module, "sendRequest", ["method": "TRACE"])["value"]
      #expect(broken?["message"]?.string?.contains("method") == true)
      let prefixed = try await page.call(module, "pgSendRequest", request)["value"]
      #expect(prefixed?["message"]?.string?.contains("invalid action") == true)
    }
  }

  @Test(.covers("HT-40"), arguments: oauths)
  func `the login module gives credentials, and OK after a logout`(_ module: String)
    async throws
  {
    try await Self.withOrg { host, page, _ in
      let credentials = try await page.value(module, "getAuthCredentials")
      #expect(credentials?["communityId"] == .null)
      #expect(
        try await page.value(module, "authenticate")?["userId"] == credentials?["userId"])
      #expect(try await page.value(module, "logoutCurrentUser") == "OK")
      #expect(try await page.failure(module, "getAuthCredentials") == "Not authenticated")
      #expect(try await page.failure(module, "getAppHomeUrl").hasPrefix("invalid action"))
    }
  }

  @Test(.covers("HT-39")) func `without the modules a call gets an error`() async throws {
    try await TestHost.with { host in
      let page = try Page(host.bridge)
      #expect(
        try await page.failure("SFSmartStoreReactBridge", "soupExists").hasPrefix("invalid action"))
    }
  }
}
