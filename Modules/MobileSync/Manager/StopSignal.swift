import Synchronization

/// Tells a running operation, from any task, that it is to end early.
final class StopSignal: Sendable {
  /// Why an operation ends early.
  enum Interruption: Error, Equatable {
    /// The manager was stopped: the sync is stored as stopped.
    case stopped
    /// The manager was closed: nothing may be stored or delivered any more.
    case closed
  }

  private let demand = Mutex<Interruption?>(nil)

  /// What is requested now.
  var current: Interruption? { demand.withLock { $0 } }

  /// Asks operations to stop, until ``clear()``.
  func stop() {
    demand.withLock { if $0 == nil { $0 = .stopped } }
  }

  /// Takes a stop back. A close is for ever.
  func clear() {
    demand.withLock { if $0 == .stopped { $0 = nil } }
  }

  /// Asks operations to end without a trace.
  func close() {
    demand.withLock { $0 = .closed }
  }

  /// Throws the ``Interruption`` that is requested, if there is one.
  func check() throws(Interruption) {
    if let interruption = current { throw interruption }
  }
}
