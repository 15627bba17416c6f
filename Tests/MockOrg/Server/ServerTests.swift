import FieldforceGzip
import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SalesforceMockOrg

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What only a socket shows: headers, connections and faults.
@Suite struct ServerTests {
  private func send(
    _ server: MockOrgServer, _ method: String, _ path: String, _ body: String? = nil,
    token: String? = nil
  ) async throws -> WebPage {
    var request = URLRequest(url: try #require(URL(string: server.info.url + path)))
    request.httpMethod = method
    request.setValue(
      "Bearer \(token ?? server.info.accessToken)", forHTTPHeaderField: "Authorization")
    request.setValue("Tests/1.0", forHTTPHeaderField: "User-Agent")
    if let body {
      request.httpBody = Data(body.utf8)
      request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    }
    return try await WebPage.load(request)
  }

  /// Whether a request gets no response.
  private func isDropped(
    _ server: MockOrgServer, _ method: String, _ path: String, _ body: String? = nil
  ) async -> Bool {
    do {
      _ = try await send(server, method, path, body)
      return false
    } catch {
      return error is URLError
    }
  }

  @Test func `a task that is cancelled starts and stops a server like any other`() async throws {
    let org = try MockOrg()
    let (url, isAlive) = try await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      let server = try await MockOrgServer.start(org)
      await server.stop()
      let url = server.url
      let isAlive = (try? await WebPage.load(URLRequest(url: url))) != nil
      return (url, isAlive)
    }.value
    #expect(!isAlive, "\(url) still answers")
  }

  @Test func `responses are dated by the org's clock`() async throws {
    var options = MockOrgOptions()
    options.clock = MockOrgClock(frozenAt: Date(timeIntervalSince1970: 1_900_000_000))
    try await withMockOrg(options) { _, server in
      for date in ["Sun, 17 Mar 2030 17:46:40 GMT", "Sun, 17 Mar 2030 17:47:40 GMT"] {
        let page = try await send(server, "GET", "/services/data/v66.0/limits")
        #expect(page.response.value(forHTTPHeaderField: "Date") == date)
        options.clock.advance(by: .seconds(60))
      }
    }
  }

  @Test func `a rule slows responses down to the rate of a network`() async throws {
    var options = MockOrgOptions()
    options.compressesResponses = false
    try await withMockOrg(options) { org, server in
      let fault = MockOrgFault.Action.delay(.milliseconds(10), bytesPerSecond: 100_000)
      let name = String(repeating: "x", count: 200)
      for _ in 0..<100 { _ = try await org.create("Account", ["Name": .string(name)]) }
      let path = "/services/data/v66.0/query?q=SELECT+Name+FROM+Account"
      let usual = try await send(server, "GET", path)
      org.add(MockOrgFault(path: "/query", action: fault))
      let start = ContinuousClock.now
      let slow = try await send(server, "GET", path)
      let least = Double(usual.text.utf8.count) / 100_000
      #expect(slow.text == usual.text && least > 0.2)
      #expect(ContinuousClock.now - start >= .seconds(least))
    }
  }

  @Test func `only calls of the APIs count towards the day's limit`() async throws {
    try await withMockOrg { org, server in
      func usage(_ path: String) async throws -> String? {
        try await send(server, "GET", path).response
          .value(forHTTPHeaderField: "Sforce-Limit-Info")
      }
      let first = try await usage("/services/data/v66.0/limits")
      #expect(first == "api-usage=1/15000")
      for path in ["/services/data", "/services/data/", "/services/oauth2/userinfo"] {
        #expect(try await usage(path) == nil, "\(path)")
      }
      #expect(try await usage("/services/data/v66.0/sobjects") == "api-usage=2/15000")
    }
  }

