import Foundation
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// What does a login refuse while something else happens to the same account?
@Suite struct LoginGuardTests {
  private let org = TestOrg()
  private let presenter = ScriptedLoginPresenter {
    "\($0.app.redirectURI)?code=x&state=\($0.state)"
  }
  private static let identityPath = "/id/00D000000000001EAA/005000000000001AAA"

  private func enter(_ manager: UserAccountManager) async throws -> UserAccount {
    try await manager.logIn(
      .tokens(
        accessToken: "access-1", refreshToken: "refresh-9",
        instance: LoginServer("https://acme.my.salesforce.com")))
  }

  // a logout                      a login
  // is decided, closes the data
  //                               is refused: the disk says nothing of the logout yet
  @Test(.covers("CO-84"))
  func `a login is refused as soon as a logout closes the account's data`() async throws {
    let manager = try await org.manager()
    let keeper = ClosingKeeper()
    manager.register(keeper)
    let logout = Task { try await manager.logOut(TestOrg.identity) }
    try await keeper.isClosing.wait()
    let error = await #expect(throws: AccountError.self) { try await enter(manager) }
    #expect(error?.code == .illegalState)
    keeper.mayClose.open()
    _ = try await logout.value
    #expect(await manager.accounts.isEmpty)
  }

  // a process                     another process
  //                               notes that the user is being logged out
  // logs the user in: refused
  @Test(.covers("CO-84", "CO-98"))
  func `a login is refused while another process logs the user out`() async throws {
    let persister = InMemoryAccountPersister()
    try await persister.save(org.account())
    let manager = try await UserAccountManager(
      persister: persister, transport: org.transport())
    var leaving = org.account()
    leaving.loginState = .loggingOut
    try await persister.save(leaving)
    let error = await #expect(throws: AccountError.self) { try await enter(manager) }
    #expect(error?.code == .illegalState)
    #expect(try await persister.fetch(TestOrg.identity) == leaving)
  }

  @Test(.covers("CO-84"))
  func `a login finishes the logout whose process ended on the way`() async throws {
    let persister = InMemoryAccountPersister()
    var leaving = org.account()
    leaving.loginState = .loggingOut
    leaving.customData = ["region": "north"]
    try await persister.save(leaving)
    let manager = try await UserAccountManager(
      persister: persister, transport: org.transport())
    let account = try await enter(manager)
    #expect(account.loginState == .loggedIn && account.customData.isEmpty)
    #expect(org.state.withLock { $0.revocations } == ["refresh-1"])
  }

  @Test(.covers("CO-73"))
  func `a login that is cancelled during the identity request keeps no account`()
    async throws
  {
    let stub = LoginServerStub([
      "/services/oauth2/token": { _ in LoginServerStub.tokens(["refresh_token": "r"]) },
      Self.identityPath: { _ in throw CancellationError() },
    ])
    let transport = stub.transport()
    var options = UserAccountManager.Options()
    options.keepsLoginWithoutProfile = true
    let manager = try await stub.manager(transport, options: options)
    await #expect(throws: CancellationError.self) {
      try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
    }
    #expect(await manager.accounts.isEmpty)
    #expect(transport.requests.contains { $0.url.path().hasSuffix("/revoke") })
  }

  @Test(.covers("CO-35.4", "BX-11.3"))
  func `a login that brings no refresh token is logged, a grant's is not`()
    async throws
  {
    try await Turns.logging.run { [presenter] in
      let lines = Mutex<[String]>([])
      SalesforceLogger.setReceivers { _ in Lines { line in lines.withLock { $0.append(line) } } }
      defer { SalesforceLogger.setReceivers(nil) }
      // An address of its own, since other tests log in at the same time.
      let server = try LoginServer("https://norefresh.my.salesforce.com")
      let stub = LoginServerStub([
        "/services/oauth2/token": { _ in
          LoginServerStub.tokens([
            "id": server.url.absoluteString + Self.identityPath,
            "instance_url": server.url.absoluteString,
          ])
        }
      ])
      func warnings() -> Int {
        lines.withLock {
          $0.filter { $0.contains("\(server)") && $0.contains("refresh token") }.count
        }
      }
      let manager = try await stub.manager(stub.transport())
      try await manager.logIn(
        .grant(.assertion(clientId: "client-1") { _ in "signed" }, to: server))
      #expect(warnings() == 0)
      let other = try await stub.manager(stub.transport())
      try await other.logIn(.browser(to: server, app: TestOrg.app, presenter: presenter))
      #expect(warnings() == 1)
    }
  }

  @Test func `a grant is kept for accounts that are here`() async throws {
    let manager = try await org.manager([])
    let error = await #expect(throws: AccountError.self) {
      try await manager.renew(TestOrg.identity, with: .assertion(clientId: "c") { _ in "signed" })
    }
    #expect(error?.code == .unknownAccount)
  }

  @Test(.covers("BX-8"))
  func `a response to a one-time code without an identifier is refused`() async throws {
    let site = "https://acme.my.site.com/shop"
    let stub = LoginServerStub([
      "/shop/services/auth/headless/init/passwordless/login": { _ in
        RestResponse(json: #"{"identifier":""}"#)
      }
    ])
    let transport = stub.transport()
    let manager = try await stub.manager(transport)
    let error = await #expect(throws: OAuthError.self) {
      try await manager.requestOneTimeCode(
        for: "jane@example.com", by: .email, at: try LoginServer(site))
    }
    #expect(error?.code == .malformedResponse)
    // Without reCAPTCHA the request has no member for it.
    #expect(
      try JSONSlice(parsing: transport.requests.first?.body ?? []).value
        == ["username": "jane@example.com", "verificationmethod": "email"])
  }
}

/// Waits to close the data of an account.
final class ClosingKeeper: AccountDataKeeper {
  let isClosing = Latch()
  let mayClose = Latch()
  var keeperName: String { "Notes" }
  var keeperId: String { keeperName }

  func hold(_ account: UserAccount) async throws -> Int {
    isClosing.open()
    try await mayClose.wait()
    return 0
  }

  func erase(_ account: UserAccount) async throws {}
}

/// Passes on the text of every record.
private struct Lines: LogReceiver {
  let tell: @Sendable (String) -> Void

  init(_ tell: @escaping @Sendable (String) -> Void) { self.tell = tell }

  func receive(_ record: LogRecord) { tell(record.text) }
}
