/// A word of a query and where it stands.
struct SOQLToken: Sendable, Equatable {
  enum Kind: Sendable, Equatable {
    /// A keyword or a name; SOQL's keywords are names anywhere else.
    case name
    case string(SOQLString)
    /// A number as written, sign included.
    case number
    case date(SOQLDate)
    case dateTime(milliseconds: Int64)
    case time(milliseconds: Int)
    /// `=`, `!=`, `<=`, `(`, ...: its text says which.
    case symbol
    case end
  }

  var kind: Kind
  /// The token as written; a string's text without its quotes and escapes; `<EOF>` at the end.
  var text: String
  /// Where it begins, in bytes.
  var offset: Int

  /// Whether this is the keyword `word`, which is given in upper case.
  func isKeyword(_ word: String) -> Bool {
    kind == .name && text.utf8.count == word.utf8.count && text.uppercased() == word
  }

  func isSymbol(_ symbol: String) -> Bool { kind == .symbol && text == symbol }
}

/// A string literal after its escapes are read.
struct SOQLString: Sendable, Equatable {
  var text: String
  /// The same text as LIKE reads it.
  var pattern: SOQLPattern
  /// Where the character of the first `\_` or `\%` stands, which only LIKE understands.
  var firstPatternEscape: Int?
}
