import GRDB
import GRDBSQLite
import SalesforceSDKCommon

/// A row of a result, however it is held.
protocol ResultRow {
  func isNull(_ column: Int) -> Bool
  func value(_ column: Int) -> DatabaseValue
  /// Calls `body` with the UTF-8 of a text; without bytes if the value is null.
  func withUTF8<R>(_ column: Int, _ body: (UnsafeBufferPointer<UInt8>) throws -> R) rethrows -> R
  /// Writes a value as its type has it.
  func write(_ column: Int, type: FieldType, to writer: inout JSONWriter)
}

/// The row on which a statement stands, read column by column without a value between SQLite's memory
/// and the response: a page of 2,000 records has tens of thousands of values, and a `String` for each of
/// them took most of the page's time.
///
/// It is good until the statement steps on.
struct StatementRow: ResultRow {
  private let statement: OpaquePointer

  init(_ statement: Statement) { self.statement = statement.sqliteStatement }

  func isNull(_ column: Int) -> Bool {
    sqlite3_column_type(statement, Int32(column)) == SQLITE_NULL
  }

  func withUTF8<R>(_ column: Int, _ body: (UnsafeBufferPointer<UInt8>) throws -> R) rethrows -> R {
    let text = sqlite3_column_text(statement, Int32(column))
    let count = Int(sqlite3_column_bytes(statement, Int32(column)))
    return try body(UnsafeBufferPointer(start: text, count: text == nil ? 0 : count))
  }

  func write(_ column: Int, type: FieldType, to writer: inout JSONWriter) {
    switch sqlite3_column_type(statement, Int32(column)) {
    case SQLITE_NULL: writer.null()
    case SQLITE_TEXT: withUTF8(column) { writer.string(utf8: $0) }
    case SQLITE_INTEGER where type.storage == .integer:
      let number = sqlite3_column_int64(statement, Int32(column))
      if type == .boolean { writer.bool(number != 0) } else { writer.integer(number) }
    default: RecordJSON.write(value(column), type: type, to: &writer)
    }
  }

  func value(_ column: Int) -> DatabaseValue {
    DatabaseValue(sqliteStatement: statement, index: CInt(column))
  }
}

extension Row: ResultRow {
  func isNull(_ column: Int) -> Bool { hasNull(atIndex: column) }

  func value(_ column: Int) -> DatabaseValue { self[column] as DatabaseValue }

  func withUTF8<R>(_ column: Int, _ body: (UnsafeBufferPointer<UInt8>) throws -> R) rethrows -> R {
    var text = String.fromDatabaseValue(value(column)) ?? ""
    return try text.withUTF8(body)
  }

  func write(_ column: Int, type: FieldType, to writer: inout JSONWriter) {
    RecordJSON.write(value(column), type: type, to: &writer)
  }
}
