import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// CO-84, CO-98: what becomes of an account when several act on it at the same time, in two processes or
/// in one?
@Suite struct AccountRaceTests {
  private let secrets = InMemorySecretStore()
  private let folder: TemporaryFolder
  private let org = TestOrg()

  init() throws {
    folder = try TemporaryFolder()
    org.state.withLock { $0.rotates = true }
  }

  private var directory: EncryptedAccountDirectory {
    EncryptedAccountDirectory(root: folder.url, secrets: secrets)
  }

  /// A manager as another process has it: with an eye on the same folder.
  private func manager(
    _ persister: (any AccountPersister)? = nil
  ) async throws -> UserAccountManager {
    try await UserAccountManager(
      persister: persister ?? directory, transport: org.transport())
  }

  private func logIn(
    _ manager: UserAccountManager, _ refreshToken: String, makesCurrent: Bool = true
  ) async throws -> UserAccount {
    try await manager.logIn(
      .tokens(
        accessToken: org.state.withLock { $0.accessToken }, refreshToken: refreshToken,
        instance: LoginServer("https://acme.my.salesforce.com")), makesCurrent: makesCurrent)
  }

  /// Nothing is left of any account, and the server received these tokens, in order.
  private func expectNothing(revoked tokens: [String]) async throws {
    let left = try await directory.fetchAll()
    #expect(left.accounts.isEmpty && left.unreadable.isEmpty && left.current == nil)
    #expect(try Set(secrets.list()) == AccountSecretNames.withoutAccounts)
    #expect(org.state.withLock { $0.revocations } == tokens)
  }

  // a daemon                      a command
  // asks for new tokens
  //                               logs out
  // gets them, writes them
  //                               removes them, and ends them
  @Test(.covers("CO-84.4", "CO-98"))
  func `a logout ends the tokens that a concurrent refresh elsewhere brings`()
    async throws
  {
    try await directory.save(org.account())
    let daemon = try await manager()
    let watched = WatchedPersister(directory)
    let command = try await manager(watched)
    org.tokenLatch.close()
    let refresh = Task { try await daemon.refresh(TestOrg.identity) }
    await until { org.state.withLock { $0.refreshes } == 1 }
    let logout = Task { try await command.logOut(TestOrg.identity) }
    await until { watched.asked.withLock { $0 } == 1 }
    org.tokenLatch.open()
    #expect(try await refresh.value.credentials.refreshToken == "refresh-2")
    #expect(try await logout.value.isRevoked == true)
    try await expectNothing(revoked: ["refresh-2"])
    // The daemon finds out as soon as it needs the account again.
    await #expect(throws: AccountError.self) { try await daemon.refresh(TestOrg.identity) }
    try await expectNothing(revoked: ["refresh-2"])
  }

  @Test(.covers("CO-84.4", "CO-98"))
  func `a logout ends the login that another process made since`() async throws {
    try await directory.save(org.account())
    let command = try await manager()
    let daemon = try await manager()
    _ = try await logIn(daemon, "refresh-9")
    #expect(try await command.logOut(TestOrg.identity).isRevoked == true)
    // The first was ended by the login in its place.
    try await expectNothing(revoked: ["refresh-1", "refresh-9"])
  }

  @Test(.covers("CO-79.2", "CO-98"))
  func `a login ends the tokens of the login that another process made since`()
    async throws
  {
    try await directory.save(org.account())
    let here = try await manager(), there = try await manager()
    _ = try await logIn(there, "refresh-9")
    _ = try await there.setCustomData("north", forKey: "region", of: TestOrg.identity)
    let account = try await logIn(here, "refresh-10")
    #expect(account.customData["region"] == "north")
    #expect(org.state.withLock { $0.revocations } == ["refresh-1", "refresh-9"])
    #expect(try AccountSecretNames.logins(in: secrets) == [account.credentials.identifier])
  }

  // a login                       a logout
  // waits for its turn
  //                               begins to erase
  // has its turn, and is refused
  //                               has its turn
  @Test(.covers("CO-84.4"))
  func `a login that waits while a logout begins is refused`() async throws {
    let persister = FailingPersister()
    try await persister.save(org.account())
    let manager = try await manager(persister)
    let hanging = HangingObserver()
    await manager.addLogoutObserver(hanging)
    let isHeld = Latch(), mayEnd = Latch()
    let other = Task {
      try await persister.withExclusiveAccess(to: TestOrg.identity) {
        isHeld.open()
        try await mayEnd.wait()
      }
    }
    try await isHeld.wait()
    let before = persister.visits.withLock { $0 }
    let login = Task { try await logIn(manager, "refresh-9") }
    await until { persister.visits.withLock { $0 } > before }
    let logout = Task { try await manager.logOut(TestOrg.identity) }
    await until { !manager.mayKeepData(of: TestOrg.identity) }
    mayEnd.open()
    let error = await #expect(throws: AccountError.self) { try await login.value }
    #expect(error?.code == .illegalState)
    hanging.release.open()
    _ = try await logout.value
    try await other.value
    #expect(await manager.accounts.isEmpty)
    #expect(try await persister.fetchAll().accounts.isEmpty)
  }

