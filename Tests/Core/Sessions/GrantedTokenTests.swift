import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// CO-31, CO-79: tokens that the server has granted while no caller waits for them any more, or that are
/// refused here: are they kept, or ended?
@Suite struct GrantedTokenTests {
  private static let tokenPath = "/services/oauth2/token"

  private let presenter = ScriptedLoginPresenter {
    "\($0.app.redirectURI)?code=x&state=\($0.state)"
  }

  /// The transport to an org whose tokens are on their way for as long as `latch` is closed.
  private func transport(
    _ org: TestOrg, _ latch: Latch, hasGranted: Latch
  ) -> ScriptedTransport {
    let direct = org.transport()
    return ScriptedTransport { request in
      let response = try await direct.send(request)
      guard request.url.path() == Self.tokenPath else { return response }
      hasGranted.open()
      try await latch.wait()
      return response
    }
  }

  private func isClosed(_ manager: UserAccountManager) async -> Bool {
    do {
      _ = try await manager.session(of: TestOrg.identity)
      return false
    } catch {
      return (error as? AccountError)?.code == .closed
    }
  }

  @Test(.covers("CO-31"))
  func `a rotated token that comes while the manager is closed is on disk after it`()
    async throws
  {
    let folder = try TemporaryFolder()
    let persister = EncryptedAccountDirectory(root: folder.url, secrets: InMemorySecretStore())
    let org = TestOrg()
    org.state.withLock {
      $0.rotates = true
      $0.accessToken = "access-9"
    }
    try await persister.save(org.account())
    let latch = Latch(), hasGranted = Latch()
    let slow = transport(org, latch, hasGranted: hasGranted)
    let first = try await UserAccountManager(persister: persister, transport: slow)
    let client = RestClient(account: org.account(), accounts: first, transport: slow)
    let request = Task { try await client.send(.limits()) }
    try await hasGranted.wait()
    let closing = Task { await first.close() }
    await until { await isClosed(first) }
    latch.open()
    await closing.value
    let second = try await UserAccountManager(persister: persister, transport: org.transport())
    #expect(
      await second.account(for: TestOrg.identity)?.credentials.refreshToken == "refresh-2")
    _ = await request.result
    try await second.refresh(TestOrg.identity)
    #expect(org.state.withLock { $0.refreshes } == 2)
  }

  @Test func `a close waits for tokens only for the time that its options allow`() async throws {
    let org = TestOrg()
    org.tokenLatch.close()
    let clock = HandClock()
    let manager = try await org.manager(clock: clock)
    let refresh = Task { try await manager.refresh(TestOrg.identity) }
    await until { org.state.withLock { $0.refreshes } == 1 }
    let closing = Task { await manager.close() }
    await until { clock.hasSleeper(for: .seconds(10)) }
    clock.advance(by: .seconds(10))
    await closing.value
    let error = await #expect(throws: AccountError.self) { try await refresh.value }
    #expect(error?.code == .closed)
  }

  @Test func `a closed manager refuses logins, and still logs out`() async throws {
    let org = TestOrg()
    let transport = org.transport()
    let manager = try await org.manager(transport: transport)
    await manager.close()
    let error = await #expect(throws: AccountError.self) {
      try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
    }
    #expect(error?.code == .closed)
    let other = await #expect(throws: AccountError.self) {
      try await manager.logIn(.tokens(accessToken: "access-1", instance: .production))
    }
    #expect(other?.code == .closed)
    #expect(transport.requests.isEmpty)
    #expect(try await manager.logOut(TestOrg.identity).isRevoked == true)
  }

  @Test(.covers("CO-59.1", "CO-31.6"))
  func `a token endpoint that does not finish its response times out`()
    async throws
  {
    let org = TestOrg()
    org.tokenLatch.close()
    let clock = HandClock()
    let manager = try await org.manager(clock: clock)
    let refresh = Task { try await manager.refresh(TestOrg.identity) }
    // The transport hears a byte now and then; no silence ends it.
    await until { clock.hasSleeper(for: .seconds(120)) }
    clock.advance(by: .seconds(120))
    let error = await #expect(throws: OAuthError.self) { try await refresh.value }
    #expect(error?.code == .timedOut)
    #expect(await manager.account(for: TestOrg.identity)?.loginState == .loggedIn)
  }

  @Test(.covers("CO-79.1"))
  func `a login that is cancelled while its tokens come ends them`() async throws {
    let org = TestOrg()
    let latch = Latch(), hasGranted = Latch()
    let manager = try await UserAccountManager(
      persister: InMemoryAccountPersister(),
      transport: transport(org, latch, hasGranted: hasGranted))
    let login = Task { try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter)) }
    try await hasGranted.wait()
    await manager.cancelLogin()
    latch.open()
    await #expect(throws: CancellationError.self) { try await login.value }
    #expect(await manager.accounts.isEmpty)
    #expect(org.state.withLock { $0.revocations } == ["refresh-1"])
  }

  @Test(.covers("CO-79.1"))
  func `the tokens of a login that is refused here are ended`() async throws {
    let revoked = Mutex<[String]>([])
    let stub = LoginServerStub([
      "/services/oauth2/revoke": { request in
        revoked.withLock { $0.append(form(request)["token"] ?? "") }
        return RestResponse(status: 200)
      }
    ])
    let persister = FailingPersister()
    let manager = try await UserAccountManager(
      persister: persister, transport: stub.transport())
    func logIn(_ token: String, without missing: [String] = []) async throws -> UserAccount {
      stub.set(Self.tokenPath) { _ in
        LoginServerStub.tokens(["refresh_token": token], without: missing)
      }
      return try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
    }
    // No instance; an unknown user; no room on the disk.
    await #expect(throws: OAuthError.self) {
      try await logIn("refresh-1", without: ["instance_url"])
    }
    await #expect(throws: OAuthError.self) { try await logIn("refresh-2", without: ["id"]) }
    persister.isFull.withLock { $0 = true }
    await #expect(throws: AccountError.self) { try await logIn("refresh-3") }
    #expect(revoked.withLock { $0 } == ["refresh-1", "refresh-2", "refresh-3"])

    // A server may give the token of a session that is here; that one goes on.
    persister.isFull.withLock { $0 = false }
    _ = try await logIn("refresh-4")
    persister.isFull.withLock { $0 = true }
    await #expect(throws: AccountError.self) { try await logIn("refresh-4") }
    #expect(revoked.withLock { $0.count } == 3)
  }
}
