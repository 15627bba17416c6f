import GRDB
import Synchronization

/// The notifier of commits to the observers of one store.
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

  /// Returns a new subscription, whose first read is due. It ends with its last reference.
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

  /// Whether there is a subscription.
  var hasObservers: Bool { state.withLock { !$0.subscriptions.isEmpty } }

  /// Marks all observers whose last read `change` concerns.
  func publish(_ change: StoreChange) {
    guard !change.isEmpty else { return }
    for subscription in living { subscription.didCommit(change) }
  }

  /// Ends all subscriptions, and refuses new ones.
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

/// One observer's subscription to ``StoreChangeNotifier``: whether it should read again.
final class ChangeSubscription: Sendable {
  private enum Phase {
    /// The last read is outdated, or there was no read yet.
    case due
    /// A read is running. Commits during the read are compared with its region once that is known.
    case reading(StoreChange)
    /// The last read, from this region, is up to date.
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

  /// Waits until a read is due, and marks it as running. Returns false once the subscription has
  /// ended, also because the waiting task was cancelled.
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

  /// Records the region of the running read.
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

  /// Ends the subscription permanently.
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
