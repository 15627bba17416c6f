import Foundation
import GRDB
import SalesforceSDKCommon

/// The rules that one value has to keep to be stored in a field.
///
/// Rules that need other records (references, uniqueness) are ``RecordWriter``'s.
struct FieldRules {
  let object: ObjectSchema
  /// The request's body, to name the line and column of a value that has the wrong type.
  let body: [UInt8]

  /// The stored form of `value`.
  ///
  /// - Throws: ``ServerError`` with the platform's code for the rule that the value breaks.
  func stored(_ value: JSONSlice, in field: FieldSchema) throws(ServerError) -> DatabaseValue {
    if value.isNull { return try null(in: field) }
    switch field.type {
    case .boolean: return try boolean(value, in: field).databaseValue
    case .int, .long: return try integer(value, in: field).databaseValue
    case .double, .currency, .percent: return try number(value, in: field).databaseValue
    case .date: return try parsed(value, as: "date", in: field, DateText.parseDate)
    case .datetime: return try parsed(value, as: "datetime", in: field, DateText.parseDateTime)
    case .time: return try parsed(value, as: "time", in: field, DateText.parseTime)
    case .id, .reference: return try reference(value, in: field)
    case .base64:
      let text = try text(of: value, in: field)
      guard Data(base64Encoded: text) != nil else {
        throw wrongType(value, expected: "base64")
      }
      return text.databaseValue
    case .address, .location: throw .readOnly([field.name])
    case .multipicklist: return try multipicklist(text(of: value, in: field), in: field)
    case .string, .textarea, .phone, .url, .email, .combobox, .encryptedstring, .picklist,
      .anyType, .complexvalue, .datacategorygroupreference:
      return try stored(text: text(of: value, in: field), in: field)
    }
  }

  /// The stored form of a text for a text field: blanks around it fall away, and an empty text is null.
  func stored(text: String, in field: FieldSchema) throws(ServerError) -> DatabaseValue {
    let text = text.trimmingBlanks()
    if text.isEmpty { return try null(in: field) }
    if field.length > 0, text.utf8.count > field.length, text.unicodeScalars.count > field.length {
      throw ServerError(
        "STRING_TOO_LONG",
        "\(field.label): data value too large: \(text) (max length=\(field.length))",
        fields: [field.name])
    }
    switch field.type {
    case .picklist where field.restrictedPicklist:
      return try restricted(text, in: field).databaseValue
    case .email where !Self.isEmail(text):
      throw ServerError(
        "INVALID_EMAIL_ADDRESS", "\(field.label): invalid email address: \(text)",
        fields: [field.name])
    default:
      return text.databaseValue
    }
  }

  private func null(in field: FieldSchema) throws(ServerError) -> DatabaseValue {
    if field.type == .boolean {
      throw ServerError(
        "INVALID_TYPE_ON_FIELD_IN_RECORD", "\(field.label): value not of required type: null",
        fields: [field.name])
    }
    return .null
  }

  private func boolean(_ value: JSONSlice, in field: FieldSchema) throws(ServerError) -> Bool {
    if let bool = value.bool { return bool }
    switch value.string?.lowercased() {
    case "true"?: return true
    case "false"?: return false
    default: throw wrongType(value, expected: "boolean")
    }
  }

  private func integer(_ value: JSONSlice, in field: FieldSchema) throws(ServerError) -> Int64 {
    let integer = value.int64 ?? value.string.flatMap { Int64($0.trimmingBlanks()) }
    guard let integer else { throw wrongType(value, expected: field.type.rawValue) }
    if field.type == .int, Int32(exactly: integer) == nil {
      throw wrongType(value, expected: field.type.rawValue)
    }
    if field.digits > 0, abs(Double(integer)) >= pow(10, Double(field.digits)) {
      throw outsideValidRange(Double(integer), in: field)
    }
    return integer
  }

  private func number(_ value: JSONSlice, in field: FieldSchema) throws(ServerError) -> Double {
    let number = value.double ?? value.string.flatMap { Double($0.trimmingBlanks()) }
    guard let number, number.isFinite else {
      throw wrongType(value, expected: field.type == .currency ? "currency" : "double")
    }
    return try stored(number: number, in: field)
  }

  /// A number as its field keeps it: rounded half up to the field's scale.
  func stored(number: Double, in field: FieldSchema) throws(ServerError) -> Double {
    if let name = field.compoundFieldName, let limit = Self.limit(ofCoordinate: field),
      abs(number) > limit
    {
      throw ServerError(
        "NUMBER_OUTSIDE_VALID_RANGE",
        "\(field.label): value outside of valid range on numeric field: \(number)",
        fields: [field.custom ? name : field.name])
    }
    guard field.precision > 0 else { return number }
    guard abs(number) < pow(10, Double(field.precision - field.scale)) else {
      throw outsideValidRange(number, in: field)
    }
    let unit = pow(10, Double(field.scale))
    let scaled = number * unit
    // Beyond 2^53 a Double has no digits that rounding could drop.
    return abs(scaled) < 9e15 ? scaled.rounded(.toNearestOrAwayFromZero) / unit : number
  }

