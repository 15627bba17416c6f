import GRDBSQLite

/// The write-ahead log: a header, then frames, each with a header and a page.
extension EncryptedFile.State {
  /// Reads a whole frame (recovery), a frame's page, a frame's checksum, the WAL's header or its
  /// checksum; refuses any other read.
  func readLog(_ buffer: UnsafeMutableRawPointer, _ count: Int, _ offset: Int64) -> Int32 {
    let code = flushFrames()
    guard code == SQLITE_OK else { return code }
    switch count {
    case PageFormat.frameSize where PageFormat.isFrame(atOffset: offset):
      return readFrame(buffer, offset)
    case PageFormat.pageSize
    where PageFormat.isFrame(atOffset: offset - Int64(PageFormat.frameHeaderSize)):
      return readPage(buffer, frame: offset - Int64(PageFormat.frameHeaderSize))
    case PageFormat.logHeaderSize where offset == 0:
      return readHeader(buffer)
    case 8 where offset == 24:
      let header = connection.encryptor.frameBytes
      let code = readHeader(header)
      if code == SQLITE_OK { buffer.copyMemory(from: header + 24, byteCount: 8) }
      return code
    case 8 where PageFormat.isFrame(atOffset: offset - 16):
      return readChecksum(buffer, frame: offset - 16)
    default:
      return SQLITE_IOERR
    }
  }

  /// Writes the WAL's header, a frame's header or a frame's page; refuses any other write.
  func writeLog(_ buffer: UnsafeRawPointer, _ count: Int, _ offset: Int64) -> Int32 {
    switch count {
    case PageFormat.pageSize
    where PageFormat.isFrame(atOffset: offset - Int64(PageFormat.frameHeaderSize)):
      return writePage(buffer, frame: offset - Int64(PageFormat.frameHeaderSize))
    case PageFormat.frameHeaderSize where PageFormat.isFrame(atOffset: offset):
      return writeFrameHeader(buffer, offset)
    case PageFormat.logHeaderSize where offset == 0:
      return writeHeader(buffer)
    default:
      return SQLITE_IOERR
    }
  }

  /// Reads one page for a reader or a checkpoint. A wrong tag is an error.
  private func readPage(_ buffer: UnsafeMutableRawPointer, frame: Int64) -> Int32 {
    guard let read = methods.xRead else { return SQLITE_IOERR }
    let encryptor = connection.encryptor
    let code = read(base, encryptor.frameBytes, Int32(PageFormat.frameSize), frame)
    if code == StoreIOError.shortRead { return connection.store.didMeetDamage() }
    guard code == SQLITE_OK else { return code }
    let number = WALFormat.pageNumber(encryptor.frameBytes)
    guard let plaintext = encryptor.decrypt(number: number, into: buffer) else {
      return connection.store.didMeetDamage()
    }
    // Decrypting page 1 overwrites its place in the buffer, so it must be encrypted again.
    connection.copied = connection.isCheckpointing && number != 1 ? (number, plaintext) : nil
    return SQLITE_OK
  }

  /// Reads a whole frame for recovery. A torn end is normal there: a frame that cannot be decrypted
  /// becomes zeros, which SQLite reads as the end of the WAL.
  private func readFrame(_ buffer: UnsafeMutableRawPointer, _ offset: Int64) -> Int32 {
    guard let read = methods.xRead else { return SQLITE_IOERR }
    let encryptor = connection.encryptor
    let code = read(base, encryptor.frameBytes, Int32(PageFormat.frameSize), offset)
    guard code == SQLITE_OK else { return code }
    connection.copied = nil
    connection.readsFrames = true
    buffer.copyMemory(from: encryptor.frameBytes, byteCount: PageFormat.frameHeaderSize)
    let number = WALFormat.pageNumber(buffer)
    let isWhole =
      encryptor.pageEpoch.map { WALFormat.restoreFrame(buffer, key: $0.frameKey) } == true
      && encryptor.decrypt(number: number, into: buffer + PageFormat.frameHeaderSize) != nil
    if !isWhole {
      UnsafeMutableRawBufferPointer(start: buffer, count: PageFormat.frameSize)
        .initializeMemory(as: UInt8.self, repeating: 0)
    }
    return SQLITE_OK
  }

  private func readHeader(_ buffer: UnsafeMutableRawPointer) -> Int32 {
    guard let read = methods.xRead else { return SQLITE_IOERR }
    let code = read(base, buffer, Int32(PageFormat.logHeaderSize), 0)
    if code == SQLITE_OK { WALFormat.restoreHeader(buffer) }
    return code
  }

  private func readChecksum(_ buffer: UnsafeMutableRawPointer, frame: Int64) -> Int32 {
    guard let read = methods.xRead else { return SQLITE_IOERR }
    let encryptor = connection.encryptor
    let header = encryptor.frameBytes
    connection.copied = nil
    let code = read(base, header, Int32(PageFormat.frameSize), frame)
    guard code == SQLITE_OK else { return code }
    guard let epoch = encryptor.pageEpoch, WALFormat.restoreFrame(header, key: epoch.frameKey)
    else {
      return StoreIOError.read
    }
    buffer.copyMemory(from: header + 16, byteCount: 8)
    return SQLITE_OK
  }