  @Test func `a started server responds on the address that it reports`() async throws {
    try await withMockOrg { org, server in
      let made = try await send(
        server, "POST", "/services/data/v66.0/sobjects/Account", #"{"Name":"x"}"#)
      #expect(made.status == 201)
      #expect(
        made.response.value(forHTTPHeaderField: "Content-Type") == "application/json;charset=UTF-8")
      #expect(
        made.response.value(forHTTPHeaderField: "Sforce-Limit-Info")?.hasPrefix("api-usage=")
          == true)
      #expect(
        made.response.value(forHTTPHeaderField: "Location")?.contains("/sobjects/Account/001")
          == true)
      let read = try await send(
        server, "GET", "/services/data/v66.0/query?q=SELECT+Name+FROM+Account")
      #expect(read.text.contains(#""Name":"x""#))
      #expect(try await org.count("Account") == 1)
      #expect(org.requestLog.map(\.method) == ["POST", "GET"])
      #expect(org.requestLog.map(\.status) == [201, 200])
      #expect(org.requestLog.first?.userAgent == "Tests/1.0")
      #expect(org.requestLog.last?.path == "/services/data/v66.0/query")
      org.clearRequestLog()
      #expect(org.requestLog.isEmpty)
    }
  }

  @Test func `the connection document has its members in the documented order`() async throws {
    try await withMockOrg { _, server in
      let info = try JSONSlice(parsing: server.info.json)
      #expect(
        info.members.map(\.key) == [
          "url", "instanceUrl", "apiVersion", "accessToken", "refreshToken", "username",
          "password", "clientId", "clientSecret", "redirectUri", "userId", "organizationId",
          "pageUrl",
        ])
      #expect(info["apiVersion"]?.string == "66.0")
      #expect(!server.info.json.contains("\n"))
    }
  }

  @Test func `a URI has at most 16,384 bytes, alone and with its headers`() async throws {
    try await withMockOrg { org, server in
      let start = "/services/data/v66.0/query?q=SELECT+Id+FROM+Account+WHERE+Name='"
      func query(_ length: Int) async throws -> WebPage {
        let fill = String(repeating: "x", count: length - start.utf8.count - 1)
        return try await send(server, "GET", "\(start)\(fill)'")
      }
      #expect(try await query(3900).status == 200)
      let long = try await query(16_385)
      #expect(long.status == 414)
      #expect(long.text.contains("URI Too Long"))
      #expect(try await query(16_380).status == 431)
      #expect(org.requestLog.map(\.status) == [200, 414, 431])
    }
  }

  @Test func `the form of a response may stand behind the path`() async throws {
    try await withMockOrg { org, server in
      let id = try await org.create("Account", ["Name": "x"])
      let data = "/services/data/v66.0"
      let json = try await send(server, "GET", "\(data)/sobjects/Account/\(id).json?fields=Name")
      #expect(json.text.contains(#""Name":"x""#))
      let xml = try await send(server, "GET", "\(data)/query.xml?q=SELECT+Name+FROM+Account")
      #expect(xml.text.contains("<Name>x</Name>"))
      let made = try await send(
        server, "PATCH", "\(data)/sobjects/Account/Name/a.json", #"{"Phone":"1"}"#)
      #expect(made.text.contains("NOT_FOUND") || made.status == 201, "\(made.text)")
      let names = try await org.query("SELECT Name FROM Account WHERE Name LIKE 'a%'")
      #expect(names.isEmpty || names[0]["Name"]?.string == "a.json")
    }
  }

  @Test func `a HEAD has the headers of a GET and no body`() async throws {
    try await withMockOrg { _, server in
      let reply = try await send(server, "HEAD", "/services/data/v66.0/sobjects/Account/describe")
      #expect(reply.status == 200)
      #expect(reply.body.isEmpty)
    }
  }

  @Test func `a method that a resource lacks is refused with those that it has`() async throws {
    try await withMockOrg { _, server in
      let reply = try await send(server, "PUT", "/services/data/v66.0/sobjects/Account", "{}")
      #expect(reply.status == 405)
      #expect(reply.text.contains("HTTP Method 'PUT' not allowed. Allowed are GET,HEAD,POST"))
      #expect(reply.response.value(forHTTPHeaderField: "Allow") == "GET,HEAD,POST")
      let tunnelled = try await send(
        server, "POST",
        "/services/data/v66.0/sobjects/Account/001000000000000AAA?_HttpMethod=PATCH",
        "{}")
      #expect(tunnelled.status == 404)
    }
  }

  @Test func `two orgs in one process know nothing of each other`() async throws {
    try await withMockOrg { first, firstServer in
      try await withMockOrg { second, secondServer in
        try await first.create("Account", ["Name": "x"])
        #expect(try await second.count("Account") == 0)
        #expect(firstServer.info.url != secondServer.info.url)
        let reply = try await send(
          secondServer, "GET", "/services/data/v66.0/limits", token: firstServer.info.accessToken)
        #expect(reply.status == 401)
      }
    }
  }

  @Test func `a port that is taken is reported`() async throws {
    try await withMockOrg { org, server in
      let port = try #require(server.url.port)
      await #expect(throws: MockOrgError.self) {
        _ = try await MockOrgServer.start(org, port: port)
      }
    }
  }

  @Test func `a stopped server responds no more`() async throws {
    let server = try await MockOrgServer.start(try MockOrg())
    #expect(try await send(server, "GET", "/services/data").status == 200)
    await server.stop()
    #expect(await isDropped(server, "GET", "/services/data"))
  }

  // MARK: Faults

  @Test func `a fault responds with a status as often as its rule says, after those it lets pass`()
    async throws
  {
    try await withMockOrg { org, server in
      org.add(
        MockOrgFault(
          method: "GET", path: "/limits", skipping: 1, count: 2, action: .status(503, body: "busy"))
      )
      var statuses: [Int] = []
      for _ in 0..<4 {
        statuses.append(try await send(server, "GET", "/services/data/v66.0/limits").status)
      }
      #expect(statuses == [200, 503, 503, 200])
      #expect(org.requestLog.map(\.status) == [200, 503, 503, 200])
    }
  }

  @Test func `a dropped connection leaves the work undone or done, as the fault says`() async throws
  {
    try await withMockOrg { org, server in
      let path = "/services/data/v66.0/sobjects/Account"
      org.add(MockOrgFault(method: "POST", action: .dropBeforeCommit))
      #expect(await isDropped(server, "POST", path, #"{"Name":"x"}"#))
      // A closure whose only calls that throw stand inside macros would not count as throwing.
      let undone = try await org.count("Account")
      #expect(undone == 0)
      org.add(MockOrgFault(method: "POST", action: .dropAfterCommit))
      #expect(await isDropped(server, "POST", path, #"{"Name":"x"}"#))
      #expect(try await org.count("Account") == 1)
      #expect(org.requestLog.map(\.status) == [nil, nil])
      #expect(try await send(server, "POST", path, #"{"Name":"y"}"#).status == 201)
    }
  }

  @Test func `a body can end early, be garbage, or be edited`() async throws {
    try await withMockOrg { org, server in
      try await org.create("Account", ["Name": "x"])
      let path = "/services/data/v66.0/query?q=SELECT+Id,Name+FROM+Account"
      org.add(MockOrgFault(path: "/query", action: .truncatedBody(at: 20)))
      do {
        // A client either fails or notices that bytes are missing.
        let cut = try await send(server, "GET", path)
        #expect(cut.body.count <= 20)
      } catch is URLError {}
      org.add(MockOrgFault(path: "/query", action: .garbage))
      let garbage = try await send(server, "GET", path)
      #expect(garbage.status == 200)
      #expect((try? JSONSlice(parsing: Array(garbage.body))) == nil)
      org.add(
        MockOrgFault(
          path: "/query",
          action: .editedBody { body in
            Array(String(decoding: body, as: UTF8.self).replacing("\"Id\":", with: "\"No\":").utf8)
          }))
      let edited = try await send(server, "GET", path)
      #expect(edited.text.contains("\"No\":\"001"))
    }
  }

  @Test func `a session can be expired and a refresh refused`() async throws {
    try await withMockOrg { org, server in
      org.add(MockOrgFault(path: "/limits", action: .expiredSession))
      #expect(try await send(server, "GET", "/services/data/v66.0/limits").status == 401)
      let form =
        "grant_type=refresh_token&client_id=\(server.info.clientId)&refresh_token="
        + server.info.refreshToken
      let refreshed = try await send(server, "POST", "/services/oauth2/token", form)
      #expect(refreshed.status == 200)
      org.add(MockOrgFault(path: "/limits", action: .refusedRefresh))
      #expect(try await send(server, "GET", "/services/data/v66.0/limits").status == 401)
      let refused = try await send(server, "POST", "/services/oauth2/token", form)
      #expect(refused.status == 400)
      #expect(refused.text.contains("invalid_grant"))
    }
  }

  @Test func `rows can be locked, one response for each record of a collection`() async throws {
    try await withMockOrg { org, server in
      org.add(MockOrgFault(object: "Account", action: .rowLock))
      let body =
        #"{"records":[{"attributes":{"type":"Account"},"Name":"a"},{"attributes":{"type":"Account"},"Name":"b"}]}"#
      let path = "/services/data/v66.0/composite/sobjects"
      let locked = try await send(server, "POST", path, body)
      #expect(locked.status == 200)
      #expect(locked.text.components(separatedBy: "UNABLE_TO_LOCK_ROW").count == 3)
      #expect(org.requestLog.last?.fault == "row lock")
      #expect(try await send(server, "POST", path, body).status == 200)
      #expect(try await org.count("Account") == 2)
    }
  }

  @Test func `a late commit stamps records before a query that has not seen them`() async throws {
    var options = MockOrgOptions()
    options.clock = MockOrgClock(frozenAt: Date(timeIntervalSince1970: 1_778_846_400))
    try await withMockOrg(options) { org, server in
      org.add(MockOrgFault(method: "POST", action: .lateCommit(by: .seconds(5))))
      let path = "/services/data/v66.0/sobjects/Account"
      #expect(try await send(server, "POST", path, #"{"Name":"late"}"#).status == 201)
      let rows = try await org.query("SELECT SystemModstamp FROM Account")
      #expect(rows[0]["SystemModstamp"]?.string == "2026-05-15T11:59:55.000+0000")
    }
  }

  @Test func `a refresh token can be rotated for one request, a response can trickle`() async throws
  {
    try await withMockOrg { org, server in
      org.add(MockOrgFault(path: "/token", action: .rotatedRefreshToken))
      let form =
        "grant_type=refresh_token&client_id=\(server.info.clientId)"
        + "&refresh_token=\(server.info.refreshToken)"
      let first = try await send(server, "POST", "/services/oauth2/token", form)
      #expect(first.text.contains("refresh_token"))
      #expect(try await send(server, "POST", "/services/oauth2/token", form).status == 400)
      org.add(MockOrgFault(path: "/limits", action: .trickle(bytes: 500, every: .milliseconds(1))))
      let slow = try await send(server, "GET", "/services/data/v66.0/limits")
      #expect(slow.status == 200)
      #expect((try? JSONSlice(parsing: Array(slow.body))) != nil)
    }
  }

  @Test func `bodies may be gzip in both directions`() async throws {
    try await withMockOrg { org, server in
      let url = try #require(
        URL(string: server.info.url + "/services/data/v66.0/sobjects/Account"))
      var request = URLRequest(url: url)
      request.httpMethod = "POST"
      request.setValue("Bearer \(server.info.accessToken)", forHTTPHeaderField: "Authorization")
      request.setValue("application/json", forHTTPHeaderField: "Content-Type")
      request.setValue("gzip", forHTTPHeaderField: "Content-Encoding")
      request.httpBody = Gzip.compressed(Array(#"{"Name":"packed"}"#.utf8)).map { Data($0) }
      let session = URLSession(configuration: .ephemeral)
      defer { session.finishTasksAndInvalidate() }
      let (_, made) = try await session.data(for: request)
      #expect((made as? HTTPURLResponse)?.statusCode == 201)
      #expect(try await org.count("Account") == 1)
      let describe = try await send(
        server, "GET", "/services/data/v66.0/sobjects/Account/describe")
      #expect(describe.response.value(forHTTPHeaderField: "Content-Encoding") == "gzip")
      #expect((try? JSONSlice(parsing: Array(describe.body))) != nil)
    }
  }
}
