import FieldforceGzip
import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SalesforceMockOrg

/// What a program without a session may try with large bodies.
@Suite(.ownThreads) struct BodyLimitTests {
  @Test(arguments: [
    "/services/data/v66.0/sobjects/Account", "/services/async/66.0/job",
    "/services/apexrest/Visits", "/mock-org/faults",
  ])
  func `a large body without a session is not kept`(path: String) async throws {
    try await withMockOrg { org, server in
      let port = try #require(server.url.port)
      let response = try RawResponse(
        "POST", path, port: port, headers: ["Content-Type": "application/json"],
        body: [UInt8](repeating: 0x20, count: 1 << 20))
      #expect(response.status == 401, "\(response.text)")
      #expect((org.requestLog.last?.requestBytes ?? 0) == 0)
    }
  }

  @Test(arguments: [
    "/services/oauth2/token", "/services/oauth2/authorize", "/services/oauth2/revoke",
    "/setup/connect", "/nothing",
  ])
  func `a login longer than any is refused`(path: String) async throws {
    try await withMockOrg { _, server in
      let port = try #require(server.url.port)
      let response = try RawResponse(
        "POST", path, port: port, headers: ["Content-Type": "application/x-www-form-urlencoded"],
        body: [UInt8](repeating: 0x61, count: 100_000))
      #expect(response.status == 413, "\(response.text)")
    }
  }

  @Test func `a small body that expands to a large one is refused without a session`() async throws
  {
    try await withMockOrg { org, server in
      let port = try #require(server.url.port)
      let bomb = try #require(Gzip.compressed([UInt8](repeating: 0x20, count: 8 << 20)))
      for path in ["/services/oauth2/token", "/services/data/v66.0/sobjects/Account"] {
        let response = try RawResponse(
          "POST", path, port: port, headers: ["Content-Encoding": "gzip"], body: bomb)
        #expect([413, 415].contains(response.status), "\(response.text)")
      }
      let expanded = Gzip.expanded(bomb, limit: 64 << 20) { $0 < 1 << 20 }
      #expect(expanded == nil)
    }
  }

  @Test func `a session may send as much as the resource takes`() async throws {
    func limit(_ target: String, _ type: String = "application/json") -> Int {
      BodyLimits.limit(
        for: OrgRequest(method: "POST", target: target, headers: ["content-type": type]),
        isAuthenticated: true)
    }
    let data = "/services/data/v66.0"
    #expect(limit("\(data)/sobjects/Account") == 50 << 20)
    #expect(limit("\(data)/composite") == 50 << 20)
    #expect(
      limit("\(data)/sobjects/ContentVersion", "Multipart/form-data; boundary=x") == 150 << 20)
    #expect(limit("\(data)/jobs/ingest/750/batches", "text/csv") == 150 << 20)
    #expect(limit("\(data)/connect/files/users/me", "multipart/form-data") == 150 << 20)
    #expect(limit("/services/async/66.0/job/1/batch") == 150 << 20)
    #expect(limit("/mock-org/faults") == 50 << 20)
    #expect(limit("/services/oauth2/token") == 64 << 10)
    try await withMockOrg { org, server in
      let body = Array(
        #"{"Name":"x","Description":"\#(String(repeating: "d", count: 30_000))"}"#.utf8)
      let port = try #require(server.url.port)
      let spaces = [UInt8](repeating: 0x20, count: 2 << 20)
      let response = try RawResponse(
        "POST", "\(data)/sobjects/Account", port: port,
        headers: [
          "Authorization": "Bearer \(server.info.accessToken)", "Content-Type": "application/json",
        ], body: body + spaces)
      #expect(response.status == 201, "\(response.text)")
    }
  }

  @Test func `a large call of SOAP needs a session at its beginning`() async throws {
    try await withMockOrg { _, server in
      let port = try #require(server.url.port)
      func status(_ header: String) throws -> Int {
        let envelope =
          "<Envelope><Header>\(header)</Header><Body><create>"
          + String(repeating: "<a/>", count: 200_000) + "</create></Body></Envelope>"
        return try RawResponse(
          "POST", "/services/Soap/u/66.0", port: port, headers: ["Content-Type": "text/xml"],
          body: Array(envelope.utf8)
        ).status
      }
      func session(_ id: String) -> String {
        "<SessionHeader><sessionId>\(id)</sessionId></SessionHeader>"
      }
      #expect(try status("") == 413)
      #expect(try status(session("none")) == 413)
      #expect(try status(session(server.info.accessToken)) != 413)
    }
  }

  @Test func `the bodies in memory have one limit together`() {
    let budget = BodyBudget()
    #expect(budget.take(BodyLimits.total - 1))
    #expect(!budget.take(2))
    #expect(budget.take(1))
    budget.give(back: 10)
    #expect(budget.take(10))
    #expect(!budget.take(1))
  }
}
