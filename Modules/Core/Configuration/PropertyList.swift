import Foundation
import SalesforceSDKCommon

/// A value of a property list in JSON form. Dates and data have no such form.
struct PropertyList: Decodable {
  let value: JSONValue

  /// Returns the members of a property list; nil if it is none, or is no dictionary of texts,
  /// numbers, booleans and their lists.
  static func members(_ document: [UInt8]) -> JSONObject? {
    try? PropertyListDecoder().decode(PropertyList.self, from: Data(document)).value.object
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    // A number is no boolean to the decoder, and a boolean no number.
    if let flag = try? container.decode(Bool.self) {
      value = .bool(flag)
    } else if let number = try? container.decode(Int64.self) {
      value = .integer(number)
    } else if let number = try? container.decode(Double.self) {
      value = .double(number)
    } else if let text = try? container.decode(String.self) {
      value = .string(text)
    } else if let list = try? container.decode([PropertyList].self) {
      value = .array(list.map(\.value))
    } else {
      let members = try container.decode([String: PropertyList].self)
      var object = JSONObject()
      for (key, member) in members.sorted(by: { $0.key < $1.key }) { object[key] = member.value }
      value = .object(object)
    }
  }
}
