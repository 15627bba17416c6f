import SalesforceHybridSDK
import SalesforceMockOrg
import SalesforceSDKCommon
import TestSupport
import Testing

/// Can a page see and resolve what was changed on both sides?
struct ConflictServiceTests {
  @Test(arguments: ["mine", "theirs", "values"])
  func `a page lists a conflict with its values and resolves it`(_ choice: String) async throws {
    try await TestHost.withOrg { host, org in
      let page = try Page(host.bridge)
      func call(_ service: String, _ action: String, _ members: JSONObject = [:]) async throws
        -> JSONValue?
      {
        var message = members
        if message["soupName"] == nil { message["soupName"] = "accounts" }
        return try await page.value(service, action, .object(message))
      }
      let paths: [JSONValue] = ["Id", "Name", "__local__"]
      _ = try await call(
        TestHost.store, "pgRegisterSoup",
        ["indexes": .array(paths.map { ["path": $0, "type": "string"] })])
      let id = try await org.create("Account", ["Name": "Arbour"])
      let options: JSONValue = ["mergeMode": "MERGE_FIELDS", "fieldlist": ["Name"]]
      _ = try await call(
        TestHost.sync, "syncDown",
        [
          "target": ["type": "soql", "query": "SELECT Id, Name FROM Account"], "options": options,
        ])
      _ = await page.frame { $0["detail"]?["status"] == "DONE" }
      let stored = try await call(
        TestHost.store, "pgQuerySoup",
        ["querySpec": ["queryType": "exact", "indexPath": "Name", "matchKey": "Arbour"]])
      var entry = try #require(stored?["currentPageOrderedEntries"]?[0])
      entry["Name"] = "Arbour here"
      entry["__local__"] = true
      entry["__locally_updated__"] = true
      _ = try await call(TestHost.store, "pgUpsertSoupEntries", ["entries": [entry]])
      org.options.clock.advance(by: .seconds(60))
      try await org.update("Account", id: id, ["Name": "Arbour there"])
      _ = try await call(TestHost.sync, "syncUp", ["options": options, "syncName": "up"])
      _ = await page.frame {
        $0["detail"]?["name"] == "up" && ["DONE", "FAILED"].contains($0["detail"]?["status"])
      }

      let conflicts = try await call(TestHost.sync, "getConflicts")
      #expect(conflicts?.array?.count == 1)
      let conflict = try #require(conflicts?[0])
      let field = conflict["fields"]?.array?.first { $0["name"] == "Name" }
      #expect(field?["mine"] == "Arbour here" && field?["theirs"] == "Arbour there")
      #expect(try await call(TestHost.sync, "getConflicts", ["soupName": "others"]) == [])
      let key = conflict["key"] ?? .null
      for wrong in [.null, "perhaps", [:], 7] as [JSONValue] {
        #expect(
          try await page.failure(
            TestHost.sync, "resolveConflict", ["key": key, "resolution": wrong]
          ).contains("resolution"))
      }
      let resolution: JSONValue =
        choice == "values" ? ["values": ["Name": "Both"]] : .string(choice)
      #expect(
        try await page.failure(
          TestHost.sync, "resolveConflict", ["key": "accounts/99", "resolution": resolution]
        ).contains("not in conflict"))
      #expect(
        try await call(TestHost.sync, "resolveConflict", ["key": key, "resolution": resolution])
          == nil)
      #expect(try await call(TestHost.sync, "getConflicts") == [])
      _ = try await call(TestHost.sync, "reSync", ["syncName": "up"])
      while try await call(TestHost.sync, "getSyncStatus", ["syncName": "up"])?["status"]
        == "RUNNING"
      {
        try Task.checkCancellation()
      }
      let expected = ["mine": "Arbour here", "theirs": "Arbour there", "values": "Both"]
      let records = try await org.query("SELECT Name FROM Account")
      #expect(records.map { $0["Name"]?.string } == [expected[choice]])
    }
  }
}