  /// How far a coordinate can lie from zero; nil for a field that is none.
  private static func limit(ofCoordinate field: FieldSchema) -> Double? {
    if field.name.hasSuffix("Latitude") || field.name.hasSuffix("__Latitude__s") { return 90 }
    if field.name.hasSuffix("Longitude") || field.name.hasSuffix("__Longitude__s") { return 180 }
    return nil
  }

  private func parsed(
    _ value: JSONSlice, as expected: String, in field: FieldSchema, _ parse: (String) -> String?
  ) throws(ServerError) -> DatabaseValue {
    guard let text = value.string?.trimmingBlanks() else {
      throw wrongType(value, expected: expected)
    }
    if text.isEmpty { return .null }
    if let stored = parse(text) { return stored.databaseValue }
    if let day = DateText.unknownDay(text), expected != "time" {
      throw ServerError(
        "FIELD_INTEGRITY_EXCEPTION", "\(field.label): invalid date: \(day)", fields: [field.name])
    }
    throw wrongType(value, expected: expected)
  }

  private func reference(
    _ value: JSONSlice, in field: FieldSchema
  ) throws(ServerError) -> DatabaseValue {
    let text = try text(of: value, in: field).trimmingBlanks()
    if text.isEmpty { return .null }
    guard let id = RecordID.normalized(text) else {
      throw ServerError(
        "MALFORMED_ID", "\(field.label): id value of incorrect type: \(text)", fields: [field.name])
    }
    return id.databaseValue
  }

  private func multipicklist(
    _ text: String, in field: FieldSchema
  ) throws(ServerError) -> DatabaseValue {
    var chosen: [String] = []
    for part in text.split(separator: ";") {
      let value = String(part).trimmingBlanks()
      if value.isEmpty { continue }
      chosen.append(field.restrictedPicklist ? try restricted(value, in: field) : value)
    }
    if chosen.isEmpty { return .null }
    // The platform keeps the order of the picklist, not that of the caller.
    let order = field.picklistValues.map(\.value)
    chosen.sort { (order.firstIndex(of: $0) ?? .max) < (order.firstIndex(of: $1) ?? .max) }
    return try stored(text: chosen.joined(separator: ";"), in: field)
  }

  private func restricted(_ text: String, in field: FieldSchema) throws(ServerError) -> String {
    let active = field.picklistValues.filter(\.active)
    if let value = active.first(where: { $0.value == text })
      ?? active.first(where: { $0.value.lowercased() == text.lowercased() })
    {
      return value.value
    }
    throw ServerError(
      "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST",
      "\(field.label): bad value for restricted picklist field: \(text)", fields: [field.name])
  }

  /// The text of a scalar; a number or boolean stands for its text.
  private func text(of value: JSONSlice, in field: FieldSchema) throws(ServerError) -> String {
    switch value.kind {
    case .string: return value.string ?? ""
    case .number, .bool: return value.description
    case .object, .array, .null: throw wrongType(value, expected: field.type.rawValue)
    }
  }

  private func outsideValidRange(_ number: Double, in field: FieldSchema) -> ServerError {
    ServerError(
      "NUMBER_OUTSIDE_VALID_RANGE",
      "\(field.label): value outside of valid range on numeric field: \(number)",
      fields: [field.name])
  }

  /// The error for a JSON value that cannot stand for a value of the field's type.
  private func wrongType(_ value: JSONSlice, expected: String) -> ServerError {
    let token: String
    switch value.kind {
    case .object: token = "START_OBJECT value {"
    case .array: token = "START_ARRAY value ["
    case .string: token = "VALUE_STRING value \(value.string ?? "")"
    case .number:
      let text = value.description
      let isInteger = !text.contains(where: { $0 == "." || $0 == "e" || $0 == "E" })
      token = "VALUE_NUMBER_\(isInteger ? "INT" : "FLOAT") value \(text)"
    case .bool: token = "VALUE_\(value.description.uppercased()) value \(value.description)"
    case .null: token = "VALUE_NULL value null"
    }
    let (line, column) = TextPosition.of(offset: value.utf8.startIndex, in: body)
    return .jsonParser(
      "Cannot deserialize instance of \(expected) from \(token) or request may be missing a required "
        + "field at [line:\(line), column:\(column)]")
  }

  private static func isEmail(_ text: String) -> Bool {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, !text.contains(where: \.isWhitespace) else {
      return false
    }
    let labels = parts[1].split(separator: ".", omittingEmptySubsequences: false)
    return labels.count >= 2 && labels.allSatisfy { !$0.isEmpty }
  }
}

/// Line and column, counted from 1, of a place in a text.
enum TextPosition {
  static func of(offset: Int, in text: [UInt8]) -> (line: Int, column: Int) {
    var line = 1
    var lineStart = 0
    for (index, byte) in text.prefix(max(offset, 0)).enumerated() where byte == UInt8(ascii: "\n") {
      line += 1
      lineStart = index + 1
    }
    return (line, offset - lineStart + 1)
  }
}

extension String {
  /// The text without blanks, tabs and line ends at its ends.
  func trimmingBlanks() -> String {
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }
    guard let first = utf8.first, let last = utf8.last, isBlank(first) || isBlank(last) else {
      return self
    }
    guard let start = utf8.firstIndex(where: { !isBlank($0) }),
      let end = utf8.lastIndex(where: { !isBlank($0) })
    else { return "" }
    return String(self[start...end])
  }
}