  @Test(.covers("CO-84.4"))
  func `tokens that could not be written do not undo a logout elsewhere`()
    async throws
  {
    let persister = FailingPersister()
    try await persister.save(org.account())
    let manager = try await manager(persister)
    persister.isFull.withLock { $0 = true }
    await #expect(throws: AccountError.self) { try await manager.refresh(TestOrg.identity) }
    persister.isFull.withLock { $0 = false }
    try await persister.delete(org.account())
    let error = await #expect(throws: AccountError.self) {
      try await manager.session(of: TestOrg.identity)
    }
    #expect(error?.code == .unknownAccount)
    #expect(try await persister.fetchAll().accounts.isEmpty)
    #expect(org.state.withLock { $0.revocations } == ["refresh-2"])
  }

  // MARK: - The current user

  private func account(_ number: Int) -> UserAccount {
    org.account(
      refreshToken: "refresh of \(number)",
      identity: UserAccountIdentity(
        userId: "00500000000000\(number)", organizationId: "00D000000000001EAA"))
  }

  @Test(.covers("CO-81.1", "CO-98"))
  func `a switch back after another process switched counts`()
    async throws
  {
    let first = account(1), second = account(2)
    for account in [first, second] { try await directory.save(account) }
    let here = try await manager(), there = try await manager()
    try await here.setCurrent(first.identity)
    try await there.setCurrent(second.identity)
    #expect(try await directory.fetchAll().current == second.identity)
    try await here.setCurrent(first.identity)
    #expect(try await directory.fetchAll().current == first.identity)
  }

  @Test(.covers("CO-84.4", "CO-98"))
  func `a logout leaves whom another process made the current user`()
    async throws
  {
    let first = account(1), second = account(2)
    for account in [first, second] { try await directory.save(account) }
    let here = try await manager(), there = try await manager()
    try await here.setCurrent(first.identity)
    try await there.setCurrent(second.identity)
    try await here.logOut(first.identity)
    #expect(try await directory.fetchAll().current == second.identity)
    #expect(await here.current?.identity == second.identity)
  }

  @Test(.covers("CO-81.1", "CO-98"), .ownThreads)
  func `all who switch at the same time are served, and one of them last`()
    async throws
  {
    let directory = directory
    let identities = (1...4).map { account($0).identity }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for identity in identities {
        group.addTask {
          for _ in 0..<20 {
            try await directory.updateCurrent { _ in identity }
            // Never half of a note, which would be set aside.
            let stored = try await directory.fetchAll()
            #expect(stored.unreadable.isEmpty)
            #expect(stored.current.map { identities.contains($0) } == true)
          }
        }
      }
      try await group.waitForAll()
    }
  }

  // MARK: - Locks that do not come

  @Test(.covers("CO-98"))
  func `a lock that is held for too long is reported, and names its file`() async throws {
    try await directory.save(org.account())
    let manager = try await manager(
      EncryptedAccountDirectory(root: folder.url, secrets: secrets, patience: .zero))
    let error = try await directory.withExclusiveAccess(to: TestOrg.identity) {
      await #expect(throws: AccountError.self) { try await manager.refresh(TestOrg.identity) }
    }
    #expect(error?.code == .busy)
    #expect(error?.code.isRetryable == true)
    #expect(error?.message.contains("00D000000000001EAA-005000000000001AAA.lock") == true)
    #expect(try await manager.refresh(TestOrg.identity).credentials.refreshToken == "refresh-2")
  }
}

/// A persister that counts who asks for exclusive access.
final class WatchedPersister: AccountPersister {
  let asked = Mutex(0)
  private let base: any AccountPersister

  init(_ base: any AccountPersister) { self.base = base }

  func fetchAll() async throws(AccountError) -> StoredAccounts { try await base.fetchAll() }
  func fetch(_ identity: UserAccountIdentity) async throws(AccountError) -> UserAccount? {
    try await base.fetch(identity)
  }
  func save(_ account: UserAccount) async throws(AccountError) { try await base.save(account) }
  func delete(_ account: UserAccount) async throws(AccountError) { try await base.delete(account) }
  func updateCurrent(
    _ change: @escaping @Sendable (UserAccountIdentity?) -> UserAccountIdentity?
  ) async throws(AccountError) -> UserAccountIdentity? { try await base.updateCurrent(change) }
  func withExclusiveAccess<Result: Sendable>(
    to identity: UserAccountIdentity, _ body: @Sendable () async throws -> Result
  ) async throws -> Result {
    asked.withLock { $0 += 1 }
    return try await base.withExclusiveAccess(to: identity, body)
  }
}
