import GRDB
import Synchronization

/// Looks for the commits of other processes while live queries wait.
///
/// Such a commit sends no notification. It changes the index of the write-ahead log (WAL), which all processes map:
/// comparing that takes some microseconds, and happens every ``interval`` only while there are observers. A process
/// that writes itself finds what the others wrote before, without waiting for it.
final class OtherWriters: Sendable {
  /// The time after which a commit of another process is noticed at the latest.
  static let interval = Duration.milliseconds(100)

  private enum State {
    case idle
    case looking(Task<Void, Never>)
    case ended
  }

  private let state = Mutex(State.idle)

  /// Looks for commits until no observer of `store` is left.
  func look(in store: SmartStore) {
    guard store.database.isSharedWithWriters else { return }
    state.withLock { state in
      guard case .idle = state else { return }
      state = .looking(
        Task.detached { [self, weak store] in
          var known: [UInt8]?
          while await isLooking(in: store, &known) { try? await Task.sleep(for: Self.interval) }
        })
    }
  }

  /// Looks once. Between two looks nothing keeps the store.
  ///
  /// - Parameter known: What the last look found.
  /// - Returns: Whether to look again.
  private func isLooking(in store: SmartStore?, _ known: inout [UInt8]?) async -> Bool {
    guard !Task.isCancelled, let store, stays(for: store) else { return false }
    await store.publishOthers(since: &known)
    return true
  }

  /// Whether an observer is left. Decided with the state, so that an observer that comes now finds the right one.
  private func stays(for store: SmartStore) -> Bool {
    state.withLock { state in
      if store.changes.hasObservers { return true }
      if case .looking = state { state = .idle }
      return false
    }
  }

  /// Stops for good, and waits for the end.
  func end() async {
    let task: Task<Void, Never>? = state.withLock { state in
      defer { state = .ended }
      if case .looking(let task) = state { return task }
      return nil
    }
    task?.cancel()
    await task?.value
  }
}

extension SmartStore {
  /// Notifies the observers if another process has committed since the WAL's index was `known`.
  fileprivate func publishOthers(since known: inout [UInt8]?) async {
    // While this process was the last to write, there is nothing of others.
    if let turns = database.turn.turns, !turns.wasOthers { return }
    // A read that fails now is repeated by the next look.
    let found = try? await database.readers.read { database, _ in
      StoreConnection.commitMark(of: database)
    }
    guard let found, found != known else { return }
    // The first look cannot know what came between the first read of an observer and now.
    changes.publish(.unknown)
    known = found
  }
}
