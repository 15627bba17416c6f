public import MobileSync
public import SalesforceSDKCommon
import SalesforceSDKCore

/// A target that downloads the records that a SOQL query selects.
///
/// JSON: `{"type": "soql", "query": "…", "maxBatchSize": 2000, "partitions": 4, "partitionsFrom": 20000,
/// "deletionsFrom": 6000}`, `query` required.
///
/// The target completes the query when it is created: it selects the id and the modification date,
/// and orders records by that date, unless the query has another order. So records arrive in the
/// order of their changes, oldest first, and an interrupted run resumes at its page.
///
/// The first download of many records uses several ranges of ids in parallel, see
/// ``PartitionedSyncDownTarget``.
///
/// ```swift
/// let target = try SoqlSyncDownTarget(query: "select Name from Account limit 100")
/// // select Id,LastModifiedDate,Name from Account order by LastModifiedDate limit 100
/// print(target.query)
/// ```
public struct SoqlSyncDownTarget: SyncDownTarget, Equatable {
  public static let kind = SyncTargetKind(
    .syncDown, typeName: "soql", implementationName: "SFSoqlSyncDownTarget",
    aliases: [
      "com.salesforce.androidsdk.mobilesync.target.SoqlSyncDownTarget",
      "com.salesforce.androidsdk.smartsync.target.SoqlSyncDownTarget",
    ])

  /// The default and maximum number of records per page.
  public static let defaultMaxBatchSize = RestRequest.maxBatchSize

  /// The default number of ranges of a first download. A user of the platform may have ten query
  /// results open at the same time.
  public static let defaultPartitions = 4
  /// The default of the minimum number of records for splitting a first download.
  public static let defaultPartitionsFrom = 20_000
  /// The default of the minimum number of local records for finding ghosts by the list of
  /// deletions.
  public static let defaultDeletionsFrom = 6_000

  /// The completed query.
  public let query: String
  /// The requested number of records per page; the server accepts 200 to 2,000.
  public let maxBatchSize: Int
  /// The number of ranges of a first download, from 1 (it is not split) to 10.
  public let partitions: Int
  /// From how many records on a first download is split.
  public let partitionsFrom: Int
  /// From how many local records on ghosts are found by what was deleted.
  public let deletionsFrom: Int
  public let idFieldName: String
  public let modificationDateFieldName: String
  public let isSortedByModificationDate: Bool
  /// True: each query has a condition on the date.
  public var fetchesOnlyChanges: Bool { true }

  /// Creates a target.
  ///
  /// - Parameters:
  ///   - query: The query, which is completed. The children of a sub-select are stored with their
  ///     parent, all of them.
  ///   - maxBatchSize: The page size. Values are clamped to 200 to 2,000.
  ///   - idFieldName: Empty means `Id`.
  ///   - modificationDateFieldName: Empty means `LastModifiedDate`.
  ///   - partitions: See ``partitions-swift.property``; values are clamped to 1 to 10.
  ///   - partitionsFrom: See ``partitionsFrom-swift.property``.
  ///   - deletionsFrom: See ``deletionsFrom-swift.property``.
  /// - Throws: `SyncError` `invalidTarget` if the query is empty or not a query.
  public init(
    query: String, maxBatchSize: Int = defaultMaxBatchSize,
    idFieldName: String = SyncKeys.defaultIdField,
    modificationDateFieldName: String = SyncKeys.defaultModificationDateField,
    partitions: Int = defaultPartitions, partitionsFrom: Int = defaultPartitionsFrom,
    deletionsFrom: Int = defaultDeletionsFrom
  ) throws(SyncError) {
    let idField = idFieldName.isEmpty ? SyncKeys.defaultIdField : idFieldName
    let dateField =
      modificationDateFieldName.isEmpty
      ? SyncKeys.defaultModificationDateField : modificationDateFieldName
    var completed = SOQLMutator(query)
    guard completed.isSelectQuery else {
      throw SyncError(
        .invalidTarget,
        "The target's key 'query' is not a SOQL query: it needs a select and a from clause.")
    }
    var isComplete = true
    for field in [dateField, idField] where !completed.isSelectingField(field) {
      completed.addSelectFields(field)
      isComplete = false
    }
    if !completed.hasOrderBy {
      completed.replaceOrderBy(dateField)
      isComplete = false
    }
    self.query = isComplete ? query : completed.soql
    self.maxBatchSize = maxBatchSize
    self.partitions = min(max(partitions, 1), 10)
    self.partitionsFrom = partitionsFrom
    self.deletionsFrom = deletionsFrom
    self.idFieldName = idField
    self.modificationDateFieldName = dateField
    isSortedByModificationDate = completed.isOrderingBy(dateField)
  }

