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

  deinit {
    // A process that is being started has a copy of the descriptor for a moment, and closing this one would leave the
    // lock with that one.
    _ = flock(file, LOCK_UN)
    close(file)
  }

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

  /// Takes the lock on the file at `path`, which is created if it is missing. It must not be the
  /// guarded file, because that file is replaced, and because closing it would release SQLite's
  /// locks.
  ///
  /// Only its holder may remove or move the file, and only while it holds the lock: who waits for it
  /// sees that and takes the lock on the file that has the name then.
  ///
  /// - Parameters:
  ///   - isShared: Whether others may share it. An exclusive request waits for all of them.
  ///   - patience: The maximum time to wait for another holder. Default: zero.
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

  /// Shares an exclusive lock with others, or makes a shared one exclusive, without waiting.
  ///
  /// The system gives the lock back before it takes it in the other form, and another process may take it in
  /// between. So all who take it exclusively, or change its form, need another lock before.
  ///
  /// - Returns: False if another holder prevents it. Then this value holds the lock in no form.
  package borrowing func change(toShared isShared: Bool) -> Bool {
    while flock(file, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 {
      if errno != EINTR { return false }
    }
    return true
  }

  /// The file that is locked, whatever its name; nil if the system does not say.
  package borrowing func identity() -> Identity? {
    var status = stat()
    guard fstat(file, &status) == 0 else { return nil }
    return Identity(device: UInt64(status.st_dev), number: UInt64(status.st_ino))
  }

  /// Tells files apart.
  package struct Identity: Hashable, Sendable {
    fileprivate let device: UInt64
    fileprivate let number: UInt64
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
