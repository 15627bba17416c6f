import CWindow

/// Work for the thread that runs GTK. Swift's main actor has no turn while GTK's loop runs.
enum MainThread {
  private final class Work {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
  }

  /// Runs `body` on the main thread; may be called on any thread.
  static func run(_ body: @escaping @Sendable () -> Void) {
    let work = Unmanaged.passRetained(Work(body)).toOpaque()
    ff_on_main_thread(
      { work in
        guard let work else { return }
        Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body()
      }, work)
  }

  /// A pointer for a C function that calls ``done`` once.
  static func context(_ body: @escaping () -> Void) -> UnsafeMutableRawPointer {
    Unmanaged.passRetained(Work(body)).toOpaque()
  }

  /// Runs the work of ``context(_:)``.
  static let done: @convention(c) (UnsafeMutableRawPointer?) -> Void = { work in
    guard let work else { return }
    Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body()
  }
}
