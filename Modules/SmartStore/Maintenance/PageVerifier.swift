import Foundation
import GRDB
import GRDBSQLite
import SalesforceSDKCommon

/// A check of the authentication tag of every page of a database file.
enum PageVerifier {
  /// The number of damaged pages after which a check ends. Anyone who can write to the folder can make a file of terabytes
  /// that takes no room, and none of its pages is intact.
  private static let mostDamaged = 10_000

  /// Checks the pages of an encrypted database that no connection has open.
  ///
  /// - Parameter replaced: Pages that the WAL will replace. A crash may have torn them.
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
    var damagedCount = 0
    while damagedCount < mostDamaged {
      let count = try file.read(number, into: encryptor.pageBytes)
      if count == 0 { return }
      report.pages += 1
      if added.remove(number) != nil {
        // The WAL contains the page.
      } else if count < PageFormat.pageSize {
        report.add(cut(number))
      } else if number != PageFormat.lockPage,
        encryptor.decrypt(number: number, into: plaintext) == nil
      {
        damagedCount += 1
        report.add(damaged(number))
      }
      number += 1
    }
    report.add(unchecked(from: number))
  }

  /// Checks the pages of the database file of an open writing connection. No checkpoint may run at
  /// the same time, because a page that is read while it is written looks damaged. The pages of a
  /// plaintext store are only counted, because they have no tags.
  ///
  /// - Parameter replaced: Pages that the WAL will replace. A crash may have torn them.
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
    var damagedCount = 0
    for index in 0..<pages {
      let number = UInt32(index) + 1
      guard damagedCount < mostDamaged else {
        report.add(unchecked(from: number))
        return
      }
      guard number != PageFormat.lockPage else { continue }
      report.pages += 1
      if added.remove(number) != nil { continue }
      let code = methods.pointee.xRead(
        file, buffer.baseAddress, Int32(PageFormat.pageSize), Int64(index * PageFormat.pageSize))
      switch code {
      case SQLITE_OK: continue
      case StoreIOError.damagedPage:
        damagedCount += 1
        report.add(damaged(number))
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

  private static func unchecked(from number: UInt32) -> StoreReport.Finding {
    .init(
      kind: .page, page: number,
      detail: "this page and those behind it were not checked, since \(mostDamaged) are damaged")
  }

  private static func cut(_ number: UInt32) -> StoreReport.Finding {
    .init(kind: .page, page: number, detail: "the file ends within the page")
  }
}
