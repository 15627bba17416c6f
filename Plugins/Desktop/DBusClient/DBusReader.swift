/// Reads values from the wire, and refuses whatever does not have the form of the specification.
struct DBusReader {
  private let bytes: [UInt8]
  private let isBigEndian: Bool
  private(set) var offset: Int

  /// The deepest nesting that the specification allows: 32 arrays and 32 structures.
  private static let maxDepth = 64

  init(_ bytes: [UInt8], at offset: Int = 0, isBigEndian: Bool = false) {
    self.bytes = bytes
    self.offset = offset
    self.isBigEndian = isBigEndian
  }

  /// The values of a signature.
  mutating func values(_ signature: String) throws(DBusError) -> [DBusValue] {
    var values: [DBusValue] = []
    for type in try DBusSignature.types(in: signature) { values.append(try value(type, depth: 0)) }
    return values
  }

  private mutating func value(_ type: String, depth: Int) throws(DBusError) -> DBusValue {
    guard depth < Self.maxDepth else { throw Self.malformed("values are nested too deeply") }
    switch type.first {
    case "y": return .byte(try number(UInt8.self))
    case "b":
      switch try number(UInt32.self) {
      case 0: return .bool(false)
      case 1: return .bool(true)
      default: throw Self.malformed("a truth value is neither 0 nor 1")
      }
    case "n": return .int16(Int16(bitPattern: try number(UInt16.self)))
    case "q": return .uint16(try number(UInt16.self))
    case "i": return .int32(Int32(bitPattern: try number(UInt32.self)))
    case "u": return .uint32(try number(UInt32.self))
    case "x": return .int64(Int64(bitPattern: try number(UInt64.self)))
    case "t": return .uint64(try number(UInt64.self))
    case "d": return .double(Double(bitPattern: try number(UInt64.self)))
    case "s": return .string(try text(count: Int(try number(UInt32.self))))
    case "o": return .objectPath(try text(count: Int(try number(UInt32.self))))
    case "g": return .signature(try text(count: Int(try number(UInt8.self))))
    case "v":
      let inner = try DBusSignature.types(in: try text(count: Int(try number(UInt8.self))))
      guard inner.count == 1 else { throw Self.malformed("a variant does not hold one value") }
      return .variant(try value(inner[0], depth: depth + 1))
    case "(":
      try align(8)
      var members: [DBusValue] = []
      for member in try DBusSignature.types(in: String(type.dropFirst().dropLast())) {
        members.append(try value(member, depth: depth + 1))
      }
      return .structure(members)
    case "a": return try array(String(type.dropFirst()), depth: depth + 1)
    default: throw Self.malformed("'\(type)' is no type")
    }
  }

  private mutating func array(_ element: String, depth: Int) throws(DBusError) -> DBusValue {
    let count = Int(try number(UInt32.self))
    try align(DBusSignature.alignment(of: element))
    guard count <= bytes.count - offset else { throw Self.malformed("an array is cut off") }
    let end = offset + count
    if element == "y" {
      defer { offset = end }
      return .bytes(Array(bytes[offset..<end]))
    }
    if element.first == "{" {
      let types = try DBusSignature.types(in: String(element.dropFirst().dropLast()))
      guard types.count == 2 else { throw Self.malformed("an entry does not have two values") }
      var pairs: [(key: DBusValue, value: DBusValue)] = []
      while offset < end {
        try align(8)
        let key = try value(types[0], depth: depth)
        pairs.append((key, try value(types[1], depth: depth)))
      }
      guard offset == end else { throw Self.malformed("an array ends within an entry") }
      return .dictionary(types[0], types[1], pairs)
    }
    var values: [DBusValue] = []
    while offset < end { values.append(try value(element, depth: depth)) }
    guard offset == end else { throw Self.malformed("an array ends within a value") }
    return .array(element, values)
  }

  mutating func align(_ alignment: Int) throws(DBusError) {
    while offset % alignment != 0 {
      guard offset < bytes.count, bytes[offset] == 0 else {
        throw Self.malformed("padding is cut off or not zero")
      }
      offset += 1
    }
  }

  private mutating func number<Number: FixedWidthInteger & UnsignedInteger>(
    _ type: Number.Type
  ) throws(DBusError) -> Number {
    let size = MemoryLayout<Number>.size
    try align(size)
    guard size <= bytes.count - offset else { throw Self.malformed("a number is cut off") }
    defer { offset += size }
    let digits = bytes[offset..<(offset + size)]
    let ordered = isBigEndian ? Array(digits) : digits.reversed()
    return ordered.reduce(0) { size == 1 ? Number($1) : $0 << 8 | Number($1) }
  }

  private mutating func text(count: Int) throws(DBusError) -> String {
    guard count < bytes.count - offset, bytes[offset + count] == 0 else {
      throw Self.malformed("a text is cut off")
    }
    let letters = bytes[offset..<(offset + count)]
    guard !letters.contains(0), let text = String(validating: letters, as: UTF8.self) else {
      throw Self.malformed("a text is not UTF-8")
    }
    offset += count + 1
    return text
  }

  static func malformed(_ reason: String) -> DBusError {
    DBusError(.malformed, "A D-Bus message cannot be read: \(reason).")
  }
}

/// The signatures of types.
enum DBusSignature {
  /// The longest signature, in bytes.
  static let maxLength = 255

  /// The complete types of a signature, in order.
  static func types(in signature: String) throws(DBusError) -> [String] {
    let letters = Array(signature.utf8)
    guard letters.count <= maxLength else { throw DBusReader.malformed("a signature is too long") }
    var types: [String] = []
    var offset = 0
    while offset < letters.count {
      let end = try end(of: letters, at: offset, depth: 0)
      types.append(String(decoding: letters[offset..<end], as: UTF8.self))
      offset = end
    }
    return types
  }

  /// The end of the complete type that starts at `offset`.
  private static func end(
    of letters: [UInt8], at offset: Int, depth: Int
  ) throws(DBusError) -> Int {
    guard offset < letters.count, depth < 64 else {
      throw DBusReader.malformed("a signature is cut off or too deep")
    }
    switch Character(UnicodeScalar(letters[offset])) {
    case "y", "b", "n", "q", "i", "u", "x", "t", "d", "s", "o", "g", "v": return offset + 1
    case "a":
      guard offset + 1 < letters.count, letters[offset + 1] == UInt8(ascii: "{") else {
        return try end(of: letters, at: offset + 1, depth: depth + 1)
      }
      // A key is a basic type.
      let key = offset + 2
      guard key < letters.count, "ybnqiuxtdsog".utf8.contains(letters[key]) else {
        throw DBusReader.malformed("a dictionary has no basic key")
      }
      let close = try end(of: letters, at: key + 1, depth: depth + 1)
      guard close < letters.count, letters[close] == UInt8(ascii: "}") else {
        throw DBusReader.malformed("a dictionary has more than a key and a value")
      }
      return close + 1
    case "(":
      var at = offset + 1
      while at < letters.count, letters[at] != UInt8(ascii: ")") {
        at = try end(of: letters, at: at, depth: depth + 1)
      }
      guard at < letters.count, at > offset + 1 else {
        throw DBusReader.malformed("a structure is empty or not closed")
      }
      return at + 1
    default: throw DBusReader.malformed("'\(letters[offset])' is no type")
    }
  }

  /// The alignment of a type's values, in bytes.
  static func alignment(of type: String) -> Int {
    switch type.first {
    case "n", "q": 2
    case "b", "i", "u", "s", "o", "a": 4
    case "x", "t", "d", "(", "{": 8
    default: 1
    }
  }
}
