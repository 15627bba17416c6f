import Dispatch
import GRDB
import GRDBSQLite
import Synchronization

/// Checkpoints of the WAL during many writes, on a separate connection and thread.
///
/// Otherwise the writer checkpoints after a commit that made the WAL long enough, and the caller of
/// the write waits. The writer still does so if these checkpoints are late, but then finds few
/// pages to copy.
///
/// A checkpoint never runs while the writer restarts the WAL: for encrypted stores
/// ``EncryptedFile/State/lockIndex(_:_:_:)`` ensures it, for others SQLite must:
/// ``isSafe(isSealed:version:)``.
final class BackgroundCheckpoints: Sendable {
  private struct State {
    var connection: DatabaseQueue?
    /// The number of bytes written since the last checkpoint began.
    var written = 0
    var isRunning = false
    var isClosed = false
  }

  private let queue = DispatchQueue(label: "SmartStore.checkpoint")
  private let interval: Int
  private let turn: StoreTurn
  private let open: @Sendable () throws -> DatabaseQueue
  private let state = Mutex(State())

  /// - Parameters:
  ///   - interval: The number of bytes that are written between two checkpoints.
  ///   - open: Opens a connection that may write.
  init(
    interval: Int, turn: StoreTurn, open: @escaping @Sendable () throws -> DatabaseQueue
  ) {
    self.interval = interval
    self.turn = turn
    self.open = open
  }

  /// Whether a checkpoint may run while another connection writes.
  ///
  /// - Parameters:
  ///   - isSealed: Whether the store is encrypted.
  ///   - version: The version of SQLite. 3.51.3 is the first one that is safe; the correction is
  ///     also in 3.50.7 and 3.44.6.
  static func isSafe(
    isSealed: Bool, version: Int32 = sqlite3_libversion_number()
  ) -> Bool {
    isSealed || version >= 3_051_003 || (3_050_007..<3_051_000).contains(version)
      || (3_044_006..<3_045_000).contains(version)
  }

  /// Adds the approximate number of committed bytes, and begins a checkpoint if it is due.
  func didWrite(_ bytes: Int) {
    let isDue = state.withLock { state in
      state.written += bytes
      guard state.written >= interval, !state.isRunning, !state.isClosed else { return false }
      state.written = 0
      state.isRunning = true
      return true
    }
    if isDue { queue.async { self.run() } }
  }

  private func run() {
    // What fails here stays in the log, for the writer's own checkpoint.
    // If another process has the turn, the next commits ask for a checkpoint again.
    try? connection()?.writeWithoutTransaction { database in
      try turn.run(on: database, waits: false) {
        try database.execute(sql: "PRAGMA wal_checkpoint(PASSIVE)")
      }
    }
    state.withLock { $0.isRunning = false }
  }

  /// Returns the connection; nil after ``close()``. Only this object's thread calls it.
  private func connection() throws -> DatabaseQueue? {
    let (known, isClosed) = state.withLock { ($0.connection, $0.isClosed) }
    if let known { return known }
    guard !isClosed else { return nil }
    let connection = try open()
    state.withLock { $0.connection = connection }
    return connection
  }

  /// Returns when no checkpoint is running. The next one begins after the next commit at the
  /// earliest, so it does not disturb the caller that has the writing connection.
  func waitUntilIdle() { queue.sync {} }

  /// Waits for a running checkpoint and closes the connection. No checkpoint runs afterwards.
  func close() throws {
    state.withLock { $0.isClosed = true }
    try queue.sync {
      try state.withLock { $0.connection }?.close()
    }
  }
}
