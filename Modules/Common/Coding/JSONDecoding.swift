#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension JSONSlice {
  /// Decodes a value of any `Decodable` type directly from the text.
  ///
  /// `Data` is read from base64, `URL` from a string, `Decimal` from a number's text; a `JSONValue`
  /// property accepts any value. An integer type accepts only a number that it can represent
  /// exactly.
  ///
  /// - Parameter dates: The form of dates in the text. Default: as Salesforce writes them.
  /// - Throws: ``JSONError`` `typeMismatch`, `missing`, or `rejected` with the error that the type's
  ///   own `init(from:)` threw as its cause; ``JSONError/path`` names the member.
  public func decode<T: Decodable>(
    as type: T.Type = T.self, dates: JSONDates = .salesforce
  ) throws(JSONError) -> T {
    do {
      return try JSONReading(dates: dates).decode(type, from: self, at: [])
    } catch let error as JSONError {
      throw error
    } catch let error as DecodingError {
      throw JSONError(error)
    } catch {
      throw JSONError(.rejected, "\(type) refused the value.", cause: error)
    }
  }
}

extension JSONValue {
  /// Decodes a value of any `Decodable` type; see `JSONSlice.decode(as:dates:)`.
  ///
  /// - Throws: ``JSONError`` as there, and `notRepresentable` for a number that is not finite.
  public func decode<T: Decodable>(
    as type: T.Type = T.self, dates: JSONDates = .salesforce
  ) throws(JSONError) -> T {
    let limits = JSONLimits(maxDepth: JSONLimits.greatestDepth)
    return try JSONSlice(parsing: serialized(), limits: limits).decode(as: type, dates: dates)
  }
}

extension JSONError {
  /// The standard library's decoding errors in this package's form.
  fileprivate init(_ error: DecodingError) {
    switch error {
    case .typeMismatch(_, let context):
      self.init(.typeMismatch, context.debugDescription, path: JSONReading.text(context.codingPath))
    case .valueNotFound(_, let context):
      self.init(.missing, context.debugDescription, path: JSONReading.text(context.codingPath))
    case .keyNotFound(let key, let context):
      self.init(
        .missing, "A member that is required is absent.",
        path: JSONReading.text(context.codingPath + [key]))
    case .dataCorrupted(let context):
      // The standard library's own sentence quotes the value, such as an enum's unknown raw value.
      self.init(
        .typeMismatch, "The type refused the value.", path: JSONReading.text(context.codingPath),
        cause: error)
    @unknown default:
      self.init(.rejected, "The value could not be converted.", cause: error)
    }
  }
}

/// The rules of one conversion from JSON.
struct JSONReading {
  let dates: JSONDates

  /// Converts one value; the types with a JSON form of their own come first.
  func decode<T: Decodable>(
    _ type: T.Type, from slice: JSONSlice, at path: [any CodingKey]
  ) throws -> T {
    if let special = try special(type, from: slice, at: path) { return special }
    return try T(from: JSONReader(slice: slice, codingPath: path, reading: self))
  }

  private func special<T>(
    _ type: T.Type, from slice: JSONSlice, at path: [any CodingKey]
  ) throws -> T? {
    if type == JSONValue.self { return slice.value as? T }
    if type == Date.self {
      return try require(dates.date(from: slice), "a date", path) as? T
    }
    if type == Data.self {
      let bytes = slice.string.flatMap { Data(base64Encoded: $0) }
      return try require(bytes, "base64 text", path) as? T
    }
    if type == URL.self {
      return try require(slice.string.flatMap { URL(string: $0) }, "a URL", path) as? T
    }
    if type == Decimal.self {
      return try require(slice.numberText.flatMap { Decimal(string: $0) }, "a number", path) as? T
    }
    return nil
  }

  func require<T>(_ value: T?, _ name: String, _ path: [any CodingKey]) throws -> T {
    guard let value else { throw Self.mismatch(T.self, name, path) }
    return value
  }

