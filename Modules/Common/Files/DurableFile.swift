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
/// old content or the new one, never a mixture. New files and folders are for this user alone.
package struct DurableFile: Sendable {
  /// The content of a file.
  package struct Content: Sendable {
    package let bytes: [UInt8]
    /// Whether other users may read, change or replace the file; with the reason in words.
    package let exposure: String?
  }

  package let path: String
  /// The folder of the file.
  let folder: String

  package init(_ url: URL) {
    path = url.path
    folder = url.deletingLastPathComponent().path
  }

  package init(path: String) { self.init(URL(fileURLWithPath: path)) }

  // MARK: Reading

  /// The first `limit` bytes, or nil if there is no file.
  ///
  /// Never for an open database: closing a second descriptor of its file drops SQLite's locks.
  package func read(limit: Int) throws(FileFailure) -> [UInt8]? {
    try load(limit: limit)?.bytes
  }

  /// The most bytes of a file that are read as a whole: 1 GiB. The size of a file says little: a file of many
  /// terabytes that was never written to takes no room on disk.
  package static let maxBytes = 1 << 30

  /// The whole of a file, or nil if there is none.
  ///
  /// - Parameter maxBytes: Default: 1 GiB.
  /// - Throws: ``FileFailure``, with `EFBIG` for a file of more than `maxBytes`, of which nothing is read.
  package func read(maxBytes: Int = Self.maxBytes) throws(FileFailure) -> [UInt8]? {
    try load(limit: .max, maxBytes: maxBytes)?.bytes
  }

  /// Returns the whole content of a regular file, and whether other users may access it; nil if the
  /// file does not exist.
  ///
  /// - Throws: ``FileFailure``, also for anything except a regular file, without waiting, and with
  ///   `EFBIG` for a file of more than `maxBytes`, which is not read.
  package func content(maxBytes: Int) throws(FileFailure) -> Content? {
    guard let (bytes, status) = try load(limit: .max, maxBytes: maxBytes) else { return nil }
    return Content(bytes: bytes, exposure: try exposure(of: status))
  }

  /// The reason why other users may access the file; nil if they may not.
  private func exposure(of file: stat) throws(FileFailure) -> String? {
    if file.st_uid != geteuid() { return "it belongs to another user" }
    if file.st_mode & 0o077 != 0 { return "other users may read or change it" }
    var above = stat()
    guard stat(folder, &above) == 0 else { throw FileFailure("examined", folder, errno: errno) }
    // In a sticky folder, such as /tmp, users cannot remove the files of others.
    let isShared = above.st_mode & 0o022 != 0 && above.st_mode & S_ISVTX == 0
    let isOwn = above.st_uid == geteuid() || above.st_uid == 0
    if isShared || !isOwn { return "other users may change its folder" }
    return try exposedFolder().map { "other users may exchange \($0), which leads to it" }
  }

  /// The first folder or symbolic link on the way to the file that other users may exchange; nil if there is none.
  private func exposedFolder() throws(FileFailure) -> String? {
    var names: [Substring] = folder.split(separator: "/").reversed()
    var place = "/"
    var links = 0
    while let name = names.popLast() {
      if name == "." { continue }
      let next = name == ".." ? parent(of: place) : place == "/" ? "/\(name)" : "\(place)/\(name)"
      var status = stat()
      guard lstat(next, &status) == 0 else { throw FileFailure("examined", next, errno: errno) }
      if isExposed(status) { return next }
      guard status.st_mode & S_IFMT == S_IFLNK else {
        place = next
        continue
      }
      links += 1
      guard links <= 40 else { throw FileFailure("examined", next, errno: ELOOP) }
      let target = try target(ofLink: next)
      if target.hasPrefix("/") { place = "/" }
      names += target.split(separator: "/").reversed()
    }
    return nil
  }

  /// Whether other users may exchange the content of a folder, or the target of a symbolic link.
  ///
  /// Unlike the folder of the file, one above it may be open to the user's own group: for many users it has no
  /// other member. Root works in folders of others, as in a container.
  private func isExposed(_ status: stat) -> Bool {
    let isOthers = status.st_uid != geteuid() && status.st_uid != 0 && geteuid() != 0
    guard status.st_mode & S_IFMT == S_IFDIR, status.st_mode & S_ISVTX == 0 else { return isOthers }
    let isOpenToGroup = status.st_mode & 0o020 != 0 && status.st_gid != getegid()
    return isOthers || isOpenToGroup || status.st_mode & 0o002 != 0
  }

  private func parent(of path: String) -> String {
    let names = path.split(separator: "/").dropLast()
    return "/" + names.joined(separator: "/")
  }

  private func target(ofLink path: String) throws(FileFailure) -> String {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(path, &bytes, bytes.count)
    guard count >= 0 else { throw FileFailure("examined", path, errno: errno) }
    return String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private func load(
    limit: Int, maxBytes: Int = .max
  ) throws(FileFailure) -> (bytes: [UInt8], status: stat)? {
    // A pipe would wait for its other end.
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else {
      if isMissing(errno) { return nil }
      throw FileFailure("opened", path, errno: errno)
    }
    defer { close(file) }
    // Asked of the open file: another may have taken its name since.
    var status = stat()
    guard fstat(file, &status) == 0 else { throw FileFailure("examined", path, errno: errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw FileFailure("read, since it is no regular file", path, errno: EINVAL)
    }
    guard Int(status.st_size) <= maxBytes else {
      throw FileFailure("read", path, errno: EFBIG)
    }
    var bytes = [UInt8](repeating: 0, count: min(Int(status.st_size), limit))
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeMutableBytes { buffer in
        systemRead(file, UnsafeMutableRawBufferPointer(rebasing: buffer[done...]))
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw FileFailure("read", path, errno: errno) }
      if count == 0 { break }
      done += count
    }
    bytes.removeLast(bytes.count - done)
    return (bytes, status)
  }

  /// Whether there is something of this name.
  package var exists: Bool { access(path, F_OK) == 0 }

  /// The size in bytes, or nil if there is nothing of this name.
  package func size() throws(FileFailure) -> UInt64? {
    var status = stat()
    guard stat(path, &status) == 0 else {
      if isMissing(errno) { return nil }
      throw FileFailure("examined", path, errno: errno)
    }
    return UInt64(status.st_size)
  }

  /// Whether this is a folder; false if there is nothing of this name.
  package func isFolder() throws(FileFailure) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else {
      if isMissing(errno) { return false }
      throw FileFailure("examined", path, errno: errno)
    }
    return status.st_mode & S_IFMT == S_IFDIR
  }

  // MARK: Writing

  /// Replaces the content, or makes the file and its folder. Of several at a time one wins only if
  /// callers take a ``FileLock``: the name of the new file while it is written is always the same,
  /// so that a crash leaves at most one behind.
  package func replace(with bytes: [UInt8]) throws(FileFailure) {
    let new = path + ".new"
    try writeNew(bytes, at: new)
    guard rename(new, path) == 0 else {
      let failure = FileFailure("replaced", path, errno: errno)
      unlink(new)
      throw failure
    }
    try syncFolder()
  }

  /// Creates the file with its content, or returns false if there is one already.
  package func create(_ bytes: [UInt8]) throws(FileFailure) -> Bool {
    let new = "\(path).\(getpid()).\(UInt32.random(in: 0 ... .max))"
    try writeNew(bytes, at: new)
    defer { unlink(new) }
    // A link fails where a rename would replace.
    guard link(new, path) == 0 else {
      if errno == EEXIST { return false }
      throw FileFailure("made", path, errno: errno)
    }
    try syncFolder()
    return true
  }

  /// Renames the file within its folder.
  package func move(to newURL: URL) throws(FileFailure) {
    guard rename(path, newURL.path) == 0 else {
      throw FileFailure("renamed", path, errno: errno)
    }
    try syncFolder()
  }

  /// Renames a file that cannot be read within its folder, and returns the new name.
  @discardableResult
  package func setAside() throws(FileFailure) -> URL {
    let aside = URL(fileURLWithPath: "\(path).unreadable-\(UUID().uuidString.prefix(8))")
    try move(to: aside)
    return aside
  }

  /// Removes the file durably. Succeeds if it does not exist.
  package func remove() throws(FileFailure) {
    guard unlink(path) == 0 else {
      if isMissing(errno) { return }
      throw FileFailure("removed", path, errno: errno)
    }
    try syncFolder()
  }

  /// Creates the folder of the file, and those above it, unless they exist.
  package func makeFolder() throws(FileFailure) { try Self.makeFolder(folder) }

  /// Creates a folder, and those above it, unless they exist. The names of new folders are on disk
  /// on return.
  package static func makeFolder(_ path: String) throws(FileFailure) {
    if try makeLastFolder(path) { return }
    let above = URL(fileURLWithPath: path).deletingLastPathComponent().path
    guard above != path else { throw FileFailure("made", path, errno: ENOENT) }
    try makeFolder(above)
    guard try makeLastFolder(path) else { throw FileFailure("made", path, errno: ENOENT) }
  }

  /// Creates a folder, unless it exists; false if the one above it does not.
  private static func makeLastFolder(_ path: String) throws(FileFailure) -> Bool {
    if mkdir(path, 0o700) == 0 {
      // A file in it is on disk only when the name of its folder is.
      do throws(FileFailure) {
        try syncFolder(URL(fileURLWithPath: path).deletingLastPathComponent().path)
      } catch  where error.errno == EACCES {
        // A folder that may be written to and not be read cannot be opened to sync it.
      }
      return true
    }
    switch errno {
    case ENOENT: return false
    case EEXIST:
      var found = stat()
      guard stat(path, &found) == 0 else { throw FileFailure("made", path, errno: errno) }
      guard found.st_mode & S_IFMT == S_IFDIR else {
        throw FileFailure("made", path, errno: ENOTDIR)
      }
      return true
    default: throw FileFailure("made", path, errno: errno)
    }
  }

  private func writeNew(_ bytes: [UInt8], at place: String) throws(FileFailure) {
    try makeFolder()
    // A file that a crash left, or another user created, is never written to.
    unlink(place)
    let file = open(place, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { throw FileFailure("written", place, errno: errno) }
    do {
      defer { close(file) }
      try write(bytes, to: file, at: place)
      try Self.sync(file, path: place)
    } catch {
      unlink(place)
      throw error
    }
  }

  private func write(_ bytes: [UInt8], to file: Int32, at place: String) throws(FileFailure) {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        systemWrite(file, UnsafeRawBufferPointer(rebasing: buffer[done...]))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        throw FileFailure("written", place, errno: count < 0 ? errno : EIO)
      }
      done += count
    }
  }

  /// The new name is on disk only when its folder is.
  private func syncFolder() throws(FileFailure) { try Self.syncFolder(folder) }

  /// Waits until the names in a folder are on disk.
  package static func syncFolder(_ path: String) throws(FileFailure) {
    let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard directory >= 0 else { throw FileFailure("opened", path, errno: errno) }
    defer { close(directory) }
    do throws(FileFailure) {
      try sync(directory, path: path)
    } catch  where error.errno == EINVAL || error.errno == ENOTSUP {
      // Some file systems cannot sync a folder; then the rename is as good as it gets.
    }
  }

  private static func sync(_ file: Int32, path: String) throws(FileFailure) {
    #if canImport(Darwin)
      // fsync leaves the bytes in the drive's cache there.
      if fcntl(file, F_FULLFSYNC) == 0 { return }
    #endif
    guard fsync(file) == 0 else { throw FileFailure("synced", path, errno: errno) }
  }

  private func isMissing(_ errno: Int32) -> Bool { errno == ENOENT || errno == ENOTDIR }
}

// Inside the type these names are its own methods.
private func systemRead(_ file: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
  read(file, buffer.baseAddress, buffer.count)
}

private func systemWrite(_ file: Int32, _ buffer: UnsafeRawBufferPointer) -> Int {
  write(file, buffer.baseAddress, buffer.count)
}
