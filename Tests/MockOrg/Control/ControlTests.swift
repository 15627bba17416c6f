import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SalesforceMockOrg

/// The control endpoint, snapshots and the rules of faults, without a socket.
@Suite struct ControlTests {
  private func control(
    _ org: OrgUnderTest, _ method: String, _ path: String, _ body: String? = nil
  ) async -> OrgUnderTest.Reply {
    org.org.control.admit(org.token)
    return await org.raw(
      method, "/mock-org/\(path)", body,
      headers: ["authorization": "Bearer \(org.token)", "content-type": "application/json"])
  }

  @Test func `the control endpoint opens to the test alone`() async throws {
    let org = try OrgUnderTest()
    #expect(await org.raw("GET", "/mock-org/status").status == 401)
    let other = org.org.sessions.open(
      userID: org.org.userID, clientID: "app", now: OrgUnderTest.start)
    let app = await org.raw(
      "GET", "/mock-org/status", nil, headers: ["authorization": "Bearer \(other)"])
    #expect(app.status == 401)
    #expect(await control(org, "GET", "status").status == 200)
    org.org.revokeAllTokens()
    #expect(await control(org, "GET", "status").status == 200)
  }

  @Test func `a browser gets in by the key of the connection document, and by nothing else`()
    async throws
  {
    let org = try OrgUnderTest()
    for path in ["/", "/?key=", "/?key=\(org.org.control.cookie)", "/?key=\(org.token)"] {
      let page = await org.raw("GET", path)
      #expect(page.status == 200 && page.text.contains("<title>Mock org</title>"))
      #expect(page.header("Set-Cookie") == nil, "\(path)")
    }
    let page = await org.raw("GET", "/?key=\(org.org.control.pageKey)")
    #expect(page.status == 303 && page.header("Location") == "/")
    let cookie = try #require(
      page.header("Set-Cookie")?.split(separator: ";").first.map(String.init))
    let headers = ["cookie": "a=b; \(cookie)"]
    #expect(await org.raw("GET", "/mock-org/status", nil, headers: headers).status == 200)
    let other = ["cookie": "\(cookie)x"]
    #expect(await org.raw("GET", "/mock-org/status", nil, headers: other).status == 401)
  }

  @Test func `the page's address stands in the connection document of the org's own user alone`()
    async throws
  {
    var options = MockOrgOptions()
    options.otherUsers = [MockOrgUser(username: "ted@x.example", firstName: "Ted", lastName: "T")]
    let org = try MockOrg(options)
    try await MockOrgServer.withServer(org) { server in
      #expect(server.info.pageUrl == "\(server.url)/?key=\(org.control.pageKey)")
      let ted = try #require(server.info(forUser: "ted@x.example"))
      #expect(ted.pageUrl == "\(server.url)/")
    }
  }

  @Test func `random secrets keep out clients that know the defaults`() async throws {
    let org = try OrgUnderTest { $0.useRandomSecrets() }
    let app = "client_id=\(MockOrgOptions().clientId)"
    let claims = Base64URL.encode(
      Array(
        (#"{"iss":"\#(MockOrgOptions().clientId)","exp":9e9,"aud":"http://127.0.0.1:1","#
          + #""sub":"\#(MockOrgUser().username)"}"#).utf8))
    for form in [
      "grant_type=password&\(app)&username=\(MockOrgUser().username)&password=\(MockOrgUser().password)",
      "grant_type=client_credentials&\(app)&client_secret=\(MockOrgOptions().clientSecret)",
      "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=e30.\(claims).e30",
    ] {
      let usual = await (try OrgUnderTest()).raw("POST", "/services/oauth2/token", form)
      #expect(usual.status == 200, "\(form): \(usual.text)")
      #expect(await org.raw("POST", "/services/oauth2/token", form).status == 400, "\(form)")
    }
    let secrets = org.org.options
    let own = await org.raw(
      "POST", "/services/oauth2/token",
      "grant_type=password&\(app)&client_secret=\(secrets.clientSecret)"
        + "&username=\(secrets.user.username)&password=\(secrets.user.password)")
    #expect(own.status == 200)
  }

  @Test
  func `the page finds all its files here, and two orgs on one machine keep their cookies apart`()
    async throws
  {
    let org = try OrgUnderTest()
    let page = await org.raw("GET", "/").text
    let script = await org.raw("GET", "/mock-org/page/page.js")
    let named =
      (page + script.text).matches(of: /(?:"\/mock-org\/page|from "\.)\/([a-z]+\.(?:js|css))"/)
      .map { String($0.1) }
    #expect(Set(named).isSuperset(of: ["page.css", "page.js", "parts.js", "records.js"]))
    for name in named {
      #expect(await org.raw("GET", "/mock-org/page/\(name)").status == 200, "\(name)")
    }
    #expect(await org.raw("GET", "/mock-org/page/nothing.js").status == 401)
    #expect(await org.raw("POST", "/mock-org/page/page.js").status == 405)
    func cookie(port: Int) async -> Substring? {
      await org.org.respond(
        to: OrgRequest(method: "GET", target: "/?key=\(org.org.control.pageKey)"),
        baseURL: "http://127.0.0.1:\(port)"
      ).headers.first { $0.name == "Set-Cookie" }?.value.split(separator: "=").first
    }
    #expect(await cookie(port: 8001) == "mock-org-8001")
    #expect(await cookie(port: 8002) == "mock-org-8002")
  }

  @Test func `status and records show what the org holds`() async throws {
    let org = try OrgUnderTest()
    try await org.made("Account", ["Name": "x", "Phone": "1"])
    let status = await control(org, "GET", "status")
    let account = status.json?["objects"]?.elements.first { $0["name"]?.string == "Account" }
    #expect(account?["count"]?.int64 == 1)
    #expect(status.json?["now"]?.string == "2026-05-15T12:00:00.000+0000")
    let records = await control(org, "GET", "objects/Account")
    #expect(records.json?["records"]?[0]?["Name"]?.string == "x")
    #expect(records.json?["fields"]?[0]?.string == "Id")
    #expect(await control(org, "GET", "objects/Nothing").status == 404)
  }

  @Test func `time, state and sessions follow the test's word`() async throws {
    let org = try OrgUnderTest()
    let moved = await control(org, "POST", "clock", #"{"advanceSeconds":90}"#)
    #expect(moved.json?["now"]?.string == "2026-05-15T12:01:30.000+0000")
    let frozen = await control(org, "POST", "clock", #"{"freezeAt":"2027-01-01T00:00:00Z"}"#)
    #expect(frozen.json?["now"]?.string == "2027-01-01T00:00:00.000+0000")
    #expect(await control(org, "POST", "clock", "{}").status == 400)
    #expect(await control(org, "PUT", "snapshots/clean").status == 204)
    try await org.made("Account", ["Name": "x"])
    #expect(await control(org, "POST", "snapshots/clean/restore").status == 204)
    #expect(try await org.org.count("Account") == 0)
    #expect(await control(org, "POST", "snapshots/none/restore").status == 404)
    #expect(await control(org, "PUT", "briefcase", #"[{"object":"Account"}]"#).status == 204)
    #expect(org.org.briefcase == [MockOrgBriefcaseRule(object: "Account")])
    let note = await control(org, "POST", "notifications", #"{"title":"t","body":"b"}"#)
    #expect(note.status == 201)
    #expect(await control(org, "DELETE", "sessions").status == 204)
    #expect(await org.send("GET", "/limits").status == 401)
  }

  @Test(.covers("CA-42"))
  func `analytics lines are shown, cleared, and gone after a reset`() async throws {
    let org = try OrgUnderTest()
    let line =
      #"{"logLines":[{"code":"ailtn","data":{"schemaType":"S","payload":"{\"eventSource\":\"n\"}"}}]}"#
    func publish() async {
      #expect(
        await org.send("POST", "/connect/proxy/app-analytics-logging", line).status == 204)
    }
    for _ in 0..<2 { await publish() }
    let shown = await control(org, "GET", "analytics?after=1").json
    #expect(shown?["lines"]?.count == 1)
    #expect(shown?["lines"]?[0]?["payload"]?.string == #"{"eventSource":"n"}"#)
    #expect(shown?["lines"]?[0]?["userId"]?.string == org.org.userID)
    #expect(await org.raw("GET", "/mock-org/analytics").status == 401)
    #expect(await control(org, "DELETE", "analytics").status == 204)
    #expect(await control(org, "GET", "analytics").json?["lines"]?.count == 0)
    await publish()
    #expect(await control(org, "POST", "reset").status == 204)
    #expect(org.org.analyticsLines.isEmpty)
  }

  @Test func `rules are added, listed with their hits, and taken away`() async throws {
    let org = try OrgUnderTest()
    let made = await control(
      org, "POST", "faults", #"{"path":"/limits","status":500,"count":null,"probability":0.5}"#)
    #expect(made.status == 201)
    #expect(await control(org, "POST", "faults", #"{"path":"/limits"}"#).status == 400)
    let request = OrgRequest(method: "GET", target: "/services/data/v66.0/limits")
    for _ in 0..<100 {
      _ = org.org.script.action(for: request, target: "/services/data/v66.0/limits")
    }
    let list = await control(org, "GET", "faults")
    let rule = list.json?["faults"]?[0]
    #expect(rule?["action"]?.string == "status 500")
    #expect(rule?["matched"]?.int64 == 100)
    #expect((35...65).contains(rule?["hits"]?.int64 ?? 0))
    let number = try #require(rule?["number"]?.int64)
    #expect(await control(org, "DELETE", "faults/\(number)").status == 204)
    #expect(await control(org, "DELETE", "faults/\(number)").status == 404)
  }

  @Test(arguments: [
    #"{"advanceSeconds":1e300}"#, #"{"advanceSeconds":-1e300}"#, #"{"advanceSeconds":1e999}"#,
    #"{"advanceSeconds":1e12}"#, #"{"freezeAt":"4001-01-01T00:00:00Z"}"#,
  ])
  func `a time that the clock cannot show is refused, and the clock stays`(
    body: String
  ) async throws {
    let org = try OrgUnderTest()
    let reply = await control(org, "POST", "clock", body)
    #expect(reply.status == 400 && reply.errorCode == "INVALID_INPUT", "\(reply.text)")
    #expect(org.clock.now == OrgUnderTest.start)
  }

  @Test(arguments: [
    ("delayMilliseconds", "9223372036854775807"), ("delayMilliseconds", "-1"),
    ("lateCommitMilliseconds", "9223372036854775807"), ("clockSkewMilliseconds", "-1e300"),
    ("status", "99"), ("status", "600"), ("trickleBytes", "0"), ("truncateAt", "-5"),
    ("truncateAt", "\"5\""),
  ])
  func `a rule with a number out of range is refused with the range`(
    key: String, value: String
  ) async throws {
    let org = try OrgUnderTest()
    let reply = await control(org, "POST", "faults", #"{"\#(key)":\#(value)}"#)
    #expect(reply.status == 400, "\(reply.text)")
    #expect(reply.message?.contains("'\(key)' is not a number from") == true, "\(reply.text)")
    #expect(org.org.script.rules.isEmpty)
    for (other, number) in [
      ("count", "0.5"), ("skip", "\"1\""), ("probability", "2"), ("seed", "-1"),
    ] {
      let rule = await control(org, "POST", "faults", #"{"garbage":true,"\#(other)":\#(number)}"#)
      #expect(rule.status == 400, "\(other)")
    }
  }

  @Test func `a time shift of a fault ends where the clock ends`() async throws {
    let org = try OrgUnderTest()
    let far = org.org.transactionTime(offset: .seconds(Int64.max))
    #expect(DateText.dateTime(far) == "4000-12-31T23:59:59.000+0000")
    let early = org.org.transactionTime(offset: .seconds(Int64.min))
    #expect(DateText.dateTime(early) == "1700-01-01T00:00:00.000+0000")
  }

  // MARK: Matching

  @Test func `the same seed hits the same requests`() throws {
    func hits(_ seed: UInt64) -> [Bool] {
      let script = FaultScript()
      script.add(
        MockOrgFault(probability: 0.3, seed: seed, count: nil, action: .dropBeforeCommit))
      return (0..<50).map { _ in
        script.action(for: OrgRequest(method: "GET", target: "/x"), target: "/x") != nil
      }
    }
    #expect(hits(1) == hits(1))
    #expect(hits(1) != hits(2))
    #expect(hits(1).contains(true) && hits(1).contains(false))
  }

  @Test(arguments: [
    ("GET", "/services/data/v66.0/sobjects/account/001000000000001AAA", "", true),
    ("GET", "/services/data/v66.0/query?q=SELECT+Id+FROM+Account+LIMIT+1", "", true),
    ("GET", "/services/data/v66.0/query?q=SELECT+Account.Id+FROM+Contact", "", false),
    (
      "POST", "/services/data/v66.0/composite/sobjects",
      #"{"records":[{"attributes":{"type":"Account"}}]}"#, true
    ),
    (
      "POST", "/services/data/v66.0/composite",
      #"{"compositeRequest":[{"url":"/services/data/v66.0/sobjects/Account"}]}"#, true
    ),
    ("POST", "/services/data/v66.0/sobjects/Contact", #"{"LastName":"Account"}"#, false),
  ])
  func `a rule about an object finds it in path, query and body`(
    method: String, target: String, body: String, expected: Bool
  ) {
    let request = OrgRequest(method: method, target: target, body: Array(body.utf8))
    let fault = MockOrgFault(object: "Account", action: .rowLock)
    #expect(fault.matches(request, target: target) == expected)
  }

  // MARK: Snapshots

  @Test func `a snapshot brings back records, objects and ids`() async throws {
    let org = try OrgUnderTest()
    let id = try await org.made("Account", ["Name": "kept"])
    let snapshot = try await org.org.snapshot()
    try await org.org.generate("Widget__c", count: 3)
    try await org.org.delete("Account", id: id)
    let next = try await org.made("Account", ["Name": "lost"])
    try await org.org.restore(snapshot)
    let rows = try await org.org.query("SELECT Name FROM Account")
    #expect(rows.compactMap { $0["Name"]?.string } == ["kept"])
    #expect(!org.org.objectNames.contains("Widget__c"))
    #expect(try await org.made("Account", ["Name": "again"]) == next)
    try await org.org.generate("Widget__c", count: 2)
    #expect(try await org.org.count("Widget__c") == 2)
  }

  @Test func `a reset org is a new one to which clients are still logged in`() async throws {
    let org = try OrgUnderTest()
    try await org.made("Account", ["Name": "x"])
    org.org.add(MockOrgFault(action: .maintenance))
    try await org.org.reset()
    #expect(try await org.org.count("Account") == 0)
    #expect(org.org.script.rules.isEmpty)
    #expect(await org.send("GET", "/sobjects/User/\(org.org.userID)").status == 200)
  }
}
