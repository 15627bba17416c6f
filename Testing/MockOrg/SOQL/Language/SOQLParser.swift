/// Reads a query by recursive descent into a ``SOQLStatement``.
///
/// Depth of recursion follows parentheses alone and is limited, so that no text can exhaust the stack.
struct SOQLParser {
  /// The deepest nesting of parentheses and NOTs.
  static let maxDepth = 100

  let source: SOQLSource
  private let allowsApexSyntax: Bool
  private let tokens: [SOQLToken]
  private var index = 0
  private var depth = 0

  /// Parses a whole query.
  ///
  /// - Parameter allowsApexSyntax: Takes `ALL ROWS` and the modes behind WITH, which the platform knows
  ///   in Apex code alone.
  static func parse(
    _ source: SOQLSource, allowsApexSyntax: Bool = false
  ) throws(ServerError) -> SOQLStatement {
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
    var parser = try SOQLParser(source, from: 0, allowsApexSyntax: allowsApexSyntax)
    let statement = try parser.statement(.query)
    if parser.token.kind != .end { throw parser.unexpectedToken() }
    return statement
  }

  /// A parser that stands at `offset` of a text.
  init(
    _ source: SOQLSource, from offset: Int, allowsApexSyntax: Bool
  ) throws(ServerError) {
    self.source = source
    self.allowsApexSyntax = allowsApexSyntax
    tokens = try SOQLLexer.tokens(of: source, from: offset)
  }

  // MARK: Tokens

  var token: SOQLToken { tokens[index] }

  func token(ahead: Int) -> SOQLToken { tokens[min(index + ahead, tokens.count - 1)] }

  mutating func advance() { index = min(index + 1, tokens.count - 1) }

  /// The token fits nowhere.
  ///
  /// - Parameter start: Where the words that led here begin, for the cases in which the platform shows
  ///   them too.
  func unexpectedToken(since start: Int? = nil) -> ServerError {
    let text =
      start.map { source.text($0..<min(token.offset + token.text.utf8.count, source.bytes.count)) }
      ?? token.text
    return source.syntaxError(at: token.offset, "unexpected token: '\(text)'")
  }

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
    if take(symbol: ")") { return }
    // The platform says that something is missing where the rest of the query could follow it.
    if token.kind == .name, Self.clauseWords.contains(token.text.uppercased()) {
      throw source.syntaxError(at: token.offset, "missing value at '\(token.text)'")
    }
    throw unexpectedToken()
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
    /// In the parentheses behind an object of a search, without its first words.
    case search
  }

  /// Words that cannot be an alias because a clause begins with them.
  private static let clauseWords: Set<String> = [
    "ALL", "FOR", "FROM", "GROUP", "HAVING", "LIMIT", "OFFSET", "ORDER", "UPDATE", "USING", "WHERE",
    "WITH",
  ]

  mutating func statement(_ role: Role) throws(ServerError) -> SOQLStatement {
    let start = token.offset
    try expect("SELECT")
    if token.isSymbol("*")
      || token.isKeyword("FROM") && !token(ahead: 1).isSymbol(".")
        && !token(ahead: 1).isSymbol(",") && !token(ahead: 1).isKeyword("FROM")
    {
      throw unexpectedToken(since: start)
    }
    var select = [try selectItem(role)]
    while take(symbol: ",") { select.append(try selectItem(role)) }
    try expect("FROM")
    var statement = SOQLStatement(select: select, object: try name())
    if role == .children, take(symbol: ".") {
      // `FROM Account.Contacts`: the parent's name in front says nothing new.
      statement.object = try name()
    }
    statement.alias = try alias()
    while take(symbol: ",") {
      let path = try path()
      guard path.names.count > 1 else {
        throw .malformedQuery(
          """
          A driving SObject type has already been set, all other entity types in the FROM clause \
          must be relationships to the initial object.  The driving object is \
          \(statement.object.text).
          """)
      }
      guard let alias = try alias() else { throw unexpectedToken() }
      statement.relatedAliases.append((path, alias))
    }
    try clauses(of: &statement, role)
    return statement
  }

  /// A name behind a field or an object, with or without AS.
  mutating func alias() throws(ServerError) -> String? {
    if take("AS") { return try name().text }
    guard token.kind == .name, !Self.clauseWords.contains(token.text.uppercased()) else {
      return nil
    }
    return try name().text
  }

  /// The clauses behind FROM.
  mutating func clauses(
    of statement: inout SOQLStatement, _ role: Role
  ) throws(ServerError) {
    if take("USING") {
      try expect("SCOPE")
      statement.scope = try name()
    }
    if take("WHERE") { statement.condition = try condition() }
    while role != .search, take("WITH") {
      if take("DATA", "CATEGORY") {
        statement.dataCategories = try dataCategories()
      } else {
        try securityMode()
      }
    }
    if role == .semiJoin { return }
    if role == .query, take("GROUP", "BY") { try groups(of: &statement) }
    if take("ORDER", "BY") {
      repeat { statement.order.append(try orderItem()) } while take(symbol: ",")
    }
    if take("LIMIT") { statement.limit = try rowCount() }
    if take("OFFSET") { statement.offset = try rowCount() }
    if role == .search { return }
    while take("FOR") { try purpose(of: &statement) }
    while take("UPDATE") {
      repeat {
        guard take("TRACKING") || take("VIEWSTAT") else { throw unexpectedToken() }
      } while take(symbol: ",")
    }
    if role == .query, token.isKeyword("ALL"), token(ahead: 1).isKeyword("ROWS") {
      guard allowsApexSyntax else {
        throw .malformedQuery("ALL ROWS not allowed in this context")
      }
      _ = take("ALL", "ROWS")
      statement.allRows = true
    }
  }

  private mutating func groups(of statement: inout SOQLStatement) throws(ServerError) {
    let hasTotals = token(ahead: 1).isSymbol("(")
    if hasTotals, token.isKeyword("ROLLUP") || token.isKeyword("CUBE") {
      statement.grouping = token.isKeyword("CUBE") ? .cube : .rollup
      advance()
      advance()
    }
    repeat { statement.groups.append(try operand()) } while take(symbol: ",")
    if statement.grouping != .plain { try expectRightParenthesis() }
    if take("HAVING") { statement.having = try condition() }
  }

  /// `WITH SECURITY_ENFORCED`, `USER_MODE` or `SYSTEM_MODE`: every query sees what its user sees.
  private mutating func securityMode() throws(ServerError) {
    guard
      token.isKeyword("SECURITY_ENFORCED") || token.isKeyword("USER_MODE")
        || token.isKeyword("SYSTEM_MODE")
    else { throw unexpectedToken() }
    guard allowsApexSyntax else {
      throw source.syntaxError(
        at: token.offset,
        """
        rule soqlWithIdentifierClause failed predicate: {this.helper.allowApexSyntax() && \
        this.helper.hasApexContext()}?
        """)
    }
    advance()
  }

  /// What stands behind FOR; `UPDATE` locks nothing, since no request outlives its transaction.
  private mutating func purpose(of statement: inout SOQLStatement) throws(ServerError) {
    repeat {
      if take("VIEW") {
        statement.marksViewed = true
      } else if take("REFERENCE") {
        statement.marksReferenced = true
      } else if !take("UPDATE") {
        throw unexpectedToken()
      }
    } while take(symbol: ",")
  }

  mutating func rowCount() throws(ServerError) -> Int {
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
      if take("LAST") {
        item.nullsLast = true
      } else if !take("FIRST") {
        throw source.syntaxError(at: token.offset, "missing value at '\(token.text)'")
      }
    }
    return item
  }
}
