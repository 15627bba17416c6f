import GRDB
import GRDBSQLite
import SalesforceSDKCommon

/// The SQL function `soup_value(element, path)`: the value at a path by a store's rules.
///
/// It replaces `json_extract` where SQLite would miss an existing value. Names may contain any
/// character and be written with escapes, texts may contain NUL; arrays and objects are returned as
/// normalized text. Like `json_extract` it does not look into arrays, and returns 1 and 0 for
/// Booleans, an integer for a number that is written as one, and null for text that is not JSON.
enum SoupValueFunction {
  static let name = "soup_value"

  /// Adds the function to a connection.
  ///
  /// It is not added through GRDB, whose functions end a text at a NUL.
  static func add(to database: Database) throws {
    let code = sqlite3_create_function_v2(
      database.sqliteConnection, name, 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
      nil,
      { context, _, arguments in
        guard let arguments, let element = SoupValueFunction.bytes(arguments[0]),
          let path = SoupValueFunction.bytes(arguments[1])
        else { return }
        SoupValueFunction.give(
          JSONSlice(trusting: element), at: JSONPath(String(decoding: path, as: UTF8.self)),
          to: context)
      }, nil, nil, nil)
    guard code == SQLITE_OK else {
      throw DatabaseError(
        resultCode: ResultCode(rawValue: code), message: "the function \(name) cannot be added")
    }
  }

  private static func bytes(_ value: OpaquePointer?) -> [UInt8]? {
    guard let text = sqlite3_value_text(value) else { return nil }
    return Array(UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(value))))
  }

  /// Sets the value at a path as the function's result; without a call the result is null.
  private static func give(_ element: JSONSlice, at path: JSONPath, to context: OpaquePointer?) {
    var slice = element
    for key in path.keys {
      guard let member = slice[key] else { return }
      slice = member
    }
    switch slice.kind {
    case .null: break
    case .bool: sqlite3_result_int64(context, slice.bool == true ? 1 : 0)
    case .number:
      let isInteger = !slice.utf8.contains {
        $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e")
      }
      if isInteger, let integer = slice.int64 {
        sqlite3_result_int64(context, integer)
      } else {
        let isNegative = slice.utf8.first == UInt8(ascii: "-")
        sqlite3_result_double(context, slice.double ?? (isNegative ? -.infinity : .infinity))
      }
    case .string: give(slice.string ?? "", to: context)
    case .array, .object: give(slice.normalizedText, to: context)
    }
  }

  private static func give(_ text: String, to context: OpaquePointer?) {
    var text = text
    text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { characters in
        // An empty text may have no address, which SQLite would read as null.
        if let start = characters.baseAddress, !characters.isEmpty {
          sqlite3_result_text(context, start, Int32(characters.count), StoreStatement.transient)
        } else {
          sqlite3_result_text(context, "", 0, StoreStatement.transient)
        }
      }
    }
  }
}
