import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Synchronization
import Testing

@testable import SalesforceSDKCore
import TestSupport

/// Which responses and addresses does a login refuse, apart from those that other suites are about?
@Suite struct OAuthGuardTests {
  private let org = TestOrg()
  private static let site = "https://acme.my.site.com/shop"

  private func code(_ work: () async throws -> Void) async -> OAuthError.Code? {
    do {
      try await work()
      return nil
    } catch {
      return (error as? OAuthError)?.code
    }
  }

  // MARK: Addresses

  @Test func `a scanned login that leads over plain http is refused`() async throws {
    func scan(_ scheme: String) throws {
      let start = PercentEncoding.encode("/services/oauth2/authorize?client_id=client-1&state=s")
      let page = "\(scheme)://acme.example/secur/frontdoor.jsp?startURL=\(start)"
      let json: JSONObject = ["frontdoor_bridge_url": .string(page)]
      _ = try BridgeLogin(
        scanned: "https://acme.example/login/qr?bridgeJson="
          + PercentEncoding.encode(JSONValue.object(json).text), hosts: ["acme.example"])
    }
    #expect(await code { try scan("http") } == .malformedResponse)
    #expect(await code { try scan("https") } == nil)
  }

  @Test func `a device code that sends the person to plain http is refused`() async throws {
    func read(_ scheme: String) throws {
      _ = try DeviceCode(
        JSONSlice(
          parsing: """
            {"device_code":"d","user_code":"u","verification_uri":"\(scheme)://acme.example/x"}
            """))
    }
    #expect(await code { try read("http") } == .malformedResponse)
    #expect(await code { try read("https") } == nil)
  }

  @Test(
    .covers("CO-23.2"),
    arguments: [
      "https://a.b#top", "https://jane@a.b", "https://jane:secret@a.b",
      "https://login.salesforce.com@evil.example", "https://a.b?x",
    ])
  func `a login server's address has neither user nor fragment`(address: String) async {
    #expect(await code { _ = try LoginServer(address) } == .invalidLoginURL)
  }

