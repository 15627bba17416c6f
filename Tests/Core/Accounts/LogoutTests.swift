import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Synchronization
import Testing

@testable import SalesforceSDKCore
import TestSupport

/// CO-84 to CO-86, CO-37, CO-38 and ruling 1: a logout erases one account, and only if nothing is
/// lost silently.
@Suite struct LogoutTests {
  private let other = UserAccountIdentity(
    userId: "005000000000002AAA", organizationId: "00D000000000001EAA")

  @Test(.covers("CO-84.1", "CO-8.1", "CO-37.1", "CO-113.1", "BX-5.1"))
  func `a logout erases data, account and token, and touches no other account`()
    async throws
  {
    let org = TestOrg()
    let transport = org.transport()
    let manager = try await org.manager(
      [org.account(), org.account(identity: other)], transport: transport)
    try await manager.setCurrent(TestOrg.identity)
    let observer = CountingObserver()
    await manager.addLogoutObserver(observer)
    let events = manager.events()
    let client = RestClient(account: org.account(), accounts: manager, transport: transport)
    let report = try await manager.logOut(TestOrg.identity, reason: .userLogout)
    #expect(report.isRevoked == true)
    #expect(report.unsyncedRecords == 0)
    #expect(report.failures.isEmpty)
    #expect(report.account.credentials.refreshToken == nil)
    #expect(observer.erased.withLock { $0 } == [TestOrg.identity])
    #expect(await manager.accounts.map(\.identity) == [other])
    #expect(await manager.current == nil)
    let revocation = try #require(transport.requests.last)
    #expect(form(revocation) == ["token": "refresh-1", "revoke_reason": "user_logout"])
    #expect(revocation.headers[.authorization] == nil)
    // A client kept after the logout fails and does not crash.
    let error = await #expect(throws: RestError.self) { try await client.send(.limits()) }
    #expect(error?.code == .notAuthenticated)
    await manager.close()
    var kinds: [String] = []
    for await event in events {
      kinds.append("\(event.kind)".prefix { $0 != "(" }.description)
      #expect(event.account.userId == TestOrg.identity.userId)
    }
    #expect(kinds == ["willLogOut", "didResignCurrent", "didLogOut"])
  }

