import SalesforceSDKCommon
import Synchronization

/// A screen lock of an app, by the policies of its users' orgs (CO-154 to CO-159).
///
/// Set it as ``UserAccountManager/Options/screenLock``. Each login reads the user's policy, which
/// applies until the user's next login; the strictest policy applies to the app. The app is locked
/// at its start, after a login with a policy, and when it returns to the foreground after more time
/// than the policy allows. Times are measured on a clock that users cannot set.
///
/// While the app is locked, ``whenUnlocked(_:)`` waits; ``events()`` reports the lock. With
/// ``Options/isStrict``, the stores of a `SmartStoreManager` that was created with the accounts
/// refuse reads and writes; syncs continue.
///
/// ```swift
/// let lock = ScreenLockManager(authenticator: PasscodeAuthenticator(secrets: secrets, prompt: page))
/// options.screenLock = lock
/// lock.willEnterForeground()
/// if lock.isLocked { try await lock.unlock() }
/// ```
public final class ScreenLockManager: Sendable {
  /// The options of a lock.
  public struct Options: Sendable {
    /// Whether stores refuse reads and writes while the app is locked. Default: false.
    public var isStrict = false
    /// Whether the time without ``ScreenLockManager/userDidInteract()`` counts in the foreground,
    /// too; ``ScreenLockManager/watch(every:clock:)`` then locks the app. Default: false, because
    /// phones lock themselves.
    public var countsInactivity = false
    /// The time of the last use, for programs that end after each command. Default: unknown, so the
    /// app starts locked.
    public var lastUse: BootTime?
    /// Called before a login is stored that locks the app: the time of the last use, which a program has stored for its
    /// next process, no longer counts. Remove it there, so that the next process starts locked. Default: does nothing.
    public var willForgetLastUse: @Sendable () -> Void = {}

    /// Creates options.
    public init() {}
  }

  private struct State {
    var machine: LockMachine
    /// Resolved by the next unlocking; nil while the app is not locked.
    var opening: SharedOutcome<Void>?
    var hasStarted = false
    /// Events that are not sent yet, in the order of the states.
    var outbox: [ScreenLockEvent] = []
    var isDelivering = false

    mutating func nextEvent() -> ScreenLockEvent? {
      isDelivering = !outbox.isEmpty
      return outbox.isEmpty ? nil : outbox.removeFirst()
    }
  }

  /// Whether stores refuse to give out content while the app is locked.
  public let isStrict: Bool
  private let authenticator: (any DeviceAuthenticator)?
  private let now: @Sendable () -> BootTime
  private let willForgetLastUse: @Sendable () -> Void
  private let state: Mutex<State>
  private let source = EventSource<ScreenLockEvent>()
  private let accounts = Mutex<WeakAccounts>(WeakAccounts())

  private struct WeakAccounts { weak var manager: UserAccountManager? }

  /// Creates a lock without users.
  ///
  /// - Parameter authenticator: Authenticates the owner of the device. Without one, logins of users
  ///   whose org requires a lock are refused.
  public convenience init(authenticator: (any DeviceAuthenticator)?, options: Options = Options()) {
    self.init(authenticator: authenticator, options: options) { .now }
  }

  package init(
    authenticator: (any DeviceAuthenticator)?, options: Options = Options(),
    now: @escaping @Sendable () -> BootTime
  ) {
    self.authenticator = authenticator
    self.now = now
    isStrict = options.isStrict
    willForgetLastUse = options.willForgetLastUse
    let lastUse = options.lastUse.flatMap { now().since($0) == nil ? nil : $0.elapsed }
    state = Mutex(
      State(
        machine: LockMachine(countsInactivity: options.countsInactivity, lastUse: lastUse)))
  }

  // MARK: State

  /// Whether the app is locked.
  public var isLocked: Bool { state.withLock { $0.machine.isLocked } }

  /// The combined policy of all users; nil if no org requires a lock.
  public var policy: LockPolicy? { state.withLock { $0.machine.policy } }

  /// Returns the policy of one user; nil if the user's org requires no lock.
  public func policy(of identity: UserAccountIdentity) -> LockPolicy? {
    state.withLock { $0.machine.policies[identity] }
  }

  /// The time of the last use, for ``Options/lastUse`` of the next process; nil if it is unknown, and from a login with a
  /// policy until the app is unlocked.
  public var lastUse: BootTime? {
    let boot = now().boot
    return state.withLock { $0.machine.lastUse }.map { BootTime(boot: boot, elapsed: $0) }
  }

  /// Returns the changes from now on. Each call returns a separate stream, which buffers all of
  /// them until they are read. If you read ``isLocked`` after this call, you miss no change.
  public func events() -> some AsyncSequence<ScreenLockEvent, Never> & Sendable {
    source.stream()
  }

  /// Runs `body` as soon as the app is unlocked (CO-6).
  ///
  /// - Throws: `CancellationError` while it waits; the errors of `body`.
  public func whenUnlocked<Result>(_ body: () async throws -> Result) async throws -> Result {
    while let opening = state.withLock({ $0.opening }) { try await opening.value() }
    return try await body()
  }

  // MARK: What happens to the app

  /// Call this when the app is hidden. The time without use starts.
  public func didEnterBackground() { handle(.enterBackground(at: now().elapsed)) }

  /// Call this before the app is shown. It locks the app if the app was hidden for longer than the
  /// policy allows.
  public func willEnterForeground() { handle(.enterForeground(at: now().elapsed)) }

