import Foundation
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// Is an app locked as the orgs of its users demand, from the login to the logout?
struct ScreenLockTests {
  private let clock = BootClock()
  private let presenter = ScriptedLoginPresenter {
    "\($0.app.redirectURI)?code=x&state=\($0.state)"
  }

  private func stub(minutes: Int?) -> LoginServerStub {
    let stub = LoginServerStub(["/services/oauth2/token": { _ in LoginServerStub.tokens() }])
    stub.demand(minutes)
    return stub
  }

  private func lock(
    _ authenticator: (any DeviceAuthenticator)?,
    _ change: (inout ScreenLockManager.Options) -> Void = { _ in }
  ) -> ScreenLockManager {
    var options = ScreenLockManager.Options()
    change(&options)
    return ScreenLockManager(authenticator: authenticator, options: options) { [clock] in clock.now
    }
  }

  private func options(_ lock: ScreenLockManager?) -> UserAccountManager.Options {
    var options = UserAccountManager.Options()
    options.screenLock = lock
    return options
  }

  @Test(.covers("CO-156"))
  func `a login with a policy is refused where nothing can authenticate`() async throws {
    let stub = stub(minutes: 10)
    for screenLock in [nil, lock(nil)] {
      let transport = stub.transport()
      let manager = try await stub.manager(transport, options: options(screenLock))
      let error = await #expect(throws: OAuthError.self) {
        try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
      }
      #expect(error?.code == .screenLockRequired)
      #expect(await manager.accounts.isEmpty)
    }
    // An app that keeps to the policy by itself says so.
    var own = UserAccountManager.Options()
    own.enforcesScreenLockItself = true
    let manager = try await stub.manager(stub.transport(), options: own)
    let account = try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
    #expect(account.lockPolicy == LockPolicy(timeoutMinutes: 10, passcodeLength: 4))
    stub.demand(nil)
    let free = try await stub.manager(stub.transport())
    #expect(
      try await free.logIn(.browser(app: TestOrg.app, presenter: presenter)).lockPolicy == nil)
  }

  @Test(.covers("CO-155", "CO-159", "CO-79.3", "CO-5.1", "CO-14.1"))
  func `a login with a policy locks, and an authentication unlocks`() async throws {
    let authenticator = ScriptedDeviceAuthenticator()
    let lock = lock(authenticator)
    var events = lock.events().makeAsyncIterator()
    let manager = try await stub(minutes: 10).manager(
      stub(minutes: 10).transport(), options: options(lock))
    #expect(!lock.isLocked && lock.policy == nil)
    try await lock.unlock()
    #expect(authenticator.policies.isEmpty)
    try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
    #expect(lock.isLocked && lock.policy == LockPolicy(timeoutMinutes: 10, passcodeLength: 4))
    let error = await #expect(throws: LockError.self) { try await lock.unlock() }
    #expect(error?.code == .refused && lock.isLocked)
    authenticator.add(.success(()))
    try await lock.unlock()
    #expect(!lock.isLocked)
    let event1 = try await events.next()
    #expect(event1 == .flowWillBegin)
    let event2 = try await events.next()
    #expect(event2 == .flowDidComplete)
    // 10 minutes in the background are allowed, and not a moment more.
    lock.didEnterBackground()
    clock.advance(by: .seconds(600))
    lock.willEnterForeground()
    #expect(!lock.isLocked)
    lock.didEnterBackground()
    clock.advance(by: .milliseconds(600_001))
    #expect(!lock.isLocked)
    lock.willEnterForeground()
    #expect(lock.isLocked)
    let event3 = try await events.next()
    #expect(event3 == .flowWillBegin)
  }

  @Test(.covers("CO-154", "CO-155", "CO-5.1"))
  func `policies stay over a restart and over a new profile, until the next login`() async throws {
    let folder = try TemporaryFolder()
    let secrets = InMemorySecretStore()
    func manager(_ lock: ScreenLockManager, _ stub: LoginServerStub) async throws
      -> UserAccountManager
    {
      try await UserAccountManager(
        persister: EncryptedAccountDirectory(root: folder.url, secrets: secrets),
        transport: stub.transport(), options: options(lock))
    }
    let stub = stub(minutes: 10)
    let first = lock(ScriptedDeviceAuthenticator([.success(())]))
    let accounts = try await manager(first, stub)
    try await accounts.logIn(.browser(app: TestOrg.app, presenter: presenter))
    try await first.unlock()
    stub.demand(nil)
    try await accounts.refreshProfile(of: TestOrg.identity)
    #expect(first.policy?.timeoutMinutes == 10 && !first.isLocked)
    let lastUse = first.lastUse

    // Another process does not know when the app was used last.
    let second = lock(ScriptedDeviceAuthenticator([.success(())]))
    let later = try await manager(second, stub)
    #expect(second.isLocked && second.policy(of: TestOrg.identity)?.passcodeLength == 4)
    // One that knows it starts unlocked, unless the device was started in between.
    let third = lock(nil) { $0.lastUse = lastUse }
    _ = try await manager(third, stub)
    #expect(!third.isLocked && third.policy != nil)
    clock.restart()
    let fourth = lock(nil) { $0.lastUse = lastUse }
    _ = try await manager(fourth, stub)
    #expect(fourth.isLocked)
    // The next login brings the policy of that day: none.
    try await later.logIn(.browser(app: TestOrg.app, presenter: presenter))
    #expect(!second.isLocked && second.policy == nil)
  }

  @Test(.covers("CO-155", "CO-159"))
  func `a login with a policy locks the next process, whatever the use before`() async throws {
    let folder = try TemporaryFolder()
    let secrets = InMemorySecretStore()
    let stored = Stored()
    let stub = stub(minutes: 10)
    func process(_ results: [Result<Void, LockError>] = []) async throws
      -> (ScreenLockManager, UserAccountManager)
    {
      let lock = lock(ScriptedDeviceAuthenticator(results)) { options in
        options.lastUse = stored.time
        options.willForgetLastUse = { stored.time = nil }
      }
      let manager = try await UserAccountManager(
        persister: EncryptedAccountDirectory(root: folder.url, secrets: secrets),
        transport: stub.transport(), options: self.options(lock))
      return (lock, manager)
    }
    let (first, accounts) = try await process([.success(())])
    try await accounts.logIn(.browser(app: TestOrg.app, presenter: presenter))
    #expect(first.isLocked && first.lastUse == nil)
    try await first.unlock()
    stored.time = first.lastUse
    #expect(stored.time != nil)

    // The same policy, a stricter and a laxer one.
    for minutes in [10, 1, 60] {
      stub.demand(minutes)
      let (second, later) = try await process([.success(())])
      #expect(!second.isLocked)
      try await later.logIn(.browser(app: TestOrg.app, presenter: presenter))
      #expect(second.isLocked && second.lastUse == nil && stored.time == nil)
      let (third, _) = try await process([.success(())])
      #expect(third.isLocked, "\(minutes)")
      try await second.unlock()
      stored.time = second.lastUse
    }
    // Without a policy nothing is forgotten, and nothing is locked.
    stub.demand(nil)
    let (_, last) = try await process()
    try await last.logIn(.browser(app: TestOrg.app, presenter: presenter))
    let (free, _) = try await process()
    #expect(!free.isLocked && free.policy == nil)
  }

  /// The time of the last use as a program stores it for its next process.
  private final class Stored: Sendable {
    private let state = Mutex<BootTime?>(nil)
    var time: BootTime? {
      get { state.withLock { $0 } }
      set { state.withLock { $0 = newValue } }
    }
  }

  @Test(.covers("CO-155", "BX-95.1", "CO-87.3"))
  func `the strictest policy of all users holds, and goes with its user`()
    async throws
  {
    let lock = lock(ScriptedDeviceAuthenticator([.success(())]))
    var strict = TestOrg().account(
      identity: UserAccountIdentity(
        userId: "005000000000002AAA", organizationId: "00D000000000001EAA"))
    strict.lockPolicy = LockPolicy(timeoutMinutes: 1, passcodeLength: 8)
    var lax = TestOrg().account()
    lax.lockPolicy = LockPolicy(timeoutMinutes: 60)
    let manager = try await TestOrg().manager([strict, lax], options: options(lock))
    #expect(lock.isLocked)
    #expect(lock.policy == LockPolicy(timeoutMinutes: 1, passcodeLength: 8))
    try await manager.logOut(strict.identity)
    #expect(lock.isLocked && lock.policy == lax.lockPolicy)
    try await manager.logOut(lax.identity)
    #expect(!lock.isLocked && lock.policy == nil)
  }

  @Test(.covers("CO-159")) func `what is pending waits until the app is unlocked`() async throws {
    let authenticator = ScriptedDeviceAuthenticator([.success(())])
    let lock = lock(authenticator)
    var account = TestOrg().account()
    account.lockPolicy = LockPolicy(timeoutMinutes: 1)
    let manager = try await TestOrg().manager([account], options: options(lock))
    let runs = Counter()
    let pending = (0..<3).map { _ in
      Task { try await lock.whenUnlocked { runs.increase() } }
    }
    let given = Task { try await lock.whenUnlocked { Issue.record("it was cancelled") } }
    given.cancel()
    await #expect(throws: CancellationError.self) { try await given.value }
    #expect(runs.value == 0)
    try await lock.unlock()
    for task in pending { try await task.value }
    #expect(runs.value == 3)
    #expect(try await lock.whenUnlocked { 7 } == 7)
    withExtendedLifetime(manager) {}
  }

  @Test(.covers("CO-159")) func `an authentication that ends after the next lock unlocks nothing`()
    async throws
  {
    let lock = Mutex<ScreenLockManager?>(nil)
    let authenticator = ScriptedDeviceAuthenticator([.success(())]) {
      lock.withLock { $0 }?.lock()
    }
    let screenLock = self.lock(authenticator)
    lock.withLock { $0 = screenLock }
    var account = TestOrg().account()
    account.lockPolicy = LockPolicy(timeoutMinutes: 1)
    let manager = try await TestOrg().manager([account], options: options(screenLock))
    let error = await #expect(throws: LockError.self) { try await screenLock.unlock() }
    #expect(error?.code == .locked && screenLock.isLocked)
    withExtendedLifetime(manager) {}
  }

  @Test(.covers("CO-155"))
  func `with inactivity the watch locks an app that no one uses`() async throws {
    let lock = lock(ScriptedDeviceAuthenticator()) { options in
      options.countsInactivity = true
      options.lastUse = clock.now
    }
    var account = TestOrg().account()
    account.lockPolicy = LockPolicy(timeoutMinutes: 1)
    let manager = try await TestOrg().manager([account], options: options(lock))
    lock.willEnterForeground()
    #expect(!lock.isLocked)
    var events = lock.events().makeAsyncIterator()
    clock.advance(by: .seconds(61))
    let watch = Task { try await lock.watch(clock: PatientClock()) }
    let event4 = try await events.next()
    #expect(event4 == .flowWillBegin)
    watch.cancel()
    withExtendedLifetime(manager) {}
  }

  @Test(.covers("CO-157"))
  func `too many wrong passcodes log out who has nothing to lose, and say who stays`() async throws
  {
    let authenticator = ScriptedDeviceAuthenticator([.failure(LockError(.tooManyFailures, "no"))])
    let lock = lock(authenticator)
    var poor = TestOrg().account()
    poor.lockPolicy = LockPolicy(timeoutMinutes: 1)
    var rich = TestOrg().account(
      identity: UserAccountIdentity(
        userId: "005000000000002AAA", organizationId: "00D000000000001EAA"))
    rich.lockPolicy = LockPolicy(timeoutMinutes: 5)
    let free = TestOrg().account(
      identity: UserAccountIdentity(
        userId: "005000000000003AAA", organizationId: "00D000000000001EAA"))
    let manager = try await TestOrg().manager([poor, rich, free], options: options(lock))
    await manager.addLogoutObserver(Edits(of: rich.identity))
    var events = lock.events().makeAsyncIterator()
    let error = await #expect(throws: LockError.self) { try await lock.unlock() }
    #expect(error?.code == .tooManyFailures)
    let event = try await events.next()
    #expect(event == .tooManyFailures(loggedOut: [poor.identity], kept: [rich.identity]))
    #expect(await manager.accounts.map(\.identity) == [rich.identity, free.identity])
    #expect(lock.isLocked)
  }

  @Test(.covers("CO-157"), arguments: [false, true])
  func `a login as the only locked user forgets the passcode, one as another user does not`(
    hasOther: Bool
  ) async throws {
    let authenticator = ScriptedDeviceAuthenticator([.success(())])
    let lock = lock(authenticator)
    var account = TestOrg().account()
    account.lockPolicy = LockPolicy(timeoutMinutes: 10, passcodeLength: 4)
    var other = TestOrg().account(
      identity: UserAccountIdentity(
        userId: "005000000000002AAA", organizationId: "00D000000000001EAA"))
    other.lockPolicy = LockPolicy(timeoutMinutes: 5)
    let stub = stub(minutes: 10)
    let manager = try await stub.manager(
      stub.transport(), hasOther ? [account, other] : [account], options: options(lock))
    #expect(lock.isLocked)
    try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
    #expect(lock.isLocked && authenticator.resets == (hasOther ? 0 : 1))
    try await lock.unlock()
    try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
    #expect(lock.isLocked && authenticator.resets == (hasOther ? 0 : 1))
  }

  @Test(.covers("CO-157")) func `a login as a user who was not here forgets no passcode`()
    async throws
  {
    let authenticator = ScriptedDeviceAuthenticator()
    let lock = lock(authenticator)
    let stub = stub(minutes: 10)
    let manager = try await stub.manager(stub.transport(), options: options(lock))
    try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
    #expect(lock.isLocked && authenticator.resets == 0)
  }

  /// A number that tasks increase.
  private final class Counter: Sendable {
    private let count = Mutex(0)
    var value: Int { count.withLock { $0 } }
    func increase() { count.withLock { $0 += 1 } }
  }

  /// An observer for whom one user has an unsynced record.
  private struct Edits: LogoutObserver {
    let identity: UserAccountIdentity
    init(of identity: UserAccountIdentity) { self.identity = identity }
    func unsyncedRecords(of account: UserAccount) async throws -> Int {
      account.identity == identity ? 1 : 0
    }
    func willLogOut(_ account: UserAccount, reason: LogoutReason) async throws {}
  }
}

extension LoginServerStub {
  /// Has the org demand a lock after some minutes, or none.
  func demand(_ minutes: Int?) {
    let policy = minutes.map { #"{"screen_lock":\#($0),"pin_length":4}"# } ?? "null"
    set("/id/00D000000000001EAA/005000000000001AAA") { _ in
      RestResponse(json: #"{"username":"jane@example.com","mobile_policy":\#(policy)}"#)
    }
  }
}
