/// Reads what stands in the braces of FIND: words, phrases in double quotes, wildcards, AND, OR, AND NOT
/// and parentheses.
///
/// AND binds closer than OR; words without an operator between them are joined by AND.
struct SOSLExpressionParser {
  /// Beyond this a search finds nothing.
  private static let maxCharacters = 10_000
  /// Beyond this operators have no meaning, and any of the words will do.
  private static let maxCharactersWithOperators = 4000
  /// The deepest nesting of parentheses.
  private static let maxDepth = 100
  /// What a search term may have only behind a backslash.
  private static let reserved = Set("&|!{[]^~".unicodeScalars)

  private enum Token: Equatable {
    case words([SOSLWord])
    case and, or, andNot, left, right
  }

  private var tokens: [Token] = []
  private var index = 0
  private var depth = 0

  /// The expression in `text`.
  ///
  /// - Parameter offset: Where it stands in `source`, for errors.
  /// - Throws: ``ServerError`` `MALFORMED_SEARCH`.
  static func parse(
    _ text: String, at offset: Int, in source: SOQLSource
  ) throws(ServerError) -> SOSLExpression {
    var parser = SOSLExpressionParser()
    try parser.read(text, at: offset, in: source)
    let words = parser.tokens.compactMap { token -> [SOSLWord]? in
      if case .words(let words) = token { words } else { nil }
    }
    let isLongEnough = words.joined().contains { word in
      word.elements.count { if case .scalar = $0 { true } else { false } } > 1
        || word.elements.contains {
          if case .scalar(let scalar) = $0 { !scalar.isASCII } else { false }
        }
    }
    // Several words of one letter each are searched as they stand.
    guard isLongEnough || words.joined().count > 1 else {
      throw .malformedSearch("search term must be longer than one character: \(text)")
    }
    if text.unicodeScalars.count > maxCharacters { return .nothing }
    if text.unicodeScalars.count > maxCharactersWithOperators {
      return .or(words.map { .words($0) })
    }
    let expression = try parser.alternatives(text)
    guard parser.index == parser.tokens.count else { throw Self.unbalanced(text) }
    return expression
  }

  // MARK: Words

  private mutating func read(
    _ text: String, at offset: Int, in source: SOQLSource
  ) throws(ServerError) {
    var scalars = Array(text.unicodeScalars)[...]
    var position = offset
    var run: [(scalar: Unicode.Scalar, isEscaped: Bool)] = []
    func advance() -> Unicode.Scalar? {
      guard let scalar = scalars.popFirst() else { return nil }
      position += UTF8.width(scalar)
      return scalar
    }
    while let scalar = advance() {
      switch scalar {
      case "\\":
        if let escaped = advance() { run.append((escaped, true)) }
      case "\"":
        append(run)
        run = []
        var phrase: [(scalar: Unicode.Scalar, isEscaped: Bool)] = []
        while let inner = advance(), inner != "\"" {
          if inner == "\\", let escaped = advance() {
            phrase.append((escaped, true))
          } else {
            phrase.append((inner, false))
          }
        }
        let words = Self.words(phrase)
        if !words.isEmpty { tokens.append(.words(words)) }
      case "(", ")":
        append(run)
        run = []
        tokens.append(scalar == "(" ? .left : .right)
      case _ where scalar.properties.isWhitespace:
        append(run)
        run = []
      case _ where Self.reserved.contains(scalar):
        throw source.lexicalError(
          "MALFORMED_SEARCH", at: position - UTF8.width(scalar),
          "mismatched character '\(scalar)' expecting '}'")
      default: run.append((scalar, false))
      }
    }
    append(run)
  }

  /// Adds what stands between two blanks: an operator, or words.
  private mutating func append(_ run: [(scalar: Unicode.Scalar, isEscaped: Bool)]) {
    guard !run.isEmpty else { return }
    var text = String.UnicodeScalarView()
    for part in run { text.append(part.scalar) }
    switch run.contains(where: \.isEscaped) ? "" : String(text).uppercased() {
    case "AND": tokens.append(.and)
    case "OR": tokens.append(.or)
    case "NOT" where tokens.last == .and: tokens[tokens.count - 1] = .andNot
    default:
      let words = Self.words(run)
      if !words.isEmpty { tokens.append(.words(words)) }
    }
  }

  /// The words in a run of characters; punctuation parts them, a wildcard belongs to its word.
  private static func words(
    _ run: [(scalar: Unicode.Scalar, isEscaped: Bool)]
  ) -> [SOSLWord] {
    var words: [SOSLWord] = []
    var elements: [Wildcards.Element] = []
    func finish() {
      if elements.contains(where: { if case .scalar = $0 { true } else { false } }) {
        words.append(SOSLWord(elements: elements))
      }
      elements = []
    }
    for (scalar, isEscaped) in run {
      switch scalar {
      // A wildcard at the beginning of a word means nothing.
      case "*" where !isEscaped: if !elements.isEmpty { elements.append(.anyText) }
      case "?" where !isEscaped: if !elements.isEmpty { elements.append(.anyScalar) }
      case _ where SOSLWords.standsAlone(scalar):
        finish()
        words.append(SOSLWord(elements: [.scalar(scalar)]))
      case _ where SOSLWords.isWordPart(scalar): elements.append(.scalar(scalar.foldedForSOQL))
      default: finish()
      }
    }
    finish()
    return words
  }

  // MARK: Operators

  private mutating func take(_ token: Token) -> Bool {
    guard index < tokens.count, tokens[index] == token else { return false }
    index += 1
    return true
  }

  private mutating func alternatives(_ text: String) throws(ServerError) -> SOSLExpression {
    var parts = [try conjunction(text)]
    while take(.or) { parts.append(try conjunction(text)) }
    return parts.count == 1 ? parts[0] : .or(parts)
  }

  private mutating func conjunction(_ text: String) throws(ServerError) -> SOSLExpression {
    var parts = [try operand(text)]
    while index < tokens.count, tokens[index] != .or, tokens[index] != .right {
      if take(.andNot) {
        parts.append(.not(try operand(text)))
      } else {
        _ = take(.and)
        parts.append(try operand(text))
      }
    }
    return parts.count == 1 ? parts[0] : .and(parts)
  }

  private mutating func operand(_ text: String) throws(ServerError) -> SOSLExpression {
    guard index < tokens.count else { throw Self.unbalanced(text) }
    defer { index += 1 }
    switch tokens[index] {
    case .words(let words): return .words(words)
    case .left:
      depth += 1
      defer { depth -= 1 }
      guard depth <= Self.maxDepth else { throw Self.unbalanced(text) }
      index += 1
      let inner = try alternatives(text)
      guard index < tokens.count, tokens[index] == .right else { throw Self.unbalanced(text) }
      return inner
    case .and, .or, .andNot, .right: throw Self.unbalanced(text)
    }
  }

  /// Operators and parentheses that do not stand as they have to.
  private static func unbalanced(_ text: String) -> ServerError {
    .malformedSearch("Malformed search term: \(text)")
  }
}

extension ServerError {
  /// A search that does not follow the grammar, without a place.
  static func malformedSearch(_ message: String) -> ServerError {
    ServerError("MALFORMED_SEARCH", message)
  }
}