  /// Call this when the user interacts with the app.
  public func userDidInteract() { handle(.interaction(at: now().elapsed)) }

  /// Locks the app now, for instance with the desktop's session.
  ///
  /// - Returns: Whether the app is locked; false if no org demands that.
  @discardableResult
  public func lock() -> Bool {
    handle(.lock)
    return isLocked
  }

  /// Locks the app after the policy's time without use, until the task is cancelled.
  ///
  /// - Parameter interval: The maximum delay of the lock. Default: 5 seconds.
  public func watch(
    every interval: Duration = .seconds(5), clock: any Clock<Duration> = ContinuousClock()
  ) async throws {
    while true {
      try await clock.sleep(for: interval)
      handle(.tick(at: now().elapsed))
    }
  }

  /// Authenticates the user and unlocks the app. Returns at once if the app is not locked.
  ///
  /// - Throws: ``LockError``: `unavailable` without an authenticator; `locked` if the app was
  ///   locked again during the authentication; the errors of the authenticator.
  ///   `CancellationError`. The app stays locked.
  public func unlock() async throws {
    let locked = state.withLock { state in
      state.machine.isLocked ? (state.machine.number, state.machine.policy) : nil
    }
    guard let (number, policy) = locked, let policy else { return }
    guard let authenticator, await authenticator.isAvailable else { throw Self.unavailable }
    do {
      try await authenticator.authenticate(for: policy)
    } catch let error as LockError where error.code == .tooManyFailures {
      await logOutAll()
      throw error
    }
    handle(.authenticated(number: number, at: now().elapsed))
    guard !isLocked else {
      throw LockError(
        .locked, "The app was locked again during the authentication. Authenticate again.")
    }
  }

  // MARK: Users

  /// Whether the device can authenticate its owner.
  var canLock: Bool {
    get async { await authenticator?.isAvailable ?? false }
  }

  /// The users have changed, or were read again.
  func usersDidChange(_ users: [UserAccountIdentity: LockPolicy]) {
    handle(nil, users: users)
  }

  /// A login is about to be stored.
  ///
  /// - Parameter hasPolicy: Whether the org of its user or of another user requires a lock.
  func willLogIn(hasPolicy: Bool) {
    // First: if the process ends behind the login, the next one has to be locked.
    if hasPolicy { willForgetLastUse() }
  }

  /// A login has ended.
  ///
  /// - Parameter mayReset: Whether the user was here before, and the app was locked: a person who forgot the passcode gets another one.
  func didLogIn(
    _ identity: UserAccountIdentity, users: [UserAccountIdentity: LockPolicy], mayReset: Bool
  ) async {
    handle(.login(users))
    // The person has proved to be that user. Of other users' data that says nothing.
    guard mayReset, !users.isEmpty, users.keys.allSatisfy({ $0 == identity }) else { return }
    do throws(LockError) {
      try await authenticator?.reset()
    } catch {
      CoreLogger.log.error("A passcode could not be reset after a login.", error: error)
    }
  }

  /// Connects the lock to the logouts of a manager's users.
  func attach(to manager: UserAccountManager) { accounts.withLock { $0.manager = manager } }

  /// Logs the users out whose org demands a lock, but those that have unsynced records.
  private func logOutAll() async {
    guard let manager = accounts.withLock({ $0.manager }) else { return }
    var loggedOut: [UserAccountIdentity] = []
    var kept: [UserAccountIdentity] = []
    for identity in state.withLock({ $0.machine.policies.keys.sorted() }) {
      do {
        try await manager.logOut(identity, reason: .ssdkLogoutPolicy)
        loggedOut.append(identity)
      } catch {
        CoreLogger.log.warning(
          "Account \(identity) is kept after too many wrong passcodes.", error: error)
        kept.append(identity)
      }
    }
    state.withLock { $0.outbox.append(.tooManyFailures(loggedOut: loggedOut, kept: kept)) }
    deliver()
  }

  private func handle(_ event: LockMachine.Event?, users: [UserAccountIdentity: LockPolicy]? = nil)
  {
    let time = now().elapsed
    let opened = state.withLock { state in
      let action: LockMachine.Action
      if let event {
        if case .login = event { state.hasStarted = true }
        action = state.machine.handle(event)
      } else if state.hasStarted {
        action = state.machine.handle(.users(users ?? [:]))
      } else {
        state.hasStarted = true
        action = state.machine.start(users ?? [:], at: time)
      }
      switch action {
      case .none: return nil as SharedOutcome<Void>?
      case .lock:
        state.opening = SharedOutcome()
        state.outbox.append(.flowWillBegin)
        return nil
      case .unlock:
        state.outbox.append(.flowDidComplete)
        defer { state.opening = nil }
        return state.opening
      }
    }
    opened?.resolve(.success(()))
    deliver()
  }

  /// Sends what is to be sent, unless another thread does: so events keep the order of the states.
  private func deliver() {
    let isMine = state.withLock { state in
      defer { state.isDelivering = true }
      return !state.isDelivering
    }
    guard isMine else { return }
    while let event = state.withLock({ $0.nextEvent() }) { source.send(event) }
  }

  private static var unavailable: LockError {
    LockError(
      .unavailable,
      "The app is locked, and nothing on this device can authenticate its owner. Give it a DeviceAuthenticator."
    )
  }
}
