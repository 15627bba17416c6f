public import MobileSync
public import SalesforceSDKCommon

/// An object that a briefcase target downloads, and the soup of its records.
///
/// JSON: `{"sobjectType": "Account", "soupName": "accounts", "fieldlist": ["Name"],
/// "idFieldName": "Id", "modificationDateFieldName": "LastModifiedDate"}`, the first three required.
public struct BriefcaseObjectInfo: Sendable, Equatable {
  /// The object.
  public let sobjectType: String
  /// The soup.
  public let soupName: String
  /// The fields to download, as given; the id and the modification date are added.
  public let fieldlist: [String]
  /// The id and the modification date field.
  public let names: SyncFieldNames

  /// Describes an object.
  public init(
    sobjectType: String, soupName: String, fieldlist: [String],
    names: SyncFieldNames = SyncFieldNames()
  ) {
    self.sobjectType = sobjectType
    self.soupName = soupName
    self.fieldlist = fieldlist
    self.names = names
  }

  /// Reads the JSON form.
  ///
  /// - Throws: `SyncError` `invalidTarget`, naming the missing key.
  public init(json: JSONObject) throws(SyncError) {
    self.init(
      sobjectType: try json.requiredSyncObjectType(),
      soupName: try json.requiredSyncText("soupName"),
      fieldlist: try json.requiredSyncTexts("fieldlist"), names: SyncFieldNames(configuration: json)
    )
  }

  /// The JSON form.
  public var json: JSONObject {
    [
      "sobjectType": .string(sobjectType), "soupName": .string(soupName),
      "fieldlist": .array(fieldlist.map { .string($0) }), "idFieldName": .string(names.id),
      "modificationDateFieldName": .string(names.modificationDate),
    ]
  }
}
