import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The right to write to a store, held by at most one open store of one process.
///
/// SQLite up to 3.51.2 can lose a committed transaction when two connections write and checkpoint at
/// the same instant, so there is one writer. The lock is the system's, on a file of its own: it ends
/// with the process, and a lock on the database file would disturb SQLite's.
struct WriterLock: ~Copyable {
  private let descriptor: Int32

  /// Takes the lock on `path`, which is created if it is missing.
  ///
  /// - Returns: nil if somebody else holds it.
  static func take(path: String) throws(DurableFile.Failure) -> WriterLock? {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw DurableFile.Failure(call: "open", path: path, errno: errno)
    }
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      if errno == EINTR { continue }
      let reason = errno
      close(descriptor)
      if reason == EWOULDBLOCK { return nil }
      throw DurableFile.Failure(call: "flock", path: path, errno: reason)
    }
    return WriterLock(descriptor: descriptor)
  }

  private init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }
}
