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

/// The paths of an open database and of its write-ahead log (WAL). Another program can remove or
/// replace either file: SQLite keeps using its open files, and their content is lost when it closes
/// them. Another program can also truncate them: then pages after the truncation cannot be read.
final class StoreLocation: Sendable {
  private let database: String
  let log: String
  /// The inode of the WAL at the first check.
  private let logNumber = Atomic<UInt64>(0)

  init(database: String, log: String) {
    self.database = database
    self.log = log
  }

  /// Checks within a transaction whether both paths are those of the open files, and whether the
  /// files of an encrypted store still have the length that was written. It takes three system
  /// calls.
  ///
  /// - Throws: ``SmartStoreError`` `databaseMissing`, `corrupt`.
  func check(_ connection: Database, of store: EncryptedStore?) throws(SmartStoreError) {
    if store?.hasMetDamage == true { throw damaged(database) }
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
    guard let store else { return }
    if Int(status.st_size) < store.binding?.loggedBytes ?? 0 {
      _ = store.didMeetDamage()
      throw damaged(log)
    }
    if isCut(connection, store) {
      _ = store.didMeetDamage()
      throw damaged(database)
    }
  }

  /// Whether the database is shorter than it was written.
  private func isCut(_ connection: Database, _ store: EncryptedStore) -> Bool {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let code = sqlite3_file_control(
      connection.sqliteConnection, "main", SQLITE_FCNTL_FILE_POINTER, &file)
    guard code == SQLITE_OK, let state = EncryptedFile.state(file) else { return false }
    // A background checkpoint may change both values between the two reads.
    for _ in 0..<3 {
      guard let size = state.size(), size < store.databaseBytes else { return false }
    }
    return true
  }

  private func damaged(_ path: String) -> SmartStoreError {
    SmartStoreError(
      .corrupt,
      "Cannot save: \(path) was cut or changed outside the store while it was open. Close the store, see with "
        + "'fieldforce store verify' what is damaged, and restore a backup.")
  }

  private func missing(_ path: String) -> SmartStoreError {
    SmartStoreError(
      .databaseMissing,
      "Cannot save: \(path) was removed or replaced while the store was open. Close the store, restore its "
        + "files from a backup, and repeat the call.")
  }
}
