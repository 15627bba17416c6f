/// A part of an app that acts when the app goes to the background or comes back: a lock, analytics, a screen (CO-14).
///
/// Register it with ``AppLifecycle``.
public protocol LifecycleObserver: Sendable {
  /// The app is in the background now.
  func didEnterBackground() async
  /// The app is about to be used again.
  func willEnterForeground() async
}

/// Locks by the time in the background.
extension ScreenLockManager: LifecycleObserver {}

/// Publishes events in the mode ``AnalyticsOptions/PublishMode/background``.
extension SalesforceAnalyticsManager: LifecycleObserver {
  /// Does nothing: events are published when the app goes to the background.
  public func willEnterForeground() async {}
}
