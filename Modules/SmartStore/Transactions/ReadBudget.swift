import GRDB
import GRDBSQLite

/// How long a read may keep a thread that others wait for.
///
/// Handing a read to a thread of the store's own and its result back takes longer than finding an
/// entry by its index. So what is expected to be short runs on the caller's thread, and is broken
/// off, to be done again on the store's own thread, if it turns out not to be.
struct ReadBudget {
  /// How long a short read takes at most.
  static let limit = Duration.milliseconds(1)
  /// How many of SQLite's instructions pass between two looks at the clock: some microseconds.
  private static let instructions: Int32 = 500

  private let end = ContinuousClock.now + limit
  private(set) var isExceeded = false

  /// Runs `work` on a connection, interrupting its statement when time is up.
  ///
  /// - Returns: Nil if it was interrupted. `isOver` if it ended too late for that.
  static func spend<T>(
    on database: Database, _ work: () throws -> T
  ) throws -> (value: T, isOver: Bool)? {
    // Nil if the connection was closed after the read took it: SQLite looks into what it is given.
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
