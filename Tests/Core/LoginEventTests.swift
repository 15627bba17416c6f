import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Synchronization
import Testing

@testable import SalesforceSDKCore
import TestSupport

/// Which events does a login send, and what do they carry?
@Suite struct LoginEventTests {
  private let presenter = ScriptedLoginPresenter {
    "\($0.app.redirectURI)?code=x&state=\($0.state)"
  }
  private let other = TestOrg().account(
    identity: UserAccountIdentity(userId: "005000000000009AAA", organizationId: "00D9"))

  private func stub() -> LoginServerStub {
    LoginServerStub([
      "/services/oauth2/token": { _ in LoginServerStub.tokens(["refresh_token": "r"]) },
      "/services/oauth2/userinfo": { _ in
        RestResponse(
          json: #"{"user_id":"005000000000001AAA","organization_id":"00D000000000001EAA"}"#)
      },
      "/services/oauth2/singleaccess": { _ in
        RestResponse(json: #"{"frontdoor_uri":"https://acme.my.salesforce.com/f"}"#)
      },
    ])
  }

  /// An account event in one line: kind, what the kind carries, and the account's user.
  private func line(_ event: AccountEvent) -> String {
    let kind =
      switch event.kind {
      case .willLogOut(let reason): "willLogOut \(reason.rawValue)"
      case .didLogOut(let reason): "didLogOut \(reason.rawValue)"
      case .sessionDidEnd(let reason): "sessionDidEnd \(reason.rawValue)"
      case .willBecomeCurrent(let previous): "willBecomeCurrent after \(previous?.userId ?? "none")"
      case .didBecomeCurrent(let previous): "didBecomeCurrent after \(previous?.userId ?? "none")"
      default: "\(event.kind)"
      }
    return "\(kind): \(event.account.userId)"
  }

  /// A login event in one line: kind, account or error, type and server.
  private func line(_ event: LoginEvent) -> String {
    let kind =
      switch event.kind {
      case .didLogIn(let account): "didLogIn \(account.userId)"
      case .didFail(let error): "didFail \((error as? OAuthError)?.code.description ?? "")"
      default: "\(event.kind)"
      }
    return "\(kind): \(event.type) \(event.server.domain)"
  }

  @Test(.covers("CO-110.2", "CO-82.3"))
  func `an event carries its account, its reason and the former user`()
    async throws
  {
    let manager = try await stub().manager(stub().transport(), [other])
    try await manager.setCurrent(other.identity)
    let events = manager.events()
    let account = try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
    try await manager.logOut(account.identity, reason: .userLogout)
    await manager.close()
    var lines: [String] = []
    for await event in events {
      lines.append(line(event))
      if case .didLogIn = event.kind { #expect(event.account == account) }
    }
    #expect(
      lines == [
        "didLogIn: 005000000000001AAA",
        "willBecomeCurrent after 005000000000009AAA: 005000000000001AAA",
        "didBecomeCurrent after 005000000000009AAA: 005000000000001AAA",
        "willLogOut user_logout: 005000000000001AAA", "didResignCurrent: 005000000000001AAA",
        "didLogOut user_logout: 005000000000001AAA", "didLogOutOrganization: 005000000000001AAA",
      ])
  }

  @Test(.covers("BX-112", "CO-32"))
  func `a refused refresh token is an event with its user and the reason`()
    async throws
  {
    let stub = stub()
    stub.set("/services/oauth2/token") { _ in LoginServerStub.refusal("invalid_grant") }
    let manager = try await stub.manager(stub.transport(), [TestOrg().account(), other])
    let events = manager.events()
    await #expect(throws: OAuthError.self) { try await manager.refresh(TestOrg.identity) }
    await manager.close()
    var lines: [String] = []
    for await event in events {
      lines.append(line(event))
      #expect(event.account.loginState == .notLoggedIn)
    }
    #expect(lines == ["sessionDidEnd refresh_token_expired: 005000000000001AAA"])
  }

  @Test(.covers("CO-82.2", "CO-44.5"))
  func `a cancelled login leaves the current user and the accounts`()
    async throws
  {
    let manager = try await stub().manager(stub().transport(), [other])
    try await manager.setCurrent(other.identity)
    let accountEvents = manager.events()
    let loginEvents = await manager.loginEvents()
    let isShown = Latch(), never = Latch()
    let login = Task {
      try await manager.logIn(
        .browser(
          app: TestOrg.app,
          presenter: ScriptedLoginPresenter { _ in
            isShown.open()
            try await never.wait()
            return ""
          }))
    }
    try await isShown.wait()
    await manager.cancelLogin()
    await #expect(throws: CancellationError.self) { try await login.value }
    #expect(await manager.current == other)
    #expect(await manager.accounts == [other])
    await manager.close()
    var lines: [String] = []
    for await event in loginEvents { lines.append(line(event)) }
    #expect(
      lines == [
        "willLogIn: WebServer login.salesforce.com", "willShowPage: WebServer login.salesforce.com",
        "didCancel: WebServer login.salesforce.com",
      ])
    for await event in accountEvents { Issue.record("\(event.kind)") }
  }

  @Test(.covers("CO-25.2"))
  func `a move to another app names its kind`() async throws {
    let stub = stub()
    let manager = try await stub.manager(stub.transport(), [TestOrg().account()])
    let events = await manager.loginEvents()
    try await manager.migrate(
      TestOrg.identity, to: ConnectedApp(clientId: "client-2", redirectURI: "a://b"),
      presenter: presenter)
    await manager.close()
    var types: [LoginType] = []
    for await event in events { types.append(event.type) }
    #expect(types == [.refreshTokenMigration, .refreshTokenMigration, .refreshTokenMigration])
  }

  @Test(.covers("CO-25.3"))
  func `a login by tokens or by a server grant has events of its own`() async throws {
    let stub = stub()
    let manager = try await stub.manager(stub.transport())
    let events = await manager.loginEvents()
    let server = try LoginServer("acme.my.salesforce.com")
    try await manager.logIn(.tokens(accessToken: "access-1", instance: server))
    try await manager.logIn(.grant(.assertion(clientId: "c") { _ in "a.b.c" }))
    try await manager.logIn(
      .grant(.clientCredentials(clientId: "c", clientSecret: "s"), to: server))
    stub.set("/services/oauth2/userinfo") { _ in RestResponse(status: 403) }
    await #expect(throws: OAuthError.self) {
      try await manager.logIn(.tokens(accessToken: "bad", instance: server))
    }
    await manager.close()
    var lines: [String] = []
    for await event in events { lines.append(line(event)) }
    #expect(
      lines == [
        "willLogIn: Unknown acme.my.salesforce.com",
        "didLogIn 005000000000001AAA: Unknown acme.my.salesforce.com",
        "willLogIn: JwtTokenExchange login.salesforce.com",
        "didLogIn 005000000000001AAA: JwtTokenExchange login.salesforce.com",
        "willLogIn: Unknown acme.my.salesforce.com",
        "didLogIn 005000000000001AAA: Unknown acme.my.salesforce.com",
        "willLogIn: Unknown acme.my.salesforce.com",
        "didFail accessDenied: Unknown acme.my.salesforce.com",
      ])
  }

  @Test(.covers("CO-25.3", "CO-24.2"))
  func `a login by tokens or by a grant waits for no other login, and is refused`()
    async throws
  {
    let stub = stub()
    let transport = stub.transport()
    let manager = try await stub.manager(transport)
    let isShown = Latch(), mayGoOn = Latch()
    let first = Task {
      try await manager.logIn(
        .browser(
          app: TestOrg.app,
          presenter: ScriptedLoginPresenter { attempt in
            isShown.open()
            try await mayGoOn.wait()
            return "\(attempt.app.redirectURI)?code=x&state=\(attempt.state)"
          }))
    }
    try await isShown.wait()
    var error = await #expect(throws: AccountError.self) {
      try await manager.logIn(.tokens(accessToken: "access-1", instance: .production))
    }
    #expect(error?.code == .illegalState)
    error = await #expect(throws: AccountError.self) {
      try await manager.logIn(.grant(.assertion(clientId: "c") { _ in "a.b.c" }))
    }
    #expect(error?.code == .illegalState)
    #expect(transport.requests.isEmpty)
    mayGoOn.open()
    #expect(try await first.value.identity == TestOrg.identity)
  }
}
