/// The text of a query, which knows where its rows and columns are.
///
/// Every place in a query is an offset into its UTF-8 bytes; rows and columns are counted only when an
/// error asks for them.
struct SOQLSource: Sendable {
  /// The longest query that the platform accepts.
  static let maxCharacters = 100_000

  let bytes: [UInt8]

  init(_ text: String) { bytes = Array(text.utf8) }

  /// The text between two offsets, which both stand between characters.
  func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  /// The row, from 1, and the column, from 0 and in characters, of an offset.
  func position(of offset: Int) -> (row: Int, column: Int) {
    var row = 1
    var column = 0
    for byte in bytes[..<min(offset, bytes.count)] {
      if byte == UInt8(ascii: "\n") {
        row += 1
        column = 0
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
    }
    return (row, column)
  }

  /// An error that the lexer found.
  func lexicalError(
    _ code: String = "MALFORMED_QUERY", at offset: Int, _ what: String
  ) -> ServerError {
    let (row, column) = position(of: offset)
    return syntaxError(code, at: offset, "line \(row):\(column) \(what)")
  }

  /// An error that the lexer or the grammar found. The platform counts its column from 0 and shows the
  /// caret one place before it, unlike those of ``error(_:at:_:)``.
  func syntaxError(
    _ code: String = "MALFORMED_QUERY", at offset: Int, _ message: String
  ) -> ServerError {
    let (row, column) = position(of: offset)
    return ServerError(
      code,
      excerpt(around: offset, caret: max(column - 1, 0), row: row, column: column) + message)
  }

  /// An error about a place: the platform shows some of the text around it and a caret below.
  func error(_ code: String, at offset: Int, _ message: String) -> ServerError {
    let (row, column) = position(of: offset)
    return ServerError(
      code, excerpt(around: offset, caret: column, row: row, column: column + 1) + message)
  }

  /// The lines before the message: the words around the place, a caret, and the row and column.
  ///
  /// The excerpt is 30 characters of the same row to either side, widened to whole words; blanks and
  /// commas part words.
  private func excerpt(around offset: Int, caret: Int, row: Int, column: Int) -> String {
    let lineStart = bytes[..<min(offset, bytes.count)].lastIndex(of: UInt8(ascii: "\n"))
    let from = lineStart.map { $0 + 1 } ?? 0
    let to = bytes[from...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
    let line = Array(String(decoding: bytes[from..<to], as: UTF8.self).unicodeScalars)
    let at = min(position(of: offset).column, line.count)

    func partsWords(_ scalar: Unicode.Scalar) -> Bool {
      scalar == "," || scalar.properties.isWhitespace
    }
    var start = max(at - 30, 0)
    while start > 0, !partsWords(line[start - 1]) { start -= 1 }
    var end = min(at + 30, line.count)
    while end < line.count, !partsWords(line[end]) { end += 1 }

    var excerpt = "\n"
    excerpt.unicodeScalars.append(contentsOf: line[start..<end])
    excerpt += "\n" + String(repeating: " ", count: max(caret - start, 0)) + "^\n"
    return excerpt + "ERROR at Row:\(row):Column:\(column)\n"
  }
}

extension ServerError {
  /// A query that does not follow the grammar, without a place.
  static func malformedQuery(_ message: String) -> ServerError {
    ServerError("MALFORMED_QUERY", message)
  }

  /// A query that is within the grammar and beyond what one statement can do.
  static var queryTooComplicated: ServerError {
    ServerError(
      "QUERY_TOO_COMPLICATED",
      "Query is either selecting too many fields or the filter conditions are too complicated.")
  }
}
