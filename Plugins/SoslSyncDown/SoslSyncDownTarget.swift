public import MobileSync
public import SalesforceSDKCommon
import SalesforceSDKCore

/// A target that downloads the records that a SOSL search finds.
///
/// JSON: `{"type": "sosl", "query": "FIND {…} …"}`.
///
/// A search is one request with one page, and each run downloads all of its results. Recently
/// written records may not be found yet. Return the id and the modification date of every object:
/// without the id, a record cannot be stored; without the date, the sync has no watermark.
public struct SoslSyncDownTarget: SyncDownTarget, Equatable {
  public static let kind = SyncTargetKind(
    .syncDown, typeName: "sosl", implementationName: "SFSoslSyncDownTarget",
    aliases: [
      "com.salesforce.androidsdk.mobilesync.target.SoslSyncDownTarget",
      "com.salesforce.androidsdk.smartsync.target.SoslSyncDownTarget",
    ])

  /// The search.
  public let query: String
  private let names: SyncFieldNames

  public var idFieldName: String { names.id }
  public var modificationDateFieldName: String { names.modificationDate }

  /// Creates a target.
  ///
  /// - Parameters:
  ///   - query: The search, for example from `SOSLBuilder`.
  ///   - idFieldName: Empty means `Id`.
  ///   - modificationDateFieldName: Empty means `LastModifiedDate`.
  /// - Throws: `SyncError` `invalidTarget` if there is no search.
  public init(
    query: String, idFieldName: String = "", modificationDateFieldName: String = ""
  ) throws(SyncError) {
    try self.init(
      configuration: [
        "query": .string(query), "idFieldName": .string(idFieldName),
        "modificationDateFieldName": .string(modificationDateFieldName),
      ])
  }

  public init(configuration: JSONObject) throws(SyncError) {
    query = try configuration.requiredSyncText("query")
    names = SyncFieldNames(configuration: configuration)
  }

  public var configuration: JSONObject { ["query": .string(query)] }

  public func startFetch(
    since maxTimeStamp: Int64, in context: SyncContext
  ) async throws -> SyncPage<Never>? {
    let records = try await found(in: context)
    return SyncPage(records: records, totalSize: records.count, next: nil)
  }

  /// Never called: there is one page.
  public func continueFetch(
    _ cursor: Never, in context: SyncContext
  ) async throws -> SyncPage<Never>? {}

  /// Returns the ids that the same search finds now.
  public func remoteIds(
    for localIds: [String], in context: SyncContext
  ) async throws -> Set<String>? {
    try SyncContext.ids(
      of: try await found(in: context), in: names.id, from: .search(query))
  }

  /// The results of the search: `{"searchRecords": […]}`, or a list alone, as old versions return
  /// it.
  private func found(in context: SyncContext) async throws -> [JSONSlice] {
    let request = RestRequest.search(query)
    let json = try await context.json(for: request)
    let list = json.kind == .array ? json : json["searchRecords"]
    guard let list, list.kind == .array else {
      throw SyncContext.unexpectedForm(json, of: request, expected: "a list of found records")
    }
    return Array(list.elements)
  }
}
