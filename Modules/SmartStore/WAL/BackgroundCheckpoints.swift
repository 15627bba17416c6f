import Dispatch
import GRDB
import GRDBSQLite
import Synchronization

/// Copies the WAL into the database while much is written, on a connection and a thread of its own.
///
/// Otherwise the writer does that itself, after a commit that made the WAL long enough, and the
/// caller of the write waits. It still does if this one is behind, but then finds little left to copy.
///
/// A checkpoint never runs while the writer restarts the WAL: ``EncryptedFile/State/lockIndex(_:_:_:)``
/// ensures that for encrypted stores. For others SQLite must: ``isSafe(isSealed:version:)``.
final class BackgroundCheckpoints: Sendable {
  private struct State {
    var connection: DatabaseQueue?
    /// Bytes written since the last checkpoint began.
    var written = 0
    var isRunning = false
    var isClosed = false
  }

  private let queue = DispatchQueue(label: "SmartStore.checkpoint")
  private let interval: Int
  private let open: @Sendable () throws -> DatabaseQueue
  private let state = Mutex(State())

  /// - Parameters:
  ///   - interval: How many bytes are written between two checkpoints.
  ///   - open: Opens a connection that may write.
  init(interval: Int, open: @escaping @Sendable () throws -> DatabaseQueue) {
    self.interval = interval
    self.open = open
  }

  /// Whether a checkpoint may go on while another connection writes.
  ///
  /// - Parameters:
  ///   - isSealed: Whether the store is encrypted.
  ///   - version: SQLite's. 3.51.3 is the first in which this loses nothing, and the repair was taken
  ///     over into 3.50.7 and 3.44.6.
  static func isSafe(
    isSealed: Bool, version: Int32 = sqlite3_libversion_number()
  ) -> Bool {
    isSealed || version >= 3_051_003 || (3_050_007..<3_051_000).contains(version)
      || (3_044_006..<3_045_000).contains(version)
  }

  /// Notes the approximate number of bytes committed, and begins a checkpoint if it is time for one.
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
    try? connection()?.writeWithoutTransaction {
      try $0.execute(sql: "PRAGMA wal_checkpoint(PASSIVE)")
    }
    state.withLock { $0.isRunning = false }
  }

  /// The connection, which only this object's thread asks for; nil after the end.
  private func connection() throws -> DatabaseQueue? {
    let (known, isClosed) = state.withLock { ($0.connection, $0.isClosed) }
    if let known { return known }
    guard !isClosed else { return nil }
    let connection = try open()
    state.withLock { $0.connection = connection }
    return connection
  }

  /// Returns when no checkpoint goes on. None begins before the next commit, so that the
  /// holder of the writing connection is not disturbed by one.
  func waitUntilIdle() { queue.sync {} }

  /// Waits for a checkpoint that goes on and closes the connection. Nothing is done afterwards.
  func close() throws {
    state.withLock { $0.isClosed = true }
    try queue.sync {
      try state.withLock { $0.connection }?.close()
    }
  }
}