  static func mismatch(_ type: Any.Type, _ name: String, _ path: [any CodingKey]) -> DecodingError {
    .typeMismatch(type, .init(codingPath: path, debugDescription: "The value is not \(name)."))
  }

  /// A coding path as keys and positions separated by dots.
  static func text(_ path: [any CodingKey]) -> String {
    path.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
  }

  func bool(_ slice: JSONSlice, _ path: [any CodingKey]) throws -> Bool {
    try require(slice.bool, "true or false", path)
  }

  func string(_ slice: JSONSlice, _ path: [any CodingKey]) throws -> String {
    try require(slice.string, "a string", path)
  }

  func double(_ slice: JSONSlice, _ path: [any CodingKey]) throws -> Double {
    try require(slice.double, "a number in the range of Double", path)
  }

  func float(_ slice: JSONSlice, _ path: [any CodingKey]) throws -> Float {
    let value = Float(try double(slice, path))
    return try require(value.isFinite ? value : nil, "a number in the range of Float", path)
  }

  func integer<I: FixedWidthInteger>(_ slice: JSONSlice, _ path: [any CodingKey]) throws -> I {
    if let value = slice.int64.flatMap({ I(exactly: $0) }) { return value }
    // Beyond Int64 only what is written as a plain integer is read: UInt64, Int128.
    return try require(
      slice.numberText.flatMap { I($0) }, "an integer in the range of \(I.self)", path)
  }
}

/// The `Decoder` at one place in a text.
private struct JSONReader: Decoder, SingleValueDecodingContainer {
  let slice: JSONSlice
  let codingPath: [any CodingKey]
  let reading: JSONReading

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard slice.kind == .object else {
      throw JSONReading.mismatch([String: Any].self, "an object", codingPath)
    }
    return KeyedDecodingContainer(
      JSONKeyedReader(object: slice, codingPath: codingPath, reading: reading))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard slice.kind == .array else {
      throw JSONReading.mismatch([Any].self, "an array", codingPath)
    }
    return JSONUnkeyedReader(array: slice, codingPath: codingPath, reading: reading)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { slice.isNull }
  func decode(_ type: Bool.Type) throws -> Bool { try reading.bool(slice, codingPath) }
  func decode(_ type: String.Type) throws -> String { try reading.string(slice, codingPath) }
  func decode(_ type: Double.Type) throws -> Double { try reading.double(slice, codingPath) }
  func decode(_ type: Float.Type) throws -> Float { try reading.float(slice, codingPath) }
  func decode(_ type: Int.Type) throws -> Int { try reading.integer(slice, codingPath) }
  func decode(_ type: Int8.Type) throws -> Int8 { try reading.integer(slice, codingPath) }
  func decode(_ type: Int16.Type) throws -> Int16 { try reading.integer(slice, codingPath) }
  func decode(_ type: Int32.Type) throws -> Int32 { try reading.integer(slice, codingPath) }
  func decode(_ type: Int64.Type) throws -> Int64 { try reading.integer(slice, codingPath) }
  func decode(_ type: UInt.Type) throws -> UInt { try reading.integer(slice, codingPath) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try reading.integer(slice, codingPath) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try reading.integer(slice, codingPath) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try reading.integer(slice, codingPath) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try reading.integer(slice, codingPath) }
  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    try reading.decode(type, from: slice, at: codingPath)
  }
}

