/// Reads a search: FIND, IN, RETURNING, WITH and LIMIT.
///
/// The braces of FIND are read by ``SOSLExpressionParser``, the parentheses behind an object by
/// ``SOQLParser``, whose clauses they share.
struct SOSLParser {
  private let source: SOQLSource
  private var parser: SOQLParser

  /// Parses a whole search.
  ///
  /// - Throws: ``ServerError`` `MALFORMED_SEARCH`.
  static func parse(_ source: SOQLSource) throws(ServerError) -> SOSLStatement {
    do throws(ServerError) {
      return try statement(source)
    } catch {
      throw error.inSearch
    }
  }

  /// Reads what stands in the parentheses behind an object, for searches that come in parts.
  ///
  /// - Throws: ``ServerError`` `MALFORMED_SEARCH`.
  static func returned(
    object: String, _ text: String
  ) throws(ServerError) -> SOQLStatement {
    do throws(ServerError) {
      var parser = try SOSLParser(SOQLSource(text), from: 0)
      let statement = try parser.returned(SOQLName(text: object, offset: 0))
      guard parser.parser.token.kind == .end else { throw parser.parser.unexpectedToken() }
      return statement
    } catch {
      throw error.inSearch
    }
  }

  private init(_ source: SOQLSource, from offset: Int) throws(ServerError) {
    self.source = source
    parser = try SOQLParser(source, from: offset, allowsApexSyntax: false)
  }

  private static func statement(_ source: SOQLSource) throws(ServerError) -> SOSLStatement {
    let bytes = source.bytes
    var start = bytes.firstIndex { $0 != 0x20 && !(0x09...0x0D).contains($0) } ?? bytes.count
    guard source.text(start..<min(start + 4, bytes.count)).uppercased() == "FIND" else {
      throw source.syntaxError(at: start, "Malformed search token: \(source.word(at: start))")
    }
    start += 4
    while start < bytes.count, bytes[start] == 0x20 || (0x09...0x0D).contains(bytes[start]) {
      start += 1
    }
    guard start < bytes.count, bytes[start] == UInt8(ascii: "{") else {
      throw .malformedSearch("No search term found. The search term must be enclosed in braces.")
    }
    var end = start + 1
    while end < bytes.count, bytes[end] != UInt8(ascii: "}") {
      end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1
    }
    guard end < bytes.count else {
      throw source.lexicalError(
        at: bytes.count, "mismatched character '<EOF>' expecting '}'")
    }
    let expression = try SOSLExpressionParser.parse(
      source.text(start + 1..<end), at: start + 1, in: source)
    var parser = try SOSLParser(source, from: end + 1)
    var statement = SOSLStatement(expression: expression)
    try parser.clauses(of: &statement)
    return statement
  }

  private mutating func clauses(of statement: inout SOSLStatement) throws(ServerError) {
    if parser.take("IN") {
      guard let group = SOSLFieldGroup(rawValue: parser.token.text.uppercased()) else {
        throw malformedToken()
      }
      statement.group = group
      parser.advance()
      guard parser.take("FIELDS") else { throw malformedToken() }
    }
    if parser.take("RETURNING") {
      repeat {
        let object = try parser.name()
        guard parser.take(symbol: "(") else {
          statement.returning.append(Self.idOnly(object))
          continue
        }
        statement.returning.append(try returned(object))
        try parser.expectRightParenthesis()
      } while parser.take(symbol: ",")
    }
    while parser.take("WITH") { try with(&statement) }
    if parser.take("LIMIT") { statement.limit = try parser.rowCount() }
    if parser.take("UPDATE") {
      repeat {
        guard parser.take("TRACKING") || parser.take("VIEWSTAT") else { throw malformedToken() }
      } while parser.take(symbol: ",")
    }
    guard parser.token.kind == .end else { throw malformedToken() }
  }

  /// The fields and clauses of one object.
  private mutating func returned(_ object: SOQLName) throws(ServerError) -> SOQLStatement {
    var statement = SOQLStatement(select: [], object: object)
    repeat {
      statement.select.append(try parser.selectItem(.search))
    } while parser.take(symbol: ",")
    try parser.clauses(of: &statement, .search)
    return statement
  }

  /// An object without parentheses shows the ids of its records.
  static func idOnly(_ object: SOQLName) -> SOQLStatement {
    SOQLStatement(
      select: [.operand(.field(SOQLPath(names: ["Id"], offset: object.offset)), alias: nil)],
      object: object)
  }

  /// One clause behind WITH. Divisions, networks, price books and snippets narrow or adorn what the
  /// org does not have; they are read and change nothing.
  private mutating func with(_ statement: inout SOSLStatement) throws(ServerError) {
    let name = try parser.name().text.uppercased()
    switch name {
    case "HIGHLIGHT": return
    case "SNIPPET":
      guard parser.take(symbol: "(") else { return }
      _ = try parser.name()
      guard parser.take(symbol: "=") else { throw malformedToken() }
      _ = try parser.rowCount()
      try parser.expectRightParenthesis()
    case "METADATA", "DIVISION", "NETWORK", "PRICEBOOKID", "SPELL_CORRECTION":
      guard parser.take(symbol: "=") else { throw malformedToken() }
      if name == "METADATA" {
        guard case .string(let value) = parser.token.kind, value.text.uppercased() == "LABELS"
        else {
          throw malformedToken()
        }
        statement.showsLabels = true
      }
      parser.advance()
    default: throw malformedToken()
    }
  }

  private func malformedToken() -> ServerError {
    source.syntaxError(
      at: parser.token.offset, "Malformed search token: \(parser.token.text)")
  }
}

extension SOQLSource {
  /// The text from `offset` to the next blank.
  fileprivate func word(at offset: Int) -> String {
    let end = bytes[offset...].firstIndex { $0 <= 0x20 } ?? bytes.count
    return offset < bytes.count ? text(offset..<end) : "<EOF>"
  }
}

extension ServerError {
  /// The same error as searches have it: the grammar's errors have a code of their own there.
  fileprivate var inSearch: ServerError {
    var error = self
    if code == "MALFORMED_QUERY" { error.code = "MALFORMED_SEARCH" }
    return error
  }
}
