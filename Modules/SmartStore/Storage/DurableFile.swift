import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Small files that are there whole or not at all, also after a loss of power.
enum DurableFile {
  /// A system call that failed.
  struct Failure: Error, CustomStringConvertible {
    let call: String
    let path: String
    let errno: Int32

    var description: String { "\(call) \(path): \(String(cString: strerror(errno)))" }
  }

  /// Creates or replaces the file at `path`: written beside it, synced, renamed, and the folder
  /// synced. Readable and writable for the owner alone.
  static func write(_ bytes: [UInt8], to path: String) throws(Failure) {
    let temporary = path + ".new"
    let file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw Failure(call: "open", path: temporary, errno: errno) }
    do {
      defer { close(file) }
      try writeAll(bytes, to: file, path: temporary)
      try sync(file, path: temporary)
    } catch {
      unlink(temporary)
      throw error
    }
    guard rename(temporary, path) == 0 else {
      let failure = Failure(call: "rename", path: temporary, errno: errno)
      unlink(temporary)
      throw failure
    }
    try syncFolder(of: path)
  }

  /// The content of the file at `path`, or nil if there is none.
  ///
  /// Never for a database file: closing a second descriptor of it drops SQLite's locks.
  static func read(_ path: String, limit: Int) throws(Failure) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      if errno == ENOENT { return nil }
      throw Failure(call: "open", path: path, errno: errno)
    }
    defer { close(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while bytes.count < limit {
      let count = chunk.withUnsafeMutableBytes { systemRead(file, $0.baseAddress, $0.count) }
      if count == 0 { break }
      guard count > 0 else {
        if errno == EINTR { continue }
        throw Failure(call: "read", path: path, errno: errno)
      }
      bytes.append(contentsOf: chunk[..<count])
    }
    return bytes
  }

  /// Size of the file at `path`, or nil if there is none.
  static func size(_ path: String) throws(Failure) -> UInt64? {
    var status = stat()
    guard stat(path, &status) == 0 else {
      if errno == ENOENT { return nil }
      throw Failure(call: "stat", path: path, errno: errno)
    }
    return UInt64(status.st_size)
  }

  /// Makes the names in the folder of `path` survive a loss of power.
  static func syncFolder(of path: String) throws(Failure) {
    let folder = (path as NSString).deletingLastPathComponent
    let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure(call: "open", path: folder, errno: errno) }
    defer { close(descriptor) }
    try sync(descriptor, path: folder)
  }

  private static func writeAll(_ bytes: [UInt8], to file: Int32, path: String) throws(Failure) {
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { systemWrite(file, $0.baseAddress, $0.count) }
      guard count >= 0 else {
        if errno == EINTR { continue }
        throw Failure(call: "write", path: path, errno: errno)
      }
      written += count
    }
  }

  private static func sync(_ file: Int32, path: String) throws(Failure) {
    #if canImport(Darwin)
      // fsync leaves the bytes in the drive's cache there.
      if fcntl(file, F_FULLFSYNC) == 0 { return }
    #endif
    guard fsync(file) == 0 else { throw Failure(call: "fsync", path: path, errno: errno) }
  }
}

// Inside the type these names are its own methods.
private func systemRead(_ file: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  read(file, buffer, count)
}

private func systemWrite(_ file: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
  write(file, buffer, count)
}
