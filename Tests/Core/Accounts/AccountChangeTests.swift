import SalesforceSDKCommon
import Synchronization
import Testing

@testable import SalesforceSDKCore
import TestSupport

/// What does a change of an account, or a refresh, do and leave when the disk or another process is in its way?
@Suite struct AccountChangeTests {
  private let org = TestOrg()

  private func code(_ work: () async throws -> Void) async -> AccountError.Code? {
    do {
      try await work()
      return nil
    } catch {
      return (error as? AccountError)?.code
    }
  }

  private func manager(_ persister: any AccountPersister) async throws -> UserAccountManager {
    try await UserAccountManager(persister: persister, transport: org.transport())
  }

  @Test(.covers("CO-97.2"))
  func `a change that cannot be written is not kept`() async throws {
    let persister = FailingPersister()
    try await persister.save(org.account())
    let manager = try await manager(persister)
    persister.isFull.withLock { $0 = true }
    #expect(
      await code {
        try await manager.setCustomData("north", forKey: "region", of: TestOrg.identity)
      } == .writeFailed)
    #expect(await manager.account(for: TestOrg.identity)?.customData.isEmpty == true)
    persister.isFull.withLock { $0 = false }
    _ = try await manager.session(of: TestOrg.identity)
    #expect(try await persister.fetch(TestOrg.identity)?.customData.isEmpty == true)
    // The next change works, and is the only one.
    try await manager.setCustomData("south", forKey: "area", of: TestOrg.identity)
    #expect(try await persister.fetch(TestOrg.identity)?.customData == ["area": "south"])
  }

  @Test func `no lock is taken for an account that is not here, or for a token that is new`()
    async throws
  {
    let watched = WatchedPersister(InMemoryAccountPersister())
    try await watched.save(org.account())
    let manager = try await manager(watched)
    let unknown = UserAccountIdentity(
      userId: "005000000000009AAA", organizationId: "00D000000000001EAA")
    #expect(
      await code { try await manager.setCustomData("x", forKey: "y", of: unknown) }
        == .unknownAccount)
    let account = try await manager.refreshedSession(
      of: TestOrg.identity, replacing: "a former token")
    #expect(account.credentials.accessToken == "access-1")
    #expect(watched.asked.withLock { $0 } == 0)
    #expect(org.state.withLock { $0.refreshes } == 0)
  }

  // MARK: A session that ends

  @Test(.covers("CO-13.3"))
  func `a refused refresh ends no session where the program decides that`()
    async throws
  {
    var options = UserAccountManager.Options()
    options.endsSessionWhenRefreshIsRefused = false
    let manager = try await org.manager(options: options)
    org.state.withLock { $0.refusal = "invalid_grant" }
    await #expect(throws: OAuthError.self) { try await manager.refresh(TestOrg.identity) }
    #expect(await manager.account(for: TestOrg.identity)?.loginState == .loggedIn)
  }

  // a refresh                     a logout
  // asks the server
  //                               begins, closes the data
  // is refused: the state stays
  @Test func `a refused refresh does not end the session of an account that is being logged out`()
    async throws
  {
    let manager = try await org.manager()
    let keeper = ClosingKeeper()
    manager.register(keeper)
    let events = manager.events()
    org.tokenLatch.close()
    let refresh = Task { try await manager.refresh(TestOrg.identity) }
    await until { org.state.withLock { $0.refreshes } == 1 }
    let logout = Task { try await manager.logOut(TestOrg.identity) }
    try await keeper.isClosing.wait()
    org.state.withLock { $0.refusal = "invalid_grant" }
    org.tokenLatch.open()
    await #expect(throws: OAuthError.self) { try await refresh.value }
    #expect(await manager.account(for: TestOrg.identity)?.loginState == .loggingOut)
    keeper.mayClose.open()
    _ = try await logout.value
    await manager.close()
    for await event in events {
      if case .sessionDidEnd = event.kind { Issue.record("the session ended beside its logout") }
    }
  }

  // a refresh                     another process, which takes no lock
  // asks the server
  //                               logs in again
  // is refused: that is not about the new login
  @Test func `a refused refresh does not end the session of a later login`() async throws {
    let persister = InMemoryAccountPersister()
    try await persister.save(org.account())
    let manager = try await manager(persister)
    org.tokenLatch.close()
    let refresh = Task { try await manager.refresh(TestOrg.identity) }
    await until { org.state.withLock { $0.refreshes } == 1 }
    let later = org.account(accessToken: "access-9", refreshToken: "refresh-9")
    #expect(later.credentials.identifier != org.account().credentials.identifier)
    try await persister.save(later)
    try await manager.reload()
    org.state.withLock { $0.refusal = "invalid_grant" }
    org.tokenLatch.open()
    await #expect(throws: OAuthError.self) { try await refresh.value }
    #expect(await manager.account(for: TestOrg.identity) == later)
  }

  // MARK: Tokens that are not on disk yet

  /// A manager with tokens of a refresh that could not be written.
  private func withUnsavedTokens(
    _ persister: FailingPersister
  ) async throws -> UserAccountManager {
    org.state.withLock { $0.rotates = true }
    try await persister.save(org.account())
    let manager = try await manager(persister)
    persister.isFull.withLock { $0 = true }
    #expect(await code { try await manager.refresh(TestOrg.identity) } == .writeFailed)
    persister.isFull.withLock { $0 = false }
    return manager
  }

  @Test(.covers("CO-98"))
  func `tokens that are not on disk yet do not undo a logout that is noted there`()
    async throws
  {
    let persister = FailingPersister()
    let manager = try await withUnsavedTokens(persister)
    var leaving = try #require(try await persister.fetch(TestOrg.identity))
    leaving.loginState = .loggingOut
    try await persister.save(leaving)
    #expect(await code { _ = try await manager.session(of: TestOrg.identity) } == .notLoggedIn)
    #expect(try await persister.fetch(TestOrg.identity)?.loginState == .loggingOut)
  }

  @Test func `tokens that are written while a logout is decided do not note it on disk`()
    async throws
  {
    let persister = FailingPersister()
    let manager = try await withUnsavedTokens(persister)
    let keeper = ClosingKeeper()
    manager.register(keeper)
    let logout = Task { try await manager.logOut(TestOrg.identity) }
    try await keeper.isClosing.wait()
    // A change writes the tokens first, and is then refused.
    #expect(
      await code {
        try await manager.setCustomData("north", forKey: "region", of: TestOrg.identity)
      } == .unknownAccount)
    let stored = try await persister.fetch(TestOrg.identity)
    #expect(stored?.credentials.refreshToken == "refresh-2" && stored?.loginState == .loggedIn)
    keeper.mayClose.open()
    _ = try await logout.value
  }

  // a change                      a logout
  // reads the disk
  //                               begins, closes the data
  // has read: that is too old
  @Test func `what the disk said before a logout began does not undo it`() async throws {
    let persister = SlowPersister()
    try await persister.save(org.account())
    let manager = try await manager(persister)
    let keeper = ClosingKeeper()
    manager.register(keeper)
    // The first look is for tokens that wait to be written, the second for what others changed.
    persister.hold(afterReads: 1)
    let change = Task {
      try await manager.setCustomData("north", forKey: "region", of: TestOrg.identity)
    }
    try await persister.isHeld.wait()
    let logout = Task { try await manager.logOut(TestOrg.identity) }
    try await keeper.isClosing.wait()
    persister.release.open()
    #expect(await code { _ = try await change.value } == .unknownAccount)
    #expect(await manager.account(for: TestOrg.identity)?.loginState == .loggingOut)
    keeper.mayClose.open()
    #expect(try await logout.value.account.customData.isEmpty)
  }

  // a change                      late tokens
  // reads the disk
  //                               come, and cannot be written
  // has read: they are newer
  @Test func `what the disk said before newer tokens came does not replace them`() async throws {
    let persister = SlowPersister()
    let original = org.account()
    try await persister.save(original)
    let manager = try await manager(persister)
    persister.hold(afterReads: 1)
    let change = Task {
      try await manager.setCustomData("north", forKey: "region", of: TestOrg.identity)
    }
    try await persister.isHeld.wait()
    var newer = original
    newer.credentials.refreshToken = "refresh-7"
    persister.isFull.withLock { $0 = true }
    #expect(await code { try await manager.save(newer) } == .writeFailed)
    persister.isFull.withLock { $0 = false }
    persister.release.open()
    let account = try await change.value
    #expect(
      account.credentials.refreshToken == "refresh-7" && account.customData["region"] == "north")
    #expect(try await persister.fetch(TestOrg.identity) == account)
  }
}

