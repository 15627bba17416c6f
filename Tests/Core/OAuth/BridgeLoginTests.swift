import Foundation
import SalesforceSDKCommon
import Synchronization
import Testing

@testable import SalesforceSDKCore
import TestSupport

/// CO-49, BX-20: logins that begin with a scanned address.
@Suite struct BridgeLoginTests {
  private func address(
    client: String = "client-1", verifier: String? = "proof", state: String? = nil,
    bridge: String = "https://acme.my.salesforce.com/secur/frontdoor.jsp"
  ) -> String {
    var start = "/services/oauth2/authorize?response_type=code&client_id=\(client)"
    if let state { start += "&state=\(state)" }
    var json: JSONObject = [
      "frontdoor_bridge_url": .string("\(bridge)?otp=1&startURL=\(PercentEncoding.encode(start))")
    ]
    if let verifier { json["pkce_code_verifier"] = .string(verifier) }
    return "https://acme.example/login/qr?bridgeJson="
      + PercentEncoding.encode(JSONValue.object(json).text)
  }

  @Test(.covers("CO-49.1", "BX-20.1"))
  func `a scanned login is finished with the verifier that it brings`()
    async throws
  {
    let stub = LoginServerStub([
      "/services/oauth2/token": { _ in LoginServerStub.tokens(["refresh_token": "r"]) }
    ])
    let transport = stub.transport()
    let manager = try await stub.manager(transport)
    let pages = Mutex<[String]>([])
    let account = try await manager.logIn(
      .scanned(
        BridgeLogin(scanned: address()), app: TestOrg.app,
        presenter: ScriptedLoginPresenter { attempt in
          let page = try await attempt.loginPage()
          pages.withLock { $0.append(page.path()) }
          return "\(attempt.app.redirectURI)?code=x"
        }))
    #expect(pages.withLock { $0 } == ["/secur/frontdoor.jsp"])
    // The exchange goes to the bridge's own host, with the verifier from there.
    #expect(transport.requests[0].url.host() == "acme.my.salesforce.com")
    #expect(form(transport.requests[0])["code_verifier"] == "proof")
    #expect(account.credentials.loginServer.domain == "acme.my.salesforce.com")
  }

  @Test(.covers("CO-49.2", "BX-20.2"))
  func `without a verifier the tokens come in the redirect`() async throws {
    let stub = LoginServerStub()
    let transport = stub.transport()
    let manager = try await stub.manager(transport)
    let events = await manager.loginEvents()
    let scanned = address(verifier: nil, state: "s1")
      .replacing("/login/qr?bridgeJson=", with: "/my/scan?login=")
    #expect(throws: OAuthError.self) { try BridgeLogin(scanned: scanned) }
    let instance = PercentEncoding.encode("https://acme.my.salesforce.com")
    let id = PercentEncoding.encode(
      "https://login.salesforce.com/id/00D000000000001EAA/005000000000001AAA")
    let account = try await manager.logIn(
      .scanned(
        BridgeLogin(scanned: scanned, path: "/my/scan", parameter: "login"),
        app: TestOrg.app,
        presenter: ScriptedLoginPresenter { attempt in
          let page = try await attempt.loginPage()
          #expect(page.path() == "/secur/frontdoor.jsp")
          return "\(attempt.app.redirectURI)#access_token=a&refresh_token=r&state=s1"
            + "&instance_url=\(instance)&id=\(id)"
        }))
    #expect(account.credentials.accessToken == "a" && account.credentials.refreshToken == "r")
    #expect(account.identity == TestOrg.identity)
    // No code is redeemed.
    #expect(!transport.requests.contains { $0.url.path().hasSuffix("/token") })
    await manager.close()
    for await event in events { #expect(event.type == .userAgent) }
  }

  @Test(.covers("CO-49.1"))
  func `a state that the scanned login has must come back`() async throws {
    let stub = LoginServerStub()
    let manager = try await stub.manager(stub.transport())
    let bridge = try BridgeLogin(scanned: address(verifier: nil, state: "s1"))
    for state in ["", "&state=s2"] {
      let error = await #expect(throws: OAuthError.self) {
        try await manager.logIn(
          .scanned(
            bridge, app: TestOrg.app,
            presenter: ScriptedLoginPresenter { "\($0.app.redirectURI)#access_token=x\(state)" }))
      }
      #expect(error?.code == .stateMismatch)
    }
  }

  @Test(.covers("CO-49.1"))
  func `another app's login, and what is none, is refused`() async throws {
    let stub = LoginServerStub()
    let manager = try await stub.manager(stub.transport())
    let error = await #expect(throws: OAuthError.self) {
      try await manager.logIn(
        .scanned(
          BridgeLogin(scanned: address(client: "other")), app: TestOrg.app,
          presenter: ScriptedLoginPresenter { _ in "" }))
    }
    #expect(error?.code == .invalidClientId)
    for text in [
      "", "https://a.b/login/qr", "https://a.b/login/qr?bridgeJson=x", "https://a.b/other",
      address(client: ""), address(verifier: nil), address(bridge: "http://evil.example/x"),
      address().replacing("/login/qr", with: "/login/other"),
    ] {
      let error = #expect(throws: OAuthError.self) { try BridgeLogin(scanned: text) }
      #expect(error?.code == .malformedResponse, "\(text)")
    }
    let bridge = try BridgeLogin(scanned: address())
    var shown = "\(bridge)"
    dump(bridge, to: &shown)
    #expect(!shown.contains("proof") && !shown.contains("otp"))
  }
}
