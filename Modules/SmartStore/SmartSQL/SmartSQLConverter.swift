import SalesforceSDKCommon

/// A converter of Smart SQL to SQL, in one pass over the bytes.
///
/// References are written in braces, `{soup}` and `{soup:path}`. They are resolved everywhere
/// except in single-quoted literals and comments. In the literal after MATCH, `{soup:path}:term`
/// restricts a term to a column. All other text is copied unchanged.
///
/// The bytes are an array; a test takes a collection that counts how often they are read.
struct SmartSQLConverter<Source: RandomAccessCollection<UInt8>> where Source.Index == Int {
  let source: Source
  private let smartSQL: String
  private let soups: [MemberKey: Soup]
  var scopes = SmartSQLScopes()

  var output: [UInt8] = []
  private var mentioned: Set<MemberKey> = []
  var position = 0
  /// The last word, if only whitespace and comments follow it.
  private var lastWord: Range<Int>?
  /// Whether a token was read already; the first one decides whether the statement is a SELECT.
  private var sawToken = false
  private var sawSemicolon = false
  private var refusal: ConvertedStatement.Refusal?
  /// The end of the last token in `output`.
  private var bodyEnd = 0
  /// The number of open parentheses in a list of values for a flag; nil outside of such a list.
  var flagList: Int?
  var parameters = SmartSQLParameters()
  /// The parameters that are compared with a flag.
  var flagParameters: [Int: String] = [:]
  /// The start of the operand that is compared with a flag, and the flag's path.
  var flagOperand: (start: Int, path: String)?
  /// The flag of ``flagList``.
  var listedFlag = ""

  /// - Parameter bytes: Those of the statement, from index 0 on.
  init(_ smartSQL: String, bytes: Source, soups: [MemberKey: Soup]) {
    self.smartSQL = smartSQL
    self.source = bytes
    self.soups = soups
    output.reserveCapacity(source.count)
  }

