import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import Testing

/// Can a user save unsynced records before a logout, and bring them back on another device?
@Suite struct RescueStoryTests {
  private func logIn(_ tool: Tool, _ server: MockOrgServer) async throws {
    try await tool.logIn(to: server)
    _ = try await tool.json(
      "soup", "register", "accounts", "--index", "Id:string", "--index", "Name:string",
      "--index", "__local__:string", "--index", "__sync_id__:integer")
    _ = try await tool.json(
      "sync", "down", "--soup", "accounts", "--query", "SELECT Id, Name, Phone FROM Account",
      "--merge-mode", "MERGE_FIELDS", "--name", "down")
  }

  private func up(_ tool: Tool) async throws -> JSONValue {
    try await tool.json(
      "sync", "up", "--soup", "accounts", "--fields", "Name", "Phone", "--merge-mode",
      "MERGE_FIELDS", "--name", "up")
  }

  @Test func `unsynced records survive a forced logout, by way of another state folder`()
    async throws
  {
    var options = MockOrgOptions()
    options.clock = MockOrgClock(frozenAt: Date())
    try await withMockOrg(options) { org, server in
      let id = try await org.create("Account", ["Name": "Arbour", "Phone": "1"])
      let (first, second) = (try Tool(), try Tool())
      try await logIn(first, server)
      try await logIn(second, server)
      _ = try await first.json("store", "edit", "accounts", id, "Phone=2")
      _ = try await first.json("store", "create", "accounts", "Name=Beacon", "--type", "Account")
      let passphrase = try first.file("passphrase", "correct horse battery\n")
      let other = try first.file("other", "wrong horse battery\n")
      let file = try first.file("unused", "") + ".rescue"

      let exported = try await first.json(
        "rescue", "export", file, "--passphrase", "@\(passphrase)")
      #expect(exported["entries"] == 2 && exported["files"] == 0)
      let again = try await first.failure(
        "rescue", "export", file, "--passphrase", "@\(passphrase)")
      #expect(again["code"] == "fileExists")
      let wrong = try await second.failure(
        "rescue", "import", file, "--passphrase", "@\(other)")
      #expect(wrong["code"] == "wrongKey")
      let shown = try await Tool.show(second, file, passphrase)
      #expect(shown["soups"]?["accounts"] == 2)
      let dry = try await second.json(
        "rescue", "import", file, "--passphrase", "@\(passphrase)", "--dry-run")
      #expect(dry["entries"] == 2 && dry["dryRun"] == true)
      let imported = try await second.json(
        "rescue", "import", file, "--passphrase", "@\(passphrase)")
      #expect(imported["conflicts"] == 0)
      #expect(
        Set((imported["records"]?.array ?? []).compactMap { $0["outcome"]?.string })
          == ["edited", "added"])
      #expect(try await up(second)["outcomes"]?["succeeded"] == 2)
      let there = try await org.query("SELECT Phone FROM Account WHERE Name = 'Arbour'")
      #expect(there.map { $0["Phone"]?.string } == ["2"])
      _ = try await first.json("logout", "--force")
      let repeated = try await second.json(
        "rescue", "import", file, "--passphrase", "@\(passphrase)")
      #expect(
        (repeated["records"]?.array ?? []).allSatisfy { $0["outcome"] == "imported" })
    }
  }

  @Test func `a bundle for a public key is opened by its private key alone`() async throws {
    try await withMockOrg(MockOrgOptions()) { org, server in
      let id = try await org.create("Account", ["Name": "Arbour"])
      let tool = try Tool()
      try await logIn(tool, server)
      _ = try await tool.json("store", "edit", "accounts", id, "Phone=2")
      let keys = try await tool.run(["rescue", "keys", "--json"]).document()
      let file = try tool.file("unused", "") + ".rescue"
      let publicKey = try #require(keys["publicKey"]?.string)
      _ = try await tool.json("rescue", "export", file, "--recipient", publicKey)
      let key = try tool.file("key", keys["privateKey"]?.string ?? "")
      let shown = try await tool.run(
        ["rescue", "show", file, "--private-key", "@\(key)", "--json"]
      ).document()
      #expect(shown["entries"] == 1)
    }
  }

  @Test func `a passphrase among the arguments is a wrong use`() async throws {
    let tool = try Tool()
    let result = try await tool("rescue", "export", "x.rescue", "--passphrase", "correct horse")
    #expect(result.status == 2 && result.errors.contains("@FILE"))
  }
}

extension Tool {
  fileprivate static func show(
    _ tool: Tool, _ file: String, _ passphrase: String
  ) async throws -> JSONValue {
    try await tool.run(
      ["rescue", "show", file, "--passphrase", "@\(passphrase)", "--json"]
    ).document()
  }
}
