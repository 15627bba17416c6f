import Foundation
import Synchronization

/// Ctrl-C in a command that does not handle it itself: the first one cancels the work, which stops where
/// its data is consistent, and the second one ends the process. The status is 130 in both cases.
///
/// A command that creates ``TerminationSignals`` handles the signals itself from then on.
final class Interruption: Sendable {
  private let count = Atomic(0)
  private let cancel: @Sendable () -> Void
  private static let readers = Atomic(0)

  /// - Parameter cancel: Cancels the work.
  init(_ cancel: @escaping @Sendable () -> Void) {
    self.cancel = cancel
    TerminationSignals.otherwise { [self] in arrived() }
  }

  /// Whether this type has handled a signal.
  var hasArrived: Bool { count.load(ordering: .sequentiallyConsistent) > 0 }

  /// Calls `body` with standard input, which may wait for the user. During that time a signal ends the process, since
  /// no other work is in progress.
  static func whileReading<Value>(_ body: () throws -> Value) rethrows -> Value {
    readers.add(1, ordering: .sequentiallyConsistent)
    defer { readers.subtract(1, ordering: .sequentiallyConsistent) }
    return try body()
  }

  /// Whether the command waits for standard input.
  static var isReading: Bool { readers.load(ordering: .sequentiallyConsistent) > 0 }

  private func arrived() {
    let earlier = count.add(1, ordering: .sequentiallyConsistent).oldValue
    if Self.isReading || earlier > 0 {
      ProgressLine.interrupt()
      // At once: destructors would wait for the work.
      _exit(ExitStatus.interrupted.rawValue)
    }
    cancel()
  }
}
