import SalesforceSDKCommon

/// A lock that processes share with a file. The system releases it when its holder ends in any way.
enum AccountLock {
  /// The pause between two attempts, at first and at most.
  private static let firstPause: Duration = .milliseconds(2)
  private static let longestPause: Duration = .milliseconds(100)

  /// Runs `body` with exclusive access to the lock file at `path`, which is created if it is
  /// missing and remains. Callers in the same process exclude each other too.
  ///
  /// - Throws: The error of `body`; ``AccountError`` `writeFailed`, `busy` if others hold the lock
  ///   for `patience`; `CancellationError` while waiting.
  static func withLock<Result: Sendable>(
    at path: String, patience: Duration, _ body: () async throws -> Result
  ) async throws -> Result {
    let start = ContinuousClock.now
    var pause = firstPause
    while true {
      if let lock = try take(path) { return try await lock.whileHeld(body) }
      guard start.duration(to: .now) < patience else { throw busy(path, patience) }
      try await Task.sleep(for: pause)
      pause = min(pause * 2, longestPause)
    }
  }

  /// Runs `body` in the same way, for work without suspension. Blocks its thread.
  static func whileLocked<Result>(
    at path: String, patience: Duration, _ body: () throws(AccountError) -> Result
  ) throws(AccountError) -> Result {
    guard let lock = try take(path, patience: patience) else { throw busy(path, patience) }
    return try lock.whileHeld(body)
  }

  private static func take(
    _ path: String, patience: Duration = .zero
  ) throws(AccountError) -> FileLock? {
    do throws(FileFailure) {
      try DurableFile(path: path).makeOwnFolder()
      return try FileLock.take(path, patience: patience)
    } catch {
      throw AccountError(.writeFailed, "\(error)", cause: error)
    }
  }

  private static func busy(_ path: String, _ patience: Duration) -> AccountError {
    AccountError(
      .busy,
      "Another process has held \(path) for \(patience). If it was stopped, let it go on or end it, "
        + "then try again.")
  }
}
