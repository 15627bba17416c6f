import Foundation
import Synchronization

/// Ctrl-C, in a command that does nothing particular about it: the first one cancels the work, which stops where
/// its data is whole, and the second one ends the process. The status is 130 in both cases.
///
/// A command that makes ``TerminationSignals`` acts itself from then on.
final class Interruption: Sendable {
  private let count = Atomic(0)
  private let cancel: @Sendable () -> Void
  private static let readers = Atomic(0)

  /// - Parameter cancel: Cancels the work.
  init(_ cancel: @escaping @Sendable () -> Void) {
    self.cancel = cancel
    TerminationSignals.otherwise { [self] in arrived() }
  }

  /// Whether a signal came that this has acted on.
  var hasArrived: Bool { count.load(ordering: .sequentiallyConsistent) > 0 }

  /// Lends standard input to `body`, which may wait for a person. A signal ends the process in that time, since
  /// nothing is under way.
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