/// The members of an object by key.
private struct JSONKeyedReader<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let members: [String: JSONSlice]?
  private let object: JSONSlice
  let codingPath: [any CodingKey]
  private let reading: JSONReading

  /// Beyond so many members a table is made, so that a large dictionary takes linear time.
  private static var fewMembers: Int { 24 }

  init(object: JSONSlice, codingPath: [any CodingKey], reading: JSONReading) {
    self.object = object
    self.codingPath = codingPath
    self.reading = reading
    members =
      object.count <= Self.fewMembers
      ? nil
      : Dictionary(object.members.lazy.map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })
  }

  var allKeys: [Key] {
    if let members { return members.keys.compactMap { Key(stringValue: $0) } }
    var seen: Set<String> = []
    return object.members.compactMap {
      seen.insert($0.key).inserted ? Key(stringValue: $0.key) : nil
    }
  }

  private func find(_ key: Key) -> JSONSlice? {
    if let members { return members[key.stringValue] }
    return object[key.stringValue]
  }

  private func require(_ key: Key) throws -> JSONSlice {
    guard let value = find(key) else {
      throw DecodingError.keyNotFound(
        key, .init(codingPath: codingPath, debugDescription: "A required member is absent."))
    }
    return value
  }

  func contains(_ key: Key) -> Bool { find(key) != nil }
  func decodeNil(forKey key: Key) throws -> Bool { try require(key).isNull }

  private func path(_ key: Key) -> [any CodingKey] { codingPath + [key] }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try reading.decode(type, from: require(key), at: path(key))
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    guard let value = find(key), !value.isNull else { return nil }
    return try reading.decode(type, from: value, at: path(key))
  }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try reading.bool(require(key), path(key))
  }
  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try reading.string(require(key), path(key))
  }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try reading.double(require(key), path(key))
  }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    try reading.float(require(key), path(key))
  }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try reading.integer(require(key), path(key))
  }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
    try reading.integer(require(key), path(key))
  }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    try reading.integer(require(key), path(key))
  }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try reading.integer(require(key), path(key))
  }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try reading.integer(require(key), path(key))
  }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
    try reading.integer(require(key), path(key))
  }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    try reading.integer(require(key), path(key))
  }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    try reading.integer(require(key), path(key))
  }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    try reading.integer(require(key), path(key))
  }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    try reading.integer(require(key), path(key))
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try superDecoder(forKey: key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try superDecoder(forKey: key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder {
    guard let value = object["super"] else {
      throw DecodingError.keyNotFound(
        JSONKey(stringValue: "super"),
        .init(codingPath: codingPath, debugDescription: "A required member is absent."))
    }
    return JSONReader(
      slice: value, codingPath: codingPath + [JSONKey(stringValue: "super")], reading: reading)
  }

  func superDecoder(forKey key: Key) throws -> any Decoder {
    JSONReader(slice: try require(key), codingPath: path(key), reading: reading)
  }
}

/// The elements of an array in order.
private struct JSONUnkeyedReader: UnkeyedDecodingContainer {
  private var iterator: JSONElements.Iterator
  private var upcoming: JSONSlice?
  let count: Int?
  let codingPath: [any CodingKey]
  private(set) var currentIndex = 0
  private let reading: JSONReading

  init(array: JSONSlice, codingPath: [any CodingKey], reading: JSONReading) {
    iterator = array.elements.makeIterator()
    upcoming = iterator.next()
    count = array.count
    self.codingPath = codingPath
    self.reading = reading
  }

  var isAtEnd: Bool { upcoming == nil }

  private var path: [any CodingKey] { codingPath + [JSONKey(intValue: currentIndex)] }

  private func current() throws -> JSONSlice {
    guard let upcoming else {
      throw DecodingError.valueNotFound(
        Any.self, .init(codingPath: path, debugDescription: "The array has no further element."))
    }
    return upcoming
  }

  private mutating func advance() {
    upcoming = iterator.next()
    currentIndex += 1
  }

  mutating func decodeNil() throws -> Bool {
    guard try current().isNull else { return false }
    advance()
    return true
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    let value = try reading.decode(type, from: current(), at: path)
    advance()
    return value
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    try superDecoder().container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try superDecoder().unkeyedContainer()
  }

  mutating func superDecoder() throws -> any Decoder {
    let decoder = JSONReader(slice: try current(), codingPath: path, reading: reading)
    advance()
    return decoder
  }
}

/// A key or a position.
struct JSONKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  init(intValue: Int) {
    stringValue = String(intValue)
    self.intValue = intValue
  }
}
