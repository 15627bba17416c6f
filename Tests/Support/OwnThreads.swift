import Dispatch
public import Testing

/// Runs tests on threads of their own.
///
/// For tests that wait for files and programs while they hold their thread. The threads that tasks
/// share are as few as the processor's cores, and the servers of other tests run on them.
public struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
  public let isRecursive = true

  public func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(WaitingThreads.shared) { try await function() }
  }
}

extension Trait where Self == OwnThreads {
  /// Runs the tests on threads of their own, which they may hold while they wait.
  public static var ownThreads: OwnThreads { OwnThreads() }
}

private final class WaitingThreads: TaskExecutor {
  static let shared = WaitingThreads()
  private let queue = DispatchQueue(label: "OwnThreads", attributes: .concurrent)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
