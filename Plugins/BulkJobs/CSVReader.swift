/// Reads CSV row by row from bytes, as RFC 4180 has it: cells in quotes may hold commas, line ends and doubled
/// quotes. A byte order mark at the start is skipped.
package struct CSVReader: Sendable {
  /// The text is no CSV: a quote is not closed, or something stands behind a closed one.
  package struct Malformed: Error {
    package init() {}
  }

  /// The range of a cell.
  package struct Cell: Sendable {
    fileprivate let range: Range<Int>
    fileprivate let hasDoubledQuotes: Bool
    /// Whether nothing stands there.
    package var isEmpty: Bool { range.isEmpty }
  }

  private let bytes: [UInt8]
  private var position: Int

  /// Whether every row has been read.
  package var isAtEnd: Bool { position == bytes.count }

  /// Creates a reader of the bytes of a file.
  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
  }

  /// Reads the next row into `cells`. Empty lines are skipped.
  ///
  /// - Returns: False at the end; `cells` is empty then.
  package mutating func next(_ cells: inout [Cell]) throws(Malformed) -> Bool {
    cells.removeAll(keepingCapacity: true)
    while position < bytes.count, bytes[position] == Self.lf || bytes[position] == Self.cr {
      position += 1
    }
    if isAtEnd { return false }
    while true {
      cells.append(try cell())
      guard position < bytes.count, bytes[position] == Self.comma else { break }
      position += 1
    }
    if position < bytes.count, bytes[position] == Self.cr { position += 1 }
    if position < bytes.count, bytes[position] == Self.lf { position += 1 }
    return true
  }

  /// The next row as texts; nil at the end.
  package mutating func nextTexts() throws(Malformed) -> [String]? {
    var cells: [Cell] = []
    return try next(&cells) ? cells.map(text) : nil
  }

  /// The text of a cell of this reader.
  package func text(_ cell: Cell) -> String {
    guard cell.hasDoubledQuotes else { return String(decoding: bytes[cell.range], as: UTF8.self) }
    var text: [UInt8] = []
    text.reserveCapacity(cell.range.count)
    var isSecond = false
    for byte in bytes[cell.range] {
      isSecond = byte == Self.quote && !isSecond
      if !isSecond { text.append(byte) }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static let comma = UInt8(ascii: ",")
  private static let quote = UInt8(ascii: "\"")
  private static let lf = UInt8(ascii: "\n")
  private static let cr = UInt8(ascii: "\r")

  /// Reads up to the comma or line end after a cell.
  private mutating func cell() throws(Malformed) -> Cell {
    guard position < bytes.count, bytes[position] == Self.quote else {
      let start = position
      while position < bytes.count {
        let byte = bytes[position]
        if byte == Self.comma || byte == Self.lf || byte == Self.cr { break }
        position += 1
      }
      return Cell(range: start..<position, hasDoubledQuotes: false)
    }
    position += 1
    let start = position
    var hasDoubledQuotes = false
    while position < bytes.count {
      guard bytes[position] == Self.quote else {
        position += 1
        continue
      }
      if position + 1 < bytes.count, bytes[position + 1] == Self.quote {
        hasDoubledQuotes = true
        position += 2
        continue
      }
      let end = position
      position += 1
      if position < bytes.count {
        let byte = bytes[position]
        guard byte == Self.comma || byte == Self.lf || byte == Self.cr else { throw Malformed() }
      }
      return Cell(range: start..<end, hasDoubledQuotes: hasDoubledQuotes)
    }
    throw Malformed()
  }
}
