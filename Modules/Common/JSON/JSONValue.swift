/// Any JSON value, for callers that build or change data.
///
/// Records that only pass through stay a ``JSONSlice``, which costs far less.
public enum JSONValue: Sendable {
  case null
  case bool(Bool)
  /// A number without fraction or exponent in the range of `Int64`.
  case integer(Int64)
  /// A number that a `Double` represents exactly: converting it back gives the same decimal value.
  case double(Double)
  /// Any other number, as written.
  case number(JSONNumber)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)

  /// Checks a text and copies its value.
  ///
  /// - Throws: ``JSONError`` as `JSONSlice.init(parsing:)`.
  public init(parsing text: String, limits: JSONLimits = .default) throws(JSONError) {
    self = try JSONSlice(parsing: text, limits: limits).value
  }

  /// The member of an object; setting nil removes it. On a value that is not an object, reading
  /// returns nil. Setting a member of null creates an object; on any other value it is a
  /// programming error.
  public subscript(key: String) -> JSONValue? {
    get { object?[key] }
    set {
      guard var members = object ?? (isNull ? JSONObject() : nil) else {
        preconditionFailure("a member was set on a value that is no object")
      }
      self = .null  // the members are now held once and change in place
      members[key] = newValue
      self = .object(members)
    }
  }

  /// The element of an array; nil if out of range or this is not an array.
  public subscript(index: Int) -> JSONValue? {
    guard let array, array.indices.contains(index) else { return nil }
    return array[index]
  }

  /// Whether this is null.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The Boolean, or nil if this is not one.
  public var bool: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }

  /// The number if it is exactly a 64-bit integer, or nil.
  public var int64: Int64? {
    switch self {
    case .integer(let value): value
    case .double(let value): Int64(exactly: value)
    case .number(let value): value.int64
    default: nil
    }
  }

  /// The nearest double, or nil if this is not a number or beyond the range.
  public var double: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .double(let value): value
    case .number(let value): value.double
    default: nil
    }
  }

  /// The string, or nil if this is not one.
  public var string: String? {
    if case .string(let value) = self { value } else { nil }
  }

  /// The elements, or nil if this is not an array.
  public var array: [JSONValue]? {
    if case .array(let value) = self { value } else { nil }
  }

  /// The members, or nil if this is not an object.
  public var object: JSONObject? {
    if case .object(let value) = self { value } else { nil }
  }
}

extension JSONValue: Hashable {
  /// Whether both values are equal: numbers compare by value (`1` equals `1.0`), strings byte for
  /// byte, objects without regard to order.
  public static func == (left: JSONValue, right: JSONValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.integer(let a), .integer(let b)): a == b
    case (.string(let a), .string(let b)): MemberKey.isSame(a, b)
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)): a == b
    default:
      if let a = left.comparableNumber, let b = right.comparableNumber { a == b } else { false }
    }
  }

  /// Feeds the compared parts to the hasher.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .string(let value): hasher.combine(value)
    case .array(let value): hasher.combine(value)
    case .object(let value): hasher.combine(value)
    case .integer, .double, .number: hasher.combine(comparableNumber)
    }
  }

  /// A number in the first of three forms that shows it exactly.
  private enum ComparableNumber: Hashable {
    case integer(Int64)
    case double(Double)
    case decimal(JSONNumber)
  }

  private var comparableNumber: ComparableNumber? {
    switch self {
    case .integer(let value): .integer(value)
    case .double(let value): Int64(exactly: value).map { .integer($0) } ?? .double(value)
    case .number(let value):
      value.withDecimal { decimal in
        decimal.int64.map { .integer($0) } ?? decimal.exactDouble.map { .double($0) }
          ?? .decimal(value)
      }
    default: nil
    }
  }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
  ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Null.
  public init(nilLiteral: ()) { self = .null }
  /// A truth value.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// An integer.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// A double.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// A string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// An array.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// An object with its members in order.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(JSONObject(elements.lazy.map { (key: $0.0, value: $0.1) }))
  }
}

extension JSONValue: CustomStringConvertible {
  /// The compact JSON text. A double that JSON cannot write (infinite, not a number) shows as
  /// `null`; ``serialized()`` refuses it instead.
  public var text: String {
    var writer = JSONWriter()
    writer.appendLenient(self)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// The compact JSON text.
  public var description: String { text }

  /// Returns the compact JSON text as UTF-8, members in their order.
  ///
  /// - Throws: ``JSONError`` `notRepresentable` for a double that is infinite or not a number,
  ///   `tooDeep` beyond `JSONLimits.greatestDepth` levels.
  public func serialized() throws(JSONError) -> [UInt8] {
    var writer = JSONWriter()
    try writer.value(self)
    return writer.bytes
  }
}
