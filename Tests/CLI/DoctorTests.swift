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

  /// The content of each file of a folder, by its path; nil for folders.
  private func snapshot(_ folder: URL) throws -> [String: Data?] {
    var files: [String: Data?] = [:]
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
      let url = folder.appending(path: path)
      files[path] = .some(
        try url.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true
          ? nil : Data(contentsOf: url))
    }
    return files
  }

  /// What a state folder may lack, or have damaged.
  enum Damage: String, CaseIterable {
    case none, ended, missingDatabase, damagedDatabase, hosts, account, currentUser, settings,
      installation

    /// Whether commands fail because of it.
    var isFailure: Bool {
      [.missingDatabase, .damagedDatabase, .account].contains(self)
    }
  }

  @Test(arguments: Damage.allCases)
  func `the state folder is afterwards as it was, byte for byte`(damage: Damage) async throws {
    try await withMockOrg { org, server in
      let tool = try Tool()
      try await tool.logIn(to: server)
      for owner in [[], ["--global"]] {
        _ = try await tool.run(
          [
            "soup", "register", "accounts", "--index", "Id:string", "--index", "__local__:string",
            "--state", tool.state.path, "--json",
          ] + owner
        ).document()
      }
      _ = try await tool.json("store", "create", "accounts", "--type", "Account", "Name=Elm")
      let before = try snapshot(tool.state)
      func path(_ end: String, _ part: String) throws -> URL {
        let path = try #require(
          before.keys.first {
            $0.hasSuffix(end) && (part.isEmpty || $0.contains(part))
          })
        return tool.state.appending(path: path)
      }
      let noise = Data(repeating: 0x5A, count: 8_192)
      let state = tool.state
      switch damage {
      case .none: break
      case .ended: org.expireAccessTokens()
      case .missingDatabase:
        try FileManager.default.removeItem(at: path("store.sqlite", "internal"))
      case .damagedDatabase: try noise.write(to: path("store.sqlite", "internal"))
      case .hosts: try noise.write(to: state.appending(path: "login-hosts.json"))
      case .account: try noise.write(to: path("UserAccount.sealed", ""))
      case .currentUser: try noise.write(to: path("current-user.json", ""))
      case .settings:
        try FileManager.default.removeItem(at: state.appending(path: "settings.json"))
      case .installation:
        try FileManager.default.removeItem(at: state.appending(path: "installation-id"))
      }
      let damaged = try snapshot(tool.state)
      for options in [[], ["--offline"], ["--information"]] {
        let result = try await tool.run(
          ["doctor", "--json", "--state", tool.state.path] + options)
        // The current user alone cannot be read, too: which status that has is not the question here.
        if damage != .currentUser { #expect(result.status == (damage.isFailure ? 1 : 0)) }
        let report = try JSONSlice(parsing: result.output.trimmed).value
        // The other store is examined, whatever the first one has.
        #expect(message(report, "ok").contains("1 soup"), "\(result.output)")
        let after = try snapshot(tool.state)
        #expect(after.keys.sorted() == damaged.keys.sorted(), "\(options)")
        #expect(after == damaged, "\(options)")
        if damage == .ended, options.isEmpty {
          #expect(message(report, "warning").contains("access token has ended"))
        }
      }
      if damage == .ended { _ = try await tool.json("rest", "GET", "/services/data/v66.0/limits") }
    }
  }

  @Test(.covers("CO-155")) func `locked stores are not examined, and stay locked`() async throws {
    var options = MockOrgOptions()
    options.mobilePolicy = MockOrgMobilePolicy(screenLockMinutes: 10)
    try await withMockOrg(options) { _, server in
      let tool = try Tool()
      try await tool.logIn(to: server)
      let before = try snapshot(tool.state)
      let report = try await tool.json("doctor")
      #expect(report["failed"] == 0 && message(report, "warning").contains("fieldforce unlock"))
      #expect(try snapshot(tool.state) == before)
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
