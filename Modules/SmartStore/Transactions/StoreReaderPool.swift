import Dispatch
import GRDB
import GRDBSQLite
import Synchronization

/// A pool of the connections that a store reads with, each with its own thread.
///
/// A read takes one hop to such a thread and one back, or none: a short read runs on the caller's
/// thread, on an idle connection. Connections are opened when they are first needed, and are kept
/// with their prepared statements and pages until the store closes.
final class StoreReaderPool: Sendable {
  private let readers: [StoreReadingConnection]
  /// The number of running and queued reads of each connection.
  private let loads: Mutex<[Int]>

  /// - Parameters:
  ///   - count: The number of reads that may run at once.
  ///   - open: Opens a connection. The first one, by its position, does most of the reading: all of
  ///     it, as long as reads do not overlap.
  init(count: Int, open: @escaping @Sendable (_ position: Int) throws -> DatabaseQueue) {
    readers = (0..<count).map { position in StoreReadingConnection { try open(position) } }
    loads = Mutex(Array(repeating: 0, count: count))
  }

  /// Runs `work` on one snapshot, on the thread with the fewest reads.
  ///
  /// Cancellation interrupts only the statement of this read.
  func read<T: Sendable>(
    _ work: @Sendable (Database, _ schemaVersion: Int64) throws -> T
  ) async throws -> T {
    let position = loads.withLock { loads in
      let idlest = loads.indices.min { loads[$0] < loads[$1] } ?? 0
      loads[idlest] += 1
      return idlest
    }
    defer { loads.withLock { $0[position] -= 1 } }
    let interruption = ReadInterruption()
    return try await withTaskCancellationHandler {
      try await readers[position].run { connection in
        try Task.checkCancellation()
        return try connection.unsafeRead { database in
          try interruption.begin(database)
          defer { interruption.end() }
          return try database.withSnapshot { version in
            // SQLite forgets an interruption that occurs while no statement is running.
            try Task.checkCancellation()
            return try work(database, version)
          }
        }
      }
    } onCancel: {
      interruption.interrupt()
    }
  }

  /// Runs `work` on one snapshot, on the caller's thread, within the limit of ``ReadBudget``.
  ///
  /// - Returns: Nil if it takes longer, or if no open connection is idle. `isOver` if it exceeded
  ///   the limit but could not be interrupted.
  @concurrent
  func readBriefly<T: Sendable>(
    _ work: @Sendable (Database, _ schemaVersion: Int64) throws -> T
  ) async throws -> (value: T, isOver: Bool)? {
    try Task.checkCancellation()
    return try readAtOnce(work)
  }

  private func readAtOnce<T>(
    _ work: (Database, _ schemaVersion: Int64) throws -> T
  ) throws -> (value: T, isOver: Bool)? {
    let idle = loads.withLock { loads in
      let idle = loads.firstIndex(of: 0)
      if let idle { loads[idle] += 1 }
      return idle
    }
    guard let idle else { return nil }
    defer { loads.withLock { $0[idle] -= 1 } }
    guard let connection = readers[idle].opened else { return nil }
    return try connection.unsafeRead { database in
      try ReadBudget.spend(on: database) { try database.withSnapshot { try work(database, $0) } }
    }
  }

  /// Waits for the running reads and closes the connections. Later reads fail.
  func close() throws {
    let results = readers.map { reader in Result { try reader.close() } }
    for result in results { try result.get() }
  }
}

/// A reading connection with its thread, on which it is opened and closed, and on which all reads
/// run that may take long.
private actor StoreReadingConnection {
  private enum State: Sendable {
    case unopened, open(DatabaseQueue)
    /// Closed for good; with the connection, if it was ever opened.
    case closed(DatabaseQueue?)
  }

  private let executor = QueueExecutor()
  private let open: @Sendable () throws -> DatabaseQueue
  /// Changed only on the connection's thread.
  private let state = Mutex(State.unopened)

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(_ open: @escaping @Sendable () throws -> DatabaseQueue) {
    self.open = open
  }

  /// The connection, if it is open.
  nonisolated var opened: DatabaseQueue? {
    if case .open(let connection) = state.withLock({ $0 }) { connection } else { nil }
  }

  /// Runs `work` on the connection's thread.
  func run<T: Sendable>(_ work: @Sendable (DatabaseQueue) throws -> T) throws -> T {
    switch state.withLock({ $0 }) {
    case .open(let connection): return try work(connection)
    case .closed: throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "connection is closed")
    case .unopened:
      let connection = try open()
      state.withLock { $0 = .open(connection) }
      return try work(connection)
    }
  }

  nonisolated func close() throws {
    try executor.sync {
      let connection = state.withLock { state in
        let connection: DatabaseQueue? =
          switch state {
          case .unopened: nil
          case .open(let connection): connection
          case .closed(let connection): connection
          }
        state = .closed(connection)
        return connection
      }
      try connection?.close()
    }
  }
}

/// An executor that runs an actor on a dispatch queue of its own, so that no task's thread waits
/// for the disk.
private final class QueueExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "SmartStore.reader")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  /// Runs `work` after all work that was enqueued earlier.
  func sync(_ work: () throws -> Void) throws { try queue.sync(execute: work) }
}

/// An interruption of one read's statement. It applies only while that read runs, because its
/// connection serves other reads before and after.
private final class ReadInterruption: Sendable {
  private struct Connection: @unchecked Sendable {
    // Because sqlite3_interrupt may be called from any thread while the connection is open, which
    // it is as long as the read runs.
    let handle: SQLiteConnection
  }

  private enum State {
    case waiting, reading(Connection), ended, interrupted
  }

  private let state = Mutex(State.waiting)

  /// - Throws: `CancellationError` if the interruption came first.
  func begin(_ database: Database) throws {
    let handle = database.sqliteConnection.map(Connection.init)
    let isInterrupted = state.withLock { state in
      if case .interrupted = state { return true }
      if let handle { state = .reading(handle) }
      return false
    }
    if isInterrupted { throw CancellationError() }
  }

  func end() {
    state.withLock { $0 = .ended }
  }

  func interrupt() {
    state.withLock { state in
      if case .reading(let connection) = state { sqlite3_interrupt(connection.handle) }
      state = .interrupted
    }
  }
}

extension Database {
  /// Runs `work` on one snapshot, and passes it the schema version of the snapshot.
  ///
  /// SQLite keeps the snapshot of a statement as long as any statement of the connection is
  /// running. So the query for the schema version, with which every read begins, stays on its row
  /// until `work` is done. That saves a BEGIN and a COMMIT, a tenth of a short read.
  func withSnapshot<T>(_ work: (_ schemaVersion: Int64) throws -> T) throws -> T {
    // A separate statement: another query for the version must not end the snapshot.
    let version = try StoreStatement(self, "PRAGMA main.schema_version")
    defer { version.reset() }
    return try work(try version.step() ? version.int64(0) : 0)
  }
}
