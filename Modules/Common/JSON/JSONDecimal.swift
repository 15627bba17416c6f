/// A number's text taken apart: sign, digits and a power of ten, without rounding.
///
/// It borrows the text and lives only while that does.
struct JSONDecimal {
  private let text: UnsafeBufferPointer<UInt8>
  let isNegative: Bool
  /// The range in the text from the first digit that is not a leading zero to the last that is not
  /// a trailing zero; empty for zero. It may include a decimal point.
  private let significant: Range<Int>
  /// The number of digits in `significant`.
  let digitCount: Int
  /// The value is its digits, read as an integer, times ten to this power. Capped far beyond what
  /// any type here can show.
  let exponent: Int
  /// Whether the text has neither a fraction nor a power.
  let isPlainInteger: Bool
  /// The digits as an integer if there are at most 19 of them.
  let mantissa: UInt64?

  /// Parses a text that is a number by RFC 8259.
  init(_ text: UnsafeBufferPointer<UInt8>) {
    self.text = text
    var at = 0
    isNegative = text.first == 0x2d
    if isNegative { at = 1 }
    var first = -1
    var last = -1
    var digits = 0  // from the first to the last that is not zero
    var trailing = 0  // zeros after it
    var fraction = 0  // digits behind the point
    var behindPoint = false
    var value: UInt64 = 0
    while at < text.count {
      let byte = text[at]
      if byte == 0x2e {
        behindPoint = true
      } else if byte &- 0x30 < 10 {
        if behindPoint { fraction += 1 }
        if byte != 0x30 {
          if first < 0 { first = at }
          digits += trailing + 1
          if digits <= 19 {
            for _ in 0..<trailing { value &*= 10 }
            value = value &* 10 &+ UInt64(byte &- 0x30)
          }
          trailing = 0
          last = at
        } else if first >= 0 {
          trailing += 1
        }
      } else {
        break
      }
      at += 1
    }
    isPlainInteger = at == text.count && !behindPoint
    significant = first < 0 ? 0..<0 : first..<(last + 1)
    digitCount = digits
    mantissa = digits <= 19 ? value : nil
    exponent = digits == 0 ? 0 : Self.power(text, from: at) + trailing - fraction
  }

  /// The power that follows `e`, capped so that sums with it cannot overflow.
  private static func power(_ text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
    var at = start + 1
    guard at < text.count else { return 0 }
    let negative = text[at] == 0x2d
    if negative || text[at] == 0x2b { at += 1 }
    var value = 0
    while at < text.count {
      value = min(value * 10 + Int(text[at] - 0x30), 1 << 40)
      at += 1
    }
    return negative ? -value : value
  }

  /// The value if it is exactly a 64-bit integer.
  var int64: Int64? {
    guard digitCount > 0 else { return 0 }
    guard let mantissa, exponent >= 0, digitCount + exponent <= 19 else { return nil }
    return Self.signed(Self.scaled(mantissa, by: exponent), isNegative)
  }

  /// The value cut off at its point; out of range, the nearest 64-bit integer.
  var clampedInt64: Int64 {
    guard digitCount > 0, digitCount + exponent > 0 else { return 0 }
    let limit = isNegative ? Int64.min : Int64.max
    guard digitCount + exponent <= 19 else { return limit }
    var value: UInt64 = 0
    var left = digitCount + min(exponent, 0)
    for at in significant where left > 0 && text[at] != 0x2e {
      value = value &* 10 &+ UInt64(text[at] &- 0x30)
      left -= 1
    }
    return Self.signed(Self.scaled(value, by: max(exponent, 0)), isNegative) ?? limit
  }

  /// At most 19 digits in all, so that the product fits.
  private static func scaled(_ value: UInt64, by power: Int) -> UInt64 {
    var value = value
    for _ in 0..<power { value &*= 10 }
    return value
  }

  private static func signed(_ magnitude: UInt64, _ isNegative: Bool) -> Int64? {
    if isNegative {
      return magnitude <= Int64.min.magnitude ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil
    }
    return Int64(exactly: magnitude)
  }

  /// The nearest double; nil beyond the range.
  var double: Double? {
    guard digitCount > 0 else { return isNegative ? -0.0 : 0.0 }
    if let mantissa, mantissa < 1 << 53, abs(exponent) <= 22 {
      // Both factors are exact, so the one rounding is the right one.
      let power = Self.powers[abs(exponent)]
      let value = exponent < 0 ? Double(mantissa) / power : Double(mantissa) * power
      return isNegative ? -value : value
    }
    guard let value = Double(String(decoding: text, as: UTF8.self)), value.isFinite else {
      return nil
    }
    return value
  }

  /// The powers of ten that a double holds exactly.
  private static let powers: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
  ]

  /// Whether both are the same number, to the last digit.
  func isSame(as other: JSONDecimal) -> Bool {
    guard digitCount == other.digitCount, exponent == other.exponent else { return false }
    if digitCount == 0 { return true }
    return isNegative == other.isNegative && digits.elementsEqual(other.digits)
  }

  /// The significant digits.
  var digits: some Sequence<UInt8> { text[significant].lazy.filter { $0 != 0x2e } }
}
