import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import TestSupport
import Testing

/// Does the doctor find what is wrong, and say what helps?
@Suite struct DoctorTests {
  private func findings(_ report: JSONValue) -> [JSONValue] { report["findings"]?.array ?? [] }

  private func message(_ report: JSONValue, _ status: String) -> String {
    findings(report).filter { $0["status"]?.string == status }
      .compactMap { "\($0["message"]?.string ?? "") \($0["remedy"]?.string ?? "")" }
      .joined(separator: "\n")
  }

  @Test func `without a state folder nothing is wrong, and none is made`() async throws {
    let tool = try Tool()
    let report = try await tool.json("doctor")
    #expect(report["failed"] == 0)
    #expect(message(report, "warning").contains("fieldforce login"))
    #expect(!FileManager.default.fileExists(atPath: tool.state.path))
  }

  @Test(.covers("BX-102"))
  func `the developer information has users, stores and syncs, and no secret`() async throws {
    try await withMockOrg { _, server in
      let tool = try Tool()
      try await tool.logIn(to: server)
      _ = try await tool.json(
        "soup", "register", "accounts", "--index", "Id:string", "--index", "__local__:string")
      _ = try await tool.json("store", "create", "accounts", "--type", "Account", "Name=Elm")
      #expect(try await tool.json("doctor", "--offline")["information"] == nil)
      let report = try await tool.json("doctor", "--offline", "--information")
      let sections = report["information"]?["sections"]?.array ?? []
      let titles = sections.compactMap { $0["title"]?.string }
      for title in [
        "Fieldforce", "Current User", "Managed Pref", "Login Hosts", "SmartStore",
        "Store defaultStore of \(server.info.username)",
      ] {
        #expect(titles.contains(title), "\(titles)")
      }
      let text = try await tool("doctor", "--offline", "--information").output
      #expect(text.contains("Soup accounts: 1 entries, 2 indexes, 1 unsynced"), "\(text)")
      #expect(text.contains("Username: \(server.info.username)"))
      #expect(!text.contains(server.info.accessToken) && !text.contains(server.info.refreshToken))
    }
  }

  @Test func `what is unsynced, in conflict and interrupted is listed with the command that helps`()
    async throws
  {
    try await withMockOrg { org, server in
      let tool = try Tool()
      try await tool.logIn(to: server)
      _ = try await tool.json(
        "soup", "register", "accounts", "--index", "Id:string", "--index", "__local__:string")
      let clean = try await tool.json("doctor")
      #expect(clean["failed"] == 0)
      #expect(message(clean, "ok").contains("responds to"))

      _ = try await tool.json("store", "create", "accounts", "--type", "Account", "Name=Elm")
      _ = try await tool.run([
        "sync", "down", "--soup", "accounts", "--query", "SELECT Nmae FROM Account", "--name",
        "oops", "--state", tool.state.path,
      ])
      let report = try await tool.json("doctor", "--offline")
      #expect(report["failed"] == 0)
      #expect(message(report, "warning").contains("1 unsynced record in accounts"))
      #expect(message(report, "warning").contains("fieldforce sync run oops"))
      #expect(!message(report, "ok").contains("responds to"))
      let text = try await tool("doctor", "--offline")
      #expect(text.output.contains("nothing is wrong, "))
    }
  }

  @Test func `a store that another process writes is examined and not disturbed`() async throws {
    try await withMockOrg { org, server in
      let tool = try Tool()
      try await tool.logIn(to: server)
      _ = try await tool.json(
        "soup", "register", "accounts", "--index", "Id:string", "--index", "__local__:string")
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
      let status = try await tool.interrupting(
        "sync", "down", "--soup", "accounts", "--query", "SELECT Id FROM Account", "--name", "all"
      ) { _, interrupt in
        defer { release.finish() }
        for await _ in arrival { break }
        let report = try await tool.json("doctor", "--offline")
        #expect(report["failed"] == 0)
        #expect(message(report, "ok").contains("1 soup"))
        try interrupt()
      }
      #expect(status == 130)
    }
  }

  @Test func `an unreachable server, a loose key file and a lost key fail with a remedy`()
    async throws
  {
    let tool = try Tool()
    try await withMockOrg { _, server in
      try await tool.logIn(to: server)
      _ = try await tool.json("soup", "register", "a", "--index", "Id:string")
    }
    let report = try await tool.json("doctor", status: 1)
    #expect(report["failed"] == 1)
    #expect(message(report, "failed").contains("reach"), "\(message(report, "failed"))")
    #expect(try await tool.json("doctor", "--offline")["failed"] == 0)

    let key = tool.state.appending(path: "master.key").path
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
    let loose = try await tool.json("doctor", "--offline", status: 1)
    #expect(message(loose, "failed").contains("chmod go-rwx"))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)

    try FileManager.default.moveItem(atPath: key, toPath: key + ".aside")
    let lost = try await tool("doctor", "--offline")
    #expect(lost.status == 1)
    #expect(lost.output.contains("master.key"), "\(lost.output)")
  }
}
