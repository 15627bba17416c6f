/// One piece of a SOQL text, cut by ``SOQLTokenizer``.
struct SOQLToken: Sendable, Equatable {
  /// The kind of a token.
  enum Kind: Sendable, Equatable {
    /// A run of blanks, tabs and line breaks.
    case blank
    /// Anything up to the next blank, quote or parenthesis; `order by` and `group by` are one word.
    case word
    /// A text in single quotes, with its quotes.
    case quoted
    /// Everything between an opening parenthesis and its partner, with both.
    case parenthesised
  }

  let kind: Kind
  /// The piece as written.
  let text: String

  /// Whether this is the keyword `keyword`, in any case. Quoted text never is.
  func isWord(_ keyword: String) -> Bool {
    kind == .word && text.lowercased() == keyword
  }
}

/// Splits a SOQL text into blanks, words, quoted texts and parenthesised texts.
///
/// Joined again the tokens give the text back; only the blanks inside `order by` and `group by`
/// become one. A quote or parenthesis that is never closed reaches to the end of the text.
enum SOQLTokenizer {
  /// The tokens of `soql`, in order.
  static func tokens(of soql: String) -> [SOQLToken] {
    var scanner = Scanner(bytes: Array(soql.utf8))
    var tokens: [SOQLToken] = []
    while let token = scanner.next() { tokens.append(token) }
    return joiningTwoWordKeywords(tokens)
  }

  /// `order`, blanks, `by` become one token, as do `group`, blanks, `by`.
  private static func joiningTwoWordKeywords(_ tokens: [SOQLToken]) -> [SOQLToken] {
    var joined: [SOQLToken] = []
    joined.reserveCapacity(tokens.count)
    var index = 0
    while index < tokens.count {
      let token = tokens[index]
      if token.isWord("order") || token.isWord("group"), index + 2 < tokens.count,
        tokens[index + 1].kind == .blank, tokens[index + 2].isWord("by")
      {
        joined.append(SOQLToken(kind: .word, text: token.text + " " + tokens[index + 2].text))
        index += 3
      } else {
        joined.append(token)
        index += 1
      }
    }
    return joined
  }

  /// Walks over the text's bytes. Every character that matters is ASCII, so UTF-8 needs no
  /// decoding.
  private struct Scanner {
    let bytes: [UInt8]
    var position = 0

    init(bytes: [UInt8]) {
      self.bytes = bytes
    }

    mutating func next() -> SOQLToken? {
      guard position < bytes.count else { return nil }
      let start = position
      let kind: SOQLToken.Kind
      switch bytes[position] {
      case let byte where Self.isBlank(byte):
        kind = .blank
        while position < bytes.count, Self.isBlank(bytes[position]) { position += 1 }
      case UInt8(ascii: "'"):
        kind = .quoted
        skipQuoted()
      case UInt8(ascii: "("):
        kind = .parenthesised
        skipParenthesised()
      default:
        kind = .word
        while position < bytes.count, !Self.endsWord(bytes[position]) { position += 1 }
      }
      return SOQLToken(kind: kind, text: String(decoding: bytes[start..<position], as: UTF8.self))
    }

    /// Moves behind the closing quote. A backslash takes the next character with it, so `\\'`
    /// closes.
    private mutating func skipQuoted() {
      position += 1
      while position < bytes.count {
        switch bytes[position] {
        case UInt8(ascii: "\\"):
          position = min(position + 2, bytes.count)
        case UInt8(ascii: "'"):
          position += 1
          return
        default:
          position += 1
        }
      }
    }

    /// Moves behind the matching parenthesis. Parentheses inside quotes do not count.
    private mutating func skipParenthesised() {
      var depth = 0
      while position < bytes.count {
        switch bytes[position] {
        case UInt8(ascii: "'"):
          skipQuoted()
          continue
        case UInt8(ascii: "("):
          depth += 1
        case UInt8(ascii: ")"):
          depth -= 1
        default:
          break
        }
        position += 1
        if depth == 0 { return }
      }
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
      byte == 0x20 || (0x09...0x0D).contains(byte)
    }

    private static func endsWord(_ byte: UInt8) -> Bool {
      isBlank(byte) || byte == UInt8(ascii: "'") || byte == UInt8(ascii: "(")
    }
  }
}
