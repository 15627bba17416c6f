import GRDB
import Synchronization

/// Tells the observers of one store what was committed.
///
/// The writing connection calls it after each commit and never waits: an observer is only marked,
/// and reads in its own task.
final class StoreChangeNotifier: Sendable {
  private struct State {
    var subscriptions: [Int: WeakSubscription] = [:]
    var next = 0
    var isFinished = false
  }

  private struct WeakSubscription: Sendable {
    weak let subscription: ChangeSubscription?
  }

  private let state = Mutex(State())

  /// A new subscription, at first with a read due. It ends with its last reference.
  func subscribe() -> ChangeSubscription {
    let (subscription, isFinished) = state.withLock { state in
      state.next += 1
      let subscription = ChangeSubscription(id: state.next, changes: self)
      if !state.isFinished {
        state.subscriptions[state.next] = WeakSubscription(subscription: subscription)
      }
      return (subscription, state.isFinished)
    }
    if isFinished { subscription.end() }
    return subscription
  }

  /// Marks everybody whose last read `change` concerns.
  func publish(_ change: StoreChange) {
    guard !change.isEmpty else { return }
    for subscription in living { subscription.didCommit(change) }
  }

  /// Ends all subscriptions, those to come included.
  func finish() {
    state.withLock { $0.isFinished = true }
    for subscription in living { subscription.end() }
  }

  fileprivate func remove(_ id: Int) {
    state.withLock { _ = $0.subscriptions.removeValue(forKey: id) }
  }

  private var living: [ChangeSubscription] {
    state.withLock { state in
      state.subscriptions.isEmpty ? [] : state.subscriptions.values.compactMap(\.subscription)
    }
  }
}

/// One observer's place in ``StoreChangeNotifier``: whether it should read again.
final class ChangeSubscription: Sendable {
  private enum Phase {
    /// What was read is out of date, or nothing was read yet.
    case due
    /// A read is under way. What is committed during the read is judged when its region is known.
    case reading(StoreChange)
    /// What was read from this region is up to date.
    case current(DatabaseRegion)
    case ended
  }

  private struct State {
    var phase = Phase.due
    var waiter: CheckedContinuation<Bool, Never>?
  }

  private let id: Int
  private let changes: StoreChangeNotifier
  private let state = Mutex(State())

  fileprivate init(id: Int, changes: StoreChangeNotifier) {
    self.id = id
    self.changes = changes
  }

  deinit { changes.remove(id) }

  /// Waits until a read is due, which begins thereby; false once the subscription ended, be it by
  /// cancellation of the waiting task.
  func beginRead() async -> Bool {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let result: Bool? = state.withLock { state in
          switch state.phase {
          case .ended: return false
          case .current:
            state.waiter = continuation
            return nil
          case .due, .reading:
            state.phase = .reading(StoreChange())
            return true
          }
        }
        if let result { continuation.resume(returning: result) }
      }
    } onCancel: {
      end()
    }
  }

  /// Takes note of what the read that is under way has looked at.
  func didRead(_ region: DatabaseRegion) {
    state.withLock { state in
      guard case .reading(let meanwhile) = state.phase else { return }
      state.phase = meanwhile.concerns(region) ? .due : .current(region)
    }
  }

  fileprivate func didCommit(_ change: StoreChange) {
    let waiter = state.withLock { state -> CheckedContinuation<Bool, Never>? in
      switch state.phase {
      case .reading(var meanwhile):
        meanwhile.formUnion(change)
        state.phase = .reading(meanwhile)
      case .current(let region) where change.concerns(region):
        guard let waiter = state.waiter else {
          state.phase = .due
          return nil
        }
        state.waiter = nil
        state.phase = .reading(StoreChange())
        return waiter
      case .current, .due, .ended: break
      }
      return nil
    }
    waiter?.resume(returning: true)
  }

  /// Ends the subscription for good.
  func end() {
    let waiter = state.withLock { state in
      defer {
        state.phase = .ended
        state.waiter = nil
      }
      return state.waiter
    }
    waiter?.resume(returning: false)
  }
}
