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
  /// - Throws: What `body` throws; ``AccountError`` `writeFailed`; `CancellationError` while
  ///   waiting.
  static func withLock<Result: Sendable>(
    at path: String, _ body: () async throws -> Result
  ) async throws -> Result {
    var pause = firstPause
    while true {
      if let lock = try take(path) { return try await lock.whileHeld(body) }
      try await Task.sleep(for: pause)
      pause = min(pause * 2, longestPause)
    }
  }

  private static func take(_ path: String) throws(AccountError) -> FileLock? {
    do throws(FileFailure) {
      return try FileLock.take(path)
    } catch {
      throw AccountError(.writeFailed, "\(error)", cause: error)
    }
  }
}
