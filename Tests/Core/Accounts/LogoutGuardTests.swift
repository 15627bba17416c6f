import SalesforceSDKCommon
import Synchronization
import Testing

@testable import SalesforceSDKCore
import TestSupport

/// When is a logout refused once it has begun, and what does it leave as it was?
@Suite struct LogoutGuardTests {
  private let org = TestOrg()

  private func code(_ work: () async throws -> Void) async -> AccountError.Code? {
    do {
      try await work()
      return nil
    } catch {
      return (error as? AccountError)?.code
    }
  }

  /// A manager of an account whose logout was at work when its process ended.
  private func interrupted(_ dataKeepers: Set<String> = []) async throws -> UserAccountManager {
    var leaving = org.account()
    leaving.loginState = .loggingOut
    leaving.dataKeepers = dataKeepers
    return try await org.manager([leaving])
  }

  @Test(.covers("CO-84"))
  func `entries that are found as the data is closed refuse the logout`() async throws {
    let manager = try await org.manager()
    let keeper = HoldingKeeper { 2 }
    manager.register(keeper)
    let error = await #expect(throws: AccountError.self) {
      try await manager.logOut(TestOrg.identity)
    }
    #expect(error?.code == .unsyncedRecords && error?.unsyncedRecords == 2)
    #expect(await manager.account(for: TestOrg.identity)?.loginState == .loggedIn)
    // What was closed can be used again.
    #expect(keeper.released.withLock { $0 } == 1)
    #expect(keeper.erased.withLock { $0 } == 0)
    #expect(try await manager.logOut(TestOrg.identity, force: true).unsyncedRecords == 2)
    #expect(keeper.erased.withLock { $0 } == 1)
  }

  @Test(.covers("CO-84"))
  func `data that cannot be closed refuses the logout`() async throws {
    let manager = try await org.manager()
    let keeper = HoldingKeeper { throw AccountError(.readFailed, "no") }
    manager.register(keeper)
    #expect(await code { try await manager.logOut(TestOrg.identity) } == .unsyncedRecords)
    #expect(await manager.account(for: TestOrg.identity)?.loginState == .loggedIn)
    #expect(keeper.erased.withLock { $0 } == 0)
    #expect(try await manager.logOut(TestOrg.identity, force: true).unsyncedRecords == nil)
  }

  @Test(.covers("CO-84"))
  func `a logout that cannot be noted is refused, unless it is forced`() async throws {
    let persister = FailingPersister()
    try await persister.save(org.account())
    let manager = try await UserAccountManager(
      persister: persister, transport: org.transport())
    let keeper = HoldingKeeper { 0 }
    manager.register(keeper)
    persister.isFull.withLock { $0 = true }
    #expect(await code { try await manager.logOut(TestOrg.identity) } == .writeFailed)
    #expect(keeper.erased.withLock { $0 } == 0)
    #expect(await manager.account(for: TestOrg.identity)?.loginState == .loggedIn)
    persister.isFull.withLock { $0 = false }
    _ = try await manager.logOut(TestOrg.identity)
    #expect(keeper.erased.withLock { $0 } == 1)
  }

  @Test func `a keeper that says what is not synced is quoted as it is`() async throws {
    let manager = try await org.manager()
    let said = "Two notes are not synced. Sync them."
    manager.register(HoldingKeeper { throw AccountError(.unsyncedRecords, said) })
    let error = await #expect(throws: AccountError.self) {
      try await manager.logOut(TestOrg.identity)
    }
    #expect(error?.message == said)
  }

  @Test func `an account that is being logged out is not changed`() async throws {
    let manager = try await org.manager()
    let keeper = ClosingKeeper()
    manager.register(keeper)
    let logout = Task { try await manager.logOut(TestOrg.identity) }
    try await keeper.isClosing.wait()
    #expect(
      await code {
        try await manager.setCustomData("north", forKey: "region", of: TestOrg.identity)
      } == .unknownAccount)
    keeper.mayClose.open()
    #expect(try await logout.value.account.customData.isEmpty)
  }

  @Test(.covers("CO-84"))
  func `a logout that was decided before is finished without counting`() async throws {
    let manager = try await interrupted()
    await manager.addLogoutObserver(CountingObserver(unsynced: 3))
    _ = try await manager.logOut(TestOrg.identity)
    #expect(await manager.accounts.isEmpty)
  }

  @Test(.covers("CO-84"))
  func `a logout that was decided before waits for the keepers of the data`()
    async throws
  {
    let manager = try await interrupted(["Notes"])
    #expect(await code { try await manager.logOut(TestOrg.identity) } == .unsyncedRecords)
    #expect(await manager.accounts.count == 1)
    _ = try await manager.logOut(TestOrg.identity, force: true)
    #expect(await manager.accounts.isEmpty)
  }

  @Test(.covers("CO-84"))
  func `a logout that was decided before stays open if data cannot be erased`()
    async throws
  {
    let manager = try await interrupted()
    let keeper = HoldingKeeper(failsToErase: true) { 0 }
    manager.register(keeper)
    #expect(await code { try await manager.logOut(TestOrg.identity) } == .writeFailed)
    #expect(await manager.account(for: TestOrg.identity)?.loginState == .loggingOut)
    let report = try await manager.logOut(TestOrg.identity, force: true)
    #expect(report.failures.count == 1)
    #expect(await manager.accounts.isEmpty)
  }

  @Test func `a login that is not to become the current user leaves the one on disk`() async throws
  {
    let persister = InMemoryAccountPersister()
    let other = UserAccountIdentity(
      userId: "005000000000002AAA", organizationId: "00D000000000001EAA")
    try await persister.save(org.account(identity: other))
    try await persister.updateCurrent { _ in other }
    let manager = try await UserAccountManager(
      persister: persister, transport: org.transport())
    _ = try await manager.logIn(
      .tokens(
        accessToken: "access-1", refreshToken: "refresh-9",
        instance: LoginServer("https://acme.my.salesforce.com")), makesCurrent: false)
    #expect(try await persister.fetchAll().current == other)
    #expect(await manager.current?.identity == other)
  }

  @Test func `who stays the current user is no event`() async throws {
    let manager = try await org.manager()
    let events = manager.events()
    for _ in 0..<2 { try await manager.setCurrent(TestOrg.identity) }
    for _ in 0..<2 { try await manager.setCurrent(nil) }
    await manager.close()
    var kinds: [String] = []
    for await event in events { kinds.append("\(event.kind)".prefix { $0 != "(" }.description) }
    #expect(kinds == ["willBecomeCurrent", "didBecomeCurrent", "didResignCurrent"])
  }
}

/// Keeps data of accounts, as far as a test says.
final class HoldingKeeper: AccountDataKeeper {
  let released = Mutex(0)
  let erased = Mutex(0)
  private let failsToErase: Bool
  private let count: @Sendable () throws -> Int
  var keeperName: String { "Notes" }
  var keeperId: String { keeperName }

  init(failsToErase: Bool = false, count: @escaping @Sendable () throws -> Int) {
    self.failsToErase = failsToErase
    self.count = count
  }

  func hold(_ account: UserAccount) async throws -> Int { try count() }
  func release(_ account: UserAccount) async { released.withLock { $0 += 1 } }
  func erase(_ account: UserAccount) async throws {
    if failsToErase { throw AccountError(.writeFailed, "no") }
    erased.withLock { $0 += 1 }
  }
}
