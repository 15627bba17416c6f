/// Turns the text of strings into what they mean, and back.
package enum JSONText {
  /// The UTF-8 of a checked string with its escapes resolved; `length` counts its quotes.
  ///
  /// A surrogate without its other half has no UTF-8 form and becomes U+FFFD.
  static func unescaped(_ quote: UnsafePointer<UInt8>, _ length: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
      guard let out = buffer.baseAddress else { return }
      var at = quote + 1
      let end = quote + (length - 1)
      while at < end {
        guard at.pointee == 0x5c else {
          out[count] = at.pointee
          count += 1
          at += 1
          continue
        }
        let letter = at[1]
        at += 2
        guard letter == 0x75 else {
          out[count] = meaning(of: letter)
          count += 1
          continue
        }
        var scalar = hex(at)
        at += 4
        if scalar & 0xfc00 == 0xd800, end - at >= 6, at[0] == 0x5c, at[1] == 0x75 {
          let low = hex(at + 2)
          if low & 0xfc00 == 0xdc00 {
            scalar = 0x10000 + (scalar & 0x3ff) << 10 + low & 0x3ff
            at += 6
          }
        }
        let character = Unicode.Scalar(scalar) ?? "\u{fffd}"
        for byte in UTF8.encode(character) ?? UTF8.encodedReplacementCharacter {
          out[count] = byte
          count += 1
        }
      }
    }
  }

  /// Whether a checked string holds an escaped surrogate without its other half.
  static func holdsHalfPair(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let base = text.baseAddress else { return false }
    var at = 0
    var awaitsLow = false
    while at < text.count {
      var isLow = false
      var isHigh = false
      var length = 1
      if text[at] == 0x5c {
        length = 2
        if text[at + 1] == 0x75 {
          length = 6
          let unit = hex(base + at + 2)
          isHigh = unit & 0xfc00 == 0xd800
          isLow = unit & 0xfc00 == 0xdc00
        }
      }
      if isLow != awaitsLow { return true }
      awaitsLow = isHigh
      at += length
    }
    return awaitsLow
  }

  /// The byte that a one-letter escape stands for.
  private static func meaning(of letter: UInt8) -> UInt8 {
    switch letter {
    case 0x62: 0x08
    case 0x66: 0x0c
    case 0x6e: 0x0a
    case 0x72: 0x0d
    case 0x74: 0x09
    default: letter
    }
  }

  /// Returns the value of four hexadecimal digits, which were checked already.
  private static func hex(_ at: UnsafePointer<UInt8>) -> UInt32 {
    var value: UInt32 = 0
    for index in 0..<4 {
      let byte = at[index]
      value = value << 4 | UInt32(byte < 0x3a ? byte - 0x30 : (byte | 0x20) - 0x57)
    }
    return value
  }

  /// Appends `text` in quotes, escaping what RFC 8259 requires and nothing else.
  static func append(_ text: String, to bytes: inout [UInt8]) {
    var text = text
    text.withUTF8 { append(utf8: $0, to: &bytes) }
  }

  /// Appends a text given as its UTF-8, which the caller vouches for, as ``append(_:to:)`` does.
  static func append(utf8 text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
    append(text, escapesSlashes: false, to: &bytes)
  }

  /// Appends UTF-8 in quotes, with slashes escaped too. RFC 8259 allows that, and some formats ask
  /// for it, since such a text may stand inside of HTML.
  package static func appendEscapingSlashes(
    _ text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]
  ) {
    append(text, escapesSlashes: true, to: &bytes)
  }

  /// Inlined, so that each of its two forms is a loop without the branch.
  @inline(__always)
  private static func append(
    _ text: UnsafeBufferPointer<UInt8>, escapesSlashes: Bool, to bytes: inout [UInt8]
  ) {
    bytes.append(0x22)
    defer { bytes.append(0x22) }
    guard let base = text.baseAddress else { return }
    let end = base + text.count
    var plain = base
    var at = base
    while at < end {
      if end - at >= 8 {
        let eight = JSONScan.load(at)
        var marks = JSONScan.specials(in: eight)
        if escapesSlashes { marks |= JSONScan.marks(of: 0x2f, in: eight) }
        if marks == 0 {
          at += 8
          continue
        }
        at += marks.trailingZeroBitCount &>> 3
      }
      let byte = at.pointee
      if byte >= 0x20, byte != 0x22, byte != 0x5c, !(escapesSlashes && byte == 0x2f) {
        at += 1
        continue
      }
      bytes.append(contentsOf: UnsafeBufferPointer(start: plain, count: at - plain))
      appendEscape(of: byte, to: &bytes)
      at += 1
      plain = at
    }
    bytes.append(contentsOf: UnsafeBufferPointer(start: plain, count: end - plain))
  }

  private static func appendEscape(of byte: UInt8, to bytes: inout [UInt8]) {
    bytes.append(0x5c)
    switch byte {
    case 0x22, 0x5c, 0x2f: bytes.append(byte)
    case 0x08: bytes.append(0x62)
    case 0x0c: bytes.append(0x66)
    case 0x0a: bytes.append(0x6e)
    case 0x0d: bytes.append(0x72)
    case 0x09: bytes.append(0x74)
    default:
      let digits = Array("0123456789abcdef".utf8)
      bytes += [0x75, 0x30, 0x30, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
  }

  /// Appends checked JSON text without the blanks between its tokens.
  static func appendCompact(_ text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
    var inString = false
    var plain = 0
    var at = 0
    while at < text.count {
      let byte = text[at]
      if inString {
        if byte == 0x5c {
          at += 1
        } else if byte == 0x22 {
          inString = false
        }
      } else if byte == 0x22 {
        inString = true
      } else if JSONScan.isBlank(byte) {
        bytes.append(contentsOf: text[plain..<at])
        plain = at + 1
      }
      at += 1
    }
    bytes.append(contentsOf: text[plain...])
  }
}
