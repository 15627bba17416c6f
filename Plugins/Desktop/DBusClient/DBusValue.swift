/// A value of the D-Bus type system.
public indirect enum DBusValue: Sendable, Equatable {
  case byte(UInt8)
  case bool(Bool)
  case int16(Int16)
  case uint16(UInt16)
  case int32(Int32)
  case uint32(UInt32)
  case int64(Int64)
  case uint64(UInt64)
  case double(Double)
  case string(String)
  case objectPath(String)
  case signature(String)
  /// An array of bytes. It has its own case because only byte arrays are long.
  case bytes([UInt8])
  /// An array with the signature of its elements.
  case array(String, [DBusValue])
  /// A dictionary with the signatures of its keys and values, in order.
  case dictionary(String, String, [(key: DBusValue, value: DBusValue)])
  case structure([DBusValue])
  case variant(DBusValue)

  /// The signature of the value's type.
  public var signature: String {
    switch self {
    case .byte: "y"
    case .bool: "b"
    case .int16: "n"
    case .uint16: "q"
    case .int32: "i"
    case .uint32: "u"
    case .int64: "x"
    case .uint64: "t"
    case .double: "d"
    case .string: "s"
    case .objectPath: "o"
    case .signature: "g"
    case .bytes: "ay"
    case .array(let element, _): "a" + element
    case .dictionary(let key, let value, _): "a{\(key)\(value)}"
    case .structure(let members): "(" + members.map(\.signature).joined() + ")"
    case .variant: "v"
    }
  }

  public static func == (first: DBusValue, second: DBusValue) -> Bool {
    switch (first, second) {
    case (.byte(let a), .byte(let b)): a == b
    case (.bool(let a), .bool(let b)): a == b
    case (.int16(let a), .int16(let b)): a == b
    case (.uint16(let a), .uint16(let b)): a == b
    case (.int32(let a), .int32(let b)): a == b
    case (.uint32(let a), .uint32(let b)): a == b
    case (.int64(let a), .int64(let b)): a == b
    case (.uint64(let a), .uint64(let b)): a == b
    case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern
    case (.string(let a), .string(let b)), (.objectPath(let a), .objectPath(let b)),
      (.signature(let a), .signature(let b)):
      a == b
    case (.bytes(let a), .bytes(let b)): a == b
    case (.array(let s, let a), .array(let t, let b)): s == t && a == b
    case (.dictionary(let k, let v, let a), .dictionary(let l, let w, let b)):
      k == l && v == w && a.elementsEqual(b) { $0.key == $1.key && $0.value == $1.value }
    case (.structure(let a), .structure(let b)): a == b
    case (.variant(let a), .variant(let b)): a == b
    default: false
    }
  }

  /// Returns a dictionary of texts, `a{ss}`.
  public static func texts(_ texts: KeyValuePairs<String, String>) -> DBusValue {
    .dictionary("s", "s", texts.map { (.string($0.key), .string($0.value)) })
  }

  /// The text of a string, an object path or a signature.
  public var text: String? {
    switch self {
    case .string(let text), .objectPath(let text), .signature(let text): text
    case .variant(let value): value.text
    default: nil
    }
  }

  /// The Boolean, also in a variant.
  public var bool: Bool? {
    switch self {
    case .bool(let bool): bool
    case .variant(let value): value.bool
    default: nil
    }
  }

  /// The bytes of an array of them, also in a variant.
  public var byteArray: [UInt8]? {
    switch self {
    case .bytes(let bytes): bytes
    case .variant(let value): value.byteArray
    default: nil
    }
  }

  /// The texts of an array of strings or object paths.
  public var texts: [String]? {
    guard case .array(_, let values) = self else { return nil }
    return values.compactMap(\.text)
  }

  /// The value of a text key in a dictionary, without the variant around it.
  public subscript(key: String) -> DBusValue? {
    guard case .dictionary(_, _, let pairs) = self,
      let value = pairs.first(where: { $0.key == .string(key) })?.value
    else { return nil }
    if case .variant(let inner) = value { return inner }
    return value
  }
}
