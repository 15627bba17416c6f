import GRDB

/// A commit failed, and so did what keeps it from coming back: if the process ends before the next
/// write, the transaction may be found committed when the store is opened.
struct UndecidedCommit: Error {
  let cause: DatabaseError

  /// The error for who wrote.
  var told: SmartStoreError {
    SmartStoreError(
      .io,
      "The disk failed while a transaction was committed, and again when that was taken back. Should "
        + "the process end before the next write, the transaction may be there afterwards.",
      cause: cause)
  }
}

extension DatabaseError {
  /// Whether a commit that failed so may be in the WAL as a whole. A damaged page is met before
  /// anything is written: by full text, which writes its words when the transaction commits.
  var mayHaveWrittenCommit: Bool {
    resultCode == .SQLITE_IOERR && extendedResultCode != .SQLITE_IOERR_WRITE
      && extendedResultCode.rawValue != StoreIOError.damagedPage
  }
}

extension Database {
  /// Has the transaction write a page, though nothing in it changes: then its commit is in the WAL,
  /// and waits for the disk with all that was committed before.
  func touch() throws {
    let version = try Int.fetchOne(self, sql: "PRAGMA user_version") ?? 0
    try execute(sql: "PRAGMA user_version = \(version)")
  }
}
