/// Reads a query by recursive descent into a ``SOQLStatement``.
///
/// Depth of recursion follows parentheses alone and is limited, so that no text can exhaust the stack.
struct SOQLParser {
  /// The deepest nesting of parentheses and NOTs.
  static let maxDepth = 100

  let source: SOQLSource
  private let tokens: [SOQLToken]
  private var index = 0
  private var depth = 0

  /// Parses a whole query.
  static func parse(_ source: SOQLSource) throws(ServerError) -> SOQLStatement {
    let text = source.bytes
    if text.allSatisfy({ $0 == 0x20 || (0x09...0x0D).contains($0) }) {
      throw .malformedQuery("A query string has to be specified")
    }
    if text.count > SOQLSource.maxCharacters,
      String(decoding: text, as: UTF8.self).utf16.count > SOQLSource.maxCharacters
    {
      throw .malformedQuery(
        "SOQL statements cannot be longer than \(SOQLSource.maxCharacters) characters.")
    }
    var parser = SOQLParser(source: source, tokens: try SOQLLexer.tokens(of: source))
    let statement = try parser.statement(.query)
    if parser.token.kind != .end { throw parser.unexpectedToken() }
    return statement
  }

  private init(source: SOQLSource, tokens: [SOQLToken]) {
    self.source = source
    self.tokens = tokens
  }

  // MARK: Tokens

  var token: SOQLToken { tokens[index] }

  func token(ahead: Int) -> SOQLToken { tokens[min(index + ahead, tokens.count - 1)] }

  mutating func advance() { index = min(index + 1, tokens.count - 1) }

  func unexpectedToken() -> ServerError { .malformedQuery("unexpected token: '\(token.text)'") }

  /// Takes the keywords if all of them stand next.
  mutating func take(_ keywords: String...) -> Bool {
    for (ahead, keyword) in keywords.enumerated() where !token(ahead: ahead).isKeyword(keyword) {
      return false
    }
    for _ in keywords { advance() }
    return true
  }

  mutating func take(symbol: String) -> Bool {
    guard token.isSymbol(symbol) else { return false }
    advance()
    return true
  }

  mutating func expect(_ keywords: String...) throws(ServerError) {
    for keyword in keywords {
      guard token.isKeyword(keyword) else { throw unexpectedToken() }
      advance()
    }
  }

  mutating func expectRightParenthesis() throws(ServerError) {
    guard take(symbol: ")") else {
      throw .malformedQuery("expecting a right parentheses, found '\(token.text)'")
    }
  }

  mutating func name() throws(ServerError) -> SOQLName {
    guard token.kind == .name else { throw unexpectedToken() }
    defer { advance() }
    return SOQLName(text: token.text, offset: token.offset)
  }

  mutating func path() throws(ServerError) -> SOQLPath {
    let first = try name()
    var path = SOQLPath(names: [first.text], offset: first.offset)
    while take(symbol: ".") { path.names.append(try name().text) }
    return path
  }

  /// Runs `body` one level deeper.
  mutating func nested<T>(
    _ body: (inout SOQLParser) throws(ServerError) -> T
  ) throws(ServerError) -> T {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.maxDepth else {
      throw source.error(
        "MALFORMED_QUERY", at: token.offset,
        "expressions are nested more than \(Self.maxDepth) levels deep")
    }
    return try body(&self)
  }

  // MARK: Statements

  /// Where a SELECT stands.
  enum Role {
    case query
    /// In the SELECT list of another.
    case children
    /// Behind IN.
    case semiJoin
  }

  /// Words that cannot be an alias because a clause begins with them.
  private static let clauseWords: Set<String> = [
    "ALL", "FOR", "FROM", "GROUP", "HAVING", "LIMIT", "OFFSET", "ORDER", "UPDATE", "USING", "WHERE",
    "WITH",
  ]

  mutating func statement(_ role: Role) throws(ServerError) -> SOQLStatement {
    try expect("SELECT")
    var select = [try selectItem(role)]
    while take(symbol: ",") { select.append(try selectItem(role)) }
    try expect("FROM")
    var statement = SOQLStatement(select: select, object: try name())
    statement.alias = try alias()
    while take(symbol: ",") {
      let path = try path()
      guard let alias = try alias() else { throw unexpectedToken() }
      statement.relatedAliases.append((path, alias))
    }
    try clauses(of: &statement, role)
    return statement
  }

