import Synchronization

/// A signal, from any task, that a running operation has to end early.
final class StopSignal: Sendable {
  /// The reason why an operation ends early.
  enum Interruption: Error, Equatable {
    /// The manager was stopped: the sync is stored as stopped.
    case stopped
    /// The manager was closed: nothing more may be stored or delivered.
    case closed
  }

  private let demand = Mutex<Interruption?>(nil)

  /// The current request.
  var current: Interruption? { demand.withLock { $0 } }

  /// Makes operations stop, until ``clear()``.
  func stop() {
    demand.withLock { if $0 == nil { $0 = .stopped } }
  }

  /// Cancels a stop. A close is final.
  func clear() {
    demand.withLock { if $0 == .stopped { $0 = nil } }
  }

  /// Makes operations end without storing or delivering anything.
  func close() {
    demand.withLock { $0 = .closed }
  }

  /// Throws the ``Interruption`` that is requested, if there is one.
  func check() throws(Interruption) {
    if let interruption = current { throw interruption }
  }
}
