import GRDB
import GRDBSQLite
import SalesforceSDKCommon
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The names of an open database and of its write-ahead log (WAL). Another program can remove or replace
/// either; SQLite keeps using the files that it has open, and what it writes is lost when it closes them.
final class StoreLocation: Sendable {
  private let database: String
  let log: String
  /// The WAL that was there at the first look.
  private let logNumber = Atomic<UInt64>(0)

  init(database: String, log: String) {
    self.database = database
    self.log = log
  }

  /// Looks within a transaction whether both names are those of the open files: two calls of the system.
  func check(_ connection: Database) throws(SmartStoreError) {
    var hasMoved: Int32 = 0
    let code = sqlite3_file_control(
      connection.sqliteConnection, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
    if code == SQLITE_OK, hasMoved != 0 { throw missing(database) }
    var status = stat()
    guard stat(log, &status) == 0 else {
      if errno == ENOENT || errno == ENOTDIR { throw missing(log) }
      return
    }
    let number = UInt64(status.st_ino)
    let known = logNumber.compareExchange(
      expected: 0, desired: number, ordering: .relaxed)
    if !known.exchanged, known.original != number { throw missing(log) }
  }

  private func missing(_ path: String) -> SmartStoreError {
    SmartStoreError(
      .databaseMissing,
      "Cannot save: \(path) was removed or replaced while the store was open. Close the store, restore its "
        + "files from a backup, and repeat the call.")
  }
}
