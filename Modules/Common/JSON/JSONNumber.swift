/// A number that keeps its spelling because neither `Int64` nor `Double` represents it exactly,
/// such as a large id or an amount with many digits.
public struct JSONNumber: Sendable, Hashable, CustomStringConvertible {
  /// The number as written.
  public let text: String

  /// Creates a number from its text; nil if the text is not a number by RFC 8259 (`01`, `+1`, `.5`,
  /// `NaN`).
  public init?(_ text: String) {
    guard let slice = try? JSONSlice(parsing: text), slice.kind == .number,
      slice.utf8.count == text.utf8.count
    else { return nil }
    self.text = text
  }

  init(checked text: String) { self.text = text }

  /// The number if it is exactly a 64-bit integer.
  public var int64: Int64? { withDecimal { $0.int64 } }

  /// The number without its fraction; out of range, the nearest 64-bit integer.
  package var clampedInt64: Int64 { withDecimal(\.clampedInt64) }

  /// The nearest double, or nil beyond its range.
  public var double: Double? { withDecimal { $0.double } }

  /// The number as written.
  public var description: String { text }

  func withDecimal<R>(_ body: (JSONDecimal) -> R) -> R {
    var text = text
    return text.withUTF8 { body(JSONDecimal($0)) }
  }

  /// Two numbers are equal if they are the same to the last digit, however they are written.
  public static func == (left: JSONNumber, right: JSONNumber) -> Bool {
    left.withDecimal { one in right.withDecimal { one.isSame(as: $0) } }
  }

  /// Feeds sign, digits and power of ten to the hasher.
  public func hash(into hasher: inout Hasher) {
    withDecimal { decimal in
      hasher.combine(decimal.digitCount > 0 && decimal.isNegative)
      hasher.combine(decimal.exponent)
      for digit in decimal.digits { hasher.combine(digit) }
    }
  }
}
