/// A change of an app's lock (CO-159).
public enum ScreenLockEvent: Sendable, Equatable {
  /// The app is locked from now on. It hides what it shows, and calls ``ScreenLockManager/unlock()`` when the person returns.
  case flowWillBegin
  /// The app is unlocked: the person authenticated, or no user with a policy is left.
  case flowDidComplete
  /// The passcode was wrong too often: the users whose org demands a lock were logged out, but those that have unsynced records.
  /// They stay locked, with their data, until they log in again.
  case tooManyFailures(loggedOut: [UserAccountIdentity], kept: [UserAccountIdentity])
}
