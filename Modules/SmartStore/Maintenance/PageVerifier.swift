import Foundation
import GRDB
import GRDBSQLite
import SalesforceSDKCommon

/// Looks at every page of a database file: does its tag fit?
enum PageVerifier {
  /// Checks the pages of an encrypted database that no connection has open.
  ///
  /// - Parameter replaced: Pages that the WAL is going to replace. A crash may have torn them.
  static func check(
    _ path: String, keys: StoreKeys, cipher: any StoreCipher, except replaced: Set<UInt32>,
    into report: inout StoreReport
  ) throws(FileFailure) {
    var added = replaced
    defer { report.pages += added.count }
    let file = try PageFile(reading: path)
    let encryptor = PageEncryptor(keys: keys, cipher: cipher)
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: PageFormat.pageSize, alignment: 16)
    defer { buffer.deallocate() }
    guard let plaintext = buffer.baseAddress else { return }
    var number: UInt32 = 1
    while true {
      let count = try file.read(number, into: encryptor.pageBytes)
      if count == 0 { return }
      report.pages += 1
      if added.remove(number) != nil {
        // The log has it.
      } else if count < PageFormat.pageSize {
        report.add(cut(number))
      } else if number != PageFormat.lockPage,
        encryptor.decrypt(number: number, into: plaintext) == nil
      {
        report.add(damaged(number))
      }
      number += 1
    }
  }

  /// Checks the pages of the database file of an open connection, the writing one. No checkpoint may
  /// run at the same time: a page that is read while it is written looks damaged. A plaintext store's
  /// pages are only counted, since they have no tags.
  ///
  /// - Parameter replaced: As above.
  static func check(
    _ database: Database, except replaced: Set<UInt32>, into report: inout StoreReport
  ) throws {
    var added = replaced
    defer { report.pages += added.count }
    var pointer: UnsafeMutablePointer<sqlite3_file>?
    let code = withUnsafeMutablePointer(to: &pointer) { place in
      sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_FILE_POINTER, place)
    }
    var size: Int64 = 0
    guard code == SQLITE_OK, let file = pointer, let methods = file.pointee.pMethods,
      methods.pointee.xFileSize(file, &size) == SQLITE_OK
    else { throw DatabaseError(resultCode: .SQLITE_IOERR) }
    let pages = Int(size) / PageFormat.pageSize
    guard EncryptedFile.state(file) != nil else {
      report.pages += pages
      return
    }
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: PageFormat.pageSize, alignment: 16)
    defer { buffer.deallocate() }
    for index in 0..<pages {
      let number = UInt32(index) + 1
      guard number != PageFormat.lockPage else { continue }
      report.pages += 1
      if added.remove(number) != nil { continue }
      let code = methods.pointee.xRead(
        file, buffer.baseAddress, Int32(PageFormat.pageSize), Int64(index * PageFormat.pageSize))
      switch code {
      case SQLITE_OK: continue
      case StoreIOError.damagedPage: report.add(damaged(number))
      default: throw DatabaseError(resultCode: ResultCode(rawValue: code))
      }
    }
    let last = UInt32(pages) + 1
    if Int(size) % PageFormat.pageSize != 0, !replaced.contains(last) { report.add(cut(last)) }
  }

  private static func damaged(_ number: UInt32) -> StoreReport.Finding {
    .init(
      kind: .page, page: number,
      detail: "the page was changed outside the store, or belongs to another place or store")
  }

  private static func cut(_ number: UInt32) -> StoreReport.Finding {
    .init(kind: .page, page: number, detail: "the file ends within the page")
  }
}
