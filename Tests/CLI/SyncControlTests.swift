import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import Testing

/// Can syncs be watched, stopped, changed and removed from the command line?
@Suite struct SyncControlTests {
  /// Runs `body` with a server and a tool that has logged in and has a soup.
  private func withTool(_ body: (Tool, MockOrg) async throws -> Void) async throws {
    try await withMockOrg { org, server in
      let tool = try Tool()
      try await tool.logIn(to: server)
      _ = try await tool.json(
        "soup", "register", "accounts", "--index", "Id:string", "--index", "__local__:string",
        "--index", "__sync_id__:integer")
      try await org.create("Account", ["Name": "Arbour", "Phone": "1"])
      try await body(tool, org)
    }
  }

  private func down(_ tool: Tool) async throws -> JSONValue {
    try await tool.json(
      "sync", "down", "--soup", "accounts", "--query", "SELECT Id, Name FROM Account", "--name",
      "accounts")
  }

  private func names(_ tool: Tool) async throws -> [String] {
    let page = try await tool.json("store", "query", "SELECT {accounts:_soup} FROM {accounts}")
    return (page["rows"]?.array ?? []).compactMap { $0[0]?["Name"]?.string }
  }

  /// A fault that drops every query.
  private static let noResponse = MockOrgFault(
    path: "/query", count: 1, action: .delay(.seconds(3_600)))

  @Test func `a sync is watched while it runs, and ends at the second Ctrl-C to run again later`()
    async throws
  {
    try await withTool { tool, org in
      #expect(try await tool.json("sync", "list") == ["syncs": []])
      _ = try await down(tool)
      try await org.create("Account", ["Name": "Birch"])
      org.add(Self.noResponse)
      let status = try await tool.interrupting("sync", "run", "accounts") { nextLine, interrupt in
        var state: JSONValue = .null
        while state["status"] != "RUNNING" {
          state = try await tool.json("sync", "status", "accounts")
        }
        #expect(state["elapsedSeconds"]?.double != nil)
        let listed = try await tool.json("sync", "list")["syncs"]?[0]
        #expect(listed?["status"] == "RUNNING" && listed?["name"] == "accounts")
        try interrupt()
        #expect(try await nextLine()?.contains("sync run") == true)
        try interrupt()
      }
      #expect(status == 130)
      // No process runs it any more, and it says so.
      #expect(try await tool.json("sync", "status", "accounts")["status"] == "STOPPED")
      #expect(try await tool.json("sync", "run", "accounts")["status"] == "DONE")
      #expect(try await names(tool).sorted() == ["Arbour", "Birch"])
    }
  }

  @Test func `the first Ctrl-C stops a run where it can go on`() async throws {
    try await withTool { tool, org in
      _ = try await down(tool)
      let (arrival, arrived) = AsyncStream.makeStream(of: Void.self)
      let (end, release) = AsyncStream.makeStream(of: Void.self)
      org.add(
        MockOrgFault(
          path: "/query", count: 1,
          action: .editedBody { body in
            arrived.yield()
            for await _ in end {}
            return body
          }))
      let status = try await tool.interrupting("sync", "run", "accounts") { nextLine, interrupt in
        defer { release.finish() }
        for await _ in arrival { break }
        try interrupt()
        #expect(try await nextLine()?.contains("stopping") == true)
      }
      #expect(status == 130)
      #expect(try await tool.json("sync", "status", "accounts")["status"] == "STOPPED")
      #expect(try await tool.json("sync", "run", "accounts")["status"] == "DONE")
    }
  }

  @Test func `another process edits entries while a sync runs, and starts no second run`()
    async throws
  {
    try await withTool { tool, org in
      _ = try await down(tool)
      let id = try #require(try await org.query("SELECT Id FROM Account").first?["Id"]?.string)
      try await org.update("Account", id: id, ["Phone": "2"])
      let (arrival, arrived) = AsyncStream.makeStream(of: Void.self)
      let (end, release) = AsyncStream.makeStream(of: Void.self)
      org.add(
        MockOrgFault(
          path: "/query", count: 1,
          action: .editedBody { body in
            arrived.yield()
            for await _ in end {}
            return body
          }))
      let status = try await tool.interrupting("sync", "run", "accounts") { _, _ in
        defer { release.finish() }
        for await _ in arrival { break }
        _ = try await tool.json("store", "edit", "accounts", id, "Name=Mine")
        let oak = #"{"Name":"Oak","__local__":true,"__locally_created__":true}"#
        _ = try await tool.json("store", "upsert", "accounts", input: oak)
        #expect(try await tool.failure("sync", "run", "accounts")["code"] == "storeInUse")
        #expect(try await tool.json("sync", "status", "accounts")["status"] == "RUNNING")
      }
      #expect(status == 0)
      #expect(try await tool.json("sync", "status", "accounts")["status"] == "DONE")
      #expect(try await names(tool).sorted() == ["Mine", "Oak"])
      #expect(try await tool("store", "verify").status == 0)
    }
  }

