import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Testing

@testable import SalesforceSDKCore
import TestSupport

/// CO-128: where a token may follow a redirect.
@Suite struct RedirectTests {
  private func request(
    _ url: String, method: HTTPRequest.Method = .post, withToken: Bool = true
  ) throws -> TransportRequest {
    var request = TransportRequest(
      method: method, url: try #require(URL(string: url)), body: Array("{}".utf8))
    request.headers[.contentType] = "application/json"
    if withToken { request.headers[.authorization] = "Bearer t" }
    return request
  }

  private func next(
    _ request: TransportRequest, _ location: String, status: Int = 307
  ) -> TransportRequest? {
    RedirectRule(trustedHostSuffixes: RedirectRule.platformHostSuffixes).request(
      after: RestResponse(status: status, headers: [.location: location]), to: request)
  }

  @Test(
    .covers("CO-128.1", "BX-27"),
    arguments: [
      ("https://other.salesforce.com/x", true), ("https://a.b.force.com/x", true),
      ("https://acme.my.salesforce-sites.com/", true), ("/relative?q=1", true),
      ("https://acme.example.com/elsewhere", true), ("https://example.com/x", false),
      ("https://evilsalesforce.com", false), ("https://salesforce.com.example.com", false),
      ("http://acme.example.com/x", false), ("http://other.salesforce.com/x", false),
      ("http://127.0.0.1/x", false), ("https://other.salesforce.com@example.com/x", false),
      ("//example.com/x", false), ("ftp://other.salesforce.com/x", false), ("", false),
      ("https://acme.example.com:444/x", false), ("https://other.salesforce.com:443/x", true),
      ("https://other.salesforce.com:8443/x", false), ("https://other.salesforce.com:80/x", false),
    ])
  func `a token follows to the platform and to its own host alone`(
    location: String, isFollowed: Bool
  ) throws {
    let followed = next(try request("https://acme.example.com/first"), location)
    #expect((followed != nil) == isFollowed)
    if let followed { #expect(followed.headers[.authorization] == "Bearer t") }
  }

  @Test(
    .covers("CO-128.2"),
    arguments: [
      ".salesforce.com", ".force.com", ".sfdcopens.com", ".site.com", ".lightning.com",
      ".salesforce-sites.com", ".force-user-content.com", ".salesforce-experience.com",
      ".salesforce-scrt.com",
    ])
  func `a host of the platform is known by its ending`(suffix: String) throws {
    let first = try request("https://acme.example.com/first")
    #expect(next(first, "https://acme\(suffix)/x") != nil)
    #expect(next(first, "https://acme\(suffix).example/x") == nil)
    #expect(next(first, "https://evil\(suffix.dropFirst())/x") == nil)
    // The list has no other entries.
    #expect(RedirectRule.platformHostSuffixes.contains(suffix))
    #expect(RedirectRule.platformHostSuffixes.count == 9)
  }

  @Test(.covers("CO-128.1"))
  func `without a token a redirect leads anywhere secure`() throws {
    let first = try request("https://acme.example.com/first", withToken: false)
    #expect(next(first, "https://example.com/x")?.url.absoluteString == "https://example.com/x")
    #expect(next(first, "http://example.com/x") == nil)
    #expect(next(first, "http://127.0.0.1/x") == nil)
  }

  @Test(.covers("CO-128.1"))
  func `method, header fields and body are kept, but for a 303`() throws {
    let first = try request("https://acme.salesforce.com/first")
    for status in [301, 302, 307, 308] {
      let followed = try #require(self.next(first, "/second", status: status))
      var expected = first
      expected.url = try #require(URL(string: "https://acme.salesforce.com/second"))
      #expect(followed == expected)
    }
    let other = try #require(self.next(first, "/second", status: 303))
    #expect(other.method == .get)
    #expect(other.body == nil)
    #expect(next(first, "/second", status: 300) == nil)
    #expect(next(first, "/second", status: 200) == nil)
  }

  @Test(.covers("CO-128.1", "BX-27"))
  func `a client gets a redirect to an untrusted host as its response`() async throws {
    let org = TestOrg { request in
      request.url.path().hasSuffix("/limits")
        ? RestResponse(status: 302, headers: [.location: "https://evil.example.com/"])
        : RestResponse(json: "{}")
    }
    let transport = org.transport()
    let manager = try await org.manager(transport: transport)
    let client = RestClient(account: org.account(), accounts: manager, transport: transport)
    let error = await #expect(throws: RestError.self) { try await client.send(.limits()) }
    #expect(error?.status == 302)
    #expect(transport.requests.map { $0.url.host() } == ["acme.my.salesforce.com"])
  }

  @Test func `a redirect without end is given back after five`() async throws {
    let transport = ScriptedTransport { _ in
      RestResponse(status: 302, headers: [.location: "/again"])
    }
    let url = try #require(URL(string: "https://acme.salesforce.com/first"))
    let response = try await RestClient(transport: transport).response(to: RestRequest(url: url))
    #expect(response.status == 302)
    #expect(transport.requests.count == 6)
  }

  @Test func `the token endpoint is never followed elsewhere`() async throws {
    let transport = ScriptedTransport { _ in
      RestResponse(
        status: 307, headers: [.location: "https://other.salesforce.com/services/oauth2/token"])
    }
    let service = OAuthService(transport: transport, userAgent: UserAgent())
    let error = await #expect(throws: OAuthError.self) {
      try await service.refresh(TestOrg().account().credentials)
    }
    #expect(error?.code == .malformedResponse)
    #expect(transport.requests.count == 1)
  }

  @Test(arguments: [
    "https://other.my.site.com/x", "https://other.my.salesforce.com/x",
    "https://other.force.com/x", "https://evil.example%2f.salesforce.com/x",
    "https://login.salesforce.com.evil.example/",
  ])
  func `a token goes to no server of another org`(address: String) async throws {
    let url = try #require(URL(string: address))
    let org = TestOrg { request in
      request.url.path().hasSuffix("/limits")
        ? RestResponse(status: 302, headers: [.location: address])
        : RestResponse(json: "{}")
    }
    let transport = org.transport()
    let manager = try await org.manager(transport: transport)
    let client = RestClient(account: org.account(), accounts: manager, transport: transport)
    let direct = await #expect(throws: RestError.self) {
      try await client.send(RestRequest(path: "/x", host: .base(url)))
    }
    #expect(direct?.code == .invalidRequest)
    let redirected = await #expect(throws: RestError.self) { try await client.send(.limits()) }
    #expect(redirected?.status == 302)
    #expect(transport.requests.map { $0.url.host() } == ["acme.my.salesforce.com"])
  }
}
