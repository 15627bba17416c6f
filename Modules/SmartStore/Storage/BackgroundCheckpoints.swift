import Dispatch
import GRDB
import Synchronization

/// Copies the log into the database while much is written, on a connection and a thread of its own.
///
/// Otherwise the writer does that itself, after a commit that made the log long enough, and whoever
/// writes waits. It still does if this one is behind, but then finds little left to copy.
final class BackgroundCheckpoints: Sendable {
  /// How many bytes are written between two checkpoints: a quarter of the log's usual length, so that
  /// at most as much is left for the writer. Each waits for the disk twice.
  static let interval = 8 << 20

  private struct State {
    var connection: DatabaseQueue?
    /// Bytes written since the last checkpoint began.
    var written = 0
    var isRunning = false
    var isClosed = false
  }

  private let queue = DispatchQueue(label: "SmartStore.checkpoint")
  private let open: @Sendable () throws -> DatabaseQueue
  private let state = Mutex(State())

  /// - Parameter open: Opens a connection that may write.
  init(open: @escaping @Sendable () throws -> DatabaseQueue) {
    self.open = open
  }

  /// Notes that about so many bytes were committed, and begins a checkpoint if it is time for one.
  func didWrite(_ bytes: Int) {
    let isDue = state.withLock { state in
      state.written += bytes
      guard state.written >= Self.interval, !state.isRunning, !state.isClosed else { return false }
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

  /// Waits for a checkpoint that goes on and closes the connection. Nothing is done afterwards.
  func close() throws {
    state.withLock { $0.isClosed = true }
    try queue.sync {
      let connection = state.withLock { $0.connection.take() }
      try connection?.close()
    }
  }
}
