public import SalesforceSDKCommon

/// The object argument of a call, with typed access to its members. A null member counts as
/// missing.
public struct HybridMessage: Sendable {
  /// The call.
  let call: HybridCall
  private let json: JSONSlice?

  init(_ call: HybridCall) {
    self.call = call
    json = call.arguments.first.flatMap { $0.kind == .object ? $0 : nil }
  }

  /// A member as the page wrote it; nil if it is missing or null.
  public subscript(key: String) -> JSONSlice? {
    guard let value = json?[key], !value.isNull else { return nil }
    return value
  }

  /// Returns a text; nil if it is missing.
  ///
  /// - Throws: ``HybridError`` `invalidArguments` for anything else.
  public func text(_ key: String) throws(HybridError) -> String? {
    guard let value = self[key] else { return nil }
    guard let text = value.string else { throw invalid(key, "a text") }
    return text
  }

  /// Returns a required text.
  public func requiredText(_ key: String) throws(HybridError) -> String {
    guard let text = try text(key) else { throw invalid(key, "a text") }
    return text
  }

  /// Returns an integer; nil if it is missing. Doubles without a fraction and texts of integers are
  /// accepted, because pages read numbers from input fields and attributes.
  ///
  /// - Throws: ``HybridError`` `invalidArguments` for anything else.
  public func integer(_ key: String) throws(HybridError) -> Int64? {
    guard let value = self[key] else { return nil }
    guard let number = Self.wholeNumber(value) else { throw invalid(key, "a whole number") }
    return number
  }

  /// The whole number that a value or its text is; nil for anything else.
  static func wholeNumber(_ value: JSONSlice) -> Int64? {
    value.int64 ?? value.string.flatMap { Int64($0) }
  }

  /// Returns a Boolean; `false` if it is missing.
  public func flag(_ key: String) throws(HybridError) -> Bool {
    guard let value = self[key] else { return false }
    guard let flag = value.bool else { throw invalid(key, "true or false") }
    return flag
  }

  /// Returns an object; nil if it is missing.
  public func object(_ key: String) throws(HybridError) -> JSONSlice? {
    guard let value = self[key] else { return nil }
    guard value.kind == .object else { throw invalid(key, "an object") }
    return value
  }

  /// Returns the elements of an array; nil if it is missing.
  public func array(_ key: String) throws(HybridError) -> [JSONSlice]? {
    guard let value = self[key] else { return nil }
    guard value.kind == .array else { throw invalid(key, "an array") }
    return Array(value.elements)
  }

  /// Returns the error for a member that is missing or has the wrong type.
  public func invalid(_ key: String, _ expected: String) -> HybridError {
    HybridError(.invalidArguments, "Cannot carry out \(call.action): \(key) must be \(expected).")
  }
}
