import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Synchronization
import Testing

@testable import SalesforceSDKCore
import TestSupport

/// What do login servers learn of the installation?
@Suite struct InstallationTests {
  private static let site = "https://acme.my.site.com/shop"

  private func stub() -> LoginServerStub {
    let token: LoginServerStub.Answer = { request in
      if form(request)["response_type"] == "device_code" {
        return RestResponse(
          json: """
            {"device_code":"d","user_code":"u",
            "verification_uri":"https://login.salesforce.com/setup/connect"}
            """)
      }
      return LoginServerStub.tokens(["refresh_token": "r"])
    }
    return LoginServerStub([
      "/services/oauth2/token": token, "/shop/services/oauth2/token": token,
      "/shop/services/oauth2/authorize": { _ in RestResponse(json: #"{"code":"c"}"#) },
      "/shop/services/auth/headless/init/passwordless/login": { _ in
        RestResponse(json: #"{"identifier":"ident-1"}"#)
      },
    ])
  }

  /// Logs in by every kind of login, each with its requests to the login server: name of the kind,
  /// requests, and the address of the page that was shown.
  private func logIns(
    _ installationId: String
  ) async throws -> [(kind: String, requests: [TransportRequest], page: String)] {
    var result: [(kind: String, requests: [TransportRequest], page: String)] = []
    func logIn(
      _ kind: String,
      _ body: (UserAccountManager, ScriptedLoginPresenter) async throws -> UserAccount
    ) async throws {
      let transport = stub().transport()
      let manager = try await UserAccountManager(
        persister: InMemoryAccountPersister(), transport: transport,
        userAgent: UserAgent(installationId: installationId), clock: PatientClock())
      let page = Mutex("")
      let presenter = ScriptedLoginPresenter { attempt in
        page.withLock { $0 = attempt.authorizationURL().absoluteString }
        return "\(attempt.app.redirectURI)?code=x"
          + (attempt.state.isEmpty ? "" : "&state=\(attempt.state)")
      }
      _ = try await body(manager, presenter)
      let requests = transport.requests.filter {
        $0.url.path().hasSuffix("/token") || $0.url.path().hasSuffix("/authorize")
      }
      result.append((kind, requests, page.withLock { $0 }))
    }
    let site = try LoginServer(Self.site)
    try await logIn("code") { try await $0.logIn(.browser(app: TestOrg.app, presenter: $1)) }
    try await logIn("refresh") { manager, presenter in
      let account = try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
      return try await manager.refresh(account.identity)
    }
    try await logIn("scan") { manager, presenter in
      let start = PercentEncoding.encode("/services/oauth2/authorize?client_id=client-1")
      let json: JSONObject = [
        "frontdoor_bridge_url": .string("https://acme.my.salesforce.com/f?startURL=\(start)"),
        "pkce_code_verifier": "proof",
      ]
      let address =
        "https://a.example/login/qr?bridgeJson="
        + PercentEncoding.encode(JSONValue.object(json).text)
      return try await manager.logIn(
        .scanned(BridgeLogin(scanned: address), app: TestOrg.app, presenter: presenter))
    }
    try await logIn("password") { manager, _ in
      try await manager.logIn(
        .password(username: "jane@example.com", password: "geheim12", to: site, app: TestOrg.app))
    }
    try await logIn("one-time code") { manager, _ in
      let pending = try await manager.requestOneTimeCode(
        for: "jane@example.com", by: .sms, at: site)
      return try await manager.logIn(
        .oneTimeCode("1", for: pending, to: site, app: TestOrg.app))
    }
    try await logIn("device code") { manager, _ in
      try await manager.logIn(.device(app: TestOrg.app) { _ in })
    }
    try await logIn("assertion") { manager, _ in
      try await manager.logIn(.grant(.assertion(clientId: "c") { _ in "a.b.c" }))
    }
    try await logIn("client secret") { manager, _ in
      try await manager.logIn(.grant(.clientCredentials(clientId: "c", clientSecret: "s")))
    }
    return result
  }

  @Test(.covers("CO-11.3"))
  func `logins of every kind name the installation`() async throws {
    for (kind, requests, page) in try await logIns("device 1") {
      #expect(!requests.isEmpty, "\(kind)")
      for request in requests { #expect(form(request)["device_id"] == "device 1", "\(kind)") }
      #expect(page.isEmpty || page.contains("&device_id=device%201&"), "\(kind)")
    }
  }

  @Test(.covers("CO-11.3"))
  func `an installation without a name is named nowhere`() async throws {
    for (kind, requests, page) in try await logIns("") {
      #expect(!requests.isEmpty, "\(kind)")
      for request in requests { #expect(!text(request.body).contains("device_id"), "\(kind)") }
      #expect(!page.contains("device_id"), "\(kind)")
    }
  }
}
