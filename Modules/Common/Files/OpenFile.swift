#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A file that is read or written piece by piece, from where the last piece ended. It is closed when
/// the last reference goes.
///
/// Files that it makes are for this user alone. One task at a time may use it.
package final class OpenFile: Sendable {
  package let path: String
  private let descriptor: Int32

  private init(_ path: String, _ flags: Int32, _ mode: mode_t = 0o600) throws(FileFailure) {
    self.path = path
    descriptor = open(path, flags | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw FileFailure("opened", path, errno: errno) }
  }

  private init(descriptor: Int32, _ path: String) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Opens a file to read it from its start. A pipe does not wait for its other end; it has nothing to read then.
  package static func reading(_ url: URL) throws(FileFailure) -> OpenFile {
    try OpenFile(url.path, O_RDONLY | O_NONBLOCK)
  }

  /// Opens a file below a folder to read it, without following a symbolic link below that folder.
  ///
  /// Each name of `path` is opened in the folder that was opened before it, so that no other process can exchange one of
  /// them for a link on the way. A pipe does not wait for its other end.
  ///
  /// - Parameter path: Names separated by `/`, without `..`.
  /// - Throws: ``FileFailure`` with `ELOOP` or `ENOTDIR` for a link, with `EINVAL` for a path that is empty or has `..`.
  package static func reading(
    _ path: String, in folder: String
  ) throws(FileFailure) -> OpenFile {
    let names = path.split(separator: "/")
    guard let last = names.last, !names.contains(".."), !path.utf8.contains(0) else {
      throw FileFailure("opened", "\(folder)/\(path)", errno: EINVAL)
    }
    var place = try OpenFile(folder, O_RDONLY | O_DIRECTORY)
    for name in names.dropLast() {
      place = try place.opening(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    }
    return try place.opening(last, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
  }

  /// Opens an entry of this folder.
  private func opening(_ name: Substring, _ flags: Int32) throws(FileFailure) -> OpenFile {
    let place = "\(path)/\(name)"
    let file = openat(descriptor, String(name), flags | O_CLOEXEC)
    guard file >= 0 else { throw FileFailure("opened", place, errno: errno) }
    return OpenFile(descriptor: file, place)
  }

  /// Opens a file to write at its end, and makes it, with its folder, if it is missing.
  ///
  /// - Throws: ``FileFailure`` with `EPERM` for a file that another user made or may write to, or that has a
  ///   second name; with `EINVAL` or `ENXIO` for anything but a regular file.
  package static func appending(_ url: URL) throws(FileFailure) -> OpenFile {
    try DurableFile(url).makeFolder()
    let flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK
    do throws(FileFailure) {
      return try OpenFile(url.path, flags | O_CREAT | O_EXCL)
    } catch  where error.errno == EEXIST {
      let file = try OpenFile(url.path, flags)
      try file.checkIsOwn()
      return file
    }
  }

  /// - Throws: ``FileFailure`` unless this is a regular file of this user, which no other user may write to.
  private func checkIsOwn() throws(FileFailure) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw FileFailure("examined", path, errno: errno)
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw FileFailure("written", path, errno: EINVAL)
    }
    guard status.st_uid == geteuid(), status.st_mode & 0o022 == 0, status.st_nlink == 1 else {
      throw FileFailure("written, since other users may write to it too", path, errno: EPERM)
    }
  }

  /// Creates a new file in an existing folder, and opens it for writing.
  ///
  /// - Parameter mode: The permissions, of which the process's mask takes some. Default: this user alone.
  package static func creating(_ url: URL, _ mode: UInt32 = 0o600) throws(FileFailure) -> OpenFile {
    try OpenFile(url.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode_t(mode))
  }

  /// Creates a file without a name in `folder`, and opens it for reading and writing. The system
  /// frees its space when the last reference is removed, or when the process ends in any way.
  package static func unnamed(in folder: URL) throws(FileFailure) -> OpenFile {
    let path = folder.appendingPathComponent("fieldforce-\(UUID().uuidString)").path
    let file = try OpenFile(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
    guard unlink(path) == 0 else { throw FileFailure("removed", path, errno: errno) }
    return file
  }

  /// The size in bytes.
  package func size() throws(FileFailure) -> Int64 {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw FileFailure("examined", path, errno: errno)
    }
    return Int64(status.st_size)
  }

  /// Whether this is a regular file, not a folder, a pipe or a device.
  package func isRegular() throws(FileFailure) -> Bool {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw FileFailure("examined", path, errno: errno)
    }
    return status.st_mode & S_IFMT == S_IFREG
  }

  /// The names that the file has, on all of its file system, and the number that it has there.
  package func links() throws(FileFailure) -> (count: Int, number: UInt64) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw FileFailure("examined", path, errno: errno)
    }
    return (Int(status.st_nlink), UInt64(status.st_ino))
  }

  /// Reads the whole of a regular file from its start.
  ///
  /// - Throws: ``FileFailure`` with `EINVAL` for anything but a regular file, with `EFBIG` for one of more than `maxBytes`.
  package func readWhole(maxBytes: Int) throws(FileFailure) -> [UInt8] {
    guard try isRegular() else {
      throw FileFailure("read, since it is no regular file", path, errno: EINVAL)
    }
    let size = try size()
    guard size <= maxBytes else { throw FileFailure("read", path, errno: EFBIG) }
    return try read(Int(size))
  }

  /// Reads up to as many bytes as `buffer` has room for; 0 at the end of the file.
  package func read(into buffer: UnsafeMutableRawBufferPointer) throws(FileFailure) -> Int {
    while true {
      let count = systemRead(descriptor, buffer)
      if count >= 0 { return count }
      guard errno == EINTR else { throw FileFailure("read", path, errno: errno) }
    }
  }

  /// Reads `count` bytes, or fewer at the end of the file.
  package func read(_ count: Int) throws(FileFailure) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let step = bytes.withUnsafeMutableBytes { buffer in
        systemRead(descriptor, UnsafeMutableRawBufferPointer(rebasing: buffer[done...]))
      }
      if step < 0, errno == EINTR { continue }
      guard step >= 0 else { throw FileFailure("read", path, errno: errno) }
      if step == 0 { break }
      done += step
    }
    bytes.removeLast(count - done)
    return bytes
  }

  /// Reads `count` bytes at `offset`, or fewer at the end of the file.
  package func read(_ count: Int, at offset: Int64) throws(FileFailure) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let step = bytes.withUnsafeMutableBytes { buffer in
        pread(
          descriptor, buffer.baseAddress.map { $0 + done }, count - done,
          off_t(offset) + off_t(done))
      }
      if step < 0, errno == EINTR { continue }
      guard step >= 0 else { throw FileFailure("read", path, errno: errno) }
      if step == 0 { break }
      done += step
    }
    bytes.removeLast(count - done)
    return bytes
  }

  /// Writes all of `bytes` to a place.
  package func write(_ bytes: [UInt8], at offset: Int64) throws(FileFailure) {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        pwrite(
          descriptor, buffer.baseAddress.map { $0 + done }, bytes.count - done,
          off_t(offset) + off_t(done))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw FileFailure("written", path, errno: count < 0 ? errno : EIO) }
      done += count
    }
  }

  /// Goes to a place, counted in bytes from the start.
  package func seek(to offset: Int64) throws(FileFailure) {
    guard lseek(descriptor, off_t(offset), SEEK_SET) >= 0 else {
      throw FileFailure("read", path, errno: errno)
    }
  }

  /// Writes all of `bytes`.
  package func write(_ bytes: [UInt8]) throws(FileFailure) {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: buffer[done...]))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw FileFailure("written", path, errno: count < 0 ? errno : EIO) }
      done += count
    }
  }

  /// Truncates the file to a number of bytes.
  package func truncate(to size: Int64) throws(FileFailure) {
    guard ftruncate(descriptor, off_t(size)) == 0 else {
      throw FileFailure("written", path, errno: errno)
    }
  }

  /// Waits until what was written is on disk.
  package func sync() throws(FileFailure) {
    #if canImport(Darwin)
      // fsync leaves the bytes in the drive's cache there.
      if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
    #endif
    guard fsync(descriptor) == 0 else { throw FileFailure("synced", path, errno: errno) }
  }
}

// Inside the type these names are its own methods.
private func systemRead(_ file: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
  read(file, buffer.baseAddress, buffer.count)
}

private func systemWrite(_ file: Int32, _ buffer: UnsafeRawBufferPointer) -> Int {
  write(file, buffer.baseAddress, buffer.count)
}
