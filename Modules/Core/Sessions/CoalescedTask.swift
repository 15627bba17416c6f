import SalesforceSDKCommon

/// One piece of work whose outcome several callers await.
///
/// The work continues when callers are cancelled: a cancelled caller stops waiting at once, and the others
/// get the outcome. It is cancelled by its owner alone.
final class CoalescedTask<Value: Sendable>: Sendable {
  private let outcome = SharedOutcome<Value>()
  private let task: Task<Void, Never>

  /// Starts `work`, and calls `whenDone` after its outcome is fixed and before the first waiter
  /// learns of it.
  init(
    _ work: @escaping @Sendable () async throws -> Value,
    whenDone: @escaping @Sendable () async -> Void = {}
  ) {
    let outcome = outcome
    task = Task {
      let result: Result<Value, any Error>
      do {
        result = .success(try await work())
      } catch {
        result = .failure(error)
      }
      await whenDone()
      outcome.resolve(result)
    }
  }

  /// The outcome.
  ///
  /// - Throws: The error of the work, the same for every caller; `CancellationError` if the calling
  ///   task was cancelled while it waited.
  func value() async throws -> Value { try await outcome.value() }

  /// Whether the owner cancelled the work.
  var isGivenUp: Bool { task.isCancelled }

  /// The number of waiting callers.
  var waiterCount: Int { outcome.waiterCount }

  /// The outcome if it comes within `limit`. Work that takes longer is cancelled and not awaited;
  /// so is work whose calling task is cancelled.
  ///
  /// - Returns: `nil` if it took longer.
  func value(within limit: Duration, by clock: any Clock<Duration>) async throws -> Value? {
    defer { giveUp() }
    return try await withThrowingTaskGroup(of: Value?.self) { group in
      group.addTask { try await self.value() }
      group.addTask {
        try await clock.sleep(for: limit)
        return nil
      }
      defer { group.cancelAll() }
      return try await group.next() ?? nil
    }
  }

  /// The outcome, also if the calling task is cancelled: from then on the work has `grace` to end by
  /// itself.
  ///
  /// - Throws: The error of the work; `CancellationError` if it was cancelled.
  func value(grace: Duration, by clock: any Clock<Duration>) async throws -> Value {
    do {
      return try await value()
    } catch is CancellationError where Task.isCancelled {
      // In a separate task, which is not cancelled.
      let rest = Task { try await self.value(within: grace, by: clock) }
      guard let value = try await rest.value else { throw CancellationError() }
      return value
    }
  }

  /// Cancels the work and waits for its end.
  func cancel() async {
    task.cancel()
    await task.value
  }

  /// Cancels the work without waiting for its end.
  func giveUp() { task.cancel() }
}
