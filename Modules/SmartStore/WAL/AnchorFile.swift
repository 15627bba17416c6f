import GRDBSQLite

/// The file of a store's anchor, open to be written in place.
///
/// It is written through the same file system of SQLite's as the write-ahead log, so that both reach the
/// disk in the same way. Used under the lock of ``WALBinding`` alone.
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

  /// Opens the file, and makes it if there is none.
  ///
  /// - Throws: SQLite's code.
  static func open(
    _ path: String, in vfs: UnsafeMutablePointer<sqlite3_vfs>
  ) throws(SQLiteFailure) -> AnchorFile {
    // SQLite keeps the name, and looks for parameters behind it.
    let bytes = Array(path.utf8)
    let name = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 4)
    name.initialize(repeating: 0, count: bytes.count + 4)
    for (index, byte) in bytes.enumerated() { name[index] = CChar(bitPattern: byte) }
    let size = Int(vfs.pointee.szOsFile)
    let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: size)
    let anchor = AnchorFile(
      file: memory.assumingMemoryBound(to: sqlite3_file.self), memory: memory, name: name)
    // A file of the database that is no database: without locks, and with the database's permissions.
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

  /// Brings what was written to the disk.
  func sync() throws(SQLiteFailure) {
    let code = file.pointee.pMethods?.pointee.xSync?(file, SQLITE_SYNC_FULL)
    guard code == SQLITE_OK else { throw SQLiteFailure(code: code ?? SQLITE_IOERR) }
  }
}

/// A call of SQLite's file system failed.
struct SQLiteFailure: Error {
  let code: Int32
}
