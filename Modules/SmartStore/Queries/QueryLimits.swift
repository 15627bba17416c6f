import GRDB
import GRDBSQLite

/// The limits of statements. A statement that a caller or a page writes must not use up the memory or the processor.
struct QueryLimits {
  /// The maximum size of a statement's text, in bytes.
  static let sqlBytes: Int32 = 10_000_000
  /// The maximum depth of an expression.
  static let expressionDepth: Int32 = 1_000
  /// The maximum number of parts of a compound SELECT.
  static let compoundParts: Int32 = 500
  /// The maximum number of SQLite's instructions in a compiled statement.
  static let instructions: Int32 = 5_000_000
  /// The maximum number of arguments of a function.
  static let arguments: Int32 = 127
  /// The maximum size of a pattern of LIKE or GLOB, in bytes.
  static let patternBytes: Int32 = 5_000
  /// The maximum size of a value in a Smart SQL statement, in bytes: that of the largest entry, 256 MiB, and 32 MiB for
  /// what sorts with it.
  static let valueBytes: Int32 = 288 << 20
  /// The maximum size of the values of one page of a smart query, in bytes. Whole entries do not count.
  static let pageBytes = 256 << 20
  /// The maximum number of SQLite's instructions that a smart query runs: about half a minute.
  static let steps = 2_000_000_000
  /// The number of bytes that SQLite's memory may grow by while a smart query runs.
  static let memoryBytes: Int64 = 1 << 30

  /// Sets what applies to each statement of a connection.
  static func set(on connection: SQLiteConnection) {
    sqlite3_limit(connection, SQLITE_LIMIT_SQL_LENGTH, sqlBytes)
    sqlite3_limit(connection, SQLITE_LIMIT_EXPR_DEPTH, expressionDepth)
    sqlite3_limit(connection, SQLITE_LIMIT_COMPOUND_SELECT, compoundParts)
    sqlite3_limit(connection, SQLITE_LIMIT_VDBE_OP, instructions)
    sqlite3_limit(connection, SQLITE_LIMIT_FUNCTION_ARG, arguments)
    sqlite3_limit(connection, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, patternBytes)
    sqlite3_limit(connection, SQLITE_LIMIT_WORKER_THREADS, 0)
  }

  /// The number of SQLite's instructions between two checks: less than a millisecond.
  private static let stepsPerCheck: Int32 = 50_000

  private let maxSteps: Int
  private let memory = sqlite3_memory_used()
  private var steps = 0
  private var error: SmartStoreError?

  /// Runs a smart query within the limits. A cancellation of the task interrupts it.
  ///
  /// - Parameter maxSteps: Default: ``steps``.
  /// - Throws: What `work` throws; ``SmartStoreError`` `limitExceeded`.
  static func enforce<T>(
    on database: Database, maxSteps: Int = steps, _ work: () throws(SmartStoreError) -> T
  ) throws(SmartStoreError) -> T {
    guard let connection = database.sqliteConnection else {
      throw SmartStoreError(.closed, "Store is closed. Ask for a new instance.")
    }
    let before = sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, valueBytes)
    defer { sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, before) }
    var limits = QueryLimits(maxSteps: maxSteps)
    return try withUnsafeMutablePointer(to: &limits) { limits throws(SmartStoreError) in
      sqlite3_progress_handler(
        connection, stepsPerCheck,
        { context in
          guard let limits = context?.assumingMemoryBound(to: QueryLimits.self) else { return 0 }
          return limits.pointee.mayGoOn() ? 0 : 1
        }, limits)
      defer { sqlite3_progress_handler(connection, 0, nil, nil) }
      do throws(SmartStoreError) {
        return try work()
      } catch {
        if let own = limits.pointee.error { throw own }
        throw error.code == .entryTooLarge ? Self.valueTooLarge : error
      }
    }
  }

  private init(maxSteps: Int) { self.maxSteps = maxSteps }

  private mutating func mayGoOn() -> Bool {
    if Task.isCancelled { return false }
    steps += Int(Self.stepsPerCheck)
    if steps > maxSteps {
      error = SmartStoreError(
        .limitExceeded,
        "The query ran more than \(maxSteps) of SQLite's instructions. Add a condition, an index or a LIMIT; a "
          + "recursive query needs an end.")
    } else if sqlite3_memory_used() - memory > Self.memoryBytes {
      error = SmartStoreError(
        .limitExceeded,
        "The query needs more than \(Self.memoryBytes >> 20) MiB of memory. Add a condition or a LIMIT, and sort "
          + "by an index.")
    }
    return error == nil
  }

  /// The error for a value that a statement computes.
  private static var valueTooLarge: SmartStoreError {
    SmartStoreError(
      .limitExceeded,
      "The query computes a value of more than \(valueBytes >> 20) MiB. Compute a shorter one.")
  }

  /// The error for a page with too many bytes of values.
  static var pageTooLarge: SmartStoreError {
    SmartStoreError(
      .limitExceeded,
      "The values of the page have more than \(pageBytes >> 20) MiB. Use a smaller page, or select less."
    )
  }

  /// The error for a statement that SQLite cannot compile because of a limit; nil if it has another cause.
  static func refusal(compiling error: SmartStoreError) -> SmartStoreError? {
    switch error.code {
    case .entryTooLarge:
      SmartStoreError(
        .limitExceeded,
        "The statement is longer than \(sqlBytes) bytes. Bind values, or split it.")
    case .outOfMemory:
      SmartStoreError(
        .limitExceeded,
        "The statement compiles to more than \(instructions) instructions, or memory ran out. Write a shorter one."
      )
    default: nil
    }
  }

  /// The message for a limit by SQLite's own words; nil if they are about something else.
  static func message(for engineMessage: String) -> String? {
    let limits: [(start: String, message: String)] = [
      (
        "too many terms in compound SELECT",
        "The compound SELECT has more than \(compoundParts) parts. Use IN, or several queries."
      ),
      (
        "Expression tree is too large",
        "An expression is nested deeper than \(expressionDepth) levels. Use IN, or several queries."
      ),
      (
        "LIKE or GLOB pattern too complex",
        "The pattern of LIKE or GLOB is longer than \(patternBytes) bytes. Use a shorter one."
      ),
      (
        "too many arguments on function",
        "A function has more than \(arguments) arguments. Use fewer."
      ),
    ]
    return limits.first { engineMessage.hasPrefix($0.start) }?.message
  }
}
