#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

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
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      throw AccountError(.writeFailed, "the lock file \(path) cannot be opened (errno \(errno))")
    }
    // Closing the file frees the lock.
    defer { close(file) }
    var pause = firstPause
    while flock(file, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else {
        throw AccountError(.writeFailed, "the lock file \(path) cannot be locked (errno \(errno))")
      }
      try await Task.sleep(for: pause)
      pause = min(pause * 2, longestPause)
    }
    return try await body()
  }
}
