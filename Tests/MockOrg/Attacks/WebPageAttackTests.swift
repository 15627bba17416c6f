import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SalesforceMockOrg

/// What a web page in the browser of the org's user may try.
@Suite(.ownThreads) struct WebPageAttackTests {
  private static func login(_ info: ConnectionInfo) -> [UInt8] {
    Array(
      ("grant_type=password&client_id=\(info.clientId)&client_secret=\(info.clientSecret)"
        + "&username=\(info.username)&password=\(info.password)").utf8)
  }

  private static let form = ["Content-Type": "application/x-www-form-urlencoded"]

  /// Requests that give something to a client of this machine.
  private static func tried(
    _ server: MockOrgServer, _ headers: [String: String]
  ) throws -> [RawResponse] {
    let port = try #require(server.url.port)
    let bearer = headers.merging(["Authorization": "Bearer \(server.info.accessToken)"]) { $1 }
    let cookie = headers.merging(["Cookie": "mock-org-\(port)=\(server.org.control.cookie)"]) { $1 }
    let key = server.info.pageUrl.split(separator: "?").last ?? ""
    return [
      try RawResponse("GET", "/", port: port, headers: headers),
      try RawResponse("GET", "/?\(key)", port: port, headers: headers),
      try RawResponse("GET", "/mock-org/page/page.js", port: port, headers: headers),
      try RawResponse("GET", "/mock-org/status", port: port, headers: bearer),
      try RawResponse("GET", "/mock-org/status", port: port, headers: cookie),
      try RawResponse(
        "POST", "/mock-org/faults", port: port, headers: cookie,
        body: Array(#"{"garbage":true,"count":null}"#.utf8)),
      try RawResponse("GET", "/services/data", port: port, headers: headers),
      try RawResponse("GET", "/services/data/v66.0/limits", port: port, headers: bearer),
      try RawResponse(
        "POST", "/services/oauth2/token", port: port, headers: headers.merging(form) { $1 },
        body: login(server.info)),
      try RawResponse(
        "POST", "/services/oauth2/authorize?response_type=code&client_id=\(server.info.clientId)",
        port: port, headers: headers.merging(form) { $1 }, body: login(server.info)),
      try RawResponse("GET", "/.well-known/openid-configuration", port: port, headers: headers),
    ]
  }

  @Test(arguments: [
    "127.evil.example", "evil.example", "127.0.0.1.evil.example", "localhost.evil.example",
    "127.1", "2130706433", "0x7f.0.0.1", "0.0.0.0", "[::]", "localhost.", "127.0.0.256",
    "127.0.0.1@evil.example", "evil.example@127.0.0.1", "127.0.0.1/evil.example", "127.0.0.1#x",
    "127。0。0。1", "", " ", "acme.my.site.com", "evilmy.salesforce.com", "my.salesforce.com",
    "acme.my.salesforce.com.evil.example",
  ])
  func `a page that makes its own name lead to this machine gets nothing`(host: String) async throws
  {
    try await withMockOrg { org, server in
      let port = try #require(server.url.port)
      for authority in [host, "\(host):\(port)"] {
        for response in try Self.tried(server, ["Host": authority]) {
          #expect([400, 421].contains(response.status), "\(authority): \(response.text)")
          for secret in [
            server.info.password, server.info.clientSecret, org.control.cookie, "access_token",
            "Location:",
          ] {
            #expect(!response.text.contains(secret), "\(authority): \(response.text)")
          }
        }
      }
      #expect(org.script.rules.isEmpty)
    }
  }

  @Test(arguments: [
    ["evil.example", "127.0.0.1:PORT"], ["127.0.0.1:PORT", "evil.example"],
    ["127.0.0.1:PORT", "127.0.0.1:PORT"], [""], ["", "127.0.0.1:PORT"], ["127.0.0.1:PORT", ""],
  ])
  func `a request with several Host headers, or an empty one, gets nothing`(
    hosts: [String]
  ) async throws {
    try await withMockOrg { org, server in
      let port = try #require(server.url.port)
      let key = server.info.pageUrl.split(separator: "?").last ?? ""
      for path in ["/services/data", "/?\(key)", "/mock-org/page/page.js"] {
        let connection = try RawConnection(port: port)
        let fields = hosts.map { "Host: \($0.replacing("PORT", with: "\(port)"))\r\n" }.joined()
        connection.send("GET \(path) HTTP/1.1\r\nConnection: close\r\n\(fields)\r\n")
        let text = String(decoding: connection.bytesToEnd() ?? [], as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 4"), "\(hosts) \(path): \(text)")
        #expect(!text.contains("Set-Cookie") && !text.contains("Location:"))
      }
    }
  }

  @Test(arguments: [
    "https://evil.example", "http://127.evil.example", "null", "file://", "http://127.0.0.1",
    "http://127.0.0.1:1", "http://localhost:1", "https://acme.my.salesforce.com", "",
  ])
  func `a page of another address gets nothing, though it calls the org by its own`(
    origin: String
  ) async throws {
    try await withMockOrg { org, server in
      for response in try Self.tried(server, ["Origin": origin]) {
        #expect(response.status == 403, "\(origin): \(response.text)")
        #expect(!response.text.contains("access_token") && !response.text.contains("Location:"))
      }
      #expect(org.script.rules.isEmpty)
    }
  }

  @Test func `clients and the org's own pages pass, by every address that is the org's`()
    async throws
  {
    var options = MockOrgOptions()
    options.otherHosts = ["Mock.Test"]
    let org = try MockOrg(options)
    try await MockOrgServer.withServer(org) { server in
      let port = try #require(server.url.port)
      for host in [
        "127.0.0.1", "localhost", "LOCALHOST", "127.8.9.10", "[::1]", "mock.test",
        "login.salesforce.com", "Acme.my.salesforce.com",
      ] {
        let authority = "\(host):\(port)"
        for headers in [
          ["Host": authority],
          ["Host": authority, "Origin": "http://\(authority.lowercased())"],
        ] {
          let statuses = try Self.tried(server, headers).map(\.status)
          #expect(
            statuses == [200, 303, 200, 200, 200, 201, 200, 200, 200, 302, 200], "\(headers)")
          org.removeAllFaults()
        }
      }
    }
  }

  @Test func `pages at the org's public address pass`() async throws {
    var options = MockOrgOptions()
    options.instanceURL = URL(string: "https://org.example/")
    let org = try MockOrg(options)
    try await MockOrgServer.withServer(org) { server in
      let port = try #require(server.url.port)
      for host in ["org.example", "127.0.0.1:\(port)"] {
        let headers = ["Host": host, "Origin": "https://org.example"]
        let response = try RawResponse("GET", "/services/data", port: port, headers: headers)
        #expect(response.status == 200, "\(response.text)")
      }
      let other = try RawResponse(
        "GET", "/services/data", port: port,
        headers: ["Host": "org.example", "Origin": "https://org.example.evil"])
      #expect(other.status == 403)
    }
  }

  @Test func `the org listens on this machine alone`() async throws {
    let org = try MockOrg()
    for host in ["0.0.0.0", "::", "127.evil.example", "192.168.0.1", ""] {
      await #expect(throws: MockOrgError.self, "\(host)") {
        _ = try await MockOrgServer.start(org, host: host)
      }
    }
  }
}
