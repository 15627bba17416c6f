import BulkJobs
public import MobileSync
public import SalesforceSDKCommon
import SalesforceSDKCore
import SoqlSyncDown

/// A target that downloads the records of a SOQL query with a query job of the Bulk API 2.0.
///
/// JSON: `{"type": "bulk", "query": "…", "maxRecords": 10000, "pollInterval": 1000}`, `query` required.
///
/// Use it for first downloads of 50,000 records and more: the server writes the result into files,
/// which are downloaded several at a time. A job takes seconds to start, so `SoqlSyncDownTarget` is
/// faster for fewer records.
///
/// - The query is completed like that of a `SoqlSyncDownTarget`, but has no order: the platform
///   reads a large object in parts only without one. It may select fields of the object and of its
///   parents; the server refuses sub-selects, TYPEOF and compound fields.
/// - Values get their types from the object's description, so records are stored as with a query.
/// - An interrupted run resumes with its job: saved files are not downloaded again. If the server
///   no longer has the job, or the job failed, the run creates a new one.
/// - The watermark is at most 5 seconds before the creation of the job.
/// - The job is deleted at the end. After a kill, the server deletes it after a week.
/// - Ghosts are found as with a `SoqlSyncDownTarget`; for 20,000 records and more, with a job.
public struct BulkSyncDownTarget: SyncDownTarget, Equatable {
  public static let kind = SyncTargetKind(
    .syncDown, typeName: "bulk", implementationName: "BulkSyncDownTarget",
    writtenTypeName: "custom")

  /// The default number of records per file.
  public static let defaultMaxRecords = 10_000
  /// The default of the first pause between two requests for a job's state, in milliseconds.
  public static let defaultPollInterval = 1_000
  /// The maximum number of records in one transaction.
  static let recordsPerPage = 2_000
  /// The number of files to download in parallel.
  static let filesPerRound = 5
  /// From how many records on ghosts are found with a job.
  static let leastIdsForJob = 20_000

  /// The completed query, without an order unless it has a limit.
  public let query: String
  /// The requested number of records per file, which limits the memory of a run.
  public let maxRecords: Int
  /// The first pause between two requests for a job's state, in milliseconds; each further pause is
  /// 50% longer, up to 15 s.
  public let pollInterval: Int
  /// The same query with single requests.
  let soql: SoqlSyncDownTarget

  public var idFieldName: String { soql.idFieldName }
  public var modificationDateFieldName: String { soql.modificationDateFieldName }

  /// Creates a target.
  ///
  /// - Parameters:
  ///   - query: The query, which is completed.
  ///   - maxRecords: Values below 1 mean ``defaultMaxRecords``.
  ///   - pollInterval: In milliseconds; values below 1 mean ``defaultPollInterval``.
  ///   - idFieldName: Empty means `Id`.
  ///   - modificationDateFieldName: Empty means `LastModifiedDate`.
  /// - Throws: ``SyncError`` `invalidTarget` if the query is empty, is not a query, or has a
  ///   sub-select.
  public init(
    query: String, maxRecords: Int = defaultMaxRecords, pollInterval: Int = defaultPollInterval,
    idFieldName: String = SyncKeys.defaultIdField,
    modificationDateFieldName: String = SyncKeys.defaultModificationDateField
  ) throws(SyncError) {
    let completed = try SoqlSyncDownTarget(
      query: query, idFieldName: idFieldName, modificationDateFieldName: modificationDateFieldName)
    var bulk = SOQLMutator(completed.query)
    if bulk.hasSubSelect {
      throw SyncError(
        .invalidTarget,
        "The target's key 'query' has a sub-select, which the Bulk API refuses. Sync the children with a target "
          + "of their own.")
    }
    if !bulk.hasLimit { bulk.replaceOrderBy("") }
    self.query = bulk.soql
    self.maxRecords = maxRecords > 0 ? maxRecords : Self.defaultMaxRecords
    self.pollInterval = pollInterval > 0 ? pollInterval : Self.defaultPollInterval
    soql = completed
  }

