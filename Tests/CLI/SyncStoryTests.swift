import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import Testing

/// Can a user log in, work offline and sync, with nothing but the command line?
@Suite struct SyncStoryTests {
  /// Runs `body` with a server and a tool that has logged in and has a soup.
  private func withTool(
    _ body: (Tool, MockOrg, MockOrgServer) async throws -> Void
  ) async throws {
    var options = MockOrgOptions()
    options.clock = MockOrgClock(frozenAt: Date())
    try await withMockOrg(options) { org, server in
      let tool = try Tool()
      let account = try await tool.logIn(to: server)
      #expect(account["username"]?.string == server.info.username)
      #expect(account["current"] == true)
      _ = try await tool.json(
        "soup", "register", "accounts", "--index", "Id:string", "--index", "Name:string",
        "--index", "__local__:string", "--index", "__sync_id__:integer")
      try await body(tool, org, server)
    }
  }

  @Test func `store verify reports a record with two entries, and the next sync repairs it`()
    async throws
  {
    try await withTool { tool, org, _ in
      try await org.create("Account", ["Name": "Arbour"])
      _ = try await down(tool)
      var element = try #require(try await elements(tool)["Arbour"])
      let first = element["_soupEntryId"]
      element["_soupEntryId"] = nil
      try await upsert(tool, [element.text])
      let found = try await tool("store", "verify", "--json")
      #expect(found.status == 1)
      let report = try JSONSlice(parsing: found.output.trimmed).value
      #expect(report["clean"] == false && report["findingCount"] == 1)
      #expect(report["findings"]?[0]?["kind"] == "doubledRecord")
      #expect(report["findings"]?[0]?["soup"] == "accounts")
      #expect(report["findings"]?[0]?["entryIds"]?[0] == first)
      #expect(try await tool("store", "verify").output.contains("stand for one record"))
      _ = try await tool.json("sync", "run", "accounts")
      #expect(try await tool.json("store", "verify")["clean"] == true)
    }
  }

  private func down(_ tool: Tool) async throws -> JSONValue {
    try await tool.json(
      "sync", "down", "--soup", "accounts", "--query", "SELECT Id, Name, Phone FROM Account",
      "--merge-mode", "LEAVE_IF_CHANGED", "--name", "accounts")
  }

  private func up(
    _ tool: Tool, _ mode: String, name: String, status: Int32 = 0
  ) async throws -> JSONValue {
    try await tool.json(
      "sync", "up", "--soup", "accounts", "--fields", "Name", "Phone", "--merge-mode", mode,
      "--name", name, status: status)
  }

  /// The soup's elements by name.
  private func elements(_ tool: Tool) async throws -> [String: JSONValue] {
    let page = try await tool.json(
      "store", "query", "SELECT {accounts:_soup} FROM {accounts}", "--page-size", "1000")
    var elements: [String: JSONValue] = [:]
    for row in page["rows"]?.array ?? [] { elements[row[0]?["Name"]?.string ?? ""] = row[0] }
    return elements
  }

  /// An element as an app writes it after a change (MS-74).
  private func changed(
    _ element: JSONValue?, _ flag: String, name: String? = nil
  ) throws -> String {
    var element = try #require(element)
    element["__local__"] = true
    element[flag] = true
    if let name { element["Name"] = .string(name) }
    return element.text
  }

  private func upsert(_ tool: Tool, _ lines: [String]) async throws {
    _ = try await tool.json(
      "store", "upsert", "accounts", input: lines.joined(separator: "\n"))
  }

