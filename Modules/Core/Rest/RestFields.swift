public import SalesforceSDKCommon

/// The fields of one record, as the JSON object of a request's body.
///
/// The text is sent unchanged: numbers keep their digits, members their order.
///
/// ```swift
/// let fields: RestFields = ["Name": "Acme", "NumberOfEmployees": 12]
/// ```
public struct RestFields: Sendable, Equatable {
  /// The JSON object.
  public let json: JSONSlice

  /// Uses a JSON object with its text unchanged.
  ///
  /// - Throws: ``RestError`` `invalidRequest` if it is not an object.
  public init(_ json: JSONSlice) throws(RestError) {
    guard json.kind == .object else {
      throw RestError(.invalidRequest, "The fields of a record must be a JSON object.")
    }
    self.json = json
  }

  /// Creates the fields from an object.
  ///
  /// - Throws: ``RestError`` `invalidRequest` if a number in it is not finite.
  public init(_ object: JSONObject) throws(RestError) {
    do throws(JSONError) {
      self.json = try JSONSlice(parsing: JSONValue.object(object).serialized())
    } catch {
      throw RestError(
        .invalidRequest, "The fields of a record cannot be written as JSON.", cause: error)
    }
  }

  /// Creates the fields from any value.
  ///
  /// - Throws: ``RestError`` `invalidRequest` if it is not an object, or a number in it is not finite.
  public init(_ value: JSONValue) throws(RestError) {
    guard case .object(let object) = value else {
      throw RestError(.invalidRequest, "The fields of a record must be a JSON object.")
    }
    try self.init(object)
  }

  /// Creates the fields from a JSON text.
  ///
  /// - Throws: ``RestError`` `invalidRequest` if it is not a JSON object.
  public init(jsonText: [UInt8]) throws(RestError) {
    let json: JSONSlice
    do throws(JSONError) {
      json = try JSONSlice(parsing: jsonText)
    } catch {
      throw RestError(.invalidRequest, "The fields of a record are not JSON.", cause: error)
    }
    try self.init(json)
  }

  /// The text as a request's body.
  var body: [UInt8] { Array(json.utf8) }

  /// Whether it has a member of that name.
  func has(_ name: String) -> Bool { json[name] != nil }

  /// Appends the object with `{"attributes":...}` in front of its own members, without a tree in
  /// between.
  ///
  /// - Precondition: `attributes` is the text of a JSON object.
  func append(attributes: [UInt8], to body: inout [UInt8]) {
    let own = json["attributes"] == nil ? json : withoutAttributes
    let members = own.utf8.dropFirst().dropLast()
    body.append(contentsOf: Array(#"{"attributes":"#.utf8))
    body.append(contentsOf: attributes)
    if own.count > 0 {
      body.append(UInt8(ascii: ","))
      body.append(contentsOf: members)
    }
    body.append(UInt8(ascii: "}"))
  }

  private var withoutAttributes: JSONSlice {
    // Removing a member of a validated object cannot fail; if it did, the server would name the
    // duplicate.
    (try? json.setting([], removing: ["attributes"])) ?? json
  }
}

extension RestFields: ExpressibleByDictionaryLiteral {
  /// Creates the object from a literal.
  ///
  /// - Precondition: Every number is finite.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    var object = JSONObject()
    for (key, value) in elements { object[key] = value }
    do throws(RestError) {
      try self.init(object)
    } catch {
      preconditionFailure("a literal of fields cannot be written as JSON: \(error)")
    }
  }
}

/// The number of members, never their text.
extension RestFields: CustomStringConvertible {
  public var description: String { "\(json.count) fields" }
}
