import SalesforceSDKCommon

/// A lock that processes share by a file. The system frees it when its holder ends, however that
/// happens.
enum AccountLock {
  /// How long to wait between two tries, at first and at most.
  private static let firstPause: Duration = .milliseconds(2)
  private static let longestPause: Duration = .milliseconds(100)

  /// Runs `body` while this caller alone holds the lock file at `path`, which is made if it is
  /// missing and stays. Callers in the same process exclude each other too.
  ///
  /// - Throws: What `body` throws; ``AccountError`` `writeFailed`, `busy` if others hold the lock for
  ///   `patience`; `CancellationError` while waiting.
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

  /// Runs `body` in the same way, for work without a pause; it waits on its thread.
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
      try DurableFile(path: path).makeFolder()
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
