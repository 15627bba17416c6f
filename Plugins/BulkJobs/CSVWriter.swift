/// Writes CSV with line feeds between rows.
package struct CSVWriter: Sendable {
  /// The written bytes.
  package private(set) var bytes: [UInt8] = []

  /// Creates a file of about `capacity` bytes.
  package init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  /// Writes a row. A nil cell is empty, which leaves its field unchanged.
  package mutating func row(_ cells: [String?]) {
    for (index, cell) in cells.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      if let cell { append(cell) }
    }
    bytes.append(UInt8(ascii: "\n"))
  }

  private mutating func append(_ cell: String) {
    let quote = UInt8(ascii: "\"")
    // Blanks at the ends, and everything but letters and digits, are safe in quotes.
    bytes.append(quote)
    for byte in cell.utf8 {
      if byte == quote { bytes.append(quote) }
      bytes.append(byte)
    }
    bytes.append(quote)
  }
}
