public import MobileSync
public import SalesforceSDKCommon
import SalesforceSDKCore

/// A target that downloads the records of one object that the user worked with last.
///
/// JSON: `{"type": "mru", "sobjectType": "Account", "fieldlist": ["Name"]}`, both required.
///
/// A run costs two requests, one if there are no recent records, and downloads all of them. A record is
/// a ghost when the server no longer has it, not when it has left the list.
public struct MruSyncDownTarget: SyncDownTarget, Equatable {
  public static let kind = SyncTargetKind(
    .syncDown, typeName: "mru", implementationName: "SFMruSyncDownTarget",
    aliases: [
      "com.salesforce.androidsdk.mobilesync.target.MruSyncDownTarget",
      "com.salesforce.androidsdk.smartsync.target.MruSyncDownTarget",
    ])

  /// The object.
  public let objectType: String
  /// The fields to download, as given; the id and the modification date are added.
  public let fieldlist: [String]
  private let names: SyncFieldNames

  public var idFieldName: String { names.id }
  public var modificationDateFieldName: String { names.modificationDate }

  /// Creates a target.
  ///
  /// - Parameters:
  ///   - idFieldName: Empty means `Id`.
  ///   - modificationDateFieldName: Empty means `LastModifiedDate`.
  /// - Throws: `SyncError` `invalidTarget` without an object.
  public init(
    objectType: String, fieldlist: [String], idFieldName: String = "",
    modificationDateFieldName: String = ""
  ) throws(SyncError) {
    try self.init(
      configuration: [
        "sobjectType": .string(objectType), "fieldlist": .array(fieldlist.map { .string($0) }),
        "idFieldName": .string(idFieldName),
        "modificationDateFieldName": .string(modificationDateFieldName),
      ])
  }

  public init(configuration: JSONObject) throws(SyncError) {
    objectType = try configuration.requiredSyncObjectType()
    fieldlist = try configuration.requiredSyncTexts("fieldlist")
    names = SyncFieldNames(configuration: configuration)
  }

  public var configuration: JSONObject {
    [
      "sobjectType": .string(objectType), "fieldlist": .array(fieldlist.map { .string($0) }),
    ]
  }

  public func startFetch(
    since maxTimeStamp: Int64, in context: SyncContext
  ) async throws -> SyncPage<Never>? {
    let ids = try await recentIds(in: context)
    if ids.isEmpty { return SyncPage(records: [], totalSize: 0, next: nil) }
    let records = try await IdQuery(
      fields: names.completing(fieldlist), objectType: objectType, idField: names.id
    ).records(ids, in: context)
    return SyncPage(records: records, totalSize: records.count, next: nil)
  }

  /// Never called: there is one page.
  public func continueFetch(
    _ cursor: Never, in context: SyncContext
  ) async throws -> SyncPage<Never>? {}

  public func remoteIds(
    for localIds: [String], in context: SyncContext
  ) async throws -> Set<String>? {
    try await IdQuery(fields: [names.id], objectType: objectType, idField: names.id)
      .existing(among: localIds, in: context)
  }

  /// The ids of `{"recentItems": [{"Id": "…"}]}`. The resource always calls them `Id`.
  private func recentIds(in context: SyncContext) async throws -> [String] {
    let request = RestRequest(path: "/{v}/sobjects/\(PercentEncoding.encode(objectType))/")
    let json = try await context.json(for: request)
    guard let items = json["recentItems"], items.kind == .array else {
      throw SyncContext.unexpectedForm(
        json, of: request, expected: "an object's description with its recent records")
    }
    return try items.elements.map { item in
      guard let id = item[SyncKeys.defaultIdField]?.string else {
        throw SyncContext.unexpectedForm(item, of: request, expected: "a list of recent records")
      }
      return id
    }
  }
}

extension MruSyncDownTarget: DownloadedFieldListing {
  /// The fields of the list.
  public func downloadedFields(into soupName: String) -> [String]? { fieldlist }

  /// The object of the target.
  public func downloadedObject(into soupName: String) -> String? { objectType }
}
