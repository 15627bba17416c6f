/// The state of a manager, and the syncs that it is running.
///
/// It only decides; it starts no operation and waits for none.
struct ManagerMachine: Sendable, Equatable {
  /// The three states, by the platform's texts.
  enum State: String, Sendable, Equatable {
    /// Operations are accepted. Becomes ``stopRequested`` or ``stopped`` by
    /// ``ManagerMachine/stop()``.
    case accepting = "accepting_syncs"
    /// Operations are refused and the active ones are winding down. Becomes ``stopped`` with the
    /// last of them, or ``accepting`` by ``ManagerMachine/restart()``.
    case stopRequested = "stop_requested"
    /// Operations are refused and none is active. Becomes ``accepting`` by
    /// ``ManagerMachine/restart()``.
    case stopped = "stopped"
  }

  private(set) var state = State.accepting
  private(set) var active: Set<Int64> = []

  /// Checks that operations are accepted.
  func checkAccepting() throws(SyncError) {
    guard state == .accepting else {
      throw SyncError(
        .managerStopped,
        "The sync manager is \(state == .stopped ? "stopped" : "stopping"). Restart it first.")
    }
  }

  /// Whether the sync is neither queued nor running.
  func checkNotActive(_ id: Int64) throws(SyncError) {
    guard !active.contains(id) else {
      throw SyncError(
        .alreadyRunning, "The sync \(id) is still running. Wait for its end, then call again.")
    }
  }

  /// Adds an operation on the sync `id`, which is active from now on.
  mutating func submit(_ id: Int64) throws(SyncError) {
    try checkAccepting()
    try reserve(id)
  }

  /// Blocks operations on the sync `id` until ``leave(_:)``, in any state.
  mutating func reserve(_ id: Int64) throws(SyncError) {
    try checkNotActive(id)
    active.insert(id)
  }

  /// The operation on the sync `id` has ended.
  mutating func leave(_ id: Int64) {
    active.remove(id)
    if state == .stopRequested, active.isEmpty { state = .stopped }
  }

  /// Refuses operations from now on.
  mutating func stop() {
    if state == .accepting { state = active.isEmpty ? .stopped : .stopRequested }
  }

  /// Accepts operations again.
  mutating func restart() throws(SyncError) {
    guard state != .accepting else {
      throw SyncError(
        .cannotRestart, "The sync manager accepts syncs already, so it cannot be restarted.")
    }
    state = .accepting
  }
}
