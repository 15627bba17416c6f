import GRDBSQLite

/// The locks on the index of the WAL, which connections of all processes share.
///
/// SQLite up to 3.51.2 can lose committed transactions when one connection restarts the WAL while
/// another has just begun a checkpoint: the checkpoint still uses the former length of the WAL, and
/// marks that number of frames of the new one as copied (sqlite.org/wal.html#walresetbug). So a log
/// is restarted only with the lock of checkpoints held. If another connection has that lock, the
/// VFS reports the readers' locks as taken, as with an active reader, and SQLite appends to the WAL
/// instead.
extension EncryptedFile.State {
  /// The slots of the locks in SQLite's file format.
  private enum Slot {
    static let checkpoint: Int32 = 1
    /// The first reader of the WAL. SQLite takes this slot together with the following ones only to
    /// restart the WAL.
    static let firstReader: Int32 = 4
  }

  /// Takes or releases locks.
  func lockIndex(_ offset: Int32, _ count: Int32, _ flags: Int32) -> Int32 {
    guard let lock = methods.xShmLock else { return SQLITE_IOERR }
    let isRestart = offset == Slot.firstReader && count > 1
    guard isRestart, !connection.holdsCheckpointLock else {
      let code = lock(base, offset, count, flags)
      if code == SQLITE_OK, (offset..<offset + count).contains(Slot.checkpoint) {
        connection.holdsCheckpointLock = flags & SQLITE_SHM_LOCK != 0
      }
      return code
    }
    if flags & SQLITE_SHM_UNLOCK != 0 {
      let code = lock(base, offset, count, flags)
      return max(code, lock(base, Slot.checkpoint, 1, flags))
    }
    var code = lock(base, Slot.checkpoint, 1, flags)
    guard code == SQLITE_OK else { return code }
    code = lock(base, offset, count, flags)
    if code != SQLITE_OK {
      _ = lock(base, Slot.checkpoint, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE)
    }
    return code
  }
}
