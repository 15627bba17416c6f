/// Comma-separated values as the Bulk API reads and writes them (RFC 4180).
enum CSV {
  /// The rows of a text; a line without anything is no row.
  ///
  /// - Returns: nil if a quote is not closed.
  static func rows(_ text: [UInt8], delimiter: UInt8 = UInt8(ascii: ",")) -> [[String]]? {
    var rows: [[String]] = []
    var row: [String] = []
    var field: [UInt8] = []
    var isQuoted = false
    var hasContent = false
    var index = text.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
    func isLineEnd(_ byte: UInt8) -> Bool { byte == 0x0a || byte == 0x0d }
    while index < text.count {
      let byte = text[index]
      index += 1
      if isQuoted {
        if byte != 0x22 {
          field.append(byte)
        } else if index < text.count, text[index] == 0x22 {
          field.append(0x22)
          index += 1
        } else {
          isQuoted = false
        }
      } else if byte == 0x22, field.isEmpty {
        isQuoted = true
        hasContent = true
      } else if byte == delimiter {
        row.append(String(decoding: field, as: UTF8.self))
        field = []
        hasContent = true
      } else if isLineEnd(byte) {
        if hasContent || !field.isEmpty {
          row.append(String(decoding: field, as: UTF8.self))
          rows.append(row)
        }
        row = []
        field = []
        hasContent = false
      } else {
        field.append(byte)
        hasContent = true
      }
    }
    guard !isQuoted else { return nil }
    if hasContent || !field.isEmpty {
      row.append(String(decoding: field, as: UTF8.self))
      rows.append(row)
    }
    return rows
  }

  /// Appends a row, every value in quotes.
  static func append(
    _ row: some Sequence<String>, to text: inout [UInt8], delimiter: UInt8 = UInt8(ascii: ","),
    lineEnd: String = "\n"
  ) {
    var isFirst = true
    for value in row {
      if !isFirst { text.append(delimiter) }
      isFirst = false
      text.append(0x22)
      for byte in value.utf8 {
        if byte == 0x22 { text.append(0x22) }
        text.append(byte)
      }
      text.append(0x22)
    }
    text.append(contentsOf: lineEnd.utf8)
  }
}
