import SalesforceSDKCommon

/// The row that a query stands on.
///
/// A column is read as an element if the engine names it `soup` or, repeated, `soup:1`. Whatever a
/// caller names a column, any other one is plain.
struct ResultRow: ~Copyable {
  private let statement: StoreStatement
  let columnCount: Int
  private let elementColumns: [Bool]
  private let diagnostics: StoreDiagnostics
  /// The call that the row is read for.
  private let method: String

  init(
    _ statement: consuming StoreStatement, diagnostics: StoreDiagnostics, method: String
  ) {
    self.diagnostics = diagnostics
    self.method = method
    columnCount = statement.columnCount
    var elementColumns: [Bool] = []
    for column in 0..<columnCount {
      elementColumns.append(ResultRow.isElementName(statement.columnName(column)))
    }
    self.elementColumns = elementColumns
    self.statement = statement
  }

  private static func isElementName(_ name: String) -> Bool {
    guard name.hasPrefix(SmartStore.soupColumn) else { return false }
    let rest = name.dropFirst(SmartStore.soupColumn.count)
    return rest.isEmpty
      || (rest.first == ":" && rest.count > 1 && rest.dropFirst().allSatisfy(\.isASCIIDigit))
  }

  func next() throws(SmartStoreError) -> Bool { try statement.step() }

  /// Runs a statement with one placeholder and one column, an element, for one id.
  func element(boundTo id: Int64) throws(SmartStoreError) -> JSONSlice? {
    statement.reset()
    statement.bind(id, at: 1)
    return try next() ? try element(0) : nil
  }

  func name(_ column: Int) -> String { statement.columnName(column) }

  func isElement(_ column: Int) -> Bool { elementColumns[column] }

  func column(_ column: Int) -> ColumnValue { statement.value(column) }

  /// The element in a column.
  ///
  /// - Throws: ``SmartStoreError`` `corrupt` if the stored text is no JSON.
  func element(_ column: Int) throws(SmartStoreError) -> JSONSlice {
    try parse(statement.bytes(column))
  }

  /// A stored text as JSON. One that is none is reported.
  func parse(_ bytes: [UInt8]) throws(SmartStoreError) -> JSONSlice {
    do throws(JSONError) {
      return try JSONSlice(parsing: bytes, limits: .stored)
    } catch {
      diagnostics.report(
        JSONFailure(kind: .parse, errorMessage: "\(error)", method: method, text: bytes))
      throw SmartStoreError(
        .corrupt, "Database is corrupted: a stored element is no JSON. Nothing was changed.",
        cause: error)
    }
  }

  /// The value of a column. An element whose text cannot be parsed gives null.
  func jsonValue(_ column: Int) -> JSONValue {
    switch statement.value(column) {
    case .null: .null
    case .integer(let integer): .integer(integer)
    case .double(let double): double.isFinite ? .double(double) : .null
    case .text(let bytes):
      if isElement(column) {
        (try? parse(bytes))?.value ?? .null
      } else {
        .string(String(decoding: bytes, as: UTF8.self))
      }
    }
  }

  var jsonValues: [JSONValue] {
    var values: [JSONValue] = []
    values.reserveCapacity(columnCount)
    for column in 0..<columnCount { values.append(jsonValue(column)) }
    return values
  }
}

extension Character {
  fileprivate var isASCIIDigit: Bool { isASCII && isNumber }
}

extension JSONLimits {
  /// What was accepted when it was written is accepted when it is read.
  static var stored: JSONLimits { JSONLimits(maxDepth: JSONLimits.greatestDepth) }
}
