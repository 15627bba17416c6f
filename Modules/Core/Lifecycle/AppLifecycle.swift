/// Passes on that the app goes to the background and comes back (CO-14, CO-15).
///
/// ```swift
/// let lifecycle = AppLifecycle(screen: window)
/// await lifecycle.add(screenLock)
/// await lifecycle.add(analytics)
/// await lifecycle.didEnterBackground()
/// ```
///
/// The program calls it: on Apple systems in the notifications of the application, on Linux when its window is hidden, or the
/// session is locked or suspended. Calls run one after the other; a repeated call does nothing.
///
/// The `screen` is called first when the app goes to the background, so that it hides its content before a picture of it is taken,
/// and last when the app comes back, so that a lock comes first.
public actor AppLifecycle {
  /// The place of the app in front of the user or behind other apps.
  public enum Phase: Sendable, Equatable { case foreground, background }

  /// The present phase. Default: in the foreground.
  public private(set) var phase = Phase.foreground

  private let screen: (any LifecycleObserver)?
  private var observers: [any LifecycleObserver] = []
  private var last: Task<Void, Never>?

  /// Creates a lifecycle in the foreground.
  ///
  /// - Parameter screen: Hides and shows what the user sees. Default: none.
  public init(screen: (any LifecycleObserver)? = nil) {
    self.screen = screen
  }

  /// Adds an observer, which is called after those that were added before it. It is kept.
  public func add(_ observer: some LifecycleObserver) { observers.append(observer) }

  /// Calls all observers because the app is in the background, and waits for them.
  public func didEnterBackground() async { await change(to: .background) }

  /// Calls all observers because the app is about to be used, and waits for them.
  public func willEnterForeground() async { await change(to: .foreground) }

  private func change(to phase: Phase) async {
    let previous = last
    let task = Task {
      await previous?.value
      await self.perform(phase)
    }
    last = task
    await task.value
  }

  private func perform(_ next: Phase) async {
    guard next != phase else { return }
    phase = next
    switch next {
    case .background:
      await screen?.didEnterBackground()
      for observer in observers { await observer.didEnterBackground() }
    case .foreground:
      for observer in observers { await observer.willEnterForeground() }
      await screen?.willEnterForeground()
    }
  }
}
