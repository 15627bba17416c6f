import SalesforceSDKCommon

/// A converter of Smart SQL to SQL, in one pass over the bytes.
///
/// References are written in braces, `{soup}` and `{soup:path}`. They are resolved everywhere
/// except in single-quoted literals and comments. In the literal after MATCH, `{soup:path}:term`
/// restricts a term to a column. All other text is copied unchanged.
///
/// The bytes are an array; a test takes a collection that counts how often they are read.
struct SmartSQLConverter<Source: RandomAccessCollection<UInt8>> where Source.Index == Int {
  private let source: Source
  private let smartSQL: String
  private let soups: [MemberKey: Soup]
  /// Whether a path that is read from the entry is qualified with the table of its soup.
  private let qualifiesElements: Bool

  private var output: [UInt8] = []
  private var mentioned: Set<String> = []
  private var position = 0
  /// The last word, if only whitespace and comments follow it.
  private var lastWord: Range<Int>?
  /// Whether a token was read already; the first one decides whether the statement is a SELECT.
  private var sawToken = false
  private var sawSemicolon = false
  private var refusal: ConvertedStatement.Refusal?
  /// The end of the last token in `output`.
  private var bodyEnd = 0

  /// - Parameter bytes: Those of the statement, from index 0 on.
  init(_ smartSQL: String, bytes: Source, soups: [MemberKey: Soup], qualifiesElements: Bool) {
    self.smartSQL = smartSQL
    self.qualifiesElements = qualifiesElements
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
        if isMatchKey { try convertMatchKey() } else { copyLiteral() }
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
    return ConvertedStatement(
      sql: String(decoding: output, as: UTF8.self),
      body: String(decoding: output[..<bodyEnd], as: UTF8.self), soups: mentioned,
      refusal: refusal)
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
    sawToken = true
    output.append(contentsOf: source[word])
    endToken()
    lastWord = word
  }

  private mutating func copyOther() {
    startToken()
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
    var end = position + 2
    while end < source.count,
      !(source[end] == UInt8(ascii: "*") && end + 1 < source.count
        && source[end + 1] == UInt8(ascii: "/"))
    {
      end += 1
    }
    copy(min(end + 2, source.count) - position)
  }

  /// Copies a single-quoted literal. A doubled quote does not end it.
  private mutating func copyLiteral() {
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
    copy(end - position)
  }

  /// Copies a quoted name and resolves its references. Quotes of the other kind do not end it.
  private mutating func convertQuotedName(_ quote: UInt8) throws(SmartStoreError) {
    let start = position
    copy(1)
    while position < source.count {
      let byte = source[position]
      if byte == quote {
        copy(1)
        if position < source.count, source[position] == quote {
          copy(1)
          continue
        }
        break
      }
      if byte == UInt8(ascii: "{") {
        try convertReference(inMatchKey: false)
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

  private mutating func convertReference(inMatchKey: Bool) throws(SmartStoreError) {
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
    mentioned.insert(soupName)
    guard let pathBytes else {
      output.append(contentsOf: soup.table.utf8)
      return
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
      return
    }
    try appendColumn(of: soup, path: path, isQualified: start > 0 && source[start - 1] == 0x2e)
  }

  private mutating func appendColumn(
    of soup: Soup, path: String, isQualified: Bool
  ) throws(SmartStoreError) {
    if soup.isExternal, path == SmartStore.soupPath {
      let qualifier = isQualified ? takeQualifier() : "\(soup.table)."
      output.append(contentsOf: soup.elementColumns(qualifier: qualifier).utf8)
      return
    }
    try soup.checkReadable(path)
    if let column = Soup.reservedColumn(path) {
      if !isQualified {
        output.append(contentsOf: soup.table.utf8)
        output.append(0x2e)
      }
      output.append(contentsOf: column.utf8)
    } else if let index = soup.index(forPath: path), index.type != .json1,
      let column = index.columnName
    {
      output.append(contentsOf: column.utf8)
    } else {
      let qualifier =
        isQualified ? takeQualifier() : qualifiesElements ? "\(soup.table)." : ""
      let isIndexed = soup.index(forPath: path) != nil
      output.append(
        contentsOf: isIndexed
          ? Soup.jsonExtraction(of: path, qualifier: qualifier).utf8
          : Soup.extraction(of: path, qualifier: qualifier).utf8)
    }
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

  private func isWordByte(_ byte: UInt8) -> Bool {
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
  private func wordIs(_ range: Range<Int>, _ word: StaticString) -> Bool {
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
  private func character(at byte: Int) -> Int {
    String(decoding: source[..<byte], as: UTF8.self).count
  }
}

extension SmartSQLConverter where Source == [UInt8] {
  /// Converts a statement against the soups of a store.
  ///
  /// - Parameter qualifiesElements: Whether `{soup:path}`, where it is read from the entry, names the
  ///   soup's table, so that a join of soups is not ambiguous. Fails in SQLite for a soup with an
  ///   alias. Default: no, as the platform's libraries convert.
  static func convert(
    _ smartSQL: String, soups: [MemberKey: Soup], qualifiesElements: Bool = false
  ) throws(SmartStoreError) -> ConvertedStatement {
    var converter = SmartSQLConverter(
      smartSQL, bytes: Array(smartSQL.utf8), soups: soups, qualifiesElements: qualifiesElements)
    return try converter.run()
  }
}
