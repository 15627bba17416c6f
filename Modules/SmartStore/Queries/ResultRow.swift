import SalesforceSDKCommon

/// The current row of a query.
///
/// A column is read as an entry if the engine names it `soup` or, repeated, `soup:1`. An entry in a
/// file has two columns, `externalStorage` with the name of its soup's table and then
/// `_soupEntryId`, which are one column here. Any other column is a plain value, even if the caller
/// names it so.
struct ResultRow: ~Copyable {
  private enum Column {
    case plain(Int)
    case element(Int)
    /// The column of the table's name; the column of the id is the next one.
    case external(Int)
  }

  private let statement: StoreStatement
  private let access: StoreAccess
  private let columns: [Column]
  /// Whether no column is an entry.
  private let isPlain: Bool
  /// The call that reads the row.
  private let method: String

  var columnCount: Int { columns.count }

  init(_ statement: consuming StoreStatement, on access: StoreAccess, method: String) {
    self.method = method
    var names: [String] = []
    for column in 0..<statement.columnCount { names.append(statement.columnName(column)) }
    var columns: [Column] = []
    columns.reserveCapacity(names.count)
    var position = 0
    while position < names.count {
      let name = names[position]
      if ResultRow.isName(name, SmartStore.soupColumn) {
        columns.append(.element(position))
      } else if ResultRow.isName(name, "externalStorage"), position + 1 < names.count,
        ResultRow.isName(names[position + 1], SmartStore.soupEntryId)
      {
        columns.append(.external(position))
        position += 1
      } else {
        columns.append(.plain(position))
      }
      position += 1
    }
    self.columns = columns
    self.isPlain = columns.allSatisfy { column in
      if case .plain = column { true } else { false }
    }
    self.access = access
    self.statement = statement
  }

  /// Whether a column has this name, or repeats a column with this name.
  private static func isName(_ name: String, _ expected: String) -> Bool {
    if name == expected { return true }
    guard name.hasPrefix(expected) else { return false }
    let rest = name.dropFirst(expected.count)
    return rest.isEmpty
      || (rest.first == ":" && rest.count > 1 && rest.dropFirst().allSatisfy(\.isASCIIDigit))
  }

  func next() throws(SmartStoreError) -> Bool { try statement.step() }

  /// The size of the row's texts and blobs in bytes, without whole entries.
  var plainBytes: Int {
    var bytes = 0
    for column in columns {
      if case .plain(let position) = column { bytes += statement.byteCount(position) }
    }
    return bytes
  }

  /// Runs a statement with one placeholder, an id, and one column, an entry.
  func element(boundTo id: Int64) throws(SmartStoreError) -> JSONSlice? {
    statement.reset()
    statement.bind(id, at: 1)
    return try next() ? try element(0) : nil
  }

  func name(_ column: Int) -> String {
    switch columns[column] {
    case .plain(let position), .element(let position): statement.columnName(position)
    case .external: SmartStore.soupColumn
    }
  }

  func isElement(_ column: Int) -> Bool {
    if case .plain = columns[column] { false } else { true }
  }

  /// Returns the value of a column.
  ///
  /// - Throws: ``SmartStoreError`` `externalFileUnreadable`.
  func column(_ column: Int) throws(SmartStoreError) -> ColumnValue {
    switch columns[column] {
    case .plain(let position), .element(let position): return statement.value(position)
    case .external(let position):
      // Without an id there is no entry: the soup is on the empty side of an outer join.
      guard !statement.isNull(position + 1),
        let soup = access.externalSoup(inTable: statement.string(position))
      else { return .null }
      return .text(try access.externalText(of: statement.int64(position + 1), in: soup))
    }
  }

  /// Returns the entry in a column.
  ///
  /// - Throws: ``SmartStoreError`` `corrupt` if the stored text is not JSON,
  ///   `externalFileUnreadable`.
  func element(_ column: Int) throws(SmartStoreError) -> JSONSlice {
    switch columns[column] {
    case .element(let position): return try parse(statement.bytes(position))
    default:
      guard case .text(let text) = try self.column(column) else { return try parse([]) }
      return try parse(text)
    }
  }

  /// Returns the entry in a column as it is stored.
  ///
  /// On encrypted pages it is not checked again: an authentic page was written by the store, which
  /// checked the entry then. A check here would take as long as reading the row.
  ///
  /// - Throws: As ``entry(_:)``.
  func storedElement(_ column: Int) throws(SmartStoreError) -> JSONSlice {
    guard access.hasEncryptedPages, case .element(let position) = columns[column] else {
      return try element(column)
    }
    let text = statement.bytes(position)
    guard text.first == UInt8(ascii: "{"), text.last == UInt8(ascii: "}") else {
      return try parse(text)
    }
    return JSONSlice(trusting: text)
  }

  /// Parses a stored text as JSON, and reports a text that is not JSON.
  func parse(_ bytes: [UInt8]) throws(SmartStoreError) -> JSONSlice {
    do throws(JSONError) {
      return try JSONSlice(parsing: bytes, limits: .stored)
    } catch {
      access.diagnostics.report(
        JSONFailure(kind: .parse, errorMessage: "\(error)", method: method, text: bytes))
      throw SmartStoreError(
        .corrupt, "Database is corrupted: a stored element is no JSON. Nothing was changed.",
        cause: error)
    }
  }

  /// Returns the value of a column; null for an entry whose text cannot be parsed.
  ///
  /// - Throws: ``SmartStoreError`` `externalFileUnreadable`.
  func jsonValue(_ column: Int) throws(SmartStoreError) -> JSONValue {
    if case .plain(let position) = columns[column] { return statement.jsonValue(position) }
    return switch try self.column(column) {
    case .null: .null
    case .integer(let integer): .integer(integer)
    case .double(let double): double.isFinite ? .double(double) : .null
    case .text(let bytes): (try? parse(bytes))?.value ?? .null
    }
  }

  func jsonValues() throws(SmartStoreError) -> [JSONValue] {
    if isPlain {
      // A literal avoids the runtime's look-up of the array's type, which was a ninth of the time
      // of a large result.
      switch columns.count {
      case 1: return [statement.jsonValue(0)]
      case 2: return [statement.jsonValue(0), statement.jsonValue(1)]
      case 3: return [statement.jsonValue(0), statement.jsonValue(1), statement.jsonValue(2)]
      default: break
      }
      // In place: allocating and appending was an eighth of the time of a large result.
      return Array(unsafeUninitializedCapacity: columns.count) { values, count in
        while count < columns.count {
          values.initializeElement(at: count, to: statement.jsonValue(count))
          count += 1
        }
      }
    }
    var values: [JSONValue] = []
    values.reserveCapacity(columnCount)
    for column in 0..<columnCount { values.append(try jsonValue(column)) }
    return values
  }
}

extension Character {
  fileprivate var isASCIIDigit: Bool { isASCII && isNumber }
}

extension JSONLimits {
  /// The limits for written entries. SQLite from 3.42 on follows no more levels, and an entry that
  /// it cannot follow fails every query of its soup that reads inside entries.
  static var written: JSONLimits { JSONLimits(maxDepth: 1_000) }

  /// The limits for stored entries. They are higher, because earlier versions accepted more levels.
  static var stored: JSONLimits { JSONLimits(maxDepth: JSONLimits.greatestDepth) }
}
