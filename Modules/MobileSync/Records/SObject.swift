public import SalesforceSDKCommon

/// A record for a list: its id, name and type, and its whole content.
///
/// It is made from what any of the platform's resources gives: query results, search results, recently
/// viewed items. Two are equal if id, name and content are.
public struct SObject: Sendable, Hashable {
  /// The record's id: the member `Id`, else `id`; nil without either.
  public let objectId: String?
  /// The record's name: the member `Name`, or `name` of a record without `Id`.
  public let name: String?
  /// The object, such as `Account`: the type among the record's attributes; of a recently viewed item,
  /// and of a record without `Id`, the member `Type`.
  public let objectType: String?
  /// The record.
  public let rawData: JSONObject

  /// Reads a record; what it lacks is nil.
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
