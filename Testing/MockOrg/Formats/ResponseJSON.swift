import SalesforceSDKCommon

/// A value of a JSON response. Members keep their order, and what is JSON already is sent byte for byte.
///
/// ```swift
/// OrgResponse.json(["id": .string(id), "success": true, "errors": []], status: 201)
/// ```
enum ResponseJSON: Sendable {
  typealias Member = (key: String, value: ResponseJSON)

  case null
  case bool(Bool)
  case integer(Int)
  /// A number with a decimal point; null if it is not finite.
  case double(Double)
  case string(String)
  case array([ResponseJSON])
  case object([Member])
  case raw(JSONSlice)

  /// A string, or null.
  static func string(orNull value: String?) -> ResponseJSON { value.map { .string($0) } ?? .null }

  static func integer(orNull value: Int?) -> ResponseJSON { value.map { .integer($0) } ?? .null }

  static func strings(_ values: some Sequence<String>) -> ResponseJSON {
    .array(values.map { .string($0) })
  }

  /// An array of objects, or of whatever else the elements become.
  static func array<Element>(
    _ elements: some Sequence<Element>, _ value: (Element) throws -> ResponseJSON
  ) rethrows -> ResponseJSON {
    .array(try elements.map(value))
  }

  /// Adds the members of another object behind those of this one.
  mutating func append(_ other: ResponseJSON) {
    guard case .object(let members) = self, case .object(let others) = other else {
      preconditionFailure("members were added to, or taken from, a value that is no object")
    }
    self = .object(members + others)
  }

  /// The object with members added to one of its members, which is an object, too.
  func adding(_ others: ResponseJSON, to key: String) -> ResponseJSON {
    guard case .object(let members) = self else { return self }
    return .object(
      members.map { member in
        guard member.key == key else { return member }
        var value = member.value
        value.append(others)
        return (key, value)
      })
  }

  /// The JSON text in UTF-8.
  var bytes: [UInt8] {
    var writer = JSONWriter()
    writer.write(self)
    return writer.bytes
  }

  /// The value as a client reads it.
  var slice: JSONSlice {
    get throws(JSONError) { try JSONSlice(parsing: bytes) }
  }
}

extension JSONWriter {
  mutating func write(_ value: ResponseJSON) {
    switch value {
    case .null: null()
    case .bool(let value): bool(value)
    case .integer(let value): integer(value)
    case .double(let value): double(orNull: value)
    case .string(let value): string(value)
    case .raw(let value): raw(value)
    case .array(let elements):
      beginArray()
      for element in elements { write(element) }
      endArray()
    case .object(let members):
      beginObject()
      for (key, value) in members {
        self.key(key)
        write(value)
      }
      endObject()
    }
  }

  /// Writes a number with a decimal point; null if it is not finite, since JSON has no form for that.
  mutating func double(orNull value: Double) {
    guard value.isFinite, (try? double(value)) != nil else { return null() }
  }
}

extension ResponseJSON: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  init(nilLiteral: ()) { self = .null }
  init(booleanLiteral value: Bool) { self = .bool(value) }
  init(integerLiteral value: Int) { self = .integer(value) }
  init(stringLiteral value: String) { self = .string(value) }
  init(arrayLiteral elements: ResponseJSON...) { self = .array(elements) }
  init(dictionaryLiteral members: (String, ResponseJSON)...) {
    self = .object(members.map { (key: $0.0, value: $0.1) })
  }
}