  @Test func `a logout that would lose records is refused and changes nothing`()
    async throws
  {
    let org = TestOrg()
    let transport = org.transport()
    let manager = try await org.manager(transport: transport)
    try await manager.setCurrent(TestOrg.identity)
    let first = CountingObserver(unsynced: 3), second = CountingObserver(unsynced: 4)
    await manager.addLogoutObserver(first)
    await manager.addLogoutObserver(second)
    #expect(try await manager.unsyncedRecords(of: TestOrg.identity) == 7)
    let error = await #expect(throws: AccountError.self) {
      try await manager.logOut(TestOrg.identity)
    }
    #expect(error?.code == .unsyncedRecords)
    #expect(error?.unsyncedRecords == 7)
    #expect(first.erased.withLock { $0 }.isEmpty && second.erased.withLock { $0 }.isEmpty)
    #expect(await manager.current?.loginState == .loggedIn)
    #expect(transport.requests.isEmpty)
    let report = try await manager.logOut(TestOrg.identity, force: true)
    #expect(report.unsyncedRecords == 7)
    #expect(await manager.accounts.isEmpty)
  }

  @Test func `records that cannot be counted refuse the logout too`() async throws {
    let org = TestOrg()
    let manager = try await org.manager()
    await manager.addLogoutObserver(CountingObserver(unsynced: nil))
    let error = await #expect(throws: AccountError.self) {
      try await manager.logOut(TestOrg.identity)
    }
    #expect(error?.code == .unsyncedRecords)
    #expect(error?.unsyncedRecords == nil)
    #expect(error?.cause is CountingObserver.Failure)
    let report = try await manager.logOut(TestOrg.identity, force: true)
    #expect(report.unsyncedRecords == nil)
  }

  @Test(.covers("CO-37.2", "BX-5.1"))
  func `a logout works without a network`() async throws {
    let org = TestOrg()
    let manager = try await org.manager(
      transport: ScriptedTransport { _ in throw TransportError(.unreachable, "no network") })
    let report = try await manager.logOut(TestOrg.identity)
    #expect(report.isRevoked == false)
    #expect(await manager.accounts.isEmpty)
  }

  @Test(.covers("CO-38", "BX-5.2"))
  func `a logout without a reason has the platform's word for that`()
    async throws
  {
    let org = TestOrg()
    let transport = org.transport()
    let manager = try await org.manager(transport: transport)
    try await manager.logOut(TestOrg.identity)
    #expect(transport.requests.last.map { form($0)["revoke_reason"] } == "unknown")
  }

  @Test(.covers("CO-84.3"))
  func `the last event of a logout comes after all data was erased`() async throws {
    let org = TestOrg()
    let manager = try await org.manager([org.account(), org.account(identity: other)])
    let hanging = HangingObserver()
    await manager.addLogoutObserver(hanging)
    let events = manager.events()
    let kinds = Mutex<[String]>([])
    let listening = Task {
      for await event in events {
        kinds.withLock { $0.append("\(event.kind)".prefix { $0 != "(" }.description) }
      }
    }
    let logout = Task { try await manager.logOut(TestOrg.identity) }
    try await hanging.isErasing.wait()
    // What was sent before this event has arrived when it does.
    try await manager.setCustomData("x", forKey: "y", of: other)
    await until { kinds.withLock { $0.contains("didChangeProfile") } }
    #expect(kinds.withLock { $0 } == ["willLogOut", "didChangeProfile"])
    hanging.release.open()
    _ = try await logout.value
    await manager.close()
    await listening.value
    #expect(kinds.withLock { $0 } == ["willLogOut", "didChangeProfile", "didLogOut"])
  }

  @Test(.covers("CO-37.3"))
  func `nothing is sent without a token`() async throws {
    let org = TestOrg()
    let transport = org.transport()
    let manager = try await org.manager(
      [org.account(accessToken: nil, refreshToken: nil)], transport: transport)
    #expect(try await manager.logOut(TestOrg.identity).isRevoked == nil)
    #expect(transport.requests.isEmpty)
  }

  @Test(.covers("CO-112", "BX-5.1"))
  func `an observer that fails or hangs does not stop the logout`() async throws {
    let org = TestOrg()
    let clock = HandClock()
    let manager = try await org.manager(clock: clock)
    await manager.addLogoutObserver(CountingObserver(failsToErase: true))
    let hanging = HangingObserver()
    await manager.addLogoutObserver(hanging)
    let last = CountingObserver()
    await manager.addLogoutObserver(last)
    let logout = Task { try await manager.logOut(TestOrg.identity) }
    try await hanging.isErasing.wait()
    await until { clock.hasSleeper(for: .seconds(30)) }
    clock.advance(by: .seconds(30))
    let report = try await logout.value
    #expect(report.failures.count == 2)
    #expect((report.failures.last as? AccountError)?.code == .observerTimedOut)
    #expect(last.erased.withLock { $0 } == [TestOrg.identity])
    #expect(await manager.accounts.isEmpty)
    hanging.release.open()
  }

  @Test(.covers("CO-85"))
  func `all are logged out, the current user last`() async throws {
    let org = TestOrg()
    let manager = try await org.manager([org.account(), org.account(identity: other)])
    try await manager.setCurrent(TestOrg.identity)
    let observer = CountingObserver()
    await manager.addLogoutObserver(observer)
    let reports = try await manager.logOutAll(reason: .userLogout)
    #expect(reports.map(\.account.identity) == [other, TestOrg.identity])
    #expect(await manager.accounts.isEmpty)
  }

  @Test(.covers("CO-85"))
  func `no user is logged out with the others while one has unsynced records`()
    async throws
  {
    let org = TestOrg()
    let manager = try await org.manager([org.account(), org.account(identity: other)])
    try await manager.setCurrent(TestOrg.identity)
    let observer = BusyObserver(unsynced: [TestOrg.identity: 1])
    await manager.addLogoutObserver(observer)
    let error = await #expect(throws: AccountError.self) { try await manager.logOutAll() }
    #expect(error?.code == .unsyncedRecords)
    #expect(await manager.accounts.map(\.loginState) == [.loggedIn, .loggedIn])
  }

  @Test(.covers("CO-84"))
  func `an unknown account cannot be logged out`() async throws {
    let manager = try await TestOrg().manager()
    let error = await #expect(throws: AccountError.self) { try await manager.logOut(other) }
    #expect(error?.code == .unknownAccount)
  }

  @Test func `a refresh that a logout overtakes does not bring the account back`() async throws {
    let org = TestOrg()
    org.tokenLatch.close()
    let clock = HandClock()
    let manager = try await org.manager(clock: clock)
    let refresh = Task { try await manager.refresh(TestOrg.identity) }
    await until { org.state.withLock { $0.refreshes } == 1 }
    let logout = Task { try await manager.logOut(TestOrg.identity) }
    // The server may still respond with tokens; the wait for it ends soon.
    await until { clock.hasSleeper(for: .seconds(10)) }
    clock.advance(by: .seconds(10))
    _ = try await logout.value
    // The waiting task was not cancelled, so it learns of the logout.
    await #expect(throws: AccountError.self) { try await refresh.value }
    #expect(await manager.accounts.isEmpty)
  }

  @Test(.covers("CO-84.4"))
  func `a logout that is at work is not undone by reading again, nor begun twice`()
    async throws
  {
    let manager = try await TestOrg().manager()
    let observer = BusyObserver()
    observer.work.withLock {
      $0 = {
        try await manager.reload()
        #expect(await manager.account(for: TestOrg.identity)?.loginState == .loggingOut)
        let error = await #expect(throws: AccountError.self) {
          try await manager.logOut(TestOrg.identity)
        }
        #expect(error?.code == .illegalState)
      }
    }
    await manager.addLogoutObserver(observer)
    #expect(try await manager.logOut(TestOrg.identity).failures.isEmpty)
    #expect(await manager.accounts.isEmpty)
  }

  @Test(.covers("CO-84.4"))
  func `tokens that come while a logout waits for them do not log in again`()
    async throws
  {
    let org = TestOrg()
    org.tokenLatch.close()
    let clock = HandClock()
    let manager = try await org.manager(clock: clock)
    let observer = BusyObserver()
    observer.work.withLock {
      $0 = { #expect(await manager.account(for: TestOrg.identity)?.loginState == .loggingOut) }
    }
    await manager.addLogoutObserver(observer)
    let refresh = Task { try await manager.refresh(TestOrg.identity) }
    await until { org.state.withLock { $0.refreshes } == 1 }
    let logout = Task { try await manager.logOut(TestOrg.identity) }
    await until { clock.hasSleeper(for: .seconds(10)) }
    org.tokenLatch.open()
    _ = try await logout.value
    _ = await refresh.result
    #expect(observer.work.withLock { $0 == nil })
    #expect(await manager.accounts.isEmpty)
  }

  @Test func `a cancelled caller does not leave half of the data behind`() async throws {
    let manager = try await TestOrg().manager()
    let hanging = HangingObserver()
    await manager.addLogoutObserver(hanging)
    let last = CountingObserver()
    await manager.addLogoutObserver(last)
    let logout = Task { try await manager.logOut(TestOrg.identity) }
    try await hanging.isErasing.wait()
    logout.cancel()
    hanging.release.open()
    let report = try await logout.value
    #expect(report.failures.isEmpty && report.isRevoked == true)
    #expect(last.erased.withLock { $0 } == [TestOrg.identity])
    #expect(await manager.accounts.isEmpty)
  }

  @Test(.covers("CO-93.1"))
  func `a logout that the disk refuses can be tried again`() async throws {
    let org = TestOrg()
    let persister = FailingPersister()
    try await persister.save(org.account())
    let manager = try await UserAccountManager(persister: persister, transport: org.transport())
    try await manager.setCurrent(TestOrg.identity)
    persister.isFull.withLock { $0 = true }
    let error = await #expect(throws: AccountError.self) {
      try await manager.logOut(TestOrg.identity)
    }
    #expect(error?.code == .writeFailed)
    // Nothing was erased.
    #expect(await manager.account(for: TestOrg.identity)?.loginState == .loggedIn)
    persister.isFull.withLock { $0 = false }
    try await manager.logOut(TestOrg.identity)
    #expect(await manager.accounts.isEmpty)
    #expect(await manager.current == nil)
  }

  @Test(
    .covers("CO-38", "BX-5.2"),
    arguments: [
      (LogoutReason.corruptState, "corrupt_state"), (.unknown, "unknown"),
      (.refreshTokenExpired, "refresh_token_expired"), (.ssdkLogoutPolicy, "ssdk_logout_policy"),
      (.timeout, "timeout"), (.unexpected, "unexpected"), (.userLogout, "user_logout"),
      (.unexpectedResponse, "unexpected_response"), (.refreshTokenRotated, "refresh_token_rotated"),
      (.corruptStateMSDK, "corrupt_state_msdk"), (.corruptStateAppOther, "corrupt_state_app_other"),
      (.corruptStateAppConfigurationSettings, "corrupt_state_app_configuration_settings"),
      (.corruptStateAppProviderErrorInvalidUser, "corrupt_state_app_provider_error_invalid_user"),
      (.corruptStateAppInvalidRestClient, "corrupt_state_app_invalid_restclient"),
    ])
  func `reasons have their words`(reason: LogoutReason, word: String) {
    #expect(reason.rawValue == word)
  }
}

