extension JSONDecimal {
  /// Integers and fractions of up to this many digits are written without a power of ten.
  private static let mostPlainDigits = 40

  /// The one spelling of the number that all its spellings have in common: `100000` for `1e5` and
  /// `100000.0`, `1.5` for `1.50`, `0` for `-0`, `1e+400` for `10E399`.
  var normalizedText: String {
    guard digitCount > 0 else { return "0" }
    let sign = isNegative ? "-" : ""
    let digits = String(decoding: Array(digits), as: UTF8.self)
    // How many digits stand before the point.
    let whole = digitCount + exponent
    if exponent >= 0, whole <= Self.mostPlainDigits {
      return sign + digits + String(repeating: "0", count: exponent)
    }
    if exponent < 0, whole > 0, digitCount <= Self.mostPlainDigits {
      return "\(sign)\(digits.prefix(whole)).\(digits.dropFirst(whole))"
    }
    if exponent < 0, whole <= 0, whole > -4 {
      return "\(sign)0.\(String(repeating: "0", count: -whole))\(digits)"
    }
    let fraction = digitCount > 1 ? ".\(digits.dropFirst())" : ""
    let power = (whole - 1).magnitude
    let powerText = power < 10 ? "0\(power)" : "\(power)"
    return "\(sign)\(digits.prefix(1))\(fraction)e\(whole > 0 ? "+" : "-")\(powerText)"
  }

  /// Whether a number's text is that spelling already, as that of nearly all integers is.
  static func isNormalized(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard text.count <= mostPlainDigits, text.allSatisfy({ $0 &- 0x30 < 10 || $0 == 0x2d }) else {
      return false
    }
    return !(text.count == 2 && text[0] == 0x2d && text[1] == 0x30)
  }
}
