import Foundation
import GRDB
import SalesforceSDKCommon

extension SmartStoreError {
  /// Converts a failure of a store's files to an error for the caller.
  ///
  /// - Parameter header: The kind of the database file, if it was opened.
  init(storage error: any Error, at path: String, header: DatabaseHeader.Kind? = nil) {
    switch error {
    case let error as DatabaseError where header == .foreign:
      self.init(
        .notADatabase, "The file \(path) is not a store's database. Restore it from a backup.",
        cause: error)
    case let error as DatabaseError where header == .plaintext:
      self.init(
        .notADatabase,
        "The file \(path) is a plaintext database, though its key file says that it is encrypted. "
          + "Restore it from a backup.", cause: error)
    case let error as DatabaseError
    where error.extendedResultCode.rawValue == StoreIOError.damagedPage:
      self.init(
        .corrupt,
        "Database is corrupted: a page of \(path) was changed outside the store or belongs to "
          + "another one. The files were left as they are; see with 'fieldforce store verify' what is "
          + "damaged, and restore a backup.", cause: error)
    case let error as FileFailure where error.isDiskFull:
      self.init(
        .diskFull, "The disk is full: \(path) was not written. Free space and try again.",
        cause: error)
    case let error as FileFailure where error.isForbidden:
      self.init(
        .readOnly, "\(path) cannot be written. Check the files' permissions.", cause: error)
    case let error as FileFailure:
      self.init(.io, "The file system refused the work (\(error)). Check the disk.", cause: error)
    default:
      self.init(grdb: error)
    }
  }
}