  @Test func `records are downloaded, edited offline, meet a conflict and are uploaded`()
    async throws
  {
    try await withTool { tool, org, server in
      for name in ["Arbour", "Birch", "Cedar", "Dogwood"] {
        try await org.create("Account", ["Name": .string(name)])
      }
      let state = try await down(tool)
      #expect(state["type"] == "syncDown")
      #expect(state["status"] == "DONE")
      #expect(state["progress"] == 100)
      #expect(state["totalSize"] == 4)
      #expect(state["name"] == "accounts")
      #expect(state["outcomes"] == nil)

      let before = try await elements(tool)
      try await upsert(
        tool,
        [
          changed(before["Arbour"], "__locally_updated__", name: "Arbour Ltd"),
          changed(before["Birch"], "__locally_updated__", name: "Birch here"),
          changed(before["Cedar"], "__locally_deleted__"),
          #"{"Id":"local_1","attributes":{"type":"Account"},"Name":"Elm","__local__":true,"#
            + #""__locally_created__":true}"#,
        ])
      org.options.clock.advance(by: .seconds(60))
      try await org.update(
        "Account", id: before["Birch"]?["Id"]?.string ?? "", ["Name": "Birch there"])
      try await org.delete("Account", id: before["Dogwood"]?["Id"]?.string ?? "")

      // Nothing of this may be lost by accident.
      let refused = try await tool.failure("logout")
      #expect(refused["code"] == "unsyncedRecords")
      #expect(refused["message"]?.string?.contains("4 unsynced records") == true)
      #expect(refused["message"]?.string?.contains("--force") == true)

      // The token expires before this command, which refreshes it without a message.
      org.expireAccessTokens()
      org.options.clock.advance(by: .seconds(60))
      let first = try await up(tool, "LEAVE_IF_CHANGED", name: "careful", status: 3)
      #expect(first["type"] == "syncUp")
      #expect(first["status"] == "DONE")
      #expect(first["outcomes"] == ["succeeded": 3, "skipped": 1, "failed": 0])
      #expect(
        try await tool.json("sync", "status", "careful")["outcomes"]
          == ["succeeded": 3, "skipped": 1, "failed": 0])
      #expect(try await elements(tool)["Birch here"]?["__local__"] == true)

      let second = try await up(tool, "OVERWRITE", name: "settled")
      #expect(second["outcomes"] == ["succeeded": 1, "skipped": 0, "failed": 0])
      org.options.clock.advance(by: .seconds(60))
      #expect(try await tool.json("sync", "run", "accounts")["status"] == "DONE")
      #expect(
        try await tool.json("sync", "ghosts", "accounts")
          == ["removed": 1, "bySoup": ["accounts": 1]])

      let after = try await elements(tool)
      #expect(after.keys.sorted() == ["Arbour Ltd", "Birch here", "Elm"])
      #expect(after.values.allSatisfy { $0["__local__"] == false })
      let names = try await org.query("SELECT Name FROM Account ORDER BY Name")
      #expect(names.map { $0["Name"]?.string } == ["Arbour Ltd", "Birch here", "Elm"])

      let syncs = try await tool.json("sync", "list")["syncs"]?.array ?? []
      #expect(syncs.map { $0["name"] } == ["accounts", "careful", "settled"])
      #expect(syncs.allSatisfy { $0["status"] == "DONE" })

