import SalesforceSDKCommon
import Synchronization

/// Locks an app as the orgs of its users demand (CO-154 to CO-159).
///
/// Set it as ``UserAccountManager/Options/screenLock``. The policy of each user comes with the login and stays until the next one; the
/// strictest counts for the app. The app is locked from its start, right after a login with a policy, and when it comes back after
/// a longer time than the policy allows. Times are measured on a clock that no one can set.
///
/// While the app is locked, ``whenUnlocked(_:)`` waits and ``events()`` say so. With ``Options/isStrict`` the stores of a
/// `SmartStoreManager` that was made with the accounts refuse to give out content; syncs go on.
///
/// ```swift
/// let lock = ScreenLockManager(authenticator: PasscodeAuthenticator(secrets: secrets, prompt: page))
/// options.screenLock = lock
/// lock.willEnterForeground()
/// if lock.isLocked { try await lock.unlock() }
/// ```
public final class ScreenLockManager: Sendable {
  /// How the lock behaves.
  public struct Options: Sendable {
    /// Whether stores refuse to give out content while the app is locked. Default: false.
    public var isStrict = false
    /// Whether the time without ``ScreenLockManager/userDidInteract()`` counts in the foreground, too; ``ScreenLockManager/watch(every:clock:)`` then
    /// locks by itself. Default: false, as on phones, which lock themselves.
    public var countsInactivity = false
    /// When the app was used last, for programs that end after each command. Default: unknown, so the app starts locked.
    public var lastUse: BootTime?

    /// Makes options.
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
  private let state: Mutex<State>
  private let source = EventSource<ScreenLockEvent>()
  private let accounts = Mutex<WeakAccounts>(WeakAccounts())

  private struct WeakAccounts { weak var manager: UserAccountManager? }

  /// Makes a lock without users.
  ///
  /// - Parameter authenticator: Proves that the person is the owner of the device. Without one, logins of users whose org demands a
  ///   lock are refused.
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
    let lastUse = options.lastUse.flatMap { now().since($0) == nil ? nil : $0.elapsed }
    state = Mutex(
      State(
        machine: LockMachine(countsInactivity: options.countsInactivity, lastUse: lastUse)))
  }

  // MARK: State

  /// Whether the app is locked.
  public var isLocked: Bool { state.withLock { $0.machine.isLocked } }

  /// What the orgs of all users demand together; nil if none demands a lock.
  public var policy: LockPolicy? { state.withLock { $0.machine.policy } }

  /// What the org of one user demands; nil if it demands no lock.
  public func policy(of identity: UserAccountIdentity) -> LockPolicy? {
    state.withLock { $0.machine.policies[identity] }
  }

  /// When the app was used last; nil if that is unknown. For ``Options/lastUse`` of the next process.
  public var lastUse: BootTime? {
    let boot = now().boot
    return state.withLock { $0.machine.lastUse }.map { BootTime(boot: boot, elapsed: $0) }
  }

  /// The changes from now on. Each call gives a stream of its own, which keeps all of them until they are read; ``isLocked`` is the state
  /// from which they start if it is read after the call.
  public func events() -> some AsyncSequence<ScreenLockEvent, Never> & Sendable {
    source.stream()
  }

  /// Runs `body` as soon as the app is not locked, and at once if it is not (CO-6).
  ///
  /// - Throws: `CancellationError` while it waits; what `body` throws.
  public func whenUnlocked<Result>(_ body: () async throws -> Result) async throws -> Result {
    while let opening = state.withLock({ $0.opening }) { try await opening.value() }
    return try await body()
  }

  // MARK: What happens to the app

  /// The app is not visible from now on. Its time begins to count.
  public func didEnterBackground() { handle(.enterBackground(at: now().elapsed)) }

  /// The app becomes visible: it is locked first if it was away for longer than the policy allows.
  public func willEnterForeground() { handle(.enterForeground(at: now().elapsed)) }

  /// The person used the app.
  public func userDidInteract() { handle(.interaction(at: now().elapsed)) }

  /// Locks the app now, for instance with the desktop's session.
  ///
  /// - Returns: Whether the app is locked; false if no org demands that.
  @discardableResult
  public func lock() -> Bool {
    handle(.lock)
    return isLocked
  }

  /// Locks the app when its time is over, until the task is cancelled.
  ///
  /// - Parameter interval: How much later than that. Default: 5 seconds.
  public func watch(
    every interval: Duration = .seconds(5), clock: any Clock<Duration> = ContinuousClock()
  ) async throws {
    while true {
      try await clock.sleep(for: interval)
      handle(.tick(at: now().elapsed))
    }
  }

  /// Has the person authenticate, and unlocks the app. At once if it is not locked.
  ///
  /// - Throws: ``LockError``: `unavailable` without an authenticator; `locked` if the app was locked again during the
  ///   authentication; what the authenticator throws. `CancellationError`. The app stays locked.
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

  /// Takes part in the logouts of a manager's users.
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
