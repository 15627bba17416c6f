import Synchronization

/// Lets tests that change something of the whole process take turns.
public final class Turns: Sendable {
  /// For tests that set receivers of the log.
  public static let logging = Turns()

  private let last = Mutex<Task<Void, Never>?>(nil)

  /// Runs `body` after all that came before.
  public func run<Result: Sendable>(
    _ body: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    let task = last.withLock { last in
      let before = last
      let task = Task {
        await before?.value
        return try await body()
      }
      last = Task { _ = await task.result }
      return task
    }
    return try await task.value
  }
}
