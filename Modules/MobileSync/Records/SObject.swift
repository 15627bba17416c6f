public import SalesforceSDKCommon

/// A record for display in a list: its id, name and type, and its whole content.
///
/// It can be created from records of any resource: query results, search results, recently viewed
/// items. Two are equal if their ids, names and contents are.
public struct SObject: Sendable, Hashable {
  /// The record's id: the member `Id`, else `id`; nil without either.
  public let objectId: String?
  /// The record's name: the member `Name`, or `name` of a record without `Id`.
  public let name: String?
  /// The type of the object, such as `Account`: the type in the record's attributes, or the member
  /// `Type` of a recently viewed item and of a record without `Id`.
  public let objectType: String?
  /// The record.
  public let rawData: JSONObject

  /// Reads a record; missing members are nil.
  public init(_ record: JSONObject) {
    rawData = record
    guard let id = record[SyncKeys.defaultIdField]?.string else {
      objectId = record[SyncKeys.responseId]?.string
      name = record["name"]?.string
      objectType = record["Type"]?.string
      return
    }
    objectId = id
    name = record["Name"]?.string
    let type = record[SyncKeys.attributes]?[SyncKeys.type]?.string
    objectType = type == "RecentlyViewed" ? record["Type"]?.string : type
  }
}