/// An observer that counts and remembers.
final class CountingObserver: LogoutObserver {
  struct Failure: Error {}
  let unsynced: Int?
  let failsToErase: Bool
  let erased = Mutex<[UserAccountIdentity]>([])

  init(unsynced: Int? = 0, failsToErase: Bool = false) {
    self.unsynced = unsynced
    self.failsToErase = failsToErase
  }

  func unsyncedRecords(of account: UserAccount) async throws -> Int {
    guard let unsynced else { throw Failure() }
    return unsynced
  }

  func willLogOut(_ account: UserAccount, reason: LogoutReason) async throws {
    if failsToErase { throw Failure() }
    erased.withLock { $0.append(account.identity) }
  }
}

/// An observer that counts each account's records, and does something in the middle of one logout.
private final class BusyObserver: LogoutObserver {
  let work = Mutex<(@Sendable () async throws -> Void)?>(nil)
  private let unsynced: [UserAccountIdentity: Int]

  init(unsynced: [UserAccountIdentity: Int] = [:]) { self.unsynced = unsynced }

  func unsyncedRecords(of account: UserAccount) async throws -> Int {
    unsynced[account.identity] ?? 0
  }

  func willLogOut(_ account: UserAccount, reason: LogoutReason) async throws {
    let work = work.withLock { work in
      defer { work = nil }
      return work
    }
    try await work?()
  }
}

