#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension JSONValue {
  /// Encodes any `Encodable` value.
  ///
  /// `Data` becomes base64, `URL` a string, `Decimal` a number as written. Members are in the order
  /// in which the type encodes them. If a type encodes a key twice, the last value is kept.
  ///
  /// - Parameter dates: The format of dates. Default: Salesforce's.
  /// - Throws: ``JSONError`` `notRepresentable` for a number or date that is not finite, or `rejected`
  ///   with the error that the type's own `encode(to:)` threw as its cause.
  public init(
    encoding value: some Encodable, dates: JSONDates = .salesforce
  ) throws(JSONError) {
    do {
      self = try JSONEncodingRules(dates: dates).value(of: value, at: [])
    } catch let error as JSONError {
      throw error
    } catch let error as EncodingError {
      guard case .invalidValue(_, let context) = error else {
        throw JSONError(.rejected, "The value could not be converted.", cause: error)
      }
      throw JSONError(
        .notRepresentable, context.debugDescription, path: JSONReading.text(context.codingPath))
    } catch {
      throw JSONError(.rejected, "A type refused to be converted.", cause: error)
    }
  }
}

/// The rules of one conversion to JSON.
private struct JSONEncodingRules {
  let dates: JSONDates

  /// Converts one value; the types with a JSON form of their own come first.
  func value(of value: some Encodable, at path: [any CodingKey]) throws -> JSONValue {
    switch value {
    case let value as JSONValue: return value
    case let value as Date:
      guard let text = dates.value(of: value) else {
        throw EncodingError.invalidValue(
          value, .init(codingPath: path, debugDescription: "A date is beyond what JSON can show."))
      }
      return text
    case let value as Data: return .string(value.base64EncodedString())
    case let value as URL: return .string(value.absoluteString)
    case let value as Decimal:
      guard let number = JSONNumber(value.description) else {
        throw Self.notFinite(value, path)
      }
      return .number(number)
    default:
      let place = JSONSlot()
      try value.encode(to: JSONValueEncoder(place: place, codingPath: path, rules: self))
      // A value that encodes nothing is an empty object, as elsewhere in Swift.
      return place.finished ?? .object([:])
    }
  }

  func double(_ value: Double, at path: [any CodingKey]) throws -> JSONValue {
    guard value.isFinite else { throw Self.notFinite(value, path) }
    return .double(value)
  }

  /// A `Float` is written with its own shortest digits, not those of the double it widens to.
  func float(_ value: Float, at path: [any CodingKey]) throws -> JSONValue {
    guard value.isFinite, let number = Double(value.description) else {
      throw Self.notFinite(value, path)
    }
    return .double(number)
  }

  func integer(_ value: some FixedWidthInteger) -> JSONValue {
    Int64(exactly: value).map { .integer($0) } ?? .number(JSONNumber(checked: String(value)))
  }

  private static func notFinite(_ value: Any, _ path: [any CodingKey]) -> EncodingError {
    .invalidValue(
      value,
      .init(codingPath: path, debugDescription: "A number that is not finite has no JSON form."))
  }
}

/// The storage of a value while its containers may still be written to, in any order.
private final class JSONSlot {
  enum Content {
    case nothing
    case value(JSONValue)
    case array([JSONSlot])
    case object(keys: [String], places: [String: JSONSlot])
  }

  var content = Content.nothing

  /// The value with all that was put inside; nil if nothing was.
  var finished: JSONValue? {
    switch content {
    case .nothing: nil
    case .value(let value): value
    case .array(let places): .array(places.map { $0.finished ?? .object([:]) })
    case .object(let keys, let places):
      .object(
        JSONObject(keys.lazy.map { (key: $0, value: places[$0]?.finished ?? .object([:])) }))
    }
  }

  /// Makes this an object, unless it is one already.
  func becomeObject() {
    if case .object = content { return }
    precondition(isFree, "a type asked for an object where it had written something else")
    content = .object(keys: [], places: [:])
  }

  /// Makes this an array, unless it is one already.
  func becomeArray() {
    if case .array = content { return }
    precondition(isFree, "a type asked for an array where it had written something else")
    content = .array([])
  }

  private var isFree: Bool {
    if case .nothing = content { true } else { false }
  }

  /// The place of a member.
  func member(_ key: String) -> JSONSlot {
    guard case .object(var keys, var places) = content else { return self }
    content = .nothing  // keeps the collections unshared while they change
    let place = places[key] ?? JSONSlot()
    if places.updateValue(place, forKey: key) == nil { keys.append(key) }
    content = .object(keys: keys, places: places)
    return place
  }

  /// The place of a further element.
  func element() -> JSONSlot {
    guard case .array(var places) = content else { return self }
    content = .nothing
    let place = JSONSlot()
    places.append(place)
    content = .array(places)
    return place
  }

  var count: Int {
    if case .array(let places) = content { places.count } else { 0 }
  }
}