  @Test func `no token goes to a server over plain http, whatever an account says`() async throws {
    var account = org.account()
    account.credentials.scopes = ["id"]
    account.credentials.instanceURL = URL(string: "http://acme.example")
    account.credentials.identityURL = URL(
      string: "https://login.salesforce.com/id/00D000000000001EAA/005000000000001AAA")
    let transport = org.transport()
    let manager = try await org.manager([account], transport: transport)
    let error = await #expect(throws: TransportError.self) {
      try await manager.refreshProfile(of: TestOrg.identity)
    }
    #expect(error?.code == .insecureURL)
    let client = RestClient(account: account, accounts: manager, transport: transport)
    let refused = await #expect(throws: RestError.self) { try await client.send(.limits()) }
    #expect(refused?.code == .insecureURL)
    #expect(transport.requests.isEmpty)
    // Nor does it where the program's own transport would send anything.
    let careless = CarelessTransport()
    let other = RestClient(account: account, accounts: manager, transport: careless)
    await #expect(throws: RestError.self) { try await other.send(.limits()) }
    #expect(careless.count.withLock { $0 } == 0)
  }

  // MARK: Discovery and configuration

  @Test func `discovery has a path of its own where the address has none, and needs a hint`() {
    let discovery = MyDomainDiscovery(server: .production, clientId: "c")
    #expect(discovery.url.path() == "/discovery")
    let callback = MyDomainDiscovery.callbackURL
    #expect(discovery.result(of: callback + "?my_domain=a.b&login_hint=j") != nil)
    #expect(discovery.result(of: callback + "?my_domain=a.b&login_hint=") == nil)
    #expect(discovery.result(of: callback + "?my_domain=&login_hint=j") == nil)
  }

  @Test func `an org without a configuration says so by its status`() async throws {
    let server = try LoginServer("https://acme.my.salesforce.com")
    for (status, isThere) in [(200, true), (404, false)] {
      let transport = ScriptedTransport { _ in RestResponse(status: status, json: "{}") }
      let service = OAuthService(transport: transport, userAgent: UserAgent())
      let configuration = try await service.configuration(of: server)
      #expect((configuration != nil) == isThere)
    }
  }

  @Test func `a login that is cancelled while it asks for the configuration ends`() async throws {
    let server = try LoginServer("https://acme.my.salesforce.com")
    let isAsked = Latch(), never = Latch()
    let transport = ScriptedTransport { _ in
      isAsked.open()
      try await never.wait()
      return RestResponse(json: "{}")
    }
    let service = OAuthService(transport: transport, userAgent: UserAgent())
    let asking = Task { try await service.configuration(of: server) }
    try await isAsked.wait()
    asking.cancel()
    await #expect(throws: CancellationError.self) { try await asking.value }
  }

  // MARK: Responses

  @Test(arguments: ["@ab.de", "a<b@ab.de", #"a"b@ab.de"#])
  func `a name that is no mail address is not sent`(name: String) async throws {
    let transport = org.transport()
    let manager = try await org.manager(transport: transport)
    #expect(
      await code {
        try await manager.requestPasswordReset(for: name, at: try LoginServer(Self.site))
      } == .invalidUsername)
    #expect(transport.requests.isEmpty)
  }

  @Test func `a response without a body is enough for a new password, a list is not`() async throws
  {
    for (body, expected) in [("", nil), ("[]", .malformedResponse)]
      as [(String, OAuthError.Code?)]
    {
      let stub = LoginServerStub([
        "/shop/services/auth/headless/forgot_password": { _ in RestResponse(json: body) }
      ])
      let manager = try await stub.manager(stub.transport())
      #expect(
        await code {
          try await manager.requestPasswordReset(
            for: "jane@example.com", at: try LoginServer(Self.site))
        } == expected)
    }
  }

  @Test func `a login by name redeems its code where its community is, and needs one`() async throws
  {
    for (given, expected) in [("aPrx", nil), ("", .malformedResponse)]
      as [(String, OAuthError.Code?)]
    {
      let stub = LoginServerStub([
        "/services/oauth2/authorize": { _ in
          RestResponse(json: #"{"code":"\#(given)","sfdc_community_url":"\#(Self.site)"}"#)
        },
        "/shop/services/oauth2/token": { _ in LoginServerStub.tokens(["refresh_token": "r"]) },
        "/services/oauth2/token": { _ in LoginServerStub.tokens(["refresh_token": "r"]) },
      ])
      let transport = stub.transport()
      let manager = try await stub.manager(transport)
      #expect(
        await code {
          try await manager.logIn(
            .password(
              username: "jane@example.com", password: "geheim12",
              to: try LoginServer("https://acme.my.salesforce.com"), app: TestOrg.app))
        } == expected)
      let redeemed = transport.requests.map(\.url.absoluteString).filter { $0.hasSuffix("/token") }
      #expect(redeemed == (expected == nil ? [Self.site + "/services/oauth2/token"] : []))
    }
  }

  @Test func `an empty address in a token response is none`() async throws {
    let stub = LoginServerStub([
      "/services/oauth2/token": { _ in
        LoginServerStub.tokens(["sfdc_community_url": "", "refresh_token": "r"])
      }
    ])
    let manager = try await stub.manager(stub.transport())
    let presenter = ScriptedLoginPresenter {
      "\($0.app.redirectURI)?code=x&state=\($0.state)"
    }
    let account = try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
    #expect(account.credentials.communityURL == nil)
  }

  @Test(arguments: ["user_id", "organization_id"])
  func `tokens are kept for a user and an org that have ids`(missing: String) async throws {
    let stub = LoginServerStub([
      "/services/oauth2/userinfo": { _ in
        var json: JSONObject = [
          "user_id": "005000000000001AAA", "organization_id": "00D000000000001EAA",
        ]
        json[missing] = ""
        return RestResponse(json: JSONValue.object(json).text)
      }
    ])
    let manager = try await stub.manager(stub.transport())
    let server = try LoginServer("https://acme.my.salesforce.com")
    #expect(
      await code {
        try await manager.logIn(.tokens(accessToken: "a", refreshToken: "r", instance: server))
      } == .identityUnavailable)
    #expect(await manager.accounts.isEmpty)
  }

  @Test func `an empty access token is not sent`() async throws {
    let transport = org.transport()
    let manager = try await org.manager([], transport: transport)
    let server = try LoginServer("https://acme.my.salesforce.com")
    #expect(
      await code {
        try await manager.logIn(.tokens(accessToken: "", refreshToken: "r", instance: server))
      } == .invalidCredentials)
    #expect(!transport.requests.contains { $0.url.path().hasSuffix("userinfo") })
  }

  @Test func `who the user is cannot be learned without the scope for it`() async throws {
    var account = org.account()
    account.credentials.scopes = ["api"]
    account.credentials.identityURL = URL(
      string: "https://login.salesforce.com/id/00D000000000001EAA/005000000000001AAA")
    let transport = org.transport()
    let manager = try await org.manager([account], transport: transport)
    #expect(
      await code { try await manager.refreshProfile(of: TestOrg.identity) } == .identityUnavailable)
    #expect(transport.requests.isEmpty)
  }

  // MARK: Requests

  @Test(arguments: [("", nil), ("tablet", "tablet")] as [(String, String?)])
  func `an exchange names the device, if that has a name`(name: String, sent: String?) {
    let attempt = AuthorizationSession(
      app: TestOrg.app, server: .production, flow: .webServer, deviceId: name, loginHint: nil,
      brand: nil, sharesBrowserSession: false)
    let request = OAuthRequests.exchange(
      code: "c", attempt: attempt, redirectURI: "r", userAgent: "u")
    #expect(form(request)["device_id"] == sent)
  }

  @Test(.covers("CO-31.3"))
  func `an account without an instance does not refresh`() async throws {
    var account = org.account()
    account.credentials.instanceURL = nil
    let transport = org.transport()
    let manager = try await org.manager([account], transport: transport)
    #expect(await code { try await manager.refresh(TestOrg.identity) } == .invalidCredentials)
    #expect(transport.requests.isEmpty)
  }
}

/// Sends whatever it gets.
private final class CarelessTransport: HTTPTransport {
  let count = Mutex(0)

  func send(_ request: TransportRequest) async throws -> RestResponse {
    count.withLock { $0 += 1 }
    return RestResponse(json: "{}")
  }
}