      let report = try await tool.json("logout")
      #expect(report["username"]?.string == server.info.username)
      #expect(report["unsyncedRecords"] == 0)
      #expect(try await tool.json("accounts") == ["accounts": []])
    }
  }

  @Test func `a forced logout says what it cost, and leaves the app's own store`() async throws {
    try await withTool { tool, _, server in
      _ = try await tool.json("soup", "register", "notes", "--index", "x:string", "--global")
      try await upsert(
        tool,
        [#"{"Id":"local_1","Name":"Elm","__local__":true,"__locally_created__":true}"#])
      #expect(try await tool.failure("logout", server.info.username)["code"] == "unsyncedRecords")
      let accounts = try await tool.json("accounts")["accounts"]?.array ?? []
      #expect(accounts.map { $0["userId"]?.string } == [server.info.userId])
      #expect(accounts.map { $0["organizationId"]?.string } == [server.info.organizationId])
      #expect(accounts.map { $0["instanceUrl"]?.string } == [server.info.instanceUrl])
      #expect(accounts.map { $0["current"] } == [true])

      let report = try await tool.json("logout", "--force")
      #expect(report["unsyncedRecords"] == 1)
      #expect(try await tool.json("soup", "list", "--global") == ["soups": ["notes"]])
      #expect(try await tool.failure("soup", "list")["code"] == "notLoggedIn")
      // The refresh token was ended on the server, and the data is gone here.
      let again = try await tool.failure(
        "login", "--url", server.info.url, "--access-token", server.info.accessToken)
      #expect(again["message"]?.string?.isEmpty == false)
    }
  }

  @Test func `a signed request of any kind can be sent`() async throws {
    try await withTool { tool, org, _ in
      let body = try tool.file("account.json", #"{"Name":"Oak","Phone":"1"}"#)
      let base = "/services/data/v66.0/sobjects/Account"
      let made = try await tool.json("rest", "POST", base, "--body", "@\(body)")
      #expect(made["success"] == true)
      // The tokens that the org hands out can be renewed by the app that was not named at login.
      org.expireAccessTokens()
      let id = made["id"]?.string ?? ""
      _ = try await tool("rest", "PATCH", "\(base)/\(id)", "--body", #"{"Phone":"2"}"#)
      #expect(try await tool.json("rest", "GET", "\(base)/\(id)?fields=Name,Phone")["Phone"] == "2")
      // The same record, below the default version and below one that is named.
      let row = "sobjects/Account/\(id)"
      for path in ["/" + row, row, "/v66.0/" + row] {
        #expect(try await tool.json("rest", "GET", path)["Phone"] == "2")
      }
      // CO-11: every request names the installation, and the name stays.
      let name = try String(
        contentsOf: tool.state.appending(path: "installation-id"), encoding: .utf8
      ).trimmed
      #expect(!name.isEmpty)
      #expect(org.requestLog.allSatisfy { $0.userAgent?.contains("uid_\(name)") == true })
      #expect(try await tool.json("rest", "DELETE", "\(base)/\(id)") == .null)
      #expect(try await org.count("Account") == 0)
      let gone = try await tool.failure("rest", "GET", "\(base)/\(id)")
      #expect(gone["code"] == "server" && gone["number"] == 404)
      let bad = try await tool.failure("rest", "POST", base, "--body", #"{"Colour":"red"}"#)
      #expect(bad["number"] == 400)
    }
  }

  @Test(arguments: ["--mine", "--theirs", "--set"], ["MERGE_FIELDS", "LEAVE_IF_CHANGED"])
  func `a conflict is listed with its values, and decided`(
    decision: String, mode: String
  ) async throws {
    try await withTool { tool, org, _ in
      let id = try await org.create("Account", ["Name": "Arbour", "Phone": "1"])
      _ = try await tool.json(
        "sync", "down", "--soup", "accounts", "--query", "SELECT Id, Name, Phone FROM Account",
        "--merge-mode", mode, "--name", "accounts")
      let before = try await elements(tool)
      try await upsert(
        tool, [changed(before["Arbour"], "__locally_updated__", name: "Arbour here")])
      org.options.clock.advance(by: .seconds(60))
      try await org.update("Account", id: id, ["Name": "Arbour there", "Phone": "2"])
      let state = try await up(tool, mode, name: "up", status: 3)
      #expect(state["outcomes"] == ["succeeded": 0, "skipped": 1, "failed": 0])
      #expect(state["conflicts"] == 1)

      let status = try await tool.json("sync", "status", "up")
      #expect(status["dirty"] == 1)
      #expect(status["conflicts"]?.array?.count == 1)
      #expect(status["unsent"]?[0]?["outcome"] == "conflict")

      let conflict = try #require(try await tool.json("sync", "conflicts")["conflicts"]?[0])
      #expect(conflict["mergeMode"] == .string(mode))
      let field = conflict["fields"]?.array?.first { $0["name"] == "Name" }
      #expect(field?["name"] == "Name" && field?["base"] == "Arbour")
      #expect(field?["mine"] == "Arbour here" && field?["theirs"] == "Arbour there")
      let key = try #require(conflict["key"]?.string)
      let decided =
        decision == "--set"
        ? try await tool.json("sync", "resolve", key, "--set", "Name=Both")
        : try await tool.json("sync", "resolve", key, decision)
      #expect(decided["resolved"] == .string(key))
      #expect(try await tool.failure("sync", "resolve", key, "--mine")["code"] == "noConflict")
      #expect(try await tool.json("sync", "run", "up")["status"] == "DONE")
      let expected = ["--mine": "Arbour here", "--theirs": "Arbour there", "--set": "Both"]
      let records = try await org.query("SELECT Name, Phone FROM Account")
      #expect(records.map { $0["Name"]?.string } == [expected[decision]])
      #expect(records.map { $0["Phone"]?.string } == ["2"])
      #expect(try await tool.json("sync", "conflicts") == ["conflicts": []])
    }
  }

  @Test
  func
    `the command of a sync that failed in the middle runs it again, and no other sync of its name`()
    async throws
  {
    try await withTool { tool, org, _ in
      for name in ["Arbour", "Birch"] { try await org.create("Account", ["Name": .string(name)]) }
      for _ in 1...2 { #expect(try await down(tool)["status"] == "DONE") }
      for name in ["Cedar", "Dogwood"] {
        try await upsert(
          tool,
          [
            #"{"Id":"local_\#(name)","attributes":{"type":"Account"},"Name":"\#(name)","#
              + #""__local__":true,"__locally_created__":true}"#
          ])
      }
      let target = #"{"type": "collection", "maxBatchSize": 1}"#
      func failure(_ field: String) async throws -> JSONValue {
        try await tool.failure(
          "sync", "up", "--soup", "accounts", "--name", "up", "--target", target, "--fields", field)
      }
      let path = "/composite/sobjects"
      org.add(MockOrgFault(path: path, skipping: 1, count: nil, action: .dropBeforeCommit))
      _ = try await failure("Name")
      org.removeAllFaults()
      let other = try await failure("Phone")
      #expect(other["code"] == "nameInUse")
      #expect(other["message"]?.string?.contains("'fieldforce sync run up'") == true)
      let state = try await tool.json(
        "sync", "up", "--soup", "accounts", "--name", "up", "--target", target, "--fields", "Name")
      #expect(state["status"] == "DONE")
      let names = try await org.query("SELECT Name FROM Account").compactMap { $0["Name"]?.string }
      #expect(names.sorted() == ["Arbour", "Birch", "Cedar", "Dogwood"])
    }
  }

  @Test func `what cannot be synced comes with the number that is fixed for it`() async throws {
    try await withTool { tool, org, _ in
      #expect(try await tool.failure("sync", "status", "nothing")["number"] == 903)
      #expect(try await tool.failure("sync", "run", "nothing")["number"] == 903)
      #expect(try await tool.failure("sync", "ghosts", "7777")["number"] == 903)
      _ = try await up(tool, "OVERWRITE", name: "up")
      #expect(try await tool.failure("sync", "ghosts", "up")["number"] == 904)
      let twice = try await tool.failure(
        "sync", "up", "--soup", "accounts", "--fields", "Name", "--name", "up")
      #expect(twice["code"] == "nameInUse")
      let soup = try await tool.failure(
        "sync", "down", "--soup", "orders", "--query", "SELECT Id FROM Account")
      #expect(soup["code"] == "unknownSoup" && soup["number"] == 999)
      let query = try await tool.failure(
        "sync", "down", "--soup", "accounts", "--query", "SELECT Colour__c FROM Account", "--name",
        "bad")
      let message = query["message"]?.string ?? ""
      #expect(message.contains("400 (INVALID_FIELD) to GET /query"))
      #expect(message.contains("The server says:") && message.contains("'Colour__c'"))
      // The caret of the server's excerpt stands in a column of the line above.
      let sent = "select Id,LastModifiedDate,Colour__c from Account order by"
      let caret = String(repeating: " ", count: 27) + "^"
      #expect(message.contains("The server says:\n\(sent)\n\(caret)\nERROR at Row:1:Column:28\n"))
      let verbose = try await tool("sync", "run", "bad", "--verbose").errors
      #expect(verbose.contains("debug SalesforceSDKCore: GET /services/data/v66.0/query: 400, "))
      #expect(verbose.contains("(syncDown) ended: FAILED"))
      #expect(try await tool.json("sync", "status", "bad")["status"] == "FAILED")
      #expect(try await tool("sync", "list").output.contains("FAILED 0 %: "))

      org.revokeAllTokens()
      let session = try await tool.failure("rest", "GET", "/services/data/v66.0/limits")
      #expect(session["message"]?.string?.isEmpty == false)
      // The account is still there, to log in again.
      #expect(try await tool.json("accounts")["accounts"]?.array?.count == 1)
    }
  }

  @Test func `a login that is refused leaves no account`() async throws {
    try await withMockOrg { _, server in
      let tool = try Tool()
      #expect(try await tool.json("accounts") == ["accounts": []])
      #expect(try await tool.failure("logout")["code"] == "notLoggedIn")
      #expect(try await tool.failure("store", "list")["code"] == "notLoggedIn")
      let guessed = try await tool.failure(
        "login", "--url", server.info.url, "--access-token", "guessed")
      #expect(guessed["message"]?.string?.contains("with a new token") == true)
      let plain = try await tool.failure(
        "login", "--url", "http://salesforce.example", "--access-token", "x")
      #expect(plain["message"]?.string?.contains("http is accepted for this machine") == true)
      #expect(try await tool.json("accounts") == ["accounts": []])
      #expect(try await tool.failure("switch", "nobody")["code"] == "unknownAccount")
    }
  }
}