  public init(configuration: JSONObject) throws {
    try self.init(
      query: try configuration.requiredSyncText("query"),
      maxRecords: configuration.syncCount("maxRecords") ?? 0,
      pollInterval: configuration.syncCount("pollInterval") ?? 0,
      idFieldName: configuration.syncText("idFieldName") ?? "",
      modificationDateFieldName: configuration.syncText("modificationDateFieldName") ?? "")
  }

  public var configuration: JSONObject {
    [
      "query": .string(query), "maxRecords": .integer(Int64(maxRecords)),
      "pollInterval": .integer(Int64(pollInterval)),
    ]
  }

  public static func == (left: BulkSyncDownTarget, right: BulkSyncDownTarget) -> Bool {
    left.json == right.json
  }

  // MARK: Fetching

  /// Returns the query for records that changed after `maxTimeStamp`, in milliseconds since 1970;
  /// the whole query if that is not greater than 0.
  public func query(since maxTimeStamp: Int64) -> String {
    var changed = SOQLMutator(soql.query(since: maxTimeStamp))
    if !changed.hasLimit { changed.replaceOrderBy("") }
    return changed.soql
  }

  /// The position of a run in its job.
  public struct Cursor: Sendable {
    var position: BulkPosition
    /// Whether an earlier run created the job.
    var isResumed = false
    /// The files of the job; nil before the server has written them.
    var results: BulkResults?
  }

  public func startFetch(
    since maxTimeStamp: Int64, in context: SyncContext
  ) async throws -> SyncPage<Cursor>? {
    if let position = context.checkpoint.flatMap(BulkPosition.init(json:)), !position.isDone {
      if position.fits(self, since: maxTimeStamp) {
        return SyncPage(
          records: [], completeUntil: position.completeUntil,
          next: Cursor(position: position, isResumed: true))
      }
      try await BulkJob.delete(.query, position.job, in: context)
    }
    return try await create(since: maxTimeStamp, in: context)
  }

  /// Creates a job. Its id is stored before the server has done the work.
  private func create(
    since maxTimeStamp: Int64, in context: SyncContext
  ) async throws -> SyncPage<Cursor> {
    let (job, startedAfter) = try await BulkJob.create(
      .query, ["operation": "query", "query": .string(query(since: maxTimeStamp))], in: context)
    // The server reads an object in parts, one after the other: what changes after the job was created may be in the
    // result or not. The job's date is of the clock that dates the records; the one of the response may be another's.
    let until = job.created.map { $0 - 5_000 } ?? startedAfter
    let position = BulkPosition(
      job: job.id, query: query, since: maxTimeStamp, completeUntil: until ?? maxTimeStamp)
    return SyncPage(
      records: [], completeUntil: position.completeUntil, checkpoint: position.json,
      next: Cursor(position: position))
  }

  public func continueFetch(
    _ cursor: Cursor, in context: SyncContext
  ) async throws -> SyncPage<Cursor>? {
    var cursor = cursor
    if cursor.results == nil {
      guard let results = try await results(of: cursor, in: context) else {
        return try await create(since: cursor.position.since, in: context)
      }
      cursor.results = results
    }
    let (records, results) = try await nextRecords(cursor, in: context)
    cursor.results = results
    cursor.position = results.position
    return SyncPage(
      records: records, totalSize: results.total, completeUntil: cursor.position.completeUntil,
      checkpoint: cursor.position.json, next: cursor.position.isDone ? nil : cursor)
  }

  /// Waits for the job.
  ///
  /// - Returns: nil if the job of an earlier run cannot be used.
  private func results(of cursor: Cursor, in context: SyncContext) async throws -> BulkResults? {
    let job: BulkJob
    do {
      job = try await BulkJob.end(
        of: .query, cursor.position.job, BulkPause(first: pollInterval), in: context)
    } catch let error as SyncError
      where cursor.isResumed && error.code == .server && error.status == 404
    {
      return nil
    }
    guard job.state == .jobComplete else {
      if cursor.isResumed { return nil }
      throw SyncError(
        .server,
        "The bulk query job \(job.id) ended as \(job.state.rawValue). Correct the query, or use a "
          + "SoqlSyncDownTarget.", body: job.errorMessage)
    }
    return try await BulkResults(
      job, cursor.position, types: BulkTypes(of: job.object, in: context),
      maxRecords: maxRecords, idField: idFieldName, in: context)
  }

