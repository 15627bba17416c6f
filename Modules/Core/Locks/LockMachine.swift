/// Whether an app is locked, as a value without clock and without I/O (CO-155).
///
/// Times are measured since the start of the device, so a change of the wall clock shortens nothing. An app whose last use is
/// unknown counts as unused for long: it starts locked.
struct LockMachine: Equatable {
  /// An event that may lock or unlock the app.
  enum Event: Equatable {
    /// The policies of the current users.
    case users([UserAccountIdentity: LockPolicy])
    /// A login has stored the policies of the current users.
    case login([UserAccountIdentity: LockPolicy])
    case enterBackground(at: Duration)
    case enterForeground(at: Duration)
    /// The user interacted with the app.
    case interaction(at: Duration)
    /// Time passed.
    case tick(at: Duration)
    /// The user or the desktop's session locks the app.
    case lock
    /// An authentication that began under lock `number` succeeded.
    case authenticated(number: Int, at: Duration)
  }

  /// The effect of an event.
  enum Action: Equatable { case none, lock, unlock }

  /// Whether use is measured in the foreground, too.
  let countsInactivity: Bool
  private(set) var policies: [UserAccountIdentity: LockPolicy] = [:]
  private(set) var isLocked = false
  /// Counts locks. An authentication that began under an earlier one unlocks nothing.
  private(set) var number = 0
  /// The time of the last use; nil for long ago.
  private(set) var lastUse: Duration?
  private var isInBackground = false

  /// The combined policy of all users.
  var policy: LockPolicy? { LockPolicy.strictest(policies.values) }

  /// Starts without users.
  ///
  /// - Parameter lastUse: The time of the last use of the app, if a former process stored it.
  init(countsInactivity: Bool = false, lastUse: Duration? = nil) {
    self.countsInactivity = countsInactivity
    self.lastUse = lastUse
  }

  /// Reads the users with which the app starts.
  mutating func start(_ users: [UserAccountIdentity: LockPolicy], at time: Duration) -> Action {
    policies = users
    guard isExpired(at: time) else { return .none }
    return lock()
  }

  mutating func handle(_ event: Event) -> Action {
    switch event {
    case .users(let users):
      let hasNewPolicy = users.contains { policies[$0.key] != $0.value }
      policies = users
      if policies.isEmpty { return unlock() }
      return hasNewPolicy ? lock() : .none
    case .login(let users):
      policies = users
      guard !policies.isEmpty else { return unlock() }
      // Of the new policy's time nothing has passed, so the next process must not count from the use before.
      lastUse = nil
      return lock()
    case .enterBackground(let time):
      // A locked app is not in use, so the time without use continues.
      if !isLocked, !isInBackground { use(at: time) }
      isInBackground = true
      return .none
    case .enterForeground(let time):
      isInBackground = false
      return useUnlessExpired(at: time)
    case .interaction(let time):
      guard countsInactivity || isInBackground else {
        if !isLocked { use(at: time) }
        return .none
      }
      return useUnlessExpired(at: time)
    case .tick(let time):
      guard countsInactivity || isInBackground, isExpired(at: time) else { return .none }
      return lock(unlessLocked: true)
    case .lock: return policies.isEmpty ? .none : lock()
    case .authenticated(let number, let time):
      guard isLocked, number == self.number else { return .none }
      use(at: time)
      return unlock()
    }
  }

  private mutating func useUnlessExpired(at time: Duration) -> Action {
    guard !isLocked else { return .none }
    if isExpired(at: time) { return lock() }
    use(at: time)
    return .none
  }

  private mutating func use(at time: Duration) { lastUse = max(time, lastUse ?? time) }

  /// Whether the app was not in use for longer than its policy allows.
  private func isExpired(at time: Duration) -> Bool {
    guard let policy else { return false }
    guard let lastUse else { return true }
    return time - lastUse > policy.timeout
  }

  private mutating func lock(unlessLocked: Bool = false) -> Action {
    if isLocked, unlessLocked { return .none }
    number += 1
    defer { isLocked = true }
    return isLocked ? .none : .lock
  }

  private mutating func unlock() -> Action {
    defer { isLocked = false }
    return isLocked ? .unlock : .none
  }
}
