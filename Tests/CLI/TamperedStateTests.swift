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
