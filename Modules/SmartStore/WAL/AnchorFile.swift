import GRDBSQLite

/// The file of a store's anchor, open to be written in place.
///
/// It is written through the same SQLite file system as the write-ahead log, so that both are
/// synced in the same way. Used only with the lock of ``WALBinding`` held.
struct AnchorFile: ~Copyable {
  private let file: UnsafeMutablePointer<sqlite3_file>
  private let memory: UnsafeMutableRawPointer
  private let name: UnsafeMutablePointer<CChar>

  private init(
    file: UnsafeMutablePointer<sqlite3_file>, memory: UnsafeMutableRawPointer,
    name: UnsafeMutablePointer<CChar>
  ) {
    self.file = file
    self.memory = memory
    self.name = name
  }

  /// Opens the file, and creates it if it does not exist.
  ///
  /// - Throws: SQLite's result code.
  static func open(
    _ path: String, in vfs: UnsafeMutablePointer<sqlite3_vfs>
  ) throws(SQLiteFailure) -> AnchorFile {
    // SQLite keeps the name, and reads parameters after it.
    let bytes = Array(path.utf8)
    let name = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 4)
    name.initialize(repeating: 0, count: bytes.count + 4)
    for (index, byte) in bytes.enumerated() { name[index] = CChar(bitPattern: byte) }
    let size = Int(vfs.pointee.szOsFile)
    let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: size)
    let anchor = AnchorFile(
      file: memory.assumingMemoryBound(to: sqlite3_file.self), memory: memory, name: name)
    // The flag of a log gives the file the database's permissions, without locks.
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_WAL
    let code = vfs.pointee.xOpen?(vfs, name, anchor.file, flags, nil) ?? SQLITE_CANTOPEN
    guard code == SQLITE_OK else { throw SQLiteFailure(code: code) }
    return anchor
  }

  deinit {
    if let methods = file.pointee.pMethods { _ = methods.pointee.xClose?(file) }
    memory.deallocate()
    name.deallocate()
  }

  /// Writes the whole content.
  func write(_ bytes: [UInt8]) throws(SQLiteFailure) {
    let code = bytes.withUnsafeBytes { bytes in
      file.pointee.pMethods?.pointee.xWrite?(file, bytes.baseAddress, Int32(bytes.count), 0)
    }
    guard code == SQLITE_OK else { throw SQLiteFailure(code: code ?? SQLITE_IOERR) }
  }

  /// Syncs the written bytes to the disk.
  func sync() throws(SQLiteFailure) {
    let code = file.pointee.pMethods?.pointee.xSync?(file, SQLITE_SYNC_FULL)
    guard code == SQLITE_OK else { throw SQLiteFailure(code: code ?? SQLITE_IOERR) }
  }
}

/// A failed call of SQLite's file system.
struct SQLiteFailure: Error {
  let code: Int32
}
