/// A failure while reading, before it becomes a ``JSONError``: small, so that loops stay fast.
struct JSONFault: Error {
  let code: JSONError.Code
  let message: StaticString
  let offset: Int
}

/// The byte rules of JSON: strings, escapes, UTF-8, numbers. Each function takes the address of the
/// first byte to check and returns the address after the last accepted one.
enum JSONScan {
  typealias Address = UnsafePointer<UInt8>

  /// A mark in the high bit of each byte of eight that a string cannot simply pass over: a
  /// quote, a backslash, a control character, or anything beyond ASCII.
  ///
  /// Only the lowest mark is sure: each of the subtractions can borrow from a true match into
  /// the bytes above it.
  @inline(__always)
  static func specials(in eight: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quotes = eight ^ (ones &* 0x22)
    let slashes = eight ^ (ones &* 0x5c)
    let marks =
      (quotes &- ones) & ~quotes | (slashes &- ones) & ~slashes | (eight &- ones &* 0x20) | eight
    return marks & (ones &* 0x80)
  }

  /// A mark in the high bit of each byte of eight that is `byte`. As with ``specials(in:)``, only the
  /// lowest mark is sure, also of both together.
  @inline(__always)
  static func marks(of byte: UInt8, in eight: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let matches = eight ^ (ones &* UInt64(byte))
    return (matches &- ones) & ~matches & (ones &* 0x80)
  }

  /// The eight bytes at `address`, the first one in the lowest bits.
  @inline(__always)
  static func load(_ address: Address) -> UInt64 {
    UInt64(littleEndian: UnsafeRawPointer(address).loadUnaligned(as: UInt64.self))
  }

  /// Passes over blanks. The common case, none, costs one comparison.
  @inline(__always)
  static func blanks(_ start: Address, _ end: Address) -> Address {
    if start < end, start.pointee > 0x20 { return start }
    return manyBlanks(start, end)
  }

  @inline(never)
  private static func manyBlanks(_ start: Address, _ end: Address) -> Address {
    var at = start
    while at < end, isBlank(at.pointee) { at += 1 }
    return at
  }

  /// Whether a byte is one of the four blanks of RFC 8259.
  @inline(__always)
  static func isBlank(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09
  }

  /// Checks a string from the byte after its opening quote to the byte after its closing one, and
  /// records whether it contains a backslash.
  @inline(__always)
  static func string(
    _ start: Address, _ end: Address, base: Address, escaped: inout Bool
  ) throws(JSONFault) -> Address {
    var at = start
    while end - at >= 8 {
      let marks = specials(in: load(at))
      if marks == 0 {
        at += 8
        continue
      }
      at += marks.trailingZeroBitCount &>> 3
      if at.pointee == 0x22 { return at + 1 }
      break
    }
    return try slowString(at, end, base: base, escaped: &escaped)
  }

  /// The rest of a string that holds more than printable ASCII, or ends near the text's end.
  @inline(never)
  private static func slowString(
    _ start: Address, _ end: Address, base: Address, escaped: inout Bool
  ) throws(JSONFault) -> Address {
    var at = start
    while at < end {
      let byte = at.pointee
      if byte == 0x22 { return at + 1 }
      if byte == 0x5c {
        escaped = true
        at = try escape(at, end, base: base)
      } else if byte >= 0x80 {
        at = try character(at, end, base: base)
      } else if byte < 0x20 {
        throw JSONFault(
          code: .malformed, message: "A string holds a control character that is not escaped.",
          offset: at - base)
      } else if end - at >= 8 {
        let marks = specials(in: load(at))
        at += marks == 0 ? 8 : marks.trailingZeroBitCount &>> 3
      } else {
        at += 1
      }
    }
    throw JSONFault(
      code: .malformed, message: "The text ends inside a string.", offset: end - base)
  }

  /// Checks an escape, from its backslash. A surrogate need not have its other half: RFC 8259
  /// allows that, and the text is passed on as written.
  private static func escape(
    _ start: Address, _ end: Address, base: Address
  ) throws(JSONFault) -> Address {
    if end - start >= 2 {
      switch start[1] {
      case 0x22, 0x5c, 0x2f, 0x62, 0x66, 0x6e, 0x72, 0x74:
        return start + 2
      case 0x75:
        if end - start >= 6, isHex(start[2]), isHex(start[3]), isHex(start[4]), isHex(start[5]) {
          return start + 6
        }
      default:
        break
      }
    }
    throw JSONFault(
      code: .malformed, message: "A string holds an escape that JSON does not know.",
      offset: start - base)
  }

  @inline(__always)
  private static func isHex(_ byte: UInt8) -> Bool {
    let letter = byte | 0x20
    return byte &- 0x30 < 10 || letter &- 0x61 < 6
  }

  /// Checks one character beyond ASCII by table 3-7 of the Unicode standard: no overlong form,
  /// no surrogate, nothing beyond U+10FFFF.
  private static func character(
    _ start: Address, _ end: Address, base: Address
  ) throws(JSONFault) -> Address {
    let length = utf8Length(start, available: end - start)
    if length == 0 {
      throw JSONFault(
        code: .notUTF8, message: "A string holds bytes that are not UTF-8.", offset: start - base)
    }
    return start + length
  }

  /// The length in bytes of the well-formed non-ASCII character at `at`; 0 if there is none.
  @inline(__always)
  private static func utf8Length(_ at: Address, available: Int) -> Int {
    let lead = at[0]
    if lead < 0xe0 {
      return lead >= 0xc2 && available >= 2 && isTrail(at[1]) ? 2 : 0
    }
    if lead < 0xf0 {
      guard available >= 3, isTrail(at[1]), isTrail(at[2]) else { return 0 }
      if lead == 0xe0, at[1] < 0xa0 { return 0 }
      if lead == 0xed, at[1] >= 0xa0 { return 0 }
      return 3
    }
    guard lead <= 0xf4, available >= 4, isTrail(at[1]), isTrail(at[2]), isTrail(at[3]) else {
      return 0
    }
    if lead == 0xf0, at[1] < 0x90 { return 0 }
    if lead == 0xf4, at[1] >= 0x90 { return 0 }
    return 4
  }

  @inline(__always)
  private static func isTrail(_ byte: UInt8) -> Bool { byte & 0xc0 == 0x80 }

  /// Checks a number, from its sign or first digit. What follows it is the caller's business.
  @inline(__always)
  static func number(
    _ start: Address, _ end: Address, base: Address
  ) throws(JSONFault) -> Address {
    var at = start
    if at.pointee == 0x2d { at += 1 }
    if at < end, at.pointee == 0x30 {
      at += 1
    } else {
      at = try digits(at, end, base: base)
    }
    if at < end, at.pointee == 0x2e {
      at = try digits(at + 1, end, base: base)
    }
    if at < end, at.pointee | 0x20 == 0x65 {
      at += 1
      if at < end, at.pointee == 0x2b || at.pointee == 0x2d { at += 1 }
      at = try digits(at, end, base: base)
    }
    return at
  }

  /// Passes over one or more digits.
  @inline(__always)
  private static func digits(
    _ start: Address, _ end: Address, base: Address
  ) throws(JSONFault) -> Address {
    var at = start
    while at < end, at.pointee &- 0x30 < 10 { at += 1 }
    if at == start {
      throw JSONFault(
        code: .malformed, message: "A number lacks a digit.", offset: at - base)
    }
    return at
  }
}
