import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import Testing

/// Does the user see what an upload would send?
@Suite struct DiffTests {
  private func withTool(
    _ mode: String, _ body: (Tool, MockOrg, String) async throws -> Void
  ) async throws {
    try await withMockOrg { org, server in
      let tool = try Tool()
      try await tool.logIn(to: server)
      _ = try await tool.json(
        "soup", "register", "accounts", "--index", "Id:string", "--index", "__local__:string")
      let id = try await org.create("Account", ["Name": "Elm", "Phone": "1"])
      _ = try await tool.json(
        "sync", "down", "--soup", "accounts", "--query", "SELECT Id, Name, Phone FROM Account",
        "--merge-mode", mode, "--name", "down")
      try await body(tool, org, id)
    }
  }

  private func changes(_ tool: Tool, _ arguments: String...) async throws -> [JSONValue] {
    let result = try await tool.run(
      ["sync", "diff"] + arguments + ["--state", tool.state.path, "--json"])
    return try result.document()["changes"]?.array ?? []
  }

  @Test func `changed fields are shown with the value of the base version`() async throws {
    try await withTool("MERGE_FIELDS") { tool, _, id in
      #expect(try await changes(tool).isEmpty)
      #expect(try await tool("sync", "diff").output == "nothing to upload\n")
      _ = try await tool.json("store", "edit", "accounts", id, "Phone=2")
      _ = try await tool.json("store", "create", "accounts", "--type", "Account", "Name=Oak")
      let found = try await changes(tool)
      try #require(found.count == 2)
      #expect(found[0]["action"] == "update" && found[0]["recordId"]?.string == id)
      #expect(found[0]["fields"] == [["name": "Phone", "base": "1", "mine": 2]])
      #expect(found[0]["hasBaseVersion"] == true && found[0]["conflict"] == false)
      #expect(found[1]["action"] == "create")
      #expect(found[1]["fields"] == [["name": "Name", "mine": "Oak"]])

      let text = try await tool("sync", "diff", "--soup", "accounts")
      #expect(text.output.contains("  - Phone: \"1\"\n  + Phone: 2\n"), "\(text.output)")
      let cut = try await tool("sync", "diff", "--limit", "1")
      #expect(cut.errors.contains("first 1 record"))
      #expect(!cut.output.contains("create"))

      _ = try await tool.json("store", "delete", "accounts", id)
      let deleted = try await changes(tool).first
      #expect(deleted?["action"] == "delete")
      _ = try await tool.json("store", "undo", "accounts", id)
      #expect(try await changes(tool).count == 1)
    }
  }

  @Test
  func `with a sync up only the fields that it sends are shown, and none of them afterwards`()
    async throws
  {
    try await withTool("MERGE_FIELDS") { tool, org, id in
      _ = try await tool.json(
        "sync", "up", "--soup", "accounts", "--fields", "Name", "--merge-mode", "MERGE_FIELDS",
        "--name", "up")
      _ = try await tool.json("store", "edit", "accounts", id, "Name=Ash", "Phone=2")
      let found = try await changes(tool, "up")
      #expect(found.first?["fields"] == [["name": "Name", "base": "Elm", "mine": "Ash"]])
      // The phone number stays unsynced.
      #expect(try await tool("sync", "run", "up").status == 3)
      #expect(try await changes(tool, "up").isEmpty)
      #expect(try await tool.failure("sync", "diff", "down")["code"] == "notASyncUp")
      #expect(try await tool.failure("sync", "diff", "nothing")["number"] == 903)
      #expect(try await tool("sync", "diff", "up", "--soup", "accounts").status == 2)
    }
  }

  @Test func `without base versions every field is shown, and a conflict is marked`() async throws {
    try await withTool("OVERWRITE") { tool, _, id in
      _ = try await tool.json("store", "edit", "accounts", id, "Phone=2")
      let found = try #require(try await changes(tool).first)
      #expect(found["hasBaseVersion"] == false)
      let names = (found["fields"]?.array ?? []).compactMap { $0["name"]?.string }
      #expect(names.contains("Name") && names.contains("Phone") && !names.contains("Id"))
    }
    try await withTool("MERGE_FIELDS") { tool, org, id in
      _ = try await tool.json("store", "edit", "accounts", id, "Phone=2")
      try await org.update("Account", id: id, ["Phone": "3"])
      _ = try await tool.run([
        "sync", "up", "--soup", "accounts", "--fields", "Phone", "--merge-mode", "MERGE_FIELDS",
        "--name", "up", "--state", tool.state.path,
      ])
      #expect(try await changes(tool).first?["conflict"] == true)
    }
  }
}
