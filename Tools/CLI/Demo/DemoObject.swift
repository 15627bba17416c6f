import Foundation
import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore

/// An object of the demo, with the fields that are synced and those that can be edited.
struct DemoObject {
  let name: String
  /// The fields that are synced, without `Id`.
  let fields: [String]
  /// The fields that a user may change.
  let writable: [String]
  /// The field that the demo edits; nil if no field accepts a text or a number.
  let edited: EditedField?

  /// A field and the change that the demo makes to it.
  struct EditedField {
    let name: String
    let isText: Bool
    let maxLength: Int

    /// The value with a change that the reader of the output recognises.
    func changed(_ value: JSONValue?, _ note: String, by amount: Double) -> JSONValue {
      guard isText else { return .double((value?.double ?? 0) + amount) }
      return .string(String("\(value?.string ?? "") (\(note))".suffix(maxLength)))
    }
  }

  /// Requests the object's description from the server.
  ///
  /// - Parameter used: The fields that the loaded data has: those are synced.
  static func describe(_ name: String, used: Set<String>, client: RestClient) async throws
    -> DemoObject
  {
    let description = try await client.send(.describe(object: name)).json()
    let used = Set(used.map { $0.lowercased() })
    var fields: [String] = []
    var writable: [String] = []
    var edited: EditedField?
    for field in description["fields"].items {
      guard let fieldName = field["name"]?.string, used.contains(fieldName.lowercased()),
        let type = field["type"]?.string, !["address", "location"].contains(type)
      else { continue }
      fields.append(fieldName)
      guard field["updateable"]?.bool == true, field["createable"]?.bool == true else { continue }
      writable.append(fieldName)
      let isText = ["string", "textarea"].contains(type) && field["unique"]?.bool != true
      let isNumber = ["double", "currency"].contains(type)
      if edited == nil || (isText && edited?.isText == false), isText || isNumber {
        edited = EditedField(
          name: fieldName, isText: isText,
          maxLength: Int(clamping: field["length"]?.int64 ?? 255))
      }
    }
    return DemoObject(name: name, fields: fields, writable: writable, edited: edited)
  }

  /// The soup has the object's name.
  var soup: String { name }

  /// The indexes that a sync needs.
  static let indexes = [
    SoupIndex(path: "Id", type: .string), SoupIndex(path: SyncKeys.local, type: .string),
    SoupIndex(path: SyncKeys.syncId, type: .integer),
  ]

  /// The query of all records.
  var query: String { "SELECT \((["Id"] + fields).joined(separator: ", ")) FROM \(name)" }

  /// The names of the two syncs.
  var downName: String { "\(name) down" }
  var upName: String { "\(name) up" }
}
