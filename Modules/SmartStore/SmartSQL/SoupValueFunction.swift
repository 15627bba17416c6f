import GRDB
import GRDBSQLite
import SalesforceSDKCommon

/// The SQL function `soup_value(element, path)`: the value at a path by a store's rules.
///
/// It reads every path without an index, and decides where `json_extract`, the expression of a json1 index, would read
/// another value (``KeyComparison``). Names may contain any character and be written with escapes, of a name that stands
/// twice the last member counts, texts may contain NUL; arrays and objects are returned as normalized text. Like
/// `json_extract` it does not gather from arrays, and returns 1 and 0 for Booleans, an integer for a number that is
/// written as one or that a double could not represent, and null for text that is not JSON.
enum SoupValueFunction {
  static let name = "soup_value"

  /// Whether `json_extract` ends a text at a NUL: SQLite up to 3.44 does.
  static let decidesTexts = sqlite3_libversion_number() < 3_045_000

  /// Adds the function to a connection.
  ///
  /// It is not added through GRDB, whose functions end a text at a NUL.
  static func add(to database: Database) throws {
    let code = sqlite3_create_function_v2(
      database.sqliteConnection, name, 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
      nil,
      { context, _, arguments in
        guard let context, let arguments, let element = SoupValueFunction.bytes(arguments[0]),
          let path = SoupValueFunction.path(arguments[1], context),
          let value = path.value(in: JSONSlice(trusting: element))
        else { return }
        SoupValueFunction.give(value, to: context)
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

  /// Returns the path of a call, which SQLite keeps for the next one: in a statement it is the same for all rows.
  private static func path(_ value: OpaquePointer?, _ context: OpaquePointer) -> SoupValuePath? {
    if let known = sqlite3_get_auxdata(context, 1) {
      return Unmanaged<SoupValuePath>.fromOpaque(known).takeUnretainedValue()
    }
    guard let text = bytes(value) else { return nil }
    let path = SoupValuePath(String(decoding: text, as: UTF8.self))
    sqlite3_set_auxdata(context, 1, Unmanaged.passRetained(path).toOpaque()) { path in
      path.map { Unmanaged<SoupValuePath>.fromOpaque($0).release() }
    }
    return path
  }

  /// Sets a value as the function's result; without a call the result is null.
  private static func give(_ slice: JSONSlice, to context: OpaquePointer) {
    switch slice.kind {
    case .null: break
    case .bool: sqlite3_result_int64(context, slice.bool == true ? 1 : 0)
    case .number:
      let isInteger = !slice.utf8.contains {
        $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e")
      }
      if let integer = slice.int64, isInteger || integer.magnitude >= 1 << 53 {
        sqlite3_result_int64(context, integer)
      } else {
        let isNegative = slice.utf8.first == UInt8(ascii: "-")
        sqlite3_result_double(context, slice.double ?? (isNegative ? -.infinity : .infinity))
      }
    case .string: give(slice.string ?? "", to: context)
    case .array, .object: give(slice.normalizedText, to: context)
    }
  }

  private static func give(_ text: String, to context: OpaquePointer) {
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
