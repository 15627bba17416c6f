/// Cuts a query into tokens.
///
/// The whole text is read before the grammar looks at it, as on the platform: a character that no token
/// begins with is reported even where the grammar would have complained earlier.
struct SOQLLexer {
  private let source: SOQLSource
  private var offset = 0

  private init(_ source: SOQLSource) { self.source = source }

  /// All tokens of the text from `offset` on, the last one of kind `end`.
  static func tokens(
    of source: SOQLSource, from offset: Int = 0
  ) throws(ServerError) -> [SOQLToken] {
    var lexer = SOQLLexer(source)
    lexer.offset = offset
    var tokens: [SOQLToken] = []
    repeat { tokens.append(try lexer.next()) } while tokens.last?.kind != .end
    return tokens
  }

  private var current: UInt8? { byte(at: offset) }

  private func byte(at index: Int) -> UInt8? {
    index < source.bytes.count ? source.bytes[index] : nil
  }

  private mutating func next() throws(ServerError) -> SOQLToken {
    while let byte = current, byte == 0x20 || (0x09...0x0D).contains(byte) { offset += 1 }
    let start = offset
    guard let byte = current else {
      return SOQLToken(kind: .end, text: "<EOF>", offset: start)
    }
    switch byte {
    case _ where byte.isASCIILetter || byte == UInt8(ascii: "_"):
      while let byte = current, byte.isNamePart { offset += 1 }
      return token(.name, from: start)
    case UInt8(ascii: "'"):
      return try string()
    case _ where byte.isASCIIDigit:
      return try numberOrDate()
    case UInt8(ascii: "+"), UInt8(ascii: "-"):
      offset += 1
      guard current?.isASCIIDigit == true || current == UInt8(ascii: ".") else {
        throw unexpectedCharacter(at: start)
      }
      return try number(from: start)
    case UInt8(ascii: "."):
      if self.byte(at: start + 1)?.isASCIIDigit == true { return try number(from: start) }
      return symbol(length: 1)
    // No clause has a star, but the grammar knows to say where one stands.
    case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: ","), UInt8(ascii: ":"),
      UInt8(ascii: "="), UInt8(ascii: "*"):
      return symbol(length: 1)
    case UInt8(ascii: "<"):
      let second = self.byte(at: start + 1)
      return symbol(length: second == UInt8(ascii: "=") || second == UInt8(ascii: ">") ? 2 : 1)
    case UInt8(ascii: ">"):
      return symbol(length: self.byte(at: start + 1) == UInt8(ascii: "=") ? 2 : 1)
    case UInt8(ascii: "!"):
      guard self.byte(at: start + 1) == UInt8(ascii: "=") else {
        throw unexpectedCharacter(at: start + 1)
      }
      return symbol(length: 2)
    default:
      throw unexpectedCharacter(at: start)
    }
  }

  private func token(_ kind: SOQLToken.Kind, from start: Int) -> SOQLToken {
    SOQLToken(kind: kind, text: source.text(start..<offset), offset: start)
  }

  private mutating func symbol(length: Int) -> SOQLToken {
    offset += length
    return token(.symbol, from: offset - length)
  }

  /// The character at `offset` begins or continues no token.
  private func unexpectedCharacter(at offset: Int) -> ServerError {
    guard offset < source.bytes.count else {
      return source.lexicalError(at: offset, "unexpected token: '<EOF>'")
    }
    var end = offset + 1
    while let byte = byte(at: end), byte & 0xC0 == 0x80 { end += 1 }
    return source.lexicalError(
      at: offset, "unexpected token: '\(source.text(offset..<end))'")
  }

  // MARK: Strings

  private mutating func string() throws(ServerError) -> SOQLToken {
    let start = offset
    offset += 1
    var text = String.UnicodeScalarView()
    var pattern = SOQLPattern()
    var firstPatternEscape: Int?
    var plainStart = offset

    while true {
      guard let byte = current else {
        throw source.lexicalError(at: offset, "mismatched character '<EOF>' expecting '''")
      }
      guard byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\\") else {
        offset += 1
        continue
      }
      for scalar in source.text(plainStart..<offset).unicodeScalars {
        text.append(scalar)
        pattern.append(scalar, escaped: false)
      }
      if byte == UInt8(ascii: "'") {
        offset += 1
        break
      }
      let escape = offset
      offset += 1
      let scalar = try escapedScalar()
      if scalar == "_" || scalar == "%", source.bytes[escape + 1] != UInt8(ascii: "u") {
        firstPatternEscape = firstPatternEscape ?? escape + 1
      }
      text.append(scalar)
      pattern.append(scalar, escaped: true)
      plainStart = offset
    }
    let value = SOQLString(
      text: String(text), pattern: pattern, firstPatternEscape: firstPatternEscape)
    return SOQLToken(kind: .string(value), text: value.text, offset: start)
  }

  /// What stands behind a backslash.
  private mutating func escapedScalar() throws(ServerError) -> Unicode.Scalar {
    guard let byte = current else {
      throw source.lexicalError(at: offset, "mismatched character '<EOF>' expecting '''")
    }
    offset += 1
    switch byte {
    case UInt8(ascii: "n"), UInt8(ascii: "N"): return "\n"
    case UInt8(ascii: "r"), UInt8(ascii: "R"): return "\r"
    case UInt8(ascii: "t"), UInt8(ascii: "T"): return "\t"
    case UInt8(ascii: "b"), UInt8(ascii: "B"): return "\u{8}"
    case UInt8(ascii: "f"), UInt8(ascii: "F"): return "\u{C}"
    case UInt8(ascii: "\""): return "\""
    case UInt8(ascii: "'"): return "'"
    case UInt8(ascii: "\\"): return "\\"
    case UInt8(ascii: "_"): return "_"
    case UInt8(ascii: "%"): return "%"
    case UInt8(ascii: "u"):
      let high = try hexadecimalUnit()
      if let scalar = Unicode.Scalar(high) { return scalar }
      // A surrogate: characters beyond the first 65,536 are written as two escapes.
      guard high < 0xDC00, current == UInt8(ascii: "\\"),
        self.byte(at: offset + 1) == UInt8(ascii: "u")
      else { throw unexpectedCharacter(at: offset) }
      offset += 2
      let low = try hexadecimalUnit()
      guard (0xDC00...0xDFFF).contains(low),
        let scalar = Unicode.Scalar(
          0x10000 + ((UInt32(high) - 0xD800) << 10) + (UInt32(low) - 0xDC00))
      else { throw unexpectedCharacter(at: offset) }
      return scalar
    default:
      throw unexpectedCharacter(at: offset - 1)
    }
  }

  private mutating func hexadecimalUnit() throws(ServerError) -> UInt16 {
    var value: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = current.flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else {
        throw unexpectedCharacter(at: offset)
      }
      value = value << 4 | UInt16(digit)
      offset += 1
    }
    return value
  }

  // MARK: Numbers and dates

  /// A number, a date (`2026-07-01`), a datetime (`2026-07-01T10:00:00Z`) or a time
  /// (`10:00:00.000Z`): all begin with a digit.
  private mutating func numberOrDate() throws(ServerError) -> SOQLToken {
    let start = offset
    if matches("dddd-dd-dd", at: start) {
      return try dateOrDateTime()
    }
    if matches("dd:dd", at: start) {
      let time = timeOfDay()
      if current == UInt8(ascii: "Z") || current == UInt8(ascii: "z") { offset += 1 }
      guard let time else { throw invalid("time", from: start) }
      return token(.time(milliseconds: time), from: start)
    }
    return try number(from: start)
  }

  private mutating func number(from start: Int) throws(ServerError) -> SOQLToken {
    while current?.isASCIIDigit == true { offset += 1 }
    if current == UInt8(ascii: ".") {
      offset += 1
      while current?.isASCIIDigit == true { offset += 1 }
    }
    if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
      var end = offset + 1
      if let sign = byte(at: end), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
        end += 1
      }
      if byte(at: end)?.isASCIIDigit == true {
        offset = end
        while current?.isASCIIDigit == true { offset += 1 }
      }
    }
    if let byte = current, byte.isNamePart { throw unexpectedCharacter(at: offset) }
    return token(.number, from: start)
  }

  private mutating func dateOrDateTime() throws(ServerError) -> SOQLToken {
    let start = offset
    let year = digits(4)
    offset += 1
    let month = digits(2)
    offset += 1
    let date = SOQLDate(year: year, month: month, day: digits(2))
    guard current == UInt8(ascii: "T") || current == UInt8(ascii: "t") else {
      if let byte = current, byte.isNamePart { throw unexpectedCharacter(at: offset) }
      guard let date else { throw invalid("date", from: start) }
      return token(.date(date), from: start)
    }
    offset += 1
    guard matches("dd:dd", at: offset) else { throw unexpectedCharacter(at: offset) }
    let time = timeOfDay()
    let zone = try zoneOffset()
    guard let date, let time, let zone else { throw invalid("datetime", from: start) }
    let milliseconds =
      Int64(date.daysSince1970) * SOQLDate.millisecondsPerDay + Int64(time) - Int64(zone) * 60_000
    return token(.dateTime(milliseconds: milliseconds), from: start)
  }

  /// The literal from `start` to here has the form of a date or time and names none.
  private func invalid(_ kind: String, from start: Int) -> ServerError {
    source.error(
      "MALFORMED_QUERY", at: start, "Invalid \(kind): \(source.text(start..<offset))")
  }

  /// `hh:mm`, `hh:mm:ss` or `hh:mm:ss.SSS` as milliseconds of the day; nil if a day has no such time.
  private mutating func timeOfDay() -> Int? {
    let hours = digits(2)
    offset += 1
    let minutes = digits(2)
    var seconds = 0
    var milliseconds = 0
    if matches(":dd", at: offset) {
      offset += 1
      seconds = digits(2)
      if current == UInt8(ascii: "."), byte(at: offset + 1)?.isASCIIDigit == true {
        offset += 1
        var scale = 100
        while let byte = current, byte.isASCIIDigit {
          milliseconds += Int(byte - UInt8(ascii: "0")) * scale
          scale /= 10
          offset += 1
        }
      }
    }
    guard hours < 24, minutes < 60, seconds < 60 else { return nil }
    return ((hours * 60 + minutes) * 60 + seconds) * 1000 + milliseconds
  }

  /// `Z`, `+hh:mm`, `-hh:mm` or the same without the colon, as minutes east of UTC; nil beyond 14 hours.
  private mutating func zoneOffset() throws(ServerError) -> Int? {
    switch current {
    case UInt8(ascii: "Z"), UInt8(ascii: "z"):
      offset += 1
      return 0
    case UInt8(ascii: "+"), UInt8(ascii: "-"):
      let sign = current == UInt8(ascii: "-") ? -1 : 1
      let withColon = matches("dd:dd", at: offset + 1)
      guard withColon || matches("dddd", at: offset + 1) else {
        throw unexpectedCharacter(at: offset + 1)
      }
      offset += 1
      let hours = digits(2)
      if withColon { offset += 1 }
      let minutes = digits(2)
      return minutes < 60 && hours * 60 + minutes <= 14 * 60 ? sign * (hours * 60 + minutes) : nil
    default:
      throw unexpectedCharacter(at: offset)
    }
  }

  /// Whether the bytes at `index` have the form `form`, in which `d` stands for a digit.
  private func matches(_ form: StaticString, at index: Int) -> Bool {
    form.withUTF8Buffer { form in
      form.indices.allSatisfy { position in
        guard let byte = byte(at: index + position) else { return false }
        return form[position] == UInt8(ascii: "d") ? byte.isASCIIDigit : byte == form[position]
      }
    }
  }

  /// The value of the next `count` bytes, which are known to be digits.
  private mutating func digits(_ count: Int) -> Int {
    var value = 0
    for _ in 0..<count {
      value = value * 10 + Int(source.bytes[offset] - UInt8(ascii: "0"))
      offset += 1
    }
    return value
  }
}

extension UInt8 {
  fileprivate var isASCIIDigit: Bool { (0x30...0x39).contains(self) }
  fileprivate var isASCIILetter: Bool { (0x61...0x7A).contains(self | 0x20) }
  fileprivate var isNamePart: Bool {
    isASCIILetter || isASCIIDigit || self == UInt8(ascii: "_")
  }
}
