import Dispatch
import GRDB
import GRDBSQLite
import Synchronization

/// The connections with which a store reads, each with a thread of its own.
///
/// A read is one hop to such a thread and one back, or none: a short one runs on the
/// caller's thread, on a connection that is not in use just then. Connections are opened when they are first
/// needed and kept, with their prepared statements and pages, until the store closes.
final class StoreReaderPool: Sendable {
  private let readers: [StoreReadingConnection]
  /// How many reads each connection has before it.
  private let loads: Mutex<[Int]>

  /// - Parameters:
  ///   - count: How many reads may go on at once.
  ///   - open: Opens a connection. The first one, by its position, does most of the reading: for as
  ///     long as reads do not overlap it does all of it.
  init(count: Int, open: @escaping @Sendable (_ position: Int) throws -> DatabaseQueue) {
    readers = (0..<count).map { position in StoreReadingConnection { try open(position) } }
    loads = Mutex(Array(repeating: 0, count: count))
  }

  /// Runs `work` on one snapshot, on the thread with the least to do.
  ///
  /// Cancellation interrupts the statement that runs, and no other read's.
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
            // SQLite forgets an interruption that comes while no statement is under way.
            try Task.checkCancellation()
            return try work(database, version)
          }
        }
      }
    } onCancel: {
      interruption.interrupt()
    }
  }

  /// Runs `work` on one snapshot, on the thread of the task that asks, as far as ``ReadBudget``
  /// allows.
  ///
  /// - Returns: Nil if it takes longer, or if no open connection is idle. `isOver` if it ended too
  ///   late to be broken off.
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

  /// Waits for the reads under way and closes the connections. Reads that come later fail.
  func close() throws {
    let results = readers.map { reader in Result { try reader.close() } }
    for result in results { try result.get() }
  }
}

/// One reading connection and the thread on which it is opened and closed, and on which all reads
/// run that may take a while.
private actor StoreReadingConnection {
  private enum State: Sendable {
    case unopened, open(DatabaseQueue)
    /// Not to be used any longer; with the connection, if it was ever open.
    case closed(DatabaseQueue?)
  }

  private let executor = QueueExecutor()
  private let open: @Sendable () throws -> DatabaseQueue
  /// Changed on the connection's thread alone.
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

/// Runs an actor on a queue of its own, so that waiting for the disk holds up no task's thread.
private final class QueueExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "SmartStore.reader")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  /// Runs `work` when what was enqueued before is done.
  func sync(_ work: () throws -> Void) throws { try queue.sync(execute: work) }
}

/// Stops the statement of one read, and only while that read goes on: its connection serves others
/// before and after.
private final class ReadInterruption: Sendable {
  private struct Connection: @unchecked Sendable {
    // Because sqlite3_interrupt may be called from any thread while the connection is open, which it
    // is for as long as the read goes on.
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
  /// Runs `work` on one snapshot, and passes it the schema version of that.
  ///
  /// SQLite keeps the snapshot of a statement for as long as any statement of the connection is under
  /// way. So the question for the schema version, which every read begins with, stands on its row
  /// until `work` is done: a BEGIN and a COMMIT less, which is a tenth of a short read.
  fileprivate func withSnapshot<T>(_ work: (_ schemaVersion: Int64) throws -> T) throws -> T {
    // Under a name of its own: who else asks for the version must not end the snapshot.
    let version = try StoreStatement(self, "PRAGMA main.schema_version")
    defer { version.reset() }
    return try work(try version.step() ? version.int64(0) : 0)
  }
}
