public import MobileSync
public import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore

/// A target that downloads new versions of the records that are in a soup.
///
/// JSON: `{"type": "refresh", "soupName": "accounts", "sobjectType": "Account", "fieldlist": […],
/// "countIdsPerSoql": 500}`, the first three required.
///
/// The soup's records are fetched by their ids, 500 with a request: 10,000 records cost 20
/// requests. A re-sync requests only what changed since the newest modification date of each group.
/// Records that were created locally and are not on the server yet are skipped.
public struct RefreshSyncDownTarget: SyncDownTarget, Equatable {
  public static let kind = SyncTargetKind(
    .syncDown, typeName: "refresh", implementationName: "SFRefreshSyncDownTarget",
    aliases: [
      "com.salesforce.androidsdk.mobilesync.target.RefreshSyncDownTarget",
      "com.salesforce.androidsdk.smartsync.target.RefreshSyncDownTarget",
    ])

  /// The maximum number of ids per request, which is also the default.
  public static let maxCountIdsPerSoql = SOQLLiteral.maxIds

  /// The soup whose records are refreshed; usually the sync's own soup.
  public let soupName: String
  /// The object.
  public let objectType: String
  /// The fields to download, as given; the id and the modification date are added.
  public let fieldlist: [String]
  /// The number of ids per request.
  public let countIdsPerSoql: Int
  /// Whether a re-sync compares with the oldest date of each group of records instead of the newest.
  ///
  /// With the newest date, the re-sync misses a record whose local version is older than others of
  /// its group and that changed on the server before that date. With the oldest date, it downloads
  /// unchanged records again.
  public let comparesOldestDate: Bool
  private let names: SyncFieldNames

  public var idFieldName: String { names.id }
  public var modificationDateFieldName: String { names.modificationDate }

  /// Creates a target.
  ///
  /// - Parameters:
  ///   - countIdsPerSoql: Values outside of 1 to 500 mean 500.
  ///   - comparesOldestDate: See ``comparesOldestDate-swift.property``.
  ///   - idFieldName: Empty means `Id`. The soup needs an index on it.
  ///   - modificationDateFieldName: Empty means `LastModifiedDate`.
  /// - Throws: `SyncError` `invalidTarget` without a soup or an object.
  public init(
    soupName: String, objectType: String, fieldlist: [String],
    countIdsPerSoql: Int = maxCountIdsPerSoql, comparesOldestDate: Bool = false,
    idFieldName: String = "", modificationDateFieldName: String = ""
  ) throws(SyncError) {
    try self.init(
      configuration: [
        "soupName": .string(soupName), "sobjectType": .string(objectType),
        "fieldlist": .array(fieldlist.map { .string($0) }),
        "countIdsPerSoql": .integer(Int64(countIdsPerSoql)),
        "comparesOldestDate": .bool(comparesOldestDate), "idFieldName": .string(idFieldName),
        "modificationDateFieldName": .string(modificationDateFieldName),
      ])
  }

  /// Also reads the count under the misspelled key `coundIdsPerSoql` of earlier versions.
  public init(configuration: JSONObject) throws(SyncError) {
    soupName = try configuration.requiredSyncText("soupName")
    objectType = try configuration.requiredSyncObjectType()
    fieldlist = try configuration.requiredSyncTexts("fieldlist")
    let count =
      configuration.syncCount("countIdsPerSoql") ?? configuration.syncCount("coundIdsPerSoql")
    countIdsPerSoql =
      count.flatMap { (1...Self.maxCountIdsPerSoql).contains($0) ? $0 : nil }
      ?? Self.maxCountIdsPerSoql
    comparesOldestDate = configuration["comparesOldestDate"]?.bool ?? false
    names = SyncFieldNames(configuration: configuration)
  }

  public var configuration: JSONObject {
    var configuration: JSONObject = [
      "soupName": .string(soupName), "sobjectType": .string(objectType),
      "fieldlist": .array(fieldlist.map { .string($0) }),
      "countIdsPerSoql": .integer(Int64(countIdsPerSoql)),
    ]
    if comparesOldestDate { configuration["comparesOldestDate"] = true }
    return configuration
  }

  // MARK: Fetching

  /// The position of a run.
  public struct Cursor: Sendable {
    /// The greatest id that was requested.
    let lastId: String
    /// Whether only changes are requested.
    let isReSync: Bool
  }

  public func startFetch(
    since maxTimeStamp: Int64, in context: SyncContext
  ) async throws -> SyncPage<Cursor>? {
    let soup = RefreshedSoup(soupName: soupName, names: names)
    let total = try await soup.count(in: context.store)
    if total == 0 { return SyncPage(records: [], totalSize: 0, next: nil) }
    return try await page(
      after: Cursor(lastId: "", isReSync: maxTimeStamp > 0), totalSize: total, in: context)
  }

  public func continueFetch(
    _ cursor: Cursor, in context: SyncContext
  ) async throws -> SyncPage<Cursor>? {
    try await page(after: cursor, totalSize: nil, in: context)
  }

  /// The records after an id, in the order of ids, so that a record that the app removes in between
  /// does not shift the pages.
  private func page(
    after cursor: Cursor, totalSize: Int?, in context: SyncContext
  ) async throws -> SyncPage<Cursor>? {
    let soup = RefreshedSoup(soupName: soupName, names: names)
    let known = try await soup.records(
      after: cursor.lastId, count: countIdsPerSoql, withDates: cursor.isReSync, in: context.store)
    let ids = SOQLLiteral.slices(of: known.map(\.id), atMost: countIdsPerSoql).first.map(Array.init)
    guard let ids, let last = ids.last else { return nil }
    var condition = ""
    if cursor.isReSync {
      let dates = known.prefix(ids.count).map(\.date)
      let since = (comparesOldestDate ? dates.min() : dates.max()) ?? -1
      if since > 0 {
        condition = "\(names.modificationDate) > \(SalesforceDate(milliseconds: since).text)"
      }
    }
    let query = IdQuery(
      fields: names.completing(fieldlist), objectType: objectType, idField: names.id)
    let records = try await IdQuery.allRecords(
      of: .query(query.soql(ids, and: condition)), in: context)
    return SyncPage(
      records: records, totalSize: totalSize,
      next: Cursor(lastId: last, isReSync: cursor.isReSync))
  }

  // MARK: Ghosts

  public func remoteIds(
    for localIds: [String], in context: SyncContext
  ) async throws -> Set<String>? {
    try await IdQuery(fields: [names.id], objectType: objectType, idField: names.id).existing(
      among: localIds.filter { !SyncKeys.isLocalId($0) }, atMost: countIdsPerSoql, in: context)
  }
}

extension RefreshSyncDownTarget: DownloadedFieldListing {
  /// The fields of the list.
  public func downloadedFields(into soupName: String) -> [String]? { fieldlist }

  /// The object of the target.
  public func downloadedObject(into soupName: String) -> String? { objectType }
}
