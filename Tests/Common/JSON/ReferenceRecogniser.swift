/// RFC 8259 once more, as plainly as possible: the grammar's rules one function each, byte by
/// byte, UTF-8 checked by the standard library. Slow, and made to be seen as right.
struct ReferenceRecogniser {
  private let bytes: [UInt8]
  private var at = 0

  static func accepts(_ bytes: [UInt8], maxDepth: Int = 512) -> Bool {
    guard String(validating: bytes, as: UTF8.self) != nil else { return false }
    var recogniser = ReferenceRecogniser(bytes: bytes)
    recogniser.blanks()
    guard recogniser.value(depth: maxDepth) else { return false }
    recogniser.blanks()
    return recogniser.at == bytes.count
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private var next: Character? { at < bytes.count ? Character(Unicode.Scalar(bytes[at])) : nil }

  private mutating func take(_ text: String) -> Bool {
    guard bytes[at...].starts(with: text.utf8) else { return false }
    at += text.utf8.count
    return true
  }

  private mutating func blanks() {
    while let next, " \t\n\r".utf8.contains(bytes[at]), next.isASCII { at += 1 }
  }

  private mutating func value(depth: Int) -> Bool {
    switch next {
    case "{": depth > 0 && object(depth: depth - 1)
    case "[": depth > 0 && array(depth: depth - 1)
    case "\"": string()
    case "t": take("true")
    case "f": take("false")
    case "n": take("null")
    default: number()
    }
  }

  private mutating func object(depth: Int) -> Bool {
    at += 1
    blanks()
    if take("}") { return true }
    repeat {
      blanks()
      guard next == "\"", string() else { return false }
      blanks()
      guard take(":") else { return false }
      blanks()
      guard value(depth: depth) else { return false }
      blanks()
    } while take(",")
    return take("}")
  }

  private mutating func array(depth: Int) -> Bool {
    at += 1
    blanks()
    if take("]") { return true }
    repeat {
      blanks()
      guard value(depth: depth) else { return false }
      blanks()
    } while take(",")
    return take("]")
  }

  private mutating func string() -> Bool {
    at += 1
    while at < bytes.count {
      if take("\"") { return true }
      if take("\\") {
        if take("u") {
          for _ in 0..<4 {
            guard let digit = next, digit.isASCII, digit.isHexDigit else { return false }
            at += 1
          }
        } else {
          guard at < bytes.count, "\"\\/bfnrt".utf8.contains(bytes[at]) else { return false }
          at += 1
        }
      } else {
        guard bytes[at] >= 0x20 else { return false }
        at += 1
      }
    }
    return false
  }

  private mutating func digits() -> Bool {
    let start = at
    while at < bytes.count, (0x30...0x39).contains(bytes[at]) { at += 1 }
    return at > start
  }

  private mutating func number() -> Bool {
    _ = take("-")
    if !take("0") {
      guard digits() else { return false }
    }
    if take(".") {
      guard digits() else { return false }
    }
    if take("e") || take("E") {
      _ = take("+") || take("-")
      guard digits() else { return false }
    }
    return true
  }
}
