import SalesforceSDKCommon

/// One piece of work whose outcome several callers await.
///
/// The work goes on whatever becomes of the callers: one that is cancelled stops waiting at once,
/// and the others get the outcome. It is cancelled by its owner alone.
final class SharedFlight<Value: Sendable>: Sendable {
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
  /// - Throws: What the work threw, the same for every caller; `CancellationError` if the calling
  ///   task was cancelled while it waited.
  func value() async throws -> Value { try await outcome.value() }

  /// Whether the owner cancelled the work.
  var isGivenUp: Bool { task.isCancelled }

  /// How many callers wait now.
  var waiterCount: Int { outcome.waiterCount }

  /// Cancels the work and waits for its end.
  func cancel() async {
    task.cancel()
    await task.value
  }

  /// Cancels the work without waiting for its end.
  func giveUp() { task.cancel() }
}
