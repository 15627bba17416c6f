#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The right to change something, held by at most one holder among the threads of this process and
/// all others, or shared by several holders, each of which keeps an exclusive holder out. It is the system's lock on a file
/// of its own, and ends with the value or the process, whichever way that ends.
package struct FileLock: ~Copyable, Sendable {
  private let file: Int32

  private init(file: Int32) { self.file = file }

  deinit { close(file) }

  /// Whether the locked file is the one that has this name now.
  private func isFile(at path: String) throws(FileFailure) -> Bool {
    var locked = stat()
    var named = stat()
    guard fstat(file, &locked) == 0 else { throw FileFailure("examined", path, errno: errno) }
    guard stat(path, &named) == 0 else {
      // Its holder has removed it. Any other failure may last, and taking the lock again would never end.
      guard errno == ENOENT else { throw FileFailure("examined", path, errno: errno) }
      return false
    }
    return locked.st_dev == named.st_dev && locked.st_ino == named.st_ino
  }

  /// Takes the lock on the file at `path`, which is made if it is missing. Never the guarded file
  /// itself: that is replaced by others of the same name, and SQLite's locks on it would be lost.
  ///
  /// Only its holder may remove or move the file, and only while it holds the lock: who waits for it
  /// sees that and takes the lock on the file that has the name then.
  ///
  /// - Parameters:
  ///   - isShared: Whether others may share it. Who asks for it unshared waits for all of them.
  ///   - patience: How long to wait for another holder. Default: not at all.
  /// - Returns: nil if another holder keeps it for longer.
  package static func take(
    _ path: String, isShared: Bool = false, patience: Duration = .zero
  ) throws(FileFailure) -> FileLock? {
    let start = ContinuousClock.now
    while true {
      let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard file >= 0 else { throw FileFailure("opened", path, errno: errno) }
      let lock = FileLock(file: file)
      while flock(file, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 {
        let reason = errno
        if reason == EINTR { continue }
        guard reason == EWOULDBLOCK else { throw FileFailure("locked", path, errno: reason) }
        guard start.duration(to: .now) < patience else { return nil }
        // The holder is done within milliseconds, unless it was stopped.
        usleep(2_000)
      }
      if try lock.isFile(at: path) { return lock }
    }
  }

  /// Runs `body` with the lock held.
  package borrowing func whileHeld<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    try body()
  }

  /// Runs `body` with the lock held, however often it waits.
  package borrowing func whileHeld<R>(_ body: () async throws -> R) async throws -> R {
    try await body()
  }
}