  private func writeHeader(_ buffer: UnsafeRawPointer) -> Int32 {
    var code = flushFrames()
    guard code == SQLITE_OK else { return code }
    guard let write = methods.xWrite else { return SQLITE_IOERR }
    let salts = (buffer + 16).loadUnaligned(as: UInt64.self)
    code = connection.store.binding?.willBegin(salts, sync: syncBelow) ?? SQLITE_OK
    guard code == SQLITE_OK else { return code }
    let header = connection.encryptor.frameBytes
    header.copyMemory(from: buffer, byteCount: PageFormat.logHeaderSize)
    WALFormat.hideHeader(header)
    return write(base, header, Int32(PageFormat.logHeaderSize), 0)
  }

  private func writeFrameHeader(_ buffer: UnsafeRawPointer, _ offset: Int64) -> Int32 {
    let number = PageFormat.frameNumber(atOffset: offset)
    let salts = WALFormat.salts(buffer)
    if let binding = connection.store.binding {
      let code = binding.willWrite(frame: number, salts: salts, sync: syncBelow)
      guard code == SQLITE_OK else { return code }
    }
    let frame = EncryptedConnection.Frame(
      offset: offset, number: WALFormat.pageNumber(buffer),
      commit: WALFormat.isCommit(buffer)
        ? WALAnchor.Commit(salts: salts, frames: number, sums: WALFormat.sums(buffer)) : nil)
    connection.lastFrame = frame
    guard connection.readsFrames else {
      // A frame before the one with the replaced page: that transaction was rolled back.
      if let replaced = connection.replacedFrame, number <= replaced {
        connection.replacedFrame = nil
      }
      return gatherHeader(buffer, offset)
    }
    guard let write = methods.xWrite else { return SQLITE_IOERR }
    let header = connection.encryptor.frameBytes
    header.copyMemory(from: buffer, byteCount: PageFormat.frameHeaderSize)
    guard WALFormat.hideFrame(header, key: connection.store.keys.current.frameKey) else {
      return StoreIOError.write
    }
    let code = write(base, header, Int32(PageFormat.frameHeaderSize), offset)
    // The last checksum to be corrected is that of the commit.
    if code == SQLITE_OK, connection.replacedFrame != nil, let commit = frame.commit {
      connection.replacedFrame = nil
      connection.store.binding?.didWrite(commit)
    }
    return code
  }

  /// Writes the page of a frame. Its number is in the frame's header, which was just written, or
  /// earlier if SQLite overwrites a frame of the same transaction.
  private func writePage(_ buffer: UnsafeRawPointer, frame: Int64) -> Int32 {
    connection.readsFrames = false
    if let last = connection.lastFrame, last.offset == frame, connection.frames.awaitsPage {
      return gatherPage(buffer, of: last)
    }
    let code = flushFrames()
    guard code == SQLITE_OK else { return code }
    guard let read = methods.xRead, let write = methods.xWrite else { return SQLITE_IOERR }
    let encryptor = connection.encryptor
    let number: UInt32
    var commit: WALAnchor.Commit?
    if let last = connection.lastFrame, last.offset == frame {
      number = last.number
      commit = last.commit
    } else {
      let position = PageFormat.frameNumber(atOffset: frame)
      connection.replacedFrame = min(connection.replacedFrame ?? position, position)
      let code = read(base, encryptor.frameBytes, 4, frame)
      guard code == SQLITE_OK else { return code }
      number = WALFormat.pageNumber(encryptor.frameBytes)
    }
    guard number != 0, encryptor.encrypt(buffer, number: number) else { return StoreIOError.write }
    let result = write(
      base, encryptor.pageBytes, Int32(PageFormat.pageSize),
      frame + Int64(PageFormat.frameHeaderSize))
    if result == SQLITE_OK, let commit { didWrite(commit) }
    return result
  }

  /// Records that the last frame of a transaction was written, unless checksums must be corrected
  /// first.
  func didWrite(_ commit: WALAnchor.Commit) {
    if connection.replacedFrame == nil { connection.store.binding?.didWrite(commit) }
  }

  /// Syncs the file to the disk, and then updates the anchor.
  func sync(_ flags: Int32) -> Int32 {
    var code = flushFrames()
    guard code == SQLITE_OK else { return code }
    guard let sync = methods.xSync else { return SQLITE_IOERR }
    guard let binding = connection.store.binding else { return sync(base, flags) }
    guard kind == .log else {
      code = sync(base, flags)
      if code == SQLITE_OK, let generation = connection.writtenGeneration {
        binding.didCheckpoint(generation)
      }
      connection.writtenGeneration = nil
      return code
    }
    let written = binding.written
    code = sync(base, flags)
    if code == SQLITE_OK { binding.didSync(written) } else { binding.didFail() }
    return code
  }

  private func syncBelow() -> Int32 {
    methods.xSync?(base, SQLITE_SYNC_NORMAL) ?? SQLITE_IOERR
  }
}
