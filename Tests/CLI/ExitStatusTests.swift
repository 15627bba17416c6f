import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import Testing

/// Does a command end with a status that scripts can act on, and does a failed first run give its name back?
@Suite struct ExitStatusTests {
  private func withTool(_ body: (Tool, MockOrg) async throws -> Void) async throws {
    try await withMockOrg { org, server in
      let tool = try Tool()
      try await tool.logIn(to: server)
      _ = try await tool.json(
        "soup", "register", "accounts", "--index", "Id:string", "--index", "__local__:string")
      try await body(tool, org)
    }
  }

  private func create(_ tool: Tool, _ names: String...) async throws {
    let lines = names.map { name in
      #"{"Id":"local_\#(name)","attributes":{"type":"Account"},"Name":"\#(name)","__local__":true,"#
        + #""__locally_created__":true}"#
    }
    _ = try await tool.json("store", "upsert", "accounts", input: lines.joined(separator: "\n"))
  }

  /// A name that the server refuses.
  private static let tooLong = String(repeating: "x", count: 300)

  @Test func `a sync up ends with 3 if some records are refused, and with 0 once none is`()
    async throws
  {
    try await withTool { tool, org in
      try await create(tool, "Elm", Self.tooLong)
      let up = ["sync", "up", "--soup", "accounts", "--fields", "Name", "--name", "up"]
      let first = try await tool.run(up + ["--state", tool.state.path])
      #expect(first.status == 3)
      #expect(first.output.contains("1 succeeded, 0 skipped, 1 failed"))
      #expect(first.errors.contains("1 record of 2 not accepted"), "\(first.errors)")
      #expect(first.errors.contains("fieldforce sync outcomes up"))

      let again = try await tool.run(["sync", "run", "up", "--state", tool.state.path, "--json"])
      #expect(again.status == 3 && again.errors.isEmpty)
      let document = try JSONSlice(parsing: again.output.trimmed)
      #expect(document["outcomes"]?["failed"]?.int64 == 1)
      // Several at once, too.
      _ = try await tool.json(
        "sync", "down", "--soup", "accounts", "--query", "SELECT Id, Name FROM Account",
        "--merge-mode", "LEAVE_IF_CHANGED", "--name", "down")
      let several = try await tool("sync", "run", "up", "down")
      #expect(several.status == 3)

      let page = try await tool.json(
        "store", "query", "SELECT {accounts:_soup} FROM {accounts} WHERE {accounts:__local__} = ?",
        "--arg", "true")
      var row = try #require(page["rows"]?[0]?[0])
      row["Name"] = "Oak"
      _ = try await tool.json("store", "upsert", "accounts", input: row.text)
      #expect(try await tool.json("sync", "run", "up")["outcomes"]?["succeeded"] == 1)
      #expect(try await org.count("Account") == 2)
    }
  }

  @Test func `the statuses stand in the help`() async throws {
    let tool = try Tool()
    let help = try await tool.run(["--help"]).output.split(separator: "\n").joined(separator: " ")
    #expect(help.contains("3 done in part") && help.contains("130 interrupted"))
    #expect(try await tool.run(["sync", "up", "--help"]).output.contains("Ends with 3"))
    #expect(try await tool.run(["sync", "dwon"]).status == 2)
  }

  @Test func `the corrected command takes the name of the failed one`() async throws {
    try await withTool { tool, org in
      try await org.create("Account", ["Name": "Elm"])
      let name = ["--name", "oops"]
      let wrong = ["sync", "down", "--soup", "accounts", "--query", "SELECT Nmae FROM Account"]
      let right = ["sync", "down", "--soup", "accounts", "--query", "SELECT Name FROM Account"]
      let state = ["--state", tool.state.path]
      #expect(try await tool.run(wrong + name + state).status == 1)
      #expect(try await tool.json("sync", "status", "oops")["status"] == "FAILED")
      #expect(try await tool.run(right + name + state).status == 0)
      #expect(try await tool.failure("sync", "run", "nothing")["code"] == "doesNotExist")
      // It has downloaded records: the same command runs it again, another definition is refused.
      #expect(try await tool.run(right + name + state).status == 0)
      let other = try await tool.run(wrong + name + state + ["--json"])
      #expect(other.status == 1 && other.errors.contains("nameInUse"))
      // Without a name nothing is left of a run that failed.
      for _ in 0..<2 { #expect(try await tool.run(wrong + state).status == 1) }
      let listed = try await tool.json("sync", "list")["syncs"]?.array ?? []
      #expect(listed.map { $0["name"] } == ["oops"])
    }
  }

  @Test func `a sync up whose records were all refused gives its name to the corrected command`()
    async throws
  {
    try await withTool { tool, org in
      try await create(tool, Self.tooLong)
      let up = ["sync", "up", "--soup", "accounts", "--name", "up", "--state", tool.state.path]
      #expect(try await tool.run(up + ["--fields", "Name"]).status == 3)
      let page = try await tool.json("store", "query", "SELECT {accounts:_soup} FROM {accounts}")
      var row = try #require(page["rows"]?[0]?[0])
      row["Name"] = "Elm"
      _ = try await tool.json("store", "upsert", "accounts", input: row.text)
      #expect(try await tool.run(up + ["--fields", "Name", "Phone"]).status == 0)
      #expect(try await org.count("Account") == 1)
      let taken = try await tool.run(up + ["--fields", "Name", "--json"])
      #expect(taken.status == 1 && taken.errors.contains("nameInUse"))
    }
  }

  @Test func `rows that are cut off and soups of sync are named, and nouns agree with numbers`()
    async throws
  {
    try await withTool { tool, _ in
      try await create(tool, "a", "b", "c")
      let cut = try await tool(
        "store", "query", "SELECT {accounts:Id} FROM {accounts}", "--page-size", "2")
      #expect(cut.output.split(separator: "\n").count == 2)
      #expect(cut.errors.contains("Showed rows 1 to 2 of 3"), "\(cut.errors)")
      let second = try await tool(
        "store", "query", "SELECT {accounts:Id} FROM {accounts}", "--page-size", "2", "--page", "1")
      #expect(second.errors.contains("Showed rows 3 to 3 of 3"))
      let beyond = try await tool(
        "store", "query", "SELECT {accounts:Id} FROM {accounts}", "--page-size", "2", "--page",
        "4000000000000000000")
      #expect(beyond.status <= 2)
      let whole = try await tool("store", "query", "SELECT {accounts:Id} FROM {accounts}")
      #expect(whole.errors.isEmpty)

      _ = try await tool.json(
        "sync", "up", "--soup", "accounts", "--fields", "Name", "--name", "up")
      #expect(try await tool.json("soup", "list") == ["soups": ["accounts"]])
      let all = try await tool.json("soup", "list", "--all")["soups"]?.array ?? []
      #expect(all.contains("syncs_soup") && all.contains("accounts"))

      let one = try await tool(
        "store", "upsert", "accounts", input: #"{"Id":"1","Name":"x","__local__":false}"#)
      #expect(one.output == "1 entry stored\n")
      #expect(try await tool("soup", "info", "accounts").output.hasPrefix("accounts: 4 entries"))
    }
  }
}
