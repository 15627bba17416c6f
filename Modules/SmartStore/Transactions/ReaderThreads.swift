import Dispatch
import GRDB
import GRDBSQLite
import Synchronization

/// The threads on which a store's reads run, one for each reading connection.
///
/// A read is one hop to such a thread and one back, with the snapshot's BEGIN and COMMIT prepared
/// once. GRDB's own asynchronous read takes two hops each way, and prepares and looks more: for a
/// query of one element that was most of the time.
final class ReaderThreads: Sendable {
  private let threads: [ReaderThread]
  /// How many reads each thread has before it.
  private let loads: Mutex<[Int]>
  private let mainReader = Mutex(MainReader())

  /// The connection with the larger page cache. The pool gives out the first idle one, so that it
  /// does most of the reading.
  private struct MainReader: @unchecked Sendable {
    // Because it is compared and never used.
    weak var database: Database?
  }

  /// - Parameter count: How many reads may go on at once; no more than the pool has readers.
  init(count: Int) {
    threads = (0..<count).map { _ in ReaderThread() }
    loads = Mutex(Array(repeating: 0, count: count))
  }

  /// Runs `work` on one snapshot, on the thread with the least to do.
  ///
  /// Cancellation interrupts the statement that runs, and no other read's.
  func read<T: Sendable>(
    from pool: DatabasePool, _ work: @Sendable (Database) throws -> T
  ) async throws -> T {
    let thread = loads.withLock { loads in
      let idlest = loads.indices.min { loads[$0] < loads[$1] } ?? 0
      loads[idlest] += 1
      return idlest
    }
    defer { loads.withLock { $0[thread] -= 1 } }
    let interruption = ReadInterruption()
    return try await withTaskCancellationHandler {
      try await threads[thread].run {
        try Task.checkCancellation()
        return try pool.unsafeRead { database in
          try self.prepare(database)
          try interruption.begin(database)
          defer { interruption.end() }
          return try database.withSnapshot { try work(database) }
        }
      }
    } onCancel: {
      interruption.interrupt()
    }
  }

  /// Runs `work` on one snapshot, on the thread of the task that asks, as far as ``ReadBudget``
  /// allows.
  ///
  /// - Returns: Nil if it takes longer, or if no connection is idle.
  @concurrent
  func readBriefly<T: Sendable>(
    from pool: DatabasePool, _ work: @Sendable (Database) throws -> T
  ) async throws -> T? {
    try Task.checkCancellation()
    let idle = loads.withLock { loads in
      let idle = loads.firstIndex(of: 0)
      if let idle { loads[idle] += 1 }
      return idle
    }
    guard let idle else { return nil }
    defer { loads.withLock { $0[idle] -= 1 } }
    return try readAtOnce(from: pool, work)
  }

  private func readAtOnce<T>(
    from pool: DatabasePool, _ work: (Database) throws -> T
  ) throws -> T? {
    try pool.unsafeRead { database in
      try prepare(database)
      return try ReadBudget.spend(on: database) { try database.withSnapshot { try work(database) } }
    }
  }

  /// Gives one connection the larger cache, anew when the pool replaced that connection.
  private func prepare(_ database: Database) throws {
    let candidate = MainReader(database: database)
    let isNew = mainReader.withLock { main in
      guard main.database == nil else { return false }
      main = candidate
      return true
    }
    guard isNew else { return }
    let bytes = StoreDatabaseOptions().mainReaderCacheBytes
    try database.execute(sql: "PRAGMA cache_size = -\(bytes >> 10)")
  }
}

/// One thread, as long as it has something to do.
private actor ReaderThread {
  private let executor = QueueExecutor()

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  func run<T: Sendable>(_ work: @Sendable () throws -> T) throws -> T { try work() }
}

/// Runs an actor on a queue of its own, so that waiting for the disk holds up no task's thread.
private final class QueueExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "SmartStore.reader")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
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
  /// Runs `work` in a reading transaction, so that all of it sees one instant.
  fileprivate func withSnapshot<T>(_ work: () throws -> T) throws -> T {
    try StoreStatement(self, "BEGIN").run()
    defer {
      // Nothing was written. After an interruption SQLite may have ended the transaction itself.
      do {
        try StoreStatement(self, "COMMIT").run()
      } catch {
        if isInsideTransaction { try? rollback() }
      }
    }
    return try work()
  }
}
