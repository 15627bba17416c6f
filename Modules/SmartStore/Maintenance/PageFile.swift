import SalesforceSDKCommon

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A database file or write-ahead log, accessed without SQLite as a sequence of pages. A database
/// may be opened so only while no connection of this process has it open, because closing it
/// releases SQLite's locks.
struct PageFile: ~Copyable {
  private let file: Int32
  private let path: String

  /// Opens an existing file for reading.
  ///
  /// - Throws: ``FileFailure``, also for anything except a regular file, without waiting for the
  ///   other end of a pipe.
  init(reading path: String) throws(FileFailure) {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { throw FileFailure("opened", path, errno: errno) }
    var status = stat()
    let isExamined = fstat(file, &status) == 0
    guard isExamined, status.st_mode & S_IFMT == S_IFREG else {
      let reason = isExamined ? EINVAL : errno
      close(file)
      throw FileFailure("read, since it is no regular file", path, errno: reason)
    }
    self.path = path
    self.file = file
  }

  /// Creates an empty file that only this user can access, and replaces an existing file.
  init(creating path: String) throws(FileFailure) {
    self.path = path
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { throw FileFailure("made", path, errno: errno) }
  }

  deinit { close(file) }

  /// Reads page `number` into `buffer`, of which it fills `PageFormat.pageSize` bytes.
  ///
  /// - Returns: The number of bytes read: 0 at the end of the file, fewer than a page if it was
  ///   truncated.
  func read(_ number: UInt32, into buffer: UnsafeMutableRawPointer) throws(FileFailure) -> Int {
    try read(PageFormat.pageSize, at: Int(number - 1) * PageFormat.pageSize, into: buffer)
  }

  /// Reads `size` bytes at `offset` into `buffer`.
  ///
  /// - Returns: The number of bytes read.
  func read(
    _ size: Int, at offset: Int, into buffer: UnsafeMutableRawPointer
  ) throws(FileFailure) -> Int {
    var done = 0
    while done < size {
      let count = pread(file, buffer + done, size - done, off_t(offset + done))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw FileFailure("read", path, errno: errno) }
      if count == 0 { break }
      done += count
    }
    return done
  }

  /// Writes page `number`.
  func write(_ number: UInt32, from buffer: UnsafeRawPointer) throws(FileFailure) {
    let start = off_t(number - 1) * off_t(PageFormat.pageSize)
    var done = 0
    while done < PageFormat.pageSize {
      let count = pwrite(file, buffer + done, PageFormat.pageSize - done, start + off_t(done))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        throw FileFailure("written", path, errno: count < 0 ? errno : EIO)
      }
      done += count
    }
  }

  /// The size in bytes.
  func size() throws(FileFailure) -> Int {
    var status = stat()
    guard fstat(file, &status) == 0 else { throw FileFailure("examined", path, errno: errno) }
    return Int(status.st_size)
  }

  #if canImport(Darwin)
    private static let seekData: Int32 = 4
  #else
    private static let seekData: Int32 = 3
  #endif

  /// Returns the offset of the next written bytes at or after `offset`; nil if there are none. In a
  /// file whose size was changed without writing there are none, and reading its zeros would take
  /// too long.
  func nextData(from offset: Int) -> Int? {
    let found = lseek(file, off_t(offset), Self.seekData)
    if found >= 0 { return Int(found) }
    // A file system without support for holes has none.
    return errno == ENXIO ? nil : offset
  }

  /// Writes `count` bytes at `offset`.
  func write(
    _ count: Int, at offset: Int, from buffer: UnsafeRawPointer
  ) throws(FileFailure) {
    var done = 0
    while done < count {
      let step = pwrite(file, buffer + done, count - done, off_t(offset + done))
      if step < 0, errno == EINTR { continue }
      guard step > 0 else { throw FileFailure("written", path, errno: step < 0 ? errno : EIO) }
      done += step
    }
  }

  /// Syncs the written bytes to the disk.
  func sync() throws(FileFailure) {
    #if canImport(Darwin)
      // On these systems fsync leaves the bytes in the drive's cache.
      if fcntl(file, F_FULLFSYNC) == 0 { return }
    #endif
    guard fsync(file) == 0 else { throw FileFailure("synced", path, errno: errno) }
  }
}
