import GRDB
import GRDBSQLite
import SalesforceSDKCommon

/// A prepared statement, bound and stepped through SQLite's C interface.
///
/// GRDB prepares and caches. Binding bypasses GRDB, whose value types allocate a heap object for
/// each text of a record. Changes made this way are announced with `StoreAccess.didChange`.
struct StoreStatement: ~Copyable {
  private let statement: Statement
  private let handle: SQLiteStatement

  /// Takes a statement from the connection's cache, or prepares it for this use only. Statements
  /// whose text comes from callers are not cached, because the cache has no bound.
  init(_ database: Database, _ sql: String, cached: Bool = true) throws(SmartStoreError) {
    do {
      statement = try cached ? database.cachedStatement(sql: sql) : database.makeStatement(sql: sql)
    } catch {
      throw SmartStoreError(grdb: error)
    }
    handle = statement.sqliteStatement
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  deinit {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  /// The tables and columns that the statement reads.
  var region: DatabaseRegion { statement.databaseRegion }

  /// The number of values that the statement expects.
  var parameterCount: Int { Int(sqlite3_bind_parameter_count(handle)) }

  /// Resets the statement for its next run. Bound values stay.
  @inline(__always)
  func reset() { sqlite3_reset(handle) }

  // MARK: Binding, positions from 1

  @inline(__always)
  func bindNull(at position: Int) { sqlite3_bind_null(handle, Int32(position)) }

  @inline(__always)
  func bind(_ value: Int64, at position: Int) { sqlite3_bind_int64(handle, Int32(position), value) }

  @inline(__always)
  func bind(_ value: Double, at position: Int) {
    sqlite3_bind_double(handle, Int32(position), value)
  }

  /// Binds text, which SQLite copies.
  @inline(__always)
  func bind(_ text: UnsafeRawBufferPointer, at position: Int) {
    guard let start = text.baseAddress else {
      sqlite3_bind_text(handle, Int32(position), "", 0, StoreStatement.transient)
      return
    }
    sqlite3_bind_text(
      handle, Int32(position), start.assumingMemoryBound(to: CChar.self), Int32(text.count),
      StoreStatement.transient)
  }

  /// Binds text without copying. It must stay in memory until the statement was stepped and
  /// unbound.
  @inline(__always)
  func bindUncopied(_ text: UnsafeBufferPointer<UInt8>, at position: Int) {
    sqlite3_bind_text64(
      handle, Int32(position),
      UnsafeRawPointer(text.baseAddress)?.assumingMemoryBound(to: CChar.self),
      sqlite3_uint64(text.count), nil, UInt8(SQLITE_UTF8))
  }

  func bind(_ text: String, at position: Int) {
    var text = text
    text.withUTF8 { bind(UnsafeRawBufferPointer($0), at: position) }
  }

  func bind(_ value: BoundValue, at position: Int) {
    switch value {
    case .null: bindNull(at: position)
    case .integer(let integer): bind(integer, at: position)
    case .double(let double): bind(double, at: position)
    case .text(let text): bind(text, at: position)
    }
  }

  func bind(_ values: [BoundValue]) {
    for (offset, value) in values.enumerated() { bind(value, at: offset + 1) }
  }

  // MARK: Running

  /// Moves to the next row; returns false at the end.
  @inline(__always)
  func step() throws(SmartStoreError) -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code: throw failure(code)
    }
  }

  /// Runs a statement without rows and resets it for its next run.
  @inline(__always)
  func run() throws(SmartStoreError) {
    let code = sqlite3_step(handle)
    guard code == SQLITE_DONE || code == SQLITE_ROW else { throw failure(code) }
    sqlite3_reset(handle)
  }

  /// The number of rows that the last run changed.
  @inline(__always)
  var changes: Int { Int(sqlite3_changes(sqlite3_db_handle(handle))) }

  private func failure(_ code: Int32) -> SmartStoreError {
    let error = SmartStoreError(
      sqlite: code, String(cString: sqlite3_errmsg(sqlite3_db_handle(handle))))
    sqlite3_reset(handle)
    return error
  }

  // MARK: Reading, columns from 0

  var columnCount: Int { Int(sqlite3_column_count(handle)) }

  func columnName(_ column: Int) -> String {
    sqlite3_column_name(handle, Int32(column)).map { String(cString: $0) } ?? ""
  }

  /// Returns the size of a text or blob in bytes; 0 for another value.
  func byteCount(_ column: Int) -> Int {
    switch sqlite3_column_type(handle, Int32(column)) {
    case SQLITE_TEXT, SQLITE_BLOB: Int(sqlite3_column_bytes(handle, Int32(column)))
    default: 0
    }
  }

  func isNull(_ column: Int) -> Bool { sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL }

  @inline(__always)
  func int64(_ column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(column)) }

  /// Returns the column's text as bytes; empty for null.
  func bytes(_ column: Int) -> [UInt8] {
    guard let text = sqlite3_column_text(handle, Int32(column)) else { return [] }
    let count = Int(sqlite3_column_bytes(handle, Int32(column)))
    return Array(UnsafeBufferPointer(start: text, count: count))
  }

  func string(_ column: Int) -> String {
    guard let text = sqlite3_column_text(handle, Int32(column)) else { return "" }
    let count = Int(sqlite3_column_bytes(handle, Int32(column)))
    return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
  }

  /// Returns the column's value as one of JSON's kinds; a blob becomes text.
  func value(_ column: Int) -> ColumnValue {
    switch sqlite3_column_type(handle, Int32(column)) {
    case SQLITE_INTEGER: .integer(int64(column))
    case SQLITE_FLOAT: .double(sqlite3_column_double(handle, Int32(column)))
    case SQLITE_NULL: .null
    default: .text(bytes(column))
    }
  }

  /// Returns the column's value as JSON: text and blobs as strings, infinite numbers as null.
  func jsonValue(_ column: Int) -> JSONValue {
    switch sqlite3_column_type(handle, Int32(column)) {
    case SQLITE_INTEGER: return .integer(int64(column))
    case SQLITE_FLOAT:
      let double = sqlite3_column_double(handle, Int32(column))
      return double.isFinite ? .double(double) : .null
    case SQLITE_NULL: return .null
    default: return .string(string(column))
    }
  }

  // The constant of SQLite that makes it copy a bound value.
  static var transient: sqlite3_destructor_type {
    unsafeBitCast(-1, to: sqlite3_destructor_type.self)
  }
}

extension String {
  /// Whether GRDB's cache can distinguish this statement from all others. It compares texts by
  /// Unicode equivalence, which treats some paths of different bytes as the same.
  var isCacheableStatement: Bool { utf8.allSatisfy { $0 < 0x80 } }
}

extension Database {
  /// Runs a statement that begins or ends a transaction.
  ///
  /// GRDB's own calls compile their statement each time and look for observers, which a store does
  /// not have. In a small transaction that is a third of the time outside SQLite and the disk.
  func runCached(_ sql: String) throws {
    let handle = try cachedStatement(sql: sql).sqliteStatement
    let code = sqlite3_step(handle)
    defer { sqlite3_reset(handle) }
    guard code == SQLITE_DONE else {
      throw DatabaseError(
        resultCode: ResultCode(rawValue: code), message: lastErrorMessage, sql: sql)
    }
  }
}

/// A value to bind to a statement.
enum BoundValue: Sendable, Hashable {
  case null
  case integer(Int64)
  case double(Double)
  case text(String)
}

/// A value read from a statement.
enum ColumnValue {
  case null
  case integer(Int64)
  case double(Double)
  case text([UInt8])
}
