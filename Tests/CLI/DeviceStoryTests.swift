import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import TestSupport
import Testing

/// Does the program keep what an organisation demands, and can a person choose servers, run jobs and wipe everything?
@Suite struct DeviceStoryTests {
  @Test(.covers("CO-172.1", "HT-80.1", "BX-28.3"))
  func `a managed configuration is checked before it is installed`() async throws {
    let tool = try Tool()
    let good = try tool.file(
      "good.json", #"{"AppServiceHosts": "acme.my.salesforce.com", "RequireCertAuth": true}"#)
    let bad = try tool.file(
      "bad.json",
      #"{"RequireCertAuth": "yes", "AppServiceHost": "x", "OnlyShowAuthorizedHosts": true}"#)
    // The folder of the test is in /tmp, which every user may write to; it is sticky.
    if geteuid() == 0 {
      let checked = try await tool.run(["managed", "check", good, "--json"]).document()
      #expect(checked["problems"]?.array?.isEmpty == true && checked["managed"]?.bool == true)
    }
    let problems =
      try await tool.run(["managed", "check", bad, "--json"]).document(status: 3)["problems"]?.array
      ?? []
    let keys = Set(problems.compactMap { $0["key"]?.string })
    #expect(keys.isSuperset(of: ["RequireCertAuth", "AppServiceHost", "OnlyShowAuthorizedHosts"]))
    chmod(good, 0o666)
    let exposed = try await tool.run(["managed", "check", good, "--json"]).document(status: 3)
    #expect(exposed["problems"]?.array?.first?["key"]?.string == "file")
    let broken = try tool.file("broken.json", "{")
    #expect(
      try await tool.run(["managed", "check", broken, "--json"]).failure()["number"]?.int64 == 681)
  }

  @Test(
    .covers("CO-101.3", "CO-171.1"), .enabled(if: geteuid() == 0, "the file has to belong to root"))
  func `the login keeps to what the organisation demands`() async throws {
    let tool = try Tool()
    let server = try await MockOrgServer.start(MockOrg())
    let info = server.info
    let place = try tool.file(
      "managed.json",
      #"{"OnlyShowAuthorizedHosts": true, "AppServiceHosts": "acme.my.salesforce.com"}"#)
    let environment = ["FIELDFORCE_MANAGED": place]
    let all = ["--state", tool.state.path, "--json"]
    let logIn = ["login", "--url", info.url, "--access-token", info.accessToken] + all
    #expect(try await tool.run(logIn, environment: environment).failure()["number"]?.int64 == 681)
    let hosts =
      try await tool.run(["hosts"] + all, environment: environment).document()["hosts"]?.array ?? []
    #expect(hosts.compactMap { $0["url"]?.string } == ["https://acme.my.salesforce.com"])
    #expect(
      try await tool.run(
        ["hosts", "add", "other.my.salesforce.com"] + all, environment: environment
      )
      .failure()["code"]?.string == "managedHosts")
    try Data(#"{"AppServiceHosts": "\#(info.url)"}"#.utf8).write(to: URL(filePath: place))
    _ = try await tool.run(logIn, environment: environment).document()
    // What other users could write is ignored.
    try Data(
      #"{"OnlyShowAuthorizedHosts": true, "AppServiceHosts": "acme.my.salesforce.com"}"#.utf8
    )
    .write(to: URL(filePath: place))
    chmod(place, 0o666)
    _ = try await tool.run(logIn, environment: environment).document()
    await server.stop()
  }

  @Test(
    .covers("CO-171.3"), .enabled(if: geteuid() == 0, "the file has to belong to root"),
    .timeLimit(.minutes(1)), arguments: [["hybrid", "serve"], ["inspect"]])
  func `a command that runs for long picks up what the organisation changes`(
    arguments: [String]
  ) async throws {
    let tool = try Tool()
    let place = try tool.file("managed.json", "{}")
    let errors = try tool.file("errors.txt", "")
    let (status, _) = try await Tool.serve(
      arguments + ["--state", tool.state.path], environment: ["FIELDFORCE_MANAGED": place],
      errors: errors
    ) { _ in
      try Data(#"{"RequireCertAuth": true}"#.utf8).write(to: URL(filePath: place))
      try await poll {
        try String(contentsOfFile: errors, encoding: .utf8)
          .contains("the managed configuration has changed: managed by RequireCertAuth")
      }
    }
    #expect(status == 0)
  }

  @Test(.covers("HT-75.3")) func `login servers are listed, added, selected and removed`()
    async throws
  {
    let tool = try Tool()
    func selected() async throws -> String? {
      try await tool.json("hosts", "list")["hosts"]?.array?.first { $0["selected"]?.bool == true }?[
        "url"]?.string
    }
    #expect(try await selected() == "https://login.salesforce.com")
    _ = try await tool.json("hosts", "add", " https://Acme.my.salesforce.com/ ", "--name", "Acme")
    #expect(try await selected() == "https://acme.my.salesforce.com")
    _ = try await tool.json("hosts", "select", "test.salesforce.com")
    #expect(try await selected() == "https://test.salesforce.com")
    for arguments in [
      ["select", "none.salesforce.com"], ["remove", "none.salesforce.com"],
      ["remove", "login.salesforce.com"], ["add", "nodots"],
    ] {
      let result = try await tool.run(
        ["hosts"] + arguments + ["--state", tool.state.path, "--json"])
      _ = try result.failure()
    }
    let left =
      try await tool.json("hosts", "remove", "acme.my.salesforce.com")["hosts"]?.array ?? []
    #expect(left.count == 2)
    // A login without --url goes to the selected one.
    let server = try await MockOrgServer.start(MockOrg())
    _ = try await tool.json("hosts", "add", server.info.url)
    let account = try await tool.json("login", "--access-token", server.info.accessToken)
    #expect(account["instanceUrl"]?.string?.hasPrefix(server.info.url) == true)
    await server.stop()
  }

  @Test(.covers("HT-87.1"))
  func `a job without a user has nothing to do, and one at work is not run twice`() async throws {
    let tool = try Tool()
    #expect(
      try await tool.json("run", "sync", "accounts")["skipped"]?.string == "no user is logged in")
    let server = try await MockOrgServer.start(MockOrg())
    try await tool.logIn(to: server)
    #expect(try await tool.failure("run", "sync", "accounts")["code"] != nil)
    let jobs = tool.state.appending(path: "jobs")
    let lock = try #require(try FileManager.default.contentsOfDirectory(atPath: jobs.path).first)
    guard let held = try FileLock.take(jobs.appending(path: lock).path) else {
      Issue.record("the job is still at work")
      return
    }
    #expect(
      try await tool.json("run", "sync", "accounts")["skipped"]?.string
        == "it is at work in another process")
    _ = consume held
    await server.stop()
  }

  @Test(.covers("HT-87.2"))
  func `a job publishes the events of all accounts, and keeps what an org refuses`() async throws {
    let tool = try Tool()
    #expect(
      try await tool.json("run", "publish-analytics")["skipped"]?.string == "no user is logged in")
    try await withMockOrg { org, server in
      try await tool.logIn(to: server)
      let count = try await tool.json("analytics", "list")["events"]?.array?.count ?? 0
      #expect(count > 0)
      org.add(MockOrgFault(path: "app-analytics-logging", action: .status(500, body: "[]")))
      #expect(try await tool.json("run", "publish-analytics")["published"] == 0)
      #expect(
        try await tool.json("run", "publish-analytics")["published"] == .integer(Int64(count)))
      #expect(org.analyticsLines.count == count)
    }
  }

  @Test(.covers("HT-91", "BX-115"))
  func `a wipe logs out, removes all of the program's own, and nothing else`() async throws {
    let tool = try Tool()
    let server = try await MockOrgServer.start(MockOrg())
    #expect(try await tool.json("wipe", "--yes")["wiped"]?.bool == false)
    try await tool.logIn(to: server)
    let own = ["--global", "--state", tool.state.path, "--json"]
    _ = try await tool.run(["soup", "register", "tools", "--index", "Id:string"] + own).document()
    #expect(try await tool.failure("wipe")["code"]?.string == "unconfirmed")
    #expect(try await tool.json("accounts")["accounts"]?.array?.count == 1)
    let mine = tool.state.appending(path: "mine.txt")
    try Data("mine".utf8).write(to: mine)
    #expect(try await tool.json("wipe", "--yes")["accounts"]?.int64 == 1)
    #expect(try FileManager.default.contentsOfDirectory(atPath: tool.state.path) == ["mine.txt"])
    try FileManager.default.removeItem(at: mine)
    _ = try await tool.json("accounts")
    _ = try await tool.json("wipe", "--yes")
    #expect(!FileManager.default.fileExists(atPath: tool.state.path))
    await server.stop()
  }
}
