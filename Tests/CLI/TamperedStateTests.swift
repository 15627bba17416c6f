import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import TestSupport
import Testing

/// Do the commands that repair a store work for a user's store, and does no command hide what is missing?
@Suite struct TamperedStateTests {
  /// A state folder with a logged in user, who has one entry.
  private func tool(_ server: MockOrgServer) async throws -> Tool {
    let tool = try Tool()
    try await tool.logIn(to: server)
    _ = try await tool.json("soup", "register", "tools", "--index", "Id:string")
    _ = try await tool.json("store", "upsert", "tools", input: #"{"Id": "1"}"#)
    return tool
  }

  private func expectEntry(_ tool: Tool) async throws {
    let rows = try await tool.json("store", "query", "SELECT {tools:Id} FROM {tools}")["rows"]
    #expect(rows == [["1"]])
  }

  @Test(.covers("SS-35"))
  func `the store of a user is encrypted again and accepted as restored`() async throws {
    try await withMockOrg { _, server in
      let tool = try await tool(server)
      _ = try await tool.json("store", "reencrypt")
      try await expectEntry(tool)
      _ = try await tool.json("store", "accept-restored")
      try await expectEntry(tool)
    }
  }

  @Test func `a file that is put into the folder does not choose the server of a login`()
    async throws
  {
    try await withMockOrg { _, server in
      let tool = try await tool(server)
      let file = tool.state.appending(path: "login-hosts.json")
      try Data(
        #"{"version":1,"custom":[{"url":"https://evil.example.com"}],"selected":"https://evil.example.com"}"#
          .utf8
      ).write(to: file)
      let hosts = try await tool.json("hosts", "list")["hosts"]?.array ?? []
      #expect(!hosts.isEmpty && !hosts.contains { $0["url"] == "https://evil.example.com" })
      #expect(!FileManager.default.fileExists(atPath: file.path))
    }
  }

  @Test func `an older account file is not used, and is reported`() async throws {
    try await withMockOrg { _, server in
      let tool = try await tool(server)
      let accounts = tool.state.appending(path: "accounts")
      let path = try #require(
        FileManager.default.subpathsOfDirectory(atPath: accounts.path)
          .first { $0.hasSuffix("UserAccount.sealed") })
      let file = accounts.appending(path: path)
      let old = try Data(contentsOf: file)
      try await tool.logIn(to: server)
      #expect(try Data(contentsOf: file) != old)
      try old.write(to: file)
      #expect(
        try await tool.failure("store", "query", "SELECT 1 FROM {tools}")["code"] == "notLoggedIn")
      try await tool.logIn(to: server)
      try await expectEntry(tool)
    }
  }

  @Test func `a folder whose secret store is gone gets no other one`() async throws {
    try await withMockOrg { _, server in
      let tool = try await tool(server)
      let names = ["master.key", "keychain.db", "settings.json"]
      for name in names {
        try FileManager.default.removeItem(at: tool.state.appending(path: name))
      }
      #expect(
        try await tool.failure("store", "query", "SELECT 1 FROM {tools}")["code"]
          == "missingSecrets")
      for name in names {
        #expect(!FileManager.default.fileExists(atPath: tool.state.appending(path: name).path))
      }
    }
  }
}
