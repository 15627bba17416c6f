import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Testing

@testable import SalesforceSDKCore
import TestSupport

/// What do the calls around a login have in common?
@Suite struct CallHeaderTests {
  private static let site = "https://acme.my.site.com/shop"

  /// The calls of a login, a new profile and a logout, and those of a headless login.
  private func calls() async throws -> [TransportRequest] {
    let stub = LoginServerStub([
      "/services/oauth2/token": { _ in LoginServerStub.tokens(["refresh_token": "r"]) },
      "/shop/services/oauth2/token": { _ in LoginServerStub.tokens(["refresh_token": "r"]) },
      "/shop/services/oauth2/authorize": { _ in RestResponse(json: #"{"code":"c"}"#) },
      "/shop/services/auth/headless/forgot_password": { _ in RestResponse(status: 200) },
      "/services/oauth2/userinfo": { _ in
        RestResponse(
          json: #"{"user_id":"005000000000001AAA","organization_id":"00D000000000001EAA"}"#)
      },
      "/services/oauth2/revoke": { _ in RestResponse(status: 200) },
    ])
    let transport = stub.transport()
    var options = UserAccountManager.Options()
    options.refusesIntegrationUsers = true
    let manager = try await UserAccountManager(
      persister: InMemoryAccountPersister(), transport: transport,
      userAgent: UserAgent(appName: "Kiosk", installationId: "device-1"), options: options)
    let org = try LoginServer("acme.my.salesforce.com"), site = try LoginServer(Self.site)
    let account = try await manager.logIn(
      .browser(
        to: org, app: TestOrg.app,
        presenter: ScriptedLoginPresenter { "\($0.app.redirectURI)?code=x&state=\($0.state)" }))
    try await manager.logOut(account.identity)
    let again = try await manager.logIn(.tokens(accessToken: "access-1", instance: org))
    try await manager.logOut(again.identity)
    try await manager.logIn(
      .password(username: "jane@example.com", password: "geheim12", to: site, app: TestOrg.app))
    try await manager.requestPasswordReset(for: "jane@example.com", at: site)
    return transport.requests
  }

  private static let paths = [
    "/.well-known/auth-configuration", "/services/oauth2/token", "/services/oauth2/userinfo",
    "/id/00D000000000001EAA/005000000000001AAA", "/services/oauth2/revoke",
    "/shop/services/oauth2/authorize", "/shop/services/oauth2/token",
    "/shop/services/auth/headless/forgot_password",
  ]

  @Test(.covers("CO-181.2"))
  func `each call around a login says who sends it`() async throws {
    let calls = try await calls()
    #expect(Set(calls.map { $0.url.path() }).isSuperset(of: Self.paths))
    for call in calls {
      let agent = try #require(call.headers[.userAgent], "\(call.url.path())")
      #expect(agent.hasPrefix("SalesforceMobileSDK/\(SDKVersion.current) "))
      #expect(agent.contains(" Kiosk/1.0 Native uid_device-1 "))
    }
  }

  @Test(.covers("CO-59.2"))
  func `each call around a login waits 120 seconds, for a configuration 5`()
    async throws
  {
    for call in try await calls() {
      let isConfiguration = call.url.path().hasSuffix("auth-configuration")
      #expect(call.timeout == .seconds(isConfiguration ? 5 : 120), "\(call.url.path())")
    }
  }
}
