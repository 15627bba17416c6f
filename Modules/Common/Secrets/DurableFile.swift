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

/// A small file that is read and replaced as a whole: a reader, a crash or a loss of power sees the
/// old content or the new one, never a mixture. New files are for this user alone.
package struct DurableFile: Sendable {
  private let path: String
  private let folder: String

  package init(_ url: URL) {
    path = url.path
    folder = url.deletingLastPathComponent().path
  }

  /// The content, or nil if there is no file.
  ///
  /// - Parameter refusingOthers: Whether to refuse a file that users of no relation may read.
  package func read(refusingOthers: Bool = false) throws(SecretStoreError) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw failure("cannot be opened")
    }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw failure("cannot be examined") }
    if refusingOthers, status.st_mode & 0o007 != 0 {
      throw SecretStoreError(
        .exposedKeyFile,
        "Every user of this machine may read \(path). Run 'chmod 600' on it and try again.")
    }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeMutableBytes { buffer in
        // `done` is below the count, so the rest of the buffer is not empty.
        let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
        return systemRead(file, rest)
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure("cannot be read") }
      if count == 0 { break }
      done += count
    }
    bytes.removeLast(bytes.count - done)
    return bytes
  }

  /// Whether there is a file.
  package var exists: Bool { access(path, F_OK) == 0 }

  /// Replaces the content. Callers take a ``FileLock`` first: the name of the new file while it is
  /// written is always the same, so that a crash leaves at most one behind.
  package func replace(with bytes: [UInt8]) throws(SecretStoreError) {
    let new = path + ".new"
    try writeNew(bytes, at: new)
    guard rename(new, path) == 0 else {
      let error = failure("cannot be replaced")
      unlink(new)
      throw error
    }
    try syncFolder()
  }

  /// Makes the file with its content, or returns false if there is one already.
  package func create(_ bytes: [UInt8]) throws(SecretStoreError) -> Bool {
    let new = "\(path).\(getpid()).\(UInt32.random(in: 0 ... .max))"
    try writeNew(bytes, at: new)
    defer { unlink(new) }
    // A link fails where a rename would replace.
    guard link(new, path) == 0 else {
      if errno == EEXIST { return false }
      throw failure("cannot be made")
    }
    try syncFolder()
    return true
  }

  private func writeNew(_ bytes: [UInt8], at place: String) throws(SecretStoreError) {
    try makeFolder()
    let file = open(place, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { throw failure("cannot be written") }
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        systemWrite(file, UnsafeRawBufferPointer(rebasing: buffer[done...]))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      done += count
    }
    let isDone = done == bytes.count && fsync(file) == 0
    let reason = errno
    close(file)
    guard isDone else {
      unlink(place)
      errno = reason
      throw failure("cannot be written")
    }
  }

  /// Makes the folder for this user alone, unless it exists.
  package func makeFolder() throws(SecretStoreError) {
    if access(folder, F_OK) == 0 { return }
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
    } catch {
      throw SecretStoreError(
        .inputOutput, "The folder \(folder) cannot be made; check the rights above it.",
        cause: error)
    }
  }

  /// The new name is on disk only when its folder is.
  private func syncFolder() throws(SecretStoreError) {
    let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard directory >= 0 else { throw failure("has a folder that cannot be opened") }
    defer { close(directory) }
    // Some file systems cannot sync a folder and say so; then the rename is as good as it gets.
    guard fsync(directory) == 0 || errno == EINVAL || errno == ENOTSUP else {
      throw failure("has a folder that cannot be synced")
    }
  }

  private func failure(
    _ what: String, fileID: String = #fileID, line: Int = #line
  ) -> SecretStoreError {
    SecretStoreError(
      .inputOutput, "\(path) \(what): \(String(cString: strerror(errno))).", fileID: fileID,
      line: line)
  }
}

private func systemRead(_ file: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
  read(file, buffer.baseAddress, buffer.count)
}

private func systemWrite(_ file: Int32, _ buffer: UnsafeRawBufferPointer) -> Int {
  write(file, buffer.baseAddress, buffer.count)
}

/// Lets one at a time change a file, among the threads of this process and all others. The lock
/// ends with its holder, whichever way that ends.
package enum FileLock {
  /// Takes the lock of the file at `url`, waiting at most `patience`, and holds it during `body`.
  ///
  /// - Throws: ``SecretStoreError`` `locked` if another holder keeps it for longer, and what `body`
  ///   throws.
  package static func hold<R>(
    beside url: URL, patience: Duration, _ body: () throws(SecretStoreError) -> R
  ) throws(SecretStoreError) -> R {
    // The lock has a file of its own: the guarded one is replaced by others of the same name.
    let path = url.path + ".lock"
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else {
      throw SecretStoreError(
        .inputOutput, "\(path) cannot be opened: \(String(cString: strerror(errno))).")
    }
    defer { close(file) }
    let start = ContinuousClock.now
    while flock(file, LOCK_EX | LOCK_NB) != 0 {
      let reason = errno
      guard reason == EWOULDBLOCK || reason == EINTR else {
        throw SecretStoreError(
          .inputOutput, "\(path) cannot be locked: \(String(cString: strerror(reason))).")
      }
      guard start.duration(to: .now) < patience else {
        throw SecretStoreError(
          .locked, "Another process holds \(path); try again when it has finished.")
      }
      // The holder is done within milliseconds, unless it was stopped.
      usleep(2_000)
    }
    return try body()
  }
}
