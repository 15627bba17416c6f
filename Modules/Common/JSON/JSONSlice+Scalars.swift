extension JSONSlice {
  /// Whether this is `null`.
  public var isNull: Bool { kind == .null }

  /// The Boolean, or nil if this is not one.
  public var bool: Bool? {
    switch document[index].tag {
    case .yes: true
    case .no: false
    default: nil
    }
  }

  /// The string with its escapes resolved, or nil if this is not a string.
  public var string: String? { kind == .string ? document.string(at: index) : nil }

  /// The number as written, or nil if this is not a number.
  public var numberText: String? { kind == .number ? description : nil }

  /// The number if it is exactly a 64-bit integer, whichever way it is written (`1`, `1.0`,
  /// `1e2`); nil if it has a fraction, is out of range, or this is not a number.
  public var int64: Int64? { withNumber { $0.int64 } }

  /// The number without its fraction; out of range, the nearest 64-bit integer. Nil if this is no
  /// number (SS-70).
  public var clampedInt64: Int64? { withNumber { $0.clampedInt64 } }

  /// The double nearest to the number; nil if it exceeds the range of a double or this is not a
  /// number.
  public var double: Double? { withNumber { $0.double } }

  private func withNumber<R>(_ body: (JSONDecimal) -> R?) -> R? {
    guard document[index].rawTag == JSONWord.Tag.number.rawValue else { return nil }
    return withText { body(JSONDecimal($0)) }
  }
}