/// A persister one of whose reads comes late: it returns what was there when it began.
private final class SlowPersister: AccountPersister {
  let isFull = Mutex(false)
  let isHeld = Latch()
  let release = Latch()
  private let readsToGo = Mutex<Int?>(nil)
  private let memory = InMemoryAccountPersister()

  /// Lets `count` reads pass from now on, and holds the next.
  func hold(afterReads count: Int) { readsToGo.withLock { $0 = count } }

  func fetchAll() async throws(AccountError) -> StoredAccounts { try await memory.fetchAll() }

  func fetch(_ identity: UserAccountIdentity) async throws(AccountError) -> UserAccount? {
    let account = try await memory.fetch(identity)
    let isLate = readsToGo.withLock { reads in
      defer { reads = reads.flatMap { $0 > 0 ? $0 - 1 : nil } }
      return reads == 0
    }
    if isLate {
      isHeld.open()
      try? await release.wait()
    }
    return account
  }

  func save(_ account: UserAccount) async throws(AccountError) {
    if isFull.withLock({ $0 }) { throw AccountError(.writeFailed, "no space left") }
    try await memory.save(account)
  }

  func delete(_ account: UserAccount) async throws(AccountError) {
    try await memory.delete(account)
  }

  func updateCurrent(
    _ change: @escaping @Sendable (UserAccountIdentity?) -> UserAccountIdentity?
  ) async throws(AccountError) -> UserAccountIdentity? { try await memory.updateCurrent(change) }

  func withExclusiveAccess<Result: Sendable>(
    to identity: UserAccountIdentity, _ body: @Sendable () async throws -> Result
  ) async throws -> Result {
    try await memory.withExclusiveAccess(to: identity, body)
  }
}
