extension SOQLParser {
  /// The largest number behind a date literal's colon; what is beyond means the same.
  private static let maxDateLiteralNumber = 1_000_000
  /// The longest text that a field can be compared with.
  private static let maxText = 4000

  /// Conditions joined by AND or by OR. Both in one list need parentheses.
  mutating func condition() throws(ServerError) -> SOQLCondition {
    let first = try simpleCondition()
    if token.isKeyword("AND") {
      var parts = [first]
      while take("AND") { parts.append(try simpleCondition()) }
      if token.isKeyword("OR") { throw unexpectedToken() }
      return .and(parts)
    }
    if token.isKeyword("OR") {
      var parts = [first]
      while take("OR") { parts.append(try simpleCondition()) }
      if token.isKeyword("AND") { throw unexpectedToken() }
      return .or(parts)
    }
    return first
  }

  private mutating func simpleCondition() throws(ServerError) -> SOQLCondition {
    if take("NOT") {
      let inner = try nested { (parser) throws(ServerError) in try parser.simpleCondition() }
      if case .not(let condition) = inner { return condition }
      return .not(inner)
    }
    if take(symbol: "(") {
      let inner = try nested { (parser) throws(ServerError) in try parser.condition() }
      try expectRightParenthesis()
      return inner
    }
    let start = token.offset
    let operand = try operand()
    switch try comparator() {
    case .isIn: return try membership(of: operand, negated: false, since: start)
    case .notIn: return try membership(of: operand, negated: true, since: start)
    case .includes:
      return .comparison(
        SOQLComparison(operand: operand, comparator: .includes, values: try valueList()))
    case .excludes:
      return .comparison(
        SOQLComparison(operand: operand, comparator: .excludes, values: try valueList()))
    case let comparator:
      if comparator == .like, token.isKeyword("NULL") { throw unexpectedToken() }
      return .comparison(
        SOQLComparison(operand: operand, comparator: comparator, values: [try value()]))
    }
  }

  private mutating func comparator() throws(ServerError) -> SOQLComparator {
    let comparator: SOQLComparator
    if token.kind == .symbol {
      switch token.text {
      case "<>": comparator = .notEqual
      case let text:
        guard let known = SOQLComparator(rawValue: text) else { throw unexpectedToken() }
        comparator = known
      }
      advance()
    } else if take("LIKE") {
      comparator = .like
    } else if take("IN") {
      comparator = .isIn
    } else if take("NOT", "IN") {
      comparator = .notIn
    } else if take("INCLUDES") {
      comparator = .includes
    } else if take("EXCLUDES") {
      comparator = .excludes
    } else {
      throw unexpectedToken()
    }
    return comparator
  }

  private mutating func membership(
    of operand: SOQLOperand, negated: Bool, since start: Int
  ) throws(ServerError) -> SOQLCondition {
    if token.isSymbol("("), token(ahead: 1).isKeyword("SELECT") {
      guard case .field(let path) = operand else { throw unexpectedToken() }
      advance()
      let inner = try nested { (parser) throws(ServerError) in try parser.statement(.semiJoin) }
      try expectRightParenthesis()
      return .semiJoin(path, negated: negated, inner)
    }
    if token.isSymbol("("), token(ahead: 1).isSymbol(")") {
      advance()
      throw unexpectedToken(since: start)
    }
    return .comparison(
      SOQLComparison(
        operand: operand, comparator: negated ? .notIn : .isIn, values: try valueList()))
  }

  private mutating func valueList() throws(ServerError) -> [SOQLValue] {
    if token.isSymbol(":") { throw bindVariable() }
    guard take(symbol: "(") else { throw unexpectedToken() }
    var values = [try value()]
    while take(symbol: ",") { values.append(try value()) }
    try expectRightParenthesis()
    return values
  }

  func bindVariable() -> ServerError {
    source.error(
      "MALFORMED_QUERY", at: token.offset, "Bind variables only allowed in Apex code")
  }

  private mutating func value() throws(ServerError) -> SOQLValue {
    let offset = token.offset
    let literal: SOQLValue.Literal
    switch token.kind {
    case .string(let string):
      guard string.text.utf8.count <= Self.maxText || string.text.utf16.count <= Self.maxText else {
        throw source.error(
          "MALFORMED_QUERY", at: offset,
          "a string in a condition cannot be longer than \(Self.maxText) characters")
      }
      literal = .string(string)
    case .number: literal = .number(token.text)
    case .date(let date): literal = .date(date)
    case .dateTime(let milliseconds): literal = .dateTime(milliseconds: milliseconds)
    case .time(let milliseconds): literal = .time(milliseconds: milliseconds)
    case .name:
      switch token.text.uppercased() {
      case "NULL": literal = .null
      case "TRUE": literal = .boolean(true)
      case "FALSE": literal = .boolean(false)
      case let name:
        if let amount = currencyAmount() {
          return SOQLValue(literal: .currency(amount), offset: offset)
        }
        guard let known = SOQLDateLiteral.named(name) else { throw unexpectedToken() }
        advance()
        return SOQLValue(literal: .dateLiteral(try dateLiteral(known)), offset: offset)
      }
    case .symbol where token.text == ":": throw bindVariable()
    case .symbol, .end: throw unexpectedToken()
    }
    advance()
    return SOQLValue(literal: literal, offset: offset)
  }

  /// Takes a currency's code and the amount behind it without a blank: `USD5000`, `EUR-12.5`.
  private mutating func currencyAmount() -> String? {
    let code = token.text.prefix(3)
    var amount = String(token.text.dropFirst(3))
    guard code.utf8.count == 3, code.utf8.allSatisfy({ (0x41...0x5A).contains($0) }),
      amount.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    let next = token(ahead: 1)
    if next.kind == .number, next.offset == token.offset + token.text.utf8.count,
      amount.isEmpty || next.text.hasPrefix(".")
    {
      amount += next.text
      advance()
    }
    guard !amount.isEmpty else { return nil }
    advance()
    return amount
  }

  /// Reads the number of a literal that takes one.
  private mutating func dateLiteral(
    _ known: (takesNumber: Bool, make: @Sendable (Int) -> SOQLDateLiteral)
  ) throws(ServerError) -> SOQLDateLiteral {
    guard known.takesNumber else { return known.make(0) }
    guard take(symbol: ":") else {
      throw source.syntaxError(
        at: token.offset, "expecting a colon, found '\(token.text)'")
    }
    guard token.kind == .number, token.text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      throw unexpectedToken()
    }
    defer { advance() }
    return known.make(min(Int(token.text) ?? .max, Self.maxDateLiteralNumber))
  }
}