  public init(configuration: JSONObject) throws {
    try self.init(
      query: try configuration.requiredSyncText("query"),
      maxBatchSize: configuration["maxBatchSize"]?.int64.map(Int.init(clamping:))
        ?? Self.defaultMaxBatchSize,
      idFieldName: configuration.syncText("idFieldName") ?? "",
      modificationDateFieldName: configuration.syncText("modificationDateFieldName") ?? "",
      partitions: configuration["partitions"]?.int64.map(Int.init(clamping:))
        ?? Self.defaultPartitions,
      partitionsFrom: configuration["partitionsFrom"]?.int64.map(Int.init(clamping:))
        ?? Self.defaultPartitionsFrom,
      deletionsFrom: configuration["deletionsFrom"]?.int64.map(Int.init(clamping:))
        ?? Self.defaultDeletionsFrom)
  }

  /// The platform's keys, and the keys of this package if they differ from the defaults.
  public var configuration: JSONObject {
    var json: JSONObject = [
      "query": .string(query), "maxBatchSize": .integer(Int64(maxBatchSize)),
    ]
    if partitions != Self.defaultPartitions { json["partitions"] = .integer(Int64(partitions)) }
    if partitionsFrom != Self.defaultPartitionsFrom {
      json["partitionsFrom"] = .integer(Int64(partitionsFrom))
    }
    if deletionsFrom != Self.defaultDeletionsFrom {
      json["deletionsFrom"] = .integer(Int64(deletionsFrom))
    }
    return json
  }

  // MARK: Fetching

  /// Returns the query for records that changed after `maxTimeStamp`, in milliseconds since 1970;
  /// the whole query if that is not greater than 0.
  public func query(since maxTimeStamp: Int64) -> String {
    guard maxTimeStamp > 0 else { return query }
    var changed = SOQLMutator(query)
    // Without parentheses the date would restrict the first alternative only.
    changed.parenthesiseAlternatives()
    changed.addWherePredicates(
      "\(modificationDateFieldName) > \(SalesforceDate(milliseconds: maxTimeStamp).text)")
    return changed.soql
  }

  public func startFetch(
    since maxTimeStamp: Int64, in context: SyncContext
  ) async throws -> SyncPage<String>? {
    try await SyncPage(
      .query(query(since: maxTimeStamp), batchSize: maxBatchSize), in: context)
  }

  public func continueFetch(
    _ cursor: String, in context: SyncContext
  ) async throws -> SyncPage<String>? {
    try await SyncPage(.queryMore(nextRecordsURL: cursor), in: context)
  }

  // MARK: Ghosts

  /// The query for the ids of all records that the target downloads.
  ///
  /// It has an order only if a limit cuts records off.
  public var remoteIdsQuery: String {
    var ids = SOQLMutator(query)
    ids.replaceSelectFields(idFieldName)
    if !ids.hasLimit { ids.replaceOrderBy("") }
    return ids.soql
  }

  public func remoteIds(
    for localIds: [String], in context: SyncContext
  ) async throws -> Set<String>? {
    try await IdQuery.allIds(of: .query(remoteIdsQuery), field: idFieldName, in: context)
  }
}

extension SoqlSyncDownTarget: PagePredicting {
  /// The platform's locators end in the number of the records before their page, as in `01g…-2000`.
  public func cursor(after cursor: String, pageSize: Int, totalSize: Int) -> String? {
    guard let dash = cursor.lastIndex(of: "-"),
      let start = Int(cursor[cursor.index(after: dash)...]),
      // A negative total would overflow the difference.
      start >= 0, pageSize > 0, totalSize >= 0, totalSize - start > pageSize
    else { return nil }
    return "\(cursor[...dash])\(start + pageSize)"
  }
}

extension SoqlSyncDownTarget: DownloadedFieldListing {
  /// The selected fields; nil if the query selects more than names and `FIELDS()`.
  public func downloadedFields(into soupName: String) -> [String]? {
    SOQLMutator(query).selectedFieldsAndGroups
  }

  /// The object of the query.
  public func downloadedObject(into soupName: String) -> String? { SOQLMutator(query).objectName }
}
