/// A writer that appends JSON text to a byte buffer, for request bodies and changed records.
///
/// The writer adds commas and colons. Calls that cannot produce JSON (a value without a key inside
/// an object, an end without its begin) are a programming error and stop the program.
///
/// ```swift
/// var body = JSONWriter()
/// body.beginObject()
/// try body.member("Name", "Acme")
/// body.key("Parent")
/// body.raw(parent)
/// body.endObject()
/// ```
public struct JSONWriter: Sendable {
  /// The bytes written so far; a complete text once every container is closed.
  public internal(set) var bytes: [UInt8]
  /// Whether each open container is an object.
  private var containers: [Bool] = []
  private var needsComma = false
  private var hasKey = false

  /// An empty writer with room for `capacity` bytes.
  public init(capacity: Int = 256) {
    bytes = []
    bytes.reserveCapacity(capacity)
  }

  /// Whether one complete value has been written.
  public var isComplete: Bool { containers.isEmpty && !bytes.isEmpty }

  /// Discards the written bytes and keeps their memory for the next text.
  public mutating func reset() {
    bytes.removeAll(keepingCapacity: true)
    containers.removeAll(keepingCapacity: true)
    needsComma = false
    hasKey = false
  }

  /// Opens an object.
  public mutating func beginObject() {
    beginValue()
    bytes.append(0x7b)
    containers.append(true)
    needsComma = false
  }

  /// Closes the innermost object.
  public mutating func endObject() {
    precondition(containers.popLast() == true && !hasKey, "endObject() closes no object")
    bytes.append(0x7d)
    needsComma = true
  }

  /// Opens an array.
  public mutating func beginArray() {
    beginValue()
    bytes.append(0x5b)
    containers.append(false)
    needsComma = false
  }

  /// Closes the innermost array.
  public mutating func endArray() {
    precondition(containers.popLast() == false, "endArray() closes no array")
    bytes.append(0x5d)
    needsComma = true
  }

  /// Writes the key of the next value.
  public mutating func key(_ key: String) {
    beginKey()
    JSONText.append(key, to: &bytes)
    bytes.append(0x3a)
  }

  /// Writes a null.
  public mutating func null() {
    beginValue()
    bytes.append(contentsOf: "null".utf8)
  }

  /// Writes a truth value.
  public mutating func bool(_ value: Bool) {
    beginValue()
    bytes.append(contentsOf: (value ? "true" : "false").utf8)
  }

  /// Writes a string, escaped as RFC 8259 requires and no further.
  public mutating func string(_ value: String) {
    beginValue()
    JSONText.append(value, to: &bytes)
  }

  /// Writes an integer.
  public mutating func integer(_ value: some BinaryInteger) {
    beginValue()
    bytes.append(contentsOf: String(value).utf8)
  }

  /// Writes a double in the shortest form that reads back as the same double.
  ///
  /// - Throws: ``JSONError`` `notRepresentable` if it is infinite or not a number.
  public mutating func double(_ value: Double) throws(JSONError) {
    guard value.isFinite else {
      throw JSONError(.notRepresentable, "A number that is not finite has no JSON form.")
    }
    beginValue()
    bytes.append(contentsOf: value.description.utf8)
  }

  /// Writes a value unchanged, as in its text.
  public mutating func raw(_ value: JSONSlice) {
    beginValue()
    value.withText { bytes.append(contentsOf: $0) }
  }

  /// Writes any value.
  ///
  /// - Throws: ``JSONError`` `notRepresentable`, `tooDeep`; earlier output stays.
  public mutating func value(_ value: JSONValue) throws(JSONError) {
    try append(value, depth: 0, lenient: false)
  }

  /// Writes a key and its value.
  ///
  /// - Throws: As ``value(_:)``.
  public mutating func member(_ key: String, _ value: JSONValue) throws(JSONError) {
    self.key(key)
    try self.value(value)
  }

  /// Writes a value, with null in place of what JSON cannot show.
  mutating func appendLenient(_ value: JSONValue) {
    // With `lenient` nothing throws.
    try? append(value, depth: 0, lenient: true)
  }

  /// Writes what is between two values, and checks that a value is allowed here.
  @inline(__always)
  mutating func beginValue() {
    if containers.last == true {
      precondition(hasKey, "a value inside an object needs its key first")
      hasKey = false
    } else if needsComma {
      precondition(!containers.isEmpty, "the text is complete already")
      bytes.append(0x2c)
    }
    needsComma = true
  }

  /// Writes what is between two members, and checks that a key is allowed here.
  @inline(__always)
  mutating func beginKey() {
    precondition(containers.last == true && !hasKey, "a key stands inside an object alone")
    if needsComma { bytes.append(0x2c) }
    hasKey = true
  }

  private mutating func append(
    _ value: JSONValue, depth: Int, lenient: Bool
  ) throws(JSONError) {
    guard depth <= JSONLimits.greatestDepth else {
      if lenient { return null() }
      throw JSONError(
        .tooDeep, "The value nests deeper than \(JSONLimits.greatestDepth) levels.")
    }
    switch value {
    case .null: null()
    case .bool(let value): bool(value)
    case .integer(let value): integer(value)
    case .double(let value):
      if lenient, !value.isFinite { return null() }
      try double(value)
    case .number(let value):
      beginValue()
      bytes.append(contentsOf: value.text.utf8)
    case .string(let value): string(value)
    case .array(let elements):
      beginArray()
      for element in elements { try append(element, depth: depth + 1, lenient: lenient) }
      endArray()
    case .object(let members):
      beginObject()
      for (name, member) in members {
        key(name)
        try append(member, depth: depth + 1, lenient: lenient)
      }
      endObject()
    }
  }
}
