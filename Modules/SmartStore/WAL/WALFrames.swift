import GRDBSQLite

/// A buffer of encrypted frames, so that one system call writes many of them to the WAL.
///
/// SQLite writes each frame separately, and its header separately from its page; the system calls
/// cost more than encrypting. The buffer is written with the frame that commits, when it is full,
/// and before any other operation on the WAL. So SQLite receives every failure before the
/// transaction counts as committed, and no reader needs a buffered frame earlier.
struct WALFrames: ~Copyable {
  /// The capacity, well below the 128 KiB that SQLite's own file system writes at once.
  private static let capacity = 16 * PageFormat.frameSize

  /// The memory, allocated with the first frame: readers never write one.
  private var buffer: UnsafeMutableRawPointer?
  /// The offset of the first frame in the WAL.
  private(set) var offset: Int64 = 0
  /// The number of buffered bytes. The page of a header at the end may still be missing.
  private(set) var count = 0

  deinit { buffer?.deallocate() }

  var isEmpty: Bool { count == 0 }
  var isFull: Bool { count == Self.capacity }
  /// The offset of the next part in the WAL.
  var end: Int64 { offset + Int64(count) }
  /// Whether the last header has no page yet.
  var awaitsPage: Bool { count % PageFormat.frameSize != 0 }

  /// The buffered bytes.
  var bytes: UnsafeRawPointer? { UnsafeRawPointer(buffer) }

  /// Returns the memory for a part at offset `place` of the WAL, which is the end unless the buffer
  /// is empty.
  mutating func room(at place: Int64) -> UnsafeMutableRawPointer {
    if isEmpty { offset = place }
    let start =
      buffer ?? UnsafeMutableRawPointer.allocate(byteCount: Self.capacity, alignment: 16)
    buffer = start
    return start + count
  }

  /// Adds the size of a part that was written into the memory.
  mutating func add(_ size: Int) { count += size }

  mutating func removeAll() { count = 0 }
}

extension EncryptedFile.State {
  /// Writes the buffered frames of a log. After a failure they stay, to be written again.
  func flushFrames() -> Int32 {
    guard kind == .log, !connection.frames.isEmpty else { return SQLITE_OK }
    guard let write = methods.xWrite, let bytes = connection.frames.bytes else {
      return SQLITE_IOERR
    }
    let code = write(base, bytes, Int32(connection.frames.count), connection.frames.offset)
    if code == SQLITE_OK { connection.frames.removeAll() }
    return code
  }

  /// Buffers the header of a frame, whose page follows.
  func gatherHeader(_ buffer: UnsafeRawPointer, _ offset: Int64) -> Int32 {
    if !connection.frames.isEmpty, connection.frames.end != offset || connection.frames.isFull {
      let code = flushFrames()
      guard code == SQLITE_OK else { return code }
    }
    let header = connection.frames.room(at: offset)
    header.copyMemory(from: buffer, byteCount: PageFormat.frameHeaderSize)
    guard WALFormat.hideFrame(header, key: connection.store.keys.current.frameKey) else {
      return StoreIOError.write
    }
    connection.frames.add(PageFormat.frameHeaderSize)
    return SQLITE_OK
  }

  /// Encrypts the page of the buffered header. Writes all frames if this one commits.
  func gatherPage(_ buffer: UnsafeRawPointer, of frame: EncryptedConnection.Frame) -> Int32 {
    let end = connection.frames.end
    let page = connection.frames.room(at: end)
    guard connection.encryptor.encrypt(buffer, number: frame.number, to: page) else {
      return StoreIOError.write
    }
    connection.frames.add(PageFormat.pageSize)
    guard frame.commit != nil || connection.frames.isFull else { return SQLITE_OK }
    let code = flushFrames()
    guard let commit = frame.commit else { return code }
    if code == SQLITE_OK {
      didWrite(commit)
    } else {
      // SQLite rolls back a transaction that it could not commit. Its frames must not be written to
      // the disk later, because they would look committed.
      connection.frames.removeAll()
    }
    return code
  }
}
