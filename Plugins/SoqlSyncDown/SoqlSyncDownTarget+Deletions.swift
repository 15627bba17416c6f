public import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore

extension SoqlSyncDownTarget: DeletionListing {
  private static let minute: Int64 = 60_000
  /// The time for which the platform keeps deletions, minus an hour for the time of the request.
  private static let reach: Int64 = (30 * 24 - 1) * 60 * minute

  /// Whether the target brings all records that meet its condition, so that they can be counted.
  private var isCountable: Bool {
    let soql = SOQLMutator(query)
    return idFieldName == SyncKeys.defaultIdField && !soql.hasAggregates
      && !["group by", "having", "limit", "offset", "with"].contains(where: soql.has)
  }

  /// The platform truncates both ends of the window to minutes, keeps deletions for 30 days, and
  /// returns the time up to which its response is complete, which may be some minutes ago.
  public func deletions(
    since start: Int64, in context: SyncContext
  ) async throws -> SyncDeletions? {
    guard isCountable, let object = SOQLMutator(query).objectName,
      let now = try await context.serverTime(), start > now - Self.reach, start <= now
    else { return nil }
    // The end may be in the future: the response contains the time up to which it is complete.
    let window = (
      start / Self.minute * Self.minute, (now / Self.minute + 24 * 60) * Self.minute
    )
    let request = RestRequest(
      path: "/{v}/sobjects/\(PercentEncoding.encode(object))/deleted/",
      query: [
        RestQueryItem("start", SalesforceDate(milliseconds: window.0).soqlText),
        RestQueryItem("end", SalesforceDate(milliseconds: window.1).soqlText),
      ])
    guard let json = try await Self.json(for: request, in: context) else { return nil }
    guard let records = json["deletedRecords"], records.kind == .array,
      let earliest = json["earliestDateAvailable"]?.string.flatMap(SalesforceDate.parse),
      let latest = json["latestDateCovered"]?.string.flatMap(SalesforceDate.parse)
    else {
      throw SyncContext.unexpectedForm(json, of: request, expected: "a list of deleted records")
    }
    if earliest.milliseconds > window.0 { return nil }
    return SyncDeletions(
      ids: try SyncContext.ids(of: records.elements, in: SyncKeys.responseId, from: request),
      completeUntil: latest.milliseconds)
  }

  public func count(until maxTimeStamp: Int64, in context: SyncContext) async throws -> Int? {
    var counting = SOQLMutator(query)
    counting.replaceSelectFields("count()")
    counting.replaceOrderBy("")
    counting.parenthesiseAlternatives()
    counting.addWherePredicates(
      "\(modificationDateFieldName) <= \(SalesforceDate(milliseconds: maxTimeStamp).text)")
    let request = RestRequest.query(counting.soql)
    guard let json = try await Self.json(for: request, in: context) else { return nil }
    guard let count = json[SyncKeys.totalSize]?.int64 else {
      throw SyncContext.unexpectedForm(json, of: request, expected: "a number of records")
    }
    return Int(clamping: count)
  }

  public func ids(since maxTimeStamp: Int64, in context: SyncContext) async throws -> Set<String> {
    var changed = SOQLMutator(query(since: maxTimeStamp))
    changed.replaceSelectFields(idFieldName)
    changed.replaceOrderBy("")
    return try await IdQuery.allIds(of: .query(changed.soql), field: idFieldName, in: context)
  }

  /// The JSON of a response; nil if the server refuses the request as such: what it was about, or its window.
  private static func json(
    for request: RestRequest, in context: SyncContext
  ) async throws -> JSONSlice? {
    do {
      return try await context.json(for: request)
    } catch let error as SyncError
      where error.isRefusalOfRequest && (400..<500).contains(error.status ?? 0)
    {
      return nil
    }
  }
}