  @concurrent private func nextRecords(
    _ cursor: Cursor, in context: SyncContext
  ) async throws -> ([JSONSlice], BulkResults) {
    guard var results = cursor.results else { preconditionFailure("the results are there") }
    let records = try await results.next(Self.recordsPerPage, in: context)
    return (records, results)
  }

  // MARK: Ghosts

  public func remoteIds(
    for localIds: [String], in context: SyncContext
  ) async throws -> Set<String>? {
    if localIds.count < Self.leastIdsForJob {
      return try await soql.remoteIds(for: localIds, in: context)
    }
    let target = try BulkSyncDownTarget(
      query: soql.remoteIdsQuery, maxRecords: maxRecords, pollInterval: pollInterval,
      idFieldName: idFieldName, modificationDateFieldName: idFieldName)
    var ids: Set<String> = []
    var page: SyncPage<Cursor>? = try await target.create(since: -1, in: context)
    var job: String?
    while let current = page {
      for record in current.records {
        // A record without an id ends the search with an error.
        if let id = record[idFieldName]?.string { ids.insert(id) }
      }
      job = current.next?.position.job ?? job
      page =
        if let next = current.next { try await target.continueFetch(next, in: context) } else {
          nil
        }
    }
    if let job { try await BulkJob.delete(.query, job, in: context) }
    return ids
  }
}

extension BulkSyncDownTarget: DeletionListing {
  public var deletionsFrom: Int { soql.deletionsFrom }

  public func deletions(
    since start: Int64, in context: SyncContext
  ) async throws -> SyncDeletions? { try await soql.deletions(since: start, in: context) }

  public func count(until maxTimeStamp: Int64, in context: SyncContext) async throws -> Int? {
    try await soql.count(until: maxTimeStamp, in: context)
  }

  public func ids(since maxTimeStamp: Int64, in context: SyncContext) async throws -> Set<String> {
    try await soql.ids(since: maxTimeStamp, in: context)
  }
}

extension BulkSyncDownTarget: SyncDownFinishing {
  /// Deletes the job.
  public func finished(in context: SyncContext) async {
    guard let position = context.checkpoint.flatMap(BulkPosition.init(json:)) else { return }
    try? await BulkJob.delete(.query, position.job, in: context)
  }
}

extension BulkSyncDownTarget: FieldBackfilling {
  public func addedFields(since other: BulkSyncDownTarget) -> [String]? {
    soql.addedFields(since: other.soql)
  }

  public func narrowed(to fields: [String]) throws -> BulkSyncDownTarget {
    try BulkSyncDownTarget(
      query: soql.narrowed(to: fields).query, maxRecords: maxRecords, pollInterval: pollInterval,
      idFieldName: idFieldName, modificationDateFieldName: modificationDateFieldName)
  }
}

extension BulkSyncDownTarget: PagePredicting {
  /// nil: the locations of files are known only one list after the other.
  public func cursor(after cursor: Cursor, pageSize: Int, totalSize: Int) -> Cursor? { nil }
}

extension SOQLMutator {
  /// Whether a query stands in the select list, and not only in the condition.
  fileprivate var hasSubSelect: Bool {
    guard let inner = soql.firstMatch(of: /(?i)\(\s*select\s/),
      let from = soql.firstMatch(of: /(?i)\sfrom\s/)
    else { return false }
    return inner.range.lowerBound < from.range.lowerBound
  }
}

extension BulkSyncDownTarget: DownloadedFieldListing {
  /// The selected fields; nil if the query selects more than names.
  public func downloadedFields(into soupName: String) -> [String]? {
    soql.downloadedFields(into: soupName)
  }

  /// The object of the query.
  public func downloadedObject(into soupName: String) -> String? {
    soql.downloadedObject(into: soupName)
  }
}
