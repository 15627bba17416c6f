import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import Testing

/// Does Ctrl-C end any command with 130, with its data whole?
@Suite struct InterruptionTests {
  @Test func `a request that waits is cancelled, and the next command works`() async throws {
    try await withMockOrg { org, server in
      let tool = try Tool()
      try await tool.logIn(to: server)
      let (arrival, arrived) = AsyncStream.makeStream(of: Void.self)
      org.add(
        MockOrgFault(
          path: "/limits", count: 1,
          action: .editedBody { body in
            arrived.yield()
            try? await Task.sleep(for: .seconds(3_600))
            return body
          }))
      let status = try await tool.interrupting("rest", "GET", "/limits") { nextLine, interrupt in
        for await _ in arrival { break }
        try interrupt()
        #expect(try await nextLine()?.contains("Interrupted.") == true)
      }
      #expect(status == 130)
      #expect(try await tool("rest", "GET", "/limits").status == 0)
    }
  }

  @Test func `a doctor that waits for a server ends`() async throws {
    try await withMockOrg { org, server in
      let tool = try Tool()
      try await tool.logIn(to: server)
      let (arrival, arrived) = AsyncStream.makeStream(of: Void.self)
      org.add(
        MockOrgFault(
          path: "/limits", count: 1,
          action: .editedBody { body in
            arrived.yield()
            try? await Task.sleep(for: .seconds(3_600))
            return body
          }))
      let status = try await tool.interrupting("doctor") { _, interrupt in
        for await _ in arrival { break }
        try interrupt()
      }
      #expect(status == 130)
    }
  }

  @Test func `a command that waits for standard input ends at once and stores nothing`()
    async throws
  {
    let tool = try Tool()
    _ = try await tool.json("soup", "register", "tools", "--index", "Id:string", "--global")
    let status = try await tool.interruptedAtInput(
      ["store", "upsert", "tools", "--global"], after: #"{"Id":"1"}"# + "\n")
    #expect(status == 130)
    #expect(try await tool.json("soup", "info", "tools", "--global")["count"] == 0)
  }
}
