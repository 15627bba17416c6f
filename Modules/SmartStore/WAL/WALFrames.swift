import GRDBSQLite

/// Encrypted frames on their way to the WAL, gathered so that one write of the system takes many.
///
/// SQLite writes each frame by itself, and its header apart from its page; the system's part of that
/// cost more than encrypting. What is gathered goes to the disk with the frame that commits, when there
/// is no more room, and before anything else is done with the WAL. So every failure reaches SQLite
/// before the transaction counts as committed, and no reader looks for it earlier.
struct WALFrames: ~Copyable {
  /// Well below the 128 KiB that SQLite's own file system writes at once.
  private static let capacity = 16 * PageFormat.frameSize

  /// Reserved with the first frame: readers never write one.
  private var buffer: UnsafeMutableRawPointer?
  /// Where in the WAL the first frame belongs.
  private(set) var offset: Int64 = 0
  /// How many bytes wait. A header at the end may still lack its page.
  private(set) var count = 0

  deinit { buffer?.deallocate() }

  var isEmpty: Bool { count == 0 }
  var isFull: Bool { count == Self.capacity }
  /// The place in the WAL where the next part belongs.
  var end: Int64 { offset + Int64(count) }
  /// Whether the last header has no page yet.
  var awaitsPage: Bool { count % PageFormat.frameSize != 0 }

  /// The gathered bytes.
  var bytes: UnsafeRawPointer? { UnsafeRawPointer(buffer) }

  /// The memory for a part that belongs at `place` in the WAL, which is the end unless nothing waits.
  mutating func room(at place: Int64) -> UnsafeMutableRawPointer {
    if isEmpty { offset = place }
    let start =
      buffer ?? UnsafeMutableRawPointer.allocate(byteCount: Self.capacity, alignment: 16)
    buffer = start
    return start + count
  }

  /// Counts a part that was written into its room.
  mutating func add(_ size: Int) { count += size }

  mutating func removeAll() { count = 0 }
}

extension EncryptedFile.State {
  /// Writes the gathered frames of a log. On failure they stay, to be tried again.
  func flushFrames() -> Int32 {
    guard kind == .log, !connection.frames.isEmpty else { return SQLITE_OK }
    guard let write = methods.xWrite, let bytes = connection.frames.bytes else {
      return SQLITE_IOERR
    }
    let code = write(base, bytes, Int32(connection.frames.count), connection.frames.offset)
    if code == SQLITE_OK { connection.frames.removeAll() }
    return code
  }

  /// Takes the header of a frame, whose page follows.
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

  /// Encrypts the page of the gathered header; writes all frames if this one commits.
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
      // SQLite rolls back a transaction that it could not commit. Its frames must not reach the disk
      // afterwards, as though it had been committed.
      connection.frames.removeAll()
    }
    return code
  }
}
