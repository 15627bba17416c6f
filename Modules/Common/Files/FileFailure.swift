#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The system refused a step of work on a file.
package struct FileFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The step, such as `written`.
  package let step: String
  /// The file or folder.
  package let path: String
  /// The system's number for the reason.
  package let errno: Int32

  package init(_ step: String, _ path: String, errno: Int32) {
    self.step = step
    self.path = path
    self.errno = errno
  }

  /// Whether the disk, or this user's share of it, is full. Retrying helps when there is room.
  package var isDiskFull: Bool { errno == ENOSPC || errno == EDQUOT }

  /// Whether this user may not do that there.
  package var isForbidden: Bool { errno == EACCES || errno == EPERM || errno == EROFS }

  /// A sentence without its end, such as `/a/b could not be written: No space left on device`.
  package var description: String { "\(path) could not be \(step): \(reason)" }

  private var reason: String { String(cString: strerror(errno)) }
}