  mutating func run() throws(SmartStoreError) -> ConvertedStatement {
    while position < source.count {
      let byte = source[position]
      switch byte {
      case UInt8(ascii: " "), 0x09, 0x0a, 0x0c, 0x0d:
        copy(1)
      case UInt8(ascii: "-") where peek(1) == UInt8(ascii: "-"):
        copyThrough { $0 == 0x0a }
      case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "*"):
        copyBlockComment()
      case UInt8(ascii: ";"):
        sawSemicolon = true
        copy(1)
      case UInt8(ascii: "'"):
        let isMatchKey = lastWordIs("match")
        startToken()
        if isMatchKey { try convertMatchKey() } else { try copyLiteral() }
        endToken()
      case UInt8(ascii: "\""), UInt8(ascii: "`"):
        startToken()
        try convertQuotedName(byte)
        endToken()
      case UInt8(ascii: "{"):
        startToken()
        try convertReference(inMatchKey: false)
        endToken()
      case 0:
        throw SmartStoreError(.refusedStatement, "A statement cannot hold a NUL character.")
      default:
        if isWordByte(byte) { copyWord() } else { copyOther() }
      }
    }
    if !sawToken { refusal = refusal ?? .notSelect }
    try qualifyReferences()
    return ConvertedStatement(
      sql: String(decoding: output, as: UTF8.self),
      body: String(decoding: output[..<bodyEnd], as: UTF8.self), soups: mentioned,
      refusal: refusal, flagParameters: flagParameters)
  }

  // MARK: Tokens

  private mutating func startToken() {
    if sawSemicolon { refusal = refusal ?? .severalStatements }
    if !sawToken { refusal = refusal ?? .notSelect }
    sawToken = true
    lastWord = nil
  }

  private mutating func endToken() {
    if !sawSemicolon { bodyEnd = output.count }
  }

  private mutating func copyWord() {
    let start = position
    while position < source.count, isWordByte(source[position]) { position += 1 }
    if sawSemicolon { refusal = refusal ?? .severalStatements }
    let word = start..<position
    if !sawToken, !wordIs(word, "select"), !wordIs(word, "with") {
      refusal = refusal ?? .notSelect
    }
    refuseFunction(word)
    noteClause(word)
    if source[start] == UInt8(ascii: "$") { noteParameter(start, named: word) }
    sawToken = true
    output.append(contentsOf: source[word])
    endToken()
    lastWord = word
  }

  private mutating func copyOther() {
    startToken()
    switch source[position] {
    case UInt8(ascii: "("): scopes.openParenthesis()
    case UInt8(ascii: ")"):
      scopes.closeParenthesis()
      if let depth = flagList, scopes.depth < depth { flagList = nil }
    case UInt8(ascii: "?"), UInt8(ascii: ":"), UInt8(ascii: "@"):
      let end = source[(position + 1)...].firstIndex { !isWordByte($0) } ?? source.count
      noteParameter(position, named: position..<end)
    default: break
    }
    copy(1)
    endToken()
  }

  private mutating func copy(_ count: Int) {
    output.append(contentsOf: source[position..<min(position + count, source.count)])
    position += count
  }

  private mutating func copyThrough(_ isEnd: (UInt8) -> Bool) {
    let end = source[position...].firstIndex(where: isEnd).map { $0 + 1 } ?? source.count
    copy(end - position)
  }

  private mutating func copyBlockComment() {
    copy(endOfComment(from: position) - position)
  }

  /// Copies a single-quoted literal. A doubled quote does not end it.
  private mutating func copyLiteral() throws(SmartStoreError) {
    var end = position + 1
    while end < source.count {
      if source[end] == UInt8(ascii: "'") {
        if end + 1 < source.count, source[end + 1] == UInt8(ascii: "'") {
          end += 2
          continue
        }
        end += 1
        break
      }
      end += 1
    }
    let text = source[position..<end]
    copy(end - position)
    guard flagList == scopes.depth, isLastInTerm() else { return }
    if let others = Self.spellings(ofFlag: text) {
      output.append(contentsOf: ", \(others)".utf8)
    } else if FlagText.isMeant(literal: text) {
      throw flagRefusal(text.startIndex, listedFlag)
    }
  }

  /// Copies a quoted name and resolves its references. Quotes of the other kind do not end it.
  private mutating func convertQuotedName(_ quote: UInt8) throws(SmartStoreError) {
    let start = position
    var soup: (table: String, end: Int)?
    copy(1)
    while position < source.count {
      let byte = source[position]
      if byte == quote {
        copy(1)
        if position < source.count, source[position] == quote {
          copy(1)
          continue
        }
        // A name that is a soup's, and nothing else.
        if let soup, soup.end == position - 1, scopes.clause == .from, isWhole(nextTo: start) {
          scopes.declare(soup.table, as: alias())
        }
        break
      }
      if byte == UInt8(ascii: "{") {
        let isFirst = position == start + 1
        let table = try convertReference(inMatchKey: false, isQuoted: true)
        soup = isFirst ? table.map { ($0, position) } : nil
      } else {
        copy(1)
      }
    }
    refuseFunction((start + 1)..<max(start + 1, position - 1))
  }

  /// Resolves the references of a match key. Text in double quotes is a phrase and stays unchanged.
  private mutating func convertMatchKey() throws(SmartStoreError) {
    copy(1)
    var inPhrase = false
    while position < source.count {
      switch source[position] {
      case UInt8(ascii: "'"):
        copy(1)
        guard position < source.count, source[position] == UInt8(ascii: "'") else { return }
        copy(1)
      case UInt8(ascii: "\""):
        inPhrase.toggle()
        copy(1)
      case UInt8(ascii: "{") where !inPhrase:
        try convertReference(inMatchKey: true)
      default:
        copy(1)
      }
    }
  }

  // MARK: References

  /// - Returns: The table of a soup; nil for a path.
  @discardableResult
  private mutating func convertReference(
    inMatchKey: Bool, isQuoted: Bool = false
  ) throws(SmartStoreError) -> String? {
    let start = position
    guard let end = source[start...].firstIndex(of: UInt8(ascii: "}")) else {
      throw malformed(start, String(decoding: source[start...].prefix(60), as: UTF8.self))
    }
    position = end + 1
    let content = source[(start + 1)..<end]
    let colon = content.firstIndex(of: UInt8(ascii: ":"))
    let soupName = String(decoding: content[..<(colon ?? content.endIndex)], as: UTF8.self)
    let pathBytes = colon.map { content[($0 + 1)...] }
    guard !soupName.isEmpty, pathBytes?.isEmpty != true,
      pathBytes?.contains(UInt8(ascii: ":")) != true, pathBytes?.contains(0) != true
    else {
      throw malformed(start, String(decoding: source[start...end], as: UTF8.self))
    }
    guard let soup = soups[MemberKey(soupName)] else {
      throw SmartStoreError(
        .unknownSoup,
        "Unknown soup \(soupName) at character \(character(at: start)). "
          + "Register it before querying it.")
    }
    mentioned.insert(MemberKey(soupName))
    guard let pathBytes else {
      output.append(contentsOf: soup.table.utf8)
      if !isQuoted, scopes.clause == .from, isWhole(nextTo: start) {
        scopes.declare(soup.table, as: alias())
      }
      return soup.table
    }
    let path = String(decoding: pathBytes, as: UTF8.self)
    if inMatchKey {
      guard let column = soup.fullTextColumn(forPath: path) else {
        throw SmartStoreError(
          .invalidReference,
          "Invalid soup/path reference {\(soupName):\(path)} at character \(character(at: start)): "
            + "a match query can only aim at a full_text path.")
      }
      output.append(contentsOf: column.utf8)
      return nil
    }
    try appendColumn(of: soup, path: path, start: start)
    if LocalFlags.all.contains(path) {
      try checkFlagBefore(start, path)
      try convertFlagComparison(path)
    }
    return nil
  }

  private mutating func appendColumn(
    of soup: Soup, path: String, start: Int
  ) throws(SmartStoreError) {
    let isQualified = start > 0 && source[start - 1] == 0x2e
    /// Appends what `text` returns for a qualifier, which is written already or found at the end.
    func append(
      isAlwaysQualified: Bool, to converter: inout Self, _ text: (_ qualifier: String) -> String
    ) {
      guard !isQualified else {
        let qualifier = converter.takeQualifier()
        converter.output.append(contentsOf: text(qualifier).utf8)
        return
      }
      let parts = text("\0").utf8.split(separator: 0, maxSplits: 1)
      if parts.count > 1 { converter.output.append(contentsOf: parts[0]) }
      converter.scopes.refer(
        to: soup.table, at: converter.output.count, isAlwaysQualified: isAlwaysQualified,
        start: start)
      if let rest = parts.last { converter.output.append(contentsOf: rest) }
    }
    if soup.isExternal, path == SmartStore.soupPath {
      append(isAlwaysQualified: true, to: &self) { soup.elementColumns(qualifier: $0) }
      return
    }
    try soup.checkReadable(path)
    if let column = Soup.reservedColumn(path) {
      append(isAlwaysQualified: true, to: &self) { $0 + column }
    } else if let index = soup.index(forPath: path), index.type != .json1,
      let column = index.columnName
    {
      output.append(contentsOf: column.utf8)
    } else {
      // The expression of an index finds entries; what is shown is the whole value.
      let isShown = scopes.clause == .results && SoupValueFunction.decidesTexts
      let isFound = soup.index(forPath: path) != nil && !isShown
      append(isAlwaysQualified: false, to: &self) {
        isFound
          ? Soup.jsonExtraction(of: path, qualifier: $0) : Soup.extraction(of: path, qualifier: $0)
      }
    }
  }

  /// Writes the qualifiers of the references without one.
  private mutating func qualifyReferences() throws(SmartStoreError) {
    var qualified: [UInt8] = []
    var copied = 0
    var added = 0
    for reference in scopes.references {
      let name: String
      switch scopes.qualifier(of: reference) {
      case .none: continue
      case .name(let known): name = "\(known)."
      case .ambiguous(let names):
        throw SmartStoreError(
          .invalidReference,
          "Invalid soup/path reference at character \(character(at: reference.start)): its soup is read as "
            + "\(names.joined(separator: " and ")). Write one of these names and a dot before it.")
      }
      qualified.append(contentsOf: output[copied..<reference.offset])
      qualified.append(contentsOf: name.utf8)
      copied = reference.offset
      if reference.offset < bodyEnd { added += name.utf8.count }
    }
    if copied == 0, qualified.isEmpty { return }
    qualified.append(contentsOf: output[copied...])
    output = qualified
    bodyEnd += added
  }

  /// Follows the clauses of the SELECTs.
  private mutating func noteClause(_ word: Range<Int>) {
    switch word.count {
    case 4 where wordIs(word, "from") && !lastWordIs("distinct"): scopes.beginClause(.from)
    case 5 where wordIs(word, "where") || wordIs(word, "group") || wordIs(word, "limit"):
      scopes.beginClause(.other)
    case 5 where wordIs(word, "order"): scopes.beginOrder()
    case 5 where wordIs(word, "union"): scopes.connect()
    case 6 where wordIs(word, "select"):
      scopes.beginSelect()
      flagList = nil
    case 6 where wordIs(word, "having") || wordIs(word, "window"): scopes.beginClause(.other)
    case 6 where wordIs(word, "except"): scopes.connect()
    case 9 where wordIs(word, "intersect"): scopes.connect()
    default: break
    }
  }

  /// Whether a reference is a name of its own, and not a part of one, such as `{soup}_fts` or `{soup}.id`.
  private func isWhole(nextTo start: Int) -> Bool {
    if let next = peek(0), next == 0x2e || isWordByte(next) { return false }
    return start == 0 || source[start - 1] != 0x2e && !isWordByte(source[start - 1])
  }

  /// The name that follows a soup in a FROM clause, as it is written; nil if none does.
  private func alias() -> String? {
    var place = endOfBlanks(from: position)
    var name = tokenEnd(from: place)
    if wordIs(place..<name, "as") {
      place = endOfBlanks(from: name)
      name = tokenEnd(from: place)
    }
    let range = place..<name
    guard !range.isEmpty, !Self.afterSoups.contains(where: { wordIs(range, $0) }) else {
      return nil
    }
    return String(decoding: source[range], as: UTF8.self)
  }

  /// The words that may follow a soup without an alias.
  private static var afterSoups: [StaticString] {
    [
      "where", "join", "inner", "left", "right", "full", "outer", "cross", "natural", "on", "using",
      "group", "order", "having", "limit", "window", "union", "except", "intersect", "indexed",
      "not",
    ]
  }

  /// The end of a word or of a quoted name; `start` if there is neither.
  func tokenEnd(from start: Int) -> Int {
    guard start < source.count else { return start }
    let quote = source[start]
    guard [UInt8(ascii: "\""), UInt8(ascii: "`"), UInt8(ascii: "'")].contains(quote) else {
      return source[start...].firstIndex { !isWordByte($0) } ?? source.count
    }
    var end = start + 1
    while end < source.count {
      end += 1
      guard source[end - 1] == quote else { continue }
      guard end < source.count, source[end] == quote else { break }
      end += 1
    }
    return end
  }

  /// The end of blanks and comments.
  func endOfBlanks(from start: Int) -> Int {
    var end = start
    while end < source.count {
      switch source[end] {
      case UInt8(ascii: " "), 0x09, 0x0a, 0x0c, 0x0d: end += 1
      case UInt8(ascii: "-") where end + 1 < source.count && source[end + 1] == source[end]:
        end = source[end...].firstIndex(of: 0x0a).map { $0 + 1 } ?? source.count
      case UInt8(ascii: "/") where end + 1 < source.count && source[end + 1] == UInt8(ascii: "*"):
        end = endOfComment(from: end)
      default: return end
      }
    }
    return end
  }

  /// The end of what stands before blanks.
  func startOfBlanks(before end: Int) -> Int {
    var start = end
    while start > 0, [UInt8(ascii: " "), 0x09, 0x0a, 0x0c, 0x0d].contains(source[start - 1]) {
      start -= 1
    }
    return start
  }

  private func endOfComment(from start: Int) -> Int {
    var end = start + 2
    while end < source.count,
      !(source[end] == UInt8(ascii: "*") && end + 1 < source.count
        && source[end + 1] == UInt8(ascii: "/"))
    {
      end += 1
    }
    return min(end + 2, source.count)
  }

  /// Removes the name and the dot before a reference from the output, and returns them.
  private mutating func takeQualifier() -> String {
    guard output.last == 0x2e else { return "" }
    var start = output.count - 1
    if start > 0,
      let quote = [UInt8(ascii: "\""), UInt8(ascii: "`")].first(where: {
        $0 == output[start - 1]
      })
    {
      start -= 1
      while start > 0 {
        start -= 1
        guard output[start] == quote else { continue }
        guard start > 0, output[start - 1] == quote else { break }
        start -= 1
      }
    } else {
      while start > 0, isWordByte(output[start - 1]) { start -= 1 }
    }
    guard start < output.count - 1 else { return "" }
    let qualifier = String(decoding: output[start...], as: UTF8.self)
    output.removeSubrange(start...)
    return qualifier
  }

  // MARK: Small questions

  private func peek(_ distance: Int) -> UInt8? {
    position + distance < source.count ? source[position + distance] : nil
  }

  func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...0xff:
      true
    default: false
    }
  }

  private func lastWordIs(_ word: StaticString) -> Bool {
    lastWord.map { wordIs($0, word) } ?? false
  }

  /// Whether the source at `range` is `word`, in any case; `word` itself is in lower case.
  func wordIs(_ range: Range<Int>, _ word: StaticString) -> Bool {
    guard range.count == word.utf8CodeUnitCount else { return false }
    return word.withUTF8Buffer { letters in
      zip(source[range], letters).allSatisfy { byte, letter in
        byte == letter || (byte | 0x20 == letter && byte <= UInt8(ascii: "Z"))
      }
    }
  }

  /// Refuses functions that reach outside the database, even if the build of SQLite allows them.
  private mutating func refuseFunction(_ range: Range<Int>) {
    switch range.count {
    case 14 where wordIs(range, "load_extension"):
      refusal = refusal ?? .forbiddenFunction("load_extension")
    case 14 where wordIs(range, "fts3_tokenizer"):
      refusal = refusal ?? .forbiddenFunction("fts3_tokenizer")
    default: break
    }
  }

  private func malformed(_ start: Int, _ text: String) -> SmartStoreError {
    SmartStoreError(
      .invalidReference,
      "Invalid soup/path reference \(text) at character \(character(at: start)). "
        + "Write {soup} or {soup:path}.")
  }

  /// Returns the number of characters before a byte.
  func character(at byte: Int) -> Int {
    String(decoding: source[..<byte], as: UTF8.self).count
  }
}

extension SmartSQLConverter where Source == [UInt8] {
  /// Converts a statement against the soups of a store.
  static func convert(
    _ smartSQL: String, soups: [MemberKey: Soup]
  ) throws(SmartStoreError) -> ConvertedStatement {
    var converter = SmartSQLConverter(smartSQL, bytes: Array(smartSQL.utf8), soups: soups)
    return try converter.run()
  }
}
