/// A change of an app's lock (CO-159).
public enum ScreenLockEvent: Sendable, Equatable {
  /// The app is locked from now on. Hide its content, and call ``ScreenLockManager/unlock()`` when
  /// the user returns.
  case flowWillBegin
  /// The app is unlocked: the user authenticated, or no user has a policy any longer.
  case flowDidComplete
  /// The passcode was wrong too often: the users whose org requires a lock were logged out, except
  /// users with unsynced records (`kept`). They stay locked, with their data, until they log in
  /// again.
  case tooManyFailures(loggedOut: [UserAccountIdentity], kept: [UserAccountIdentity])
}
