import GRDB

/// A failed commit that could not be removed from the WAL: if the process ends before the next
/// write, the transaction may be committed when the store is opened.
struct UndecidedCommit: Error {
  let cause: DatabaseError

  /// The error for the caller.
  var told: SmartStoreError {
    SmartStoreError(
      .io,
      "The disk failed while a transaction was committed, and again when that was taken back. Should "
        + "the process end before the next write, the transaction may be there afterwards.",
      cause: cause)
  }
}

extension DatabaseError {
  /// Whether a commit that failed with this error may be complete in the WAL. A damaged page is
  /// found before anything is written: full text writes its terms when the transaction commits.
  var mayHaveWrittenCommit: Bool {
    resultCode == .SQLITE_IOERR && extendedResultCode != .SQLITE_IOERR_WRITE
      && extendedResultCode.rawValue != StoreIOError.damagedPage
  }
}

extension Database {
  /// Makes the transaction write a page even if it changes nothing. Then its commit is in the WAL,
  /// and waits for the disk together with all earlier commits.
  func touch() throws {
    let version = try Int.fetchOne(self, sql: "PRAGMA user_version") ?? 0
    try execute(sql: "PRAGMA user_version = \(version)")
  }
}
