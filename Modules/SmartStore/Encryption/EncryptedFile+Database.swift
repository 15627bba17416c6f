import Foundation
import GRDBSQLite

/// The database file: whole pages, and two reads of the plaintext header.
extension EncryptedFile.State {
  /// Reads a page, the header (100 bytes) or the change counter (16 bytes at 24); refuses any other
  /// read.
  func readDatabase(_ buffer: UnsafeMutableRawPointer, _ count: Int, _ offset: Int64) -> Int32 {
    guard let read = methods.xRead else { return SQLITE_IOERR }
    switch (count, offset) {
    case (PageFormat.headerSize, 0):
      let code = read(base, buffer, Int32(count), offset)
      DatabaseHeader.restore(at: buffer)
      _ = DatabaseHeader.takeGeneration(at: buffer)
      return code
    case (16, 24):
      return read(base, buffer, Int32(count), offset)
    case (PageFormat.pageSize, _):
      guard let number = PageFormat.pageNumber(atOffset: offset) else { return SQLITE_IOERR }
      if let ahead = connection.readAhead, ahead.take(number, into: buffer) { return SQLITE_OK }
      let encryptor = connection.encryptor
      let code = read(base, encryptor.pageBytes, Int32(count), offset)
      // SQLite reads a short read as a page of zeros. A store has no such pages.
      if code == StoreIOError.shortRead { return connection.store.didMeetDamage() }
      guard code == SQLITE_OK else { return code }
      return encryptor.decrypt(number: number, into: buffer) != nil
        ? SQLITE_OK : connection.store.didMeetDamage()
    default:
      return SQLITE_IOERR
    }
  }

  /// Writes a page. If a checkpoint copies it from the WAL, writes it as it is encrypted there.
  func writeDatabase(_ buffer: UnsafeRawPointer, _ count: Int, _ offset: Int64) -> Int32 {
    guard count == PageFormat.pageSize, let write = methods.xWrite,
      let number = PageFormat.pageNumber(atOffset: offset)
    else { return SQLITE_IOERR }
    if connection.beginsCheckpoint {
      let code = connection.store.binding?.willCheckpoint() ?? SQLITE_OK
      guard code == SQLITE_OK else { return code }
      connection.beginsCheckpoint = false
    }
    let encryptor = connection.encryptor
    guard
      connection.holdsEncrypted(number, plaintext: buffer)
        || encryptor.encrypt(buffer, number: number)
    else { return StoreIOError.write }
    if number == 1 { connection.writtenGeneration = encryptor.sealedGeneration }
    let code = write(base, encryptor.pageBytes, Int32(count), offset)
    if code == SQLITE_OK { connection.store.didReachDatabase(bytes: offset + Int64(count)) }
    return code
  }

  /// Returns the size of the underlying file in bytes; nil if it cannot be read.
  func size() -> Int64? {
    var size: sqlite3_int64 = 0
    guard methods.xFileSize?(base, &size) == SQLITE_OK else { return nil }
    return size
  }
}

extension EncryptedConnection {
  /// Whether the encryptor's buffer still contains page `number` as it is encrypted in the WAL, and
  /// `plaintext` is its plaintext.
  fileprivate func holdsEncrypted(_ number: UInt32, plaintext: UnsafeRawPointer) -> Bool {
    guard let copied, copied.number == number else { return false }
    self.copied = nil
    return copied.plaintext.withUnsafeBytes { bytes in
      bytes.baseAddress.map { memcmp(plaintext, $0, bytes.count) == 0 } ?? false
    }
  }
}