  /// A name behind a field or an object, with or without AS.
  private mutating func alias() throws(ServerError) -> String? {
    if take("AS") { return try name().text }
    guard token.kind == .name, !Self.clauseWords.contains(token.text.uppercased()) else {
      return nil
    }
    return try name().text
  }

  private mutating func clauses(
    of statement: inout SOQLStatement, _ role: Role
  ) throws(ServerError) {
    if take("USING") { try scope() }
    if take("WHERE") { statement.condition = try condition() }
    while take("WITH") { try securityMode() }
    if role == .semiJoin { return }
    if role == .query, take("GROUP", "BY") {
      repeat { statement.groups.append(try operand()) } while take(symbol: ",")
      if take("HAVING") { statement.having = try condition() }
    }
    if take("ORDER", "BY") {
      repeat { statement.order.append(try orderItem()) } while take(symbol: ",")
    }
    if take("LIMIT") { statement.limit = try rowCount() }
    if take("OFFSET") { statement.offset = try rowCount() }
    while take("FOR") { try purpose() }
    while take("UPDATE") {
      guard take("TRACKING") || take("VIEWSTAT") else { throw unexpectedToken() }
    }
    if role == .query, take("ALL", "ROWS") { statement.allRows = true }
  }

  /// `USING SCOPE everything`, the only scope in which the result does not depend on the user.
  private mutating func scope() throws(ServerError) {
    try expect("SCOPE")
    let scope = try name()
    guard scope.text.uppercased() == "EVERYTHING" else {
      throw source.error(
        "MALFORMED_QUERY", at: scope.offset, "scope '\(scope.text)' is not supported")
    }
  }

  /// `WITH SECURITY_ENFORCED`, `USER_MODE` or `SYSTEM_MODE`: every user sees every field here.
  private mutating func securityMode() throws(ServerError) {
    guard take("SECURITY_ENFORCED") || take("USER_MODE") || take("SYSTEM_MODE") else {
      throw unexpectedToken()
    }
  }

  /// `FOR VIEW`, `FOR REFERENCE` or `FOR UPDATE`: they change nothing in the result.
  private mutating func purpose() throws(ServerError) {
    guard take("VIEW") || take("REFERENCE") || take("UPDATE") else { throw unexpectedToken() }
  }

  private mutating func rowCount() throws(ServerError) -> Int {
    guard token.kind == .number, token.text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      throw unexpectedToken()
    }
    defer { advance() }
    return min(Int(token.text) ?? .max, Int(Int32.max))
  }

  private mutating func orderItem() throws(ServerError) -> SOQLOrderItem {
    var item = SOQLOrderItem(operand: try operand())
    if take("DESC") {
      item.descending = true
    } else {
      _ = take("ASC")
    }
    if take("NULLS") {
      if take("LAST") { item.nullsLast = true } else { try expect("FIRST") }
    }
    return item
  }

  // MARK: Fields and functions

  private mutating func selectItem(_ role: Role) throws(ServerError) -> SOQLSelectItem {
    if token.isSymbol("(") {
      guard role != .semiJoin else { throw unexpectedToken() }
      advance()
      let children = try nested { (parser) throws(ServerError) in
        try parser.statement(.children)
      }
      try expectRightParenthesis()
      return .children(children)
    }
    if token.isKeyword("FROM"), !token(ahead: 1).isSymbol("."), !token(ahead: 1).isSymbol(",") {
      throw unexpectedToken()
    }
    if token.isKeyword("FIELDS"), token(ahead: 1).isSymbol("(") {
      let offset = token.offset
      advance()
      advance()
      guard let set = SOQLFieldSet(rawValue: token.text.uppercased()) else {
        throw unexpectedToken()
      }
      advance()
      try expectRightParenthesis()
      return .fields(set, offset: offset)
    }
    let operand = try operand()
    return .operand(operand, alias: try alias())
  }

  /// A field or a function.
  mutating func operand() throws(ServerError) -> SOQLOperand {
    guard token(ahead: 1).isSymbol("(") else { return .field(try path()) }
    let function = try name()
    advance()
    if take(symbol: ")") { return .function(function, nil) }
    let argument = try nested { (parser) throws(ServerError) in try parser.operand() }
    try expectRightParenthesis()
    return .function(function, argument)
  }
}