/// The `Encoder` of one place.
private struct JSONValueEncoder: Encoder, SingleValueEncodingContainer {
  let place: JSONSlot
  let codingPath: [any CodingKey]
  let rules: JSONEncodingRules

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    place.becomeObject()
    return KeyedEncodingContainer(
      JSONKeyedWriter(place: place, codingPath: codingPath, rules: rules))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    place.becomeArray()
    return JSONUnkeyedWriter(place: place, codingPath: codingPath, rules: rules)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func encodeNil() { place.content = .value(.null) }
  func encode(_ value: Bool) { place.content = .value(.bool(value)) }
  func encode(_ value: String) { place.content = .value(.string(value)) }
  func encode(_ value: Double) throws {
    place.content = .value(try rules.double(value, at: codingPath))
  }
  func encode(_ value: Float) throws {
    place.content = .value(try rules.float(value, at: codingPath))
  }
  func encode(_ value: Int) { place.content = .value(rules.integer(value)) }
  func encode(_ value: Int8) { place.content = .value(rules.integer(value)) }
  func encode(_ value: Int16) { place.content = .value(rules.integer(value)) }
  func encode(_ value: Int32) { place.content = .value(rules.integer(value)) }
  func encode(_ value: Int64) { place.content = .value(rules.integer(value)) }
  func encode(_ value: UInt) { place.content = .value(rules.integer(value)) }
  func encode(_ value: UInt8) { place.content = .value(rules.integer(value)) }
  func encode(_ value: UInt16) { place.content = .value(rules.integer(value)) }
  func encode(_ value: UInt32) { place.content = .value(rules.integer(value)) }
  func encode(_ value: UInt64) { place.content = .value(rules.integer(value)) }
  func encode(_ value: some Encodable) throws {
    place.content = .value(try rules.value(of: value, at: codingPath))
  }
}

/// Members by key. Every kind of value goes the generic way, which ends in a single value.
private struct JSONKeyedWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let place: JSONSlot
  let codingPath: [any CodingKey]
  let rules: JSONEncodingRules

  func encodeNil(forKey key: Key) { place.member(key.stringValue).content = .value(.null) }

  func encode(_ value: some Encodable, forKey key: Key) throws {
    let converted = try rules.value(of: value, at: codingPath + [key])
    place.member(key.stringValue).content = .value(converted)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    superEncoder(forKey: key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    superEncoder(forKey: key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder {
    JSONValueEncoder(
      place: place.member("super"), codingPath: codingPath + [JSONKey(stringValue: "super")],
      rules: rules)
  }

  func superEncoder(forKey key: Key) -> any Encoder {
    JSONValueEncoder(
      place: place.member(key.stringValue), codingPath: codingPath + [key], rules: rules)
  }
}

/// Elements in order.
private struct JSONUnkeyedWriter: UnkeyedEncodingContainer {
  let place: JSONSlot
  let codingPath: [any CodingKey]
  let rules: JSONEncodingRules

  var count: Int { place.count }

  private var path: [any CodingKey] { codingPath + [JSONKey(intValue: count)] }

  func encodeNil() { place.element().content = .value(.null) }

  func encode(_ value: some Encodable) throws {
    let converted = try rules.value(of: value, at: path)
    place.element().content = .value(converted)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> {
    superEncoder().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    superEncoder().unkeyedContainer()
  }

  func superEncoder() -> any Encoder {
    let path = path
    return JSONValueEncoder(place: place.element(), codingPath: path, rules: rules)
  }
}

extension JSONValue: Codable {
  /// Reads any JSON value from any decoder.
  public init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: JSONKey.self) {
      var members = JSONObject()
      for key in container.allKeys {
        members[key.stringValue] = try container.decode(JSONValue.self, forKey: key)
      }
      self = .object(members)
      return
    }
    if var container = try? decoder.unkeyedContainer() {
      var elements: [JSONValue] = []
      while !container.isAtEnd { elements.append(try container.decode(JSONValue.self)) }
      self = .array(elements)
      return
    }
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .double(value)
    } else {
      self = .string(try container.decode(String.self))
    }
  }

  /// Writes any JSON value to any encoder. If neither `Int64` nor `Double` represents a number
  /// exactly, encoders other than this package's round it to a double.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .object(let members):
      var container = encoder.container(keyedBy: JSONKey.self)
      for (key, value) in members {
        try container.encode(value, forKey: JSONKey(stringValue: key))
      }
    case .array(let elements):
      var container = encoder.unkeyedContainer()
      for element in elements { try container.encode(element) }
    default:
      var container = encoder.singleValueContainer()
      switch self {
      case .bool(let value): try container.encode(value)
      case .integer(let value): try container.encode(value)
      case .string(let value): try container.encode(value)
      case .double, .number: try container.encode(double ?? .nan)
      default: try container.encodeNil()
      }
    }
  }
}
