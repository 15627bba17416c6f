/// The JSON text of a query's results, built without parsing the elements in it.
struct SerializedRows {
  private var bytes: [UInt8] = [UInt8(ascii: "[")]
  private var isEmpty = true

  /// Appends a row as an array, or its first column alone if the query gives elements.
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

  /// One value as JSON text.
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
    bytes.append(UInt8(ascii: "\""))
    var text = text
    if !text.allSatisfy({ $0 < 0x80 }) {
      // A blob may hold anything; JSON is UTF-8.
      text = Array(String(decoding: text, as: UTF8.self).utf8)
    }
    for byte in text {
      switch byte {
      case UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "/"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0x08: bytes.append(contentsOf: "\\b".utf8)
      case 0x0c: bytes.append(contentsOf: "\\f".utf8)
      case 0x0a: bytes.append(contentsOf: "\\n".utf8)
      case 0x0d: bytes.append(contentsOf: "\\r".utf8)
      case 0x09: bytes.append(contentsOf: "\\t".utf8)
      case 0..<0x20:
        let hex = String(byte, radix: 16)
        bytes.append(contentsOf: ("\\u00" + (hex.count < 2 ? "0" : "") + hex).utf8)
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
