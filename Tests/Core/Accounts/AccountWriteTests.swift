import Foundation
import SalesforceSDKCommon
import Synchronization
import Testing

@testable import SalesforceSDKCore
import TestSupport

/// CO-31, CO-79: which value of an account is on disk in the end, when writes are slow or fail?
@Suite struct AccountWriteTests {
  /// A manager whose account has tokens that could not be written, on a disk with space again.
  private func manager(_ persister: FailingPersister) async throws -> UserAccountManager {
    let org = TestOrg()
    org.state.withLock { $0.rotates = true }
    try await persister.save(org.account())
    let manager = try await UserAccountManager(persister: persister, transport: org.transport())
    persister.isFull.withLock { $0 = true }
    await #expect(throws: AccountError.self) { try await manager.refresh(TestOrg.identity) }
    persister.isFull.withLock { $0 = false }
    return manager
  }

  /// Starts a write of the old tokens that does not end before the latch is open.
  private func slowWrite(
    _ manager: UserAccountManager, _ persister: FailingPersister, _ latch: Latch
  ) async -> Task<UserAccount, any Error> {
    persister.obstacle.withLock { $0 = latch }
    let session = Task { try await manager.session(of: TestOrg.identity) }
    await until { persister.waiting.withLock { $0 } == 1 }
    return session
  }

  // a request                     a login
  // writes the refreshed tokens
  //   (slow)                      has newer tokens, writes them
  //   lands
  //                               lands
  @Test(.covers("CO-31"))
  func `an older token never lands after a newer one`() async throws {
    let persister = FailingPersister()
    let manager = try await manager(persister)
    let latch = Latch()
    let session = await slowWrite(manager, persister, latch)
    let before = persister.visits.withLock { $0 }
    let login = Task {
      try await manager.logIn(
        .tokens(accessToken: "access-2", refreshToken: "refresh-new", instance: .production))
    }
    // The login is where it waits for the write, or writes at the same time.
    await until { persister.visits.withLock { $0 } > before }
    latch.open()
    _ = try? await session.value
    let account = try await login.value
    #expect(account.credentials.refreshToken == "refresh-new")
    #expect(
      try await persister.fetch(TestOrg.identity)?.credentials.refreshToken == "refresh-new")
    #expect(
      await manager.account(for: TestOrg.identity)?.credentials.refreshToken == "refresh-new")
  }

  @Test(.covers("CO-84.4"))
  func `a write that is under way does not bring a logged out account back`()
    async throws
  {
    let persister = FailingPersister()
    let manager = try await manager(persister)
    let latch = Latch()
    let session = await slowWrite(manager, persister, latch)
    let logout = Task { try await manager.logOut(TestOrg.identity) }
    await until { await manager.account(for: TestOrg.identity)?.loginState != .loggedIn }
    latch.open()
    _ = try? await session.value
    _ = try await logout.value
    #expect(try await persister.fetch(TestOrg.identity) == nil)
    #expect(await manager.accounts.isEmpty)
  }

  @Test(.covers("CO-31"))
  func `tokens that failed to be written give way to a login elsewhere`() async throws {
    let persister = FailingPersister()
    let manager = try await manager(persister)
    // Another process: a new login, with an identifier of its own.
    let elsewhere = TestOrg().account(accessToken: "access-9", refreshToken: "refresh-9")
    try await persister.save(elsewhere)
    let account = try await manager.session(of: TestOrg.identity)
    #expect(account.credentials == elsewhere.credentials)
    #expect(try await persister.fetch(TestOrg.identity)?.credentials == elsewhere.credentials)
  }

  @Test(.covers("CO-31"))
  func `a refresh of tokens that failed to be written sees a login elsewhere first`()
    async throws
  {
    let persister = FailingPersister()
    let manager = try await manager(persister)
    let elsewhere = TestOrg().account(accessToken: "access-9", refreshToken: "refresh-9")
    try await persister.save(elsewhere)
    #expect(try await manager.refresh(TestOrg.identity).credentials == elsewhere.credentials)
    #expect(try await persister.fetch(TestOrg.identity)?.credentials == elsewhere.credentials)
  }

  @Test(.covers("CO-31", "CO-98"))
  func `reading the accounts again keeps tokens that are not on disk yet`()
    async throws
  {
    let persister = FailingPersister()
    let manager = try await manager(persister)
    try await manager.reload()
    let account = try await manager.session(of: TestOrg.identity)
    #expect(account.credentials.refreshToken == "refresh-2")
    #expect(try await persister.fetch(TestOrg.identity)?.credentials == account.credentials)
  }

  @Test(.covers("CO-84.4"))
  func `a logout with unwritten tokens ends the login that was made elsewhere`()
    async throws
  {
    let org = TestOrg()
    org.state.withLock { $0.rotates = true }
    let persister = FailingPersister()
    try await persister.save(org.account())
    let manager = try await UserAccountManager(persister: persister, transport: org.transport())
    persister.isFull.withLock { $0 = true }
    await #expect(throws: AccountError.self) { try await manager.refresh(TestOrg.identity) }
    persister.isFull.withLock { $0 = false }
    try await persister.save(org.account(accessToken: "access-9", refreshToken: "refresh-9"))
    try await manager.logOut(TestOrg.identity)
    #expect(org.state.withLock { $0.revocations } == ["refresh-9"])
  }

  @Test(.covers("CO-79.1", "CO-8.1"))
  func `a login that cannot become current is taken back`() async throws {
    let persister = FailingPersister()
    let org = TestOrg()
    let manager = try await UserAccountManager(persister: persister, transport: org.transport())
    persister.refusesCurrent.withLock { $0 = true }
    let events = manager.events()
    func logIn(_ refreshToken: String) async throws -> UserAccount {
      try await manager.logIn(
        .tokens(accessToken: "access-1", refreshToken: refreshToken, instance: .production))
    }
    await #expect(throws: AccountError.self) { try await logIn("refresh-1") }
    #expect(await manager.accounts.isEmpty)
    #expect(try await persister.fetch(TestOrg.identity) == nil)

    persister.refusesCurrent.withLock { $0 = false }
    let first = try await logIn("refresh-1")
    try await manager.setCurrent(nil)
    persister.refusesCurrent.withLock { $0 = true }
    await #expect(throws: AccountError.self) { try await logIn("refresh-2") }
    // The former session is as good as before: its token was not ended.
    #expect(await manager.account(for: first.identity)?.credentials == first.credentials)
    #expect(try await persister.fetch(first.identity)?.credentials == first.credentials)
    #expect(org.state.withLock { $0.revocations }.isEmpty)
    await manager.close()
    var kinds: [String] = []
    for await event in events { kinds.append(String("\(event.kind)".prefix(12))) }
    #expect(kinds == ["didLogIn", "willBecomeCu", "didBecomeCur", "didResignCur"])
  }
}