/// An observer that ignores even cancellation.
final class HangingObserver: LogoutObserver {
  let isErasing = Latch()
  let release = Latch()

  func unsyncedRecords(of account: UserAccount) async throws -> Int { 0 }

  func willLogOut(_ account: UserAccount, reason: LogoutReason) async throws {
    isErasing.open()
    let release = release
    await Task.detached { try? await release.wait() }.value
  }
}

/// A clock that moves by hand.
final class HandClock: Clock {
  typealias Duration = Swift.Duration
  struct Instant: InstantProtocol {
    var offset: Swift.Duration
    func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct State {
    var now = Instant(offset: .zero)
    var sleepers: [Int: (deadline: Instant, latch: Latch)] = [:]
    var lastNumber = 0
  }

  private let state = Mutex(State())
  var now: Instant { state.withLock { $0.now } }
  var minimumResolution: Swift.Duration { .zero }

  func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
    let latch = Latch()
    let number = state.withLock { state in
      state.lastNumber += 1
      state.sleepers[state.lastNumber] = (deadline, latch)
      return state.lastNumber
    }
    defer { state.withLock { _ = $0.sleepers.removeValue(forKey: number) } }
    try await latch.wait()
  }

  /// Whether a sleeper wakes after just that time.
  func hasSleeper(for duration: Swift.Duration) -> Bool {
    state.withLock { state in
      state.sleepers.values.contains { state.now.duration(to: $0.deadline) == duration }
    }
  }

  /// Moves on, and wakes those whose time has come.
  func advance(by duration: Swift.Duration) {
    let awake = state.withLock { state in
      state.now.offset += duration
      return state.sleepers.values.filter { $0.deadline <= state.now }.map(\.latch)
    }
    for latch in awake { latch.open() }
  }
}
