import SalesforceSDKCommon

/// The JSON text of a query's results, built without parsing the entries in it.
struct SerializedRows {
  private var bytes: [UInt8] = [UInt8(ascii: "[")]
  private var isEmpty = true

  /// Appends a row as an array, or only its first column if the query returns entries.
  ///
  /// - Throws: ``SmartStoreError`` `externalFileUnreadable`.
  mutating func append(
    _ row: borrowing ResultRow, asElement: Bool
  ) throws(SmartStoreError) {
    if !isEmpty { bytes.append(UInt8(ascii: ",")) }
    isEmpty = false
    if asElement {
      append(try row.column(0), isElement: row.isElement(0))
      return
    }
    bytes.append(UInt8(ascii: "["))
    for column in 0..<row.columnCount {
      if column > 0 { bytes.append(UInt8(ascii: ",")) }
      append(try row.column(column), isElement: row.isElement(column))
    }
    bytes.append(UInt8(ascii: "]"))
  }

  consuming func finish() -> [UInt8] {
    bytes.append(UInt8(ascii: "]"))
    return bytes
  }

  /// Returns one value as JSON text.
  static func text(of value: ColumnValue, isElement: Bool) -> [UInt8] {
    var rows = SerializedRows()
    rows.bytes.removeAll()
    rows.append(value, isElement: isElement)
    return rows.bytes
  }

  private mutating func append(_ value: ColumnValue, isElement: Bool) {
    switch value {
    case .null: bytes.append(contentsOf: "null".utf8)
    case .integer(let integer): bytes.append(contentsOf: String(integer).utf8)
    case .double(let double):
      bytes.append(contentsOf: (double.isFinite ? "\(double)" : "null").utf8)
    case .text(let text):
      if isElement { bytes.append(contentsOf: text) } else { appendString(text) }
    }
  }

  private mutating func appendString(_ text: [UInt8]) {
    if text.allSatisfy({ $0 < 0x80 }) {
      text.withUnsafeBufferPointer { JSONText.appendEscapingSlashes($0, to: &bytes) }
    } else {
      // A blob may contain any bytes; JSON is UTF-8.
      var text = String(decoding: text, as: UTF8.self)
      text.withUTF8 { JSONText.appendEscapingSlashes($0, to: &bytes) }
    }
  }
}
