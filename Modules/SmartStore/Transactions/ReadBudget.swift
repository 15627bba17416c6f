import GRDB
import GRDBSQLite

/// A limit for the time that a read may use a shared thread.
///
/// Passing a read to one of the store's own threads and its result back takes longer than finding
/// an entry by its index. So a read that is expected to be short runs on the caller's thread. If it
/// takes longer than expected, it is interrupted and repeated on the store's own thread.
/// off, to be done again on the store's own thread, if it turns out not to be.
struct ReadBudget {
  /// The longest time of a short read.
  static let limit = Duration.milliseconds(1)
  /// The number of SQLite's instructions between two checks of the clock: some microseconds.
  private static let instructions: Int32 = 500

  private let end = ContinuousClock.now + limit
  private(set) var isExceeded = false

  /// Runs `work` on a connection, and interrupts its statement when the limit is reached.
  ///
  /// - Returns: Nil if it was interrupted. `isOver` if it exceeded the limit but could not be
  ///   interrupted.
  static func spend<T>(
    on database: Database, _ work: () throws -> T
  ) throws -> (value: T, isOver: Bool)? {
    // Nil if the connection was closed after the read took it: SQLite would dereference the closed
    // handle.
    guard let connection = database.sqliteConnection else {
      throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "the connection is closed")
    }
    var budget = ReadBudget()
    return try withUnsafeMutablePointer(to: &budget) { budget in
      sqlite3_progress_handler(
        connection, instructions,
        { context in
          guard let budget = context?.assumingMemoryBound(to: ReadBudget.self),
            ContinuousClock.now > budget.pointee.end
          else { return 0 }
          budget.pointee.isExceeded = true
          return 1
        }, budget)
      defer { sqlite3_progress_handler(connection, 0, nil, nil) }
      do {
        return (try work(), ContinuousClock.now > budget.pointee.end)
      } catch {
        if budget.pointee.isExceeded { return nil }
        throw error
      }
    }
  }
}