  @Test func `a sync up with a misspelled field says so, and takes another list`() async throws {
    try await withTool { tool, org in
      _ = try await tool.json(
        "sync", "down", "--soup", "accounts", "--query", "SELECT Id, Name, Phone FROM Account",
        "--name", "accounts")
      let page = try await tool.json("store", "query", "SELECT {accounts:Id} FROM {accounts}")
      let id = try #require(page["rows"]?[0]?[0]?.string)
      _ = try await tool.json("store", "edit", "accounts", id, "Name=Ash")
      let up = ["sync", "up", "--soup", "accounts", "--name", "up"]
      let result = try await tool.run(
        up + ["--fields", "Name", "Phon", "--state", tool.state.path])
      #expect(result.status == 0)
      #expect(result.errors.contains("warning: ") && result.errors.contains("'Phon'"))
      let other = try await tool.run(
        up + ["--fields", "Name", "Phone", "--state", tool.state.path, "--json"])
      #expect(try other.failure()["message"]?.string?.contains("sync change up") == true)
      let changed = try await tool.json("sync", "change", "up", "--fields", "Name", "Phone")
      #expect(changed["options"]?["fieldlist"] == ["Name", "Phone"] && changed["warnings"] == nil)
      _ = try await tool.json("store", "edit", "accounts", id, "Phone=2")
      _ = try await tool.json("sync", "run", "up")
      #expect(try await org.query("SELECT Phone FROM Account").first?["Phone"]?.string == "2")
      #expect(
        try await tool.failure("sync", "change", "accounts", "--fields", "Name")["code"]
          == "invalidTarget")
      #expect(
        try await tool.failure("sync", "change", "up", "--query", "SELECT Id FROM Account")["code"]
          == "invalidTarget")
    }
  }

  @Test func `a sync takes another query, shows its outcomes, and is deleted`() async throws {
    try await withTool { tool, org in
      let state = try await down(tool)
      let changed = try await tool.json(
        "sync", "change", "accounts", "--query", "SELECT Id, Name, Phone FROM Account")
      #expect(changed["backfill"] == ["Phone"])
      _ = try await tool.json("sync", "run", "accounts")
      let page = try await tool.json("store", "query", "SELECT {accounts:_soup} FROM {accounts}")
      var row = try #require(page["rows"]?[0]?[0])
      #expect(row["Phone"] == "1")

      row["Phone"] = "2"
      row["__local__"] = true
      row["__locally_updated__"] = true
      _ = try await tool.json("store", "upsert", "accounts", input: row.text)
      _ = try await tool.json(
        "sync", "up", "--soup", "accounts", "--name", "up", "--target",
        #"{"iOSImpl": "SFBatchSyncUpTarget", "updateFieldlist": ["Phone"], "createFieldlist": []}"#)
      let outcomes = try await tool.json("sync", "outcomes", "up")["outcomes"]?.array ?? []
      #expect(outcomes.count == 1)
      #expect(outcomes.first?["outcome"] == "succeeded" && outcomes.first?["action"] == "update")
      #expect(try await org.query("SELECT Phone FROM Account").first?["Phone"]?.string == "2")

      #expect(try await tool.json("sync", "delete", "accounts") == ["deleted": "accounts"])
      #expect(try await tool.failure("sync", "delete", "accounts")["code"] == "doesNotExist")
      #expect(try await tool.failure("sync", "outcomes", "accounts")["code"] == "doesNotExist")
      let left = try await tool.json("sync", "list")["syncs"]?.array ?? []
      #expect(
        left.map { $0["name"] } == ["up"] && left.first?["_soupEntryId"] != state["_soupEntryId"])
      #expect(try await names(tool) == ["Arbour"])
    }
  }

  @Test
  func
    `a sync down takes any target and a late window, and syncs that belong together run in order`()
    async throws
  {
    try await withTool { tool, org in
      let target = try tool.file(
        "target.json", #"{"type": "mru", "sobjectType": "Account", "fieldlist": ["Name"]}"#)
      let recent = try await tool.json(
        "sync", "down", "--soup", "accounts", "--target", "@\(target)", "--late-window", "2.5")
      #expect(recent["status"] == "DONE" && recent["target"]?["type"] == "mru")
      #expect(recent["options"]?["lateCommitWindowMilliseconds"] == 2_500)
      #expect(try await tool("sync", "down", "--soup", "accounts").status == 2)
      #expect(
        try await tool("sync", "down", "--soup", "accounts", "--target", "@/nowhere").status == 2)

      _ = try await tool.json(
        "soup", "register", "contacts", "--index", "Id:string", "--index", "__local__:string")
      for (soup, fields) in [("contacts", ["LastName", "AccountId"]), ("accounts", ["Name"])] {
        _ = try await tool.run(
          ["sync", "up", "--soup", soup, "--name", "\(soup) up", "--state", tool.state.path]
            + ["--fields"] + fields)
      }
      _ = try await tool.json(
        "store", "upsert", "accounts",
        input: #"{"Id":"local_1","attributes":{"type":"Account"},"Name":"Elm","__local__":true,"#
          + #""__locally_created__":true}"#)
      _ = try await tool.json(
        "store", "upsert", "contacts",
        input: #"{"Id":"local_2","attributes":{"type":"Contact"},"LastName":"Ash","#
          + #""AccountId":"local_1","__local__":true,"__locally_created__":true}"#)
      let states = try await tool.json("sync", "run", "contacts up", "accounts up")["syncs"]
      #expect(states?.array?.map { $0["status"] } == ["DONE", "DONE"])
      let made = try await org.query("SELECT Account.Name FROM Contact")
      #expect(made.map { $0["Account"]?["Name"]?.string } == ["Elm"])
    }
  }
}
