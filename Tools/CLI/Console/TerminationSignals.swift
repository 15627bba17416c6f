import Dispatch
import Foundation
import Synchronization

/// Turns SIGINT and SIGTERM into events instead of a sudden end.
///
/// A command that has created one handles the signals itself; in others, ``Interruption`` handles them.
struct TerminationSignals: Sendable {
  private let arrivals: AsyncStream<Void>

  /// Handles both signals from now on.
  init() {
    let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
    self.arrivals = arrivals
    Self.handlers.withLock { $0.claims.append { arrival.yield() } }
    Self.install()
  }

  /// Waits for the first of them.
  func first() async {
    for await _ in arrivals { return }
  }

  // MARK: The process

  private struct Handlers {
    /// The instances of commands that handle signals themselves.
    var claims: [@Sendable () -> Void] = []
    var fallback: (@Sendable () -> Void)?
  }

  private static let handlers = Mutex(Handlers())

  /// One source for each signal, because of two sources for one signal only one is notified.
  ///
  /// Unsafe because Dispatch does not declare its sources `Sendable`; these are only kept alive.
  private nonisolated(unsafe) static let sources: [any DispatchSourceSignal] =
    [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler {
        let now = TerminationSignals.handlers.withLock { $0 }
        if now.claims.isEmpty { now.fallback?() } else { now.claims.forEach { $0() } }
      }
      source.resume()
      return source
    }

  private static func install() { _ = sources }

  /// Calls `handler` for each signal, as long as no command handles signals itself.
  static func otherwise(_ handler: @escaping @Sendable () -> Void) {
    handlers.withLock { $0.fallback = handler }
    install()
  }

  /// Whether a command handles the signals itself.
  static var areClaimed: Bool { handlers.withLock { !$0.claims.isEmpty } }
}
