public import SalesforceSDKCommon

/// The value of a response: JSON text, or no value at all.
///
/// Without a value, the callback is called without an argument. The text is sent to the page
/// unchanged, so entries of a store cross the bridge without being decoded and encoded again.
public struct HybridValue: Sendable, Equatable {
  /// The JSON text as UTF-8; nil for no value.
  let json: [UInt8]?

  private init(text: [UInt8]?) { json = text }

  /// No value.
  public static let none = HybridValue(text: nil)

  /// A value. A double that JSON cannot express becomes null.
  public init(_ value: JSONValue) { json = Array(value.text.utf8) }

  /// A value with its text unchanged.
  public init(_ slice: JSONSlice) { json = Array(slice.utf8) }

  /// The value that a writer wrote.
  ///
  /// - Precondition: The writer has written one complete value.
  public init(_ writer: JSONWriter) {
    precondition(writer.isComplete, "the writer has written no complete value")
    json = writer.bytes
  }

  /// A text which the caller has checked to be one JSON value.
  package init(checkedJSON text: [UInt8]) { json = text }

  /// The JSON text; nil for no value.
  public var text: String? { json.map { String(decoding: $0, as: UTF8.self) } }

  /// The value, decoded; nil for no value.
  public var value: JSONValue? { json.flatMap { try? JSONSlice(parsing: $0).value } }
}
