import HTTPTypes
public import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore

extension SoqlSyncDownTarget: PartitionedSyncDownTarget {
  public var partitionObstacle: String? {
    let soql = SOQLMutator(query)
    if idFieldName != SyncKeys.defaultIdField {
      return "The records are identified by \(idFieldName), and ranges are ranges of Id."
    }
    if soql.hasAggregates { return "The query has an aggregate function." }
    for clause in ["group by", "having", "limit", "offset", "with"] where soql.has(clause) {
      return "The query has the clause '\(clause)'."
    }
    if !isSortedByModificationDate { return "The query has an order of its own." }
    return soql.has("")
      ? "The query ends in words behind its last clause, such as 'for view'." : nil
  }

  /// Returns the query for the records of a range, in the order of their ids.
  public func query(in range: SyncIdRange) -> String {
    var ranged = SOQLMutator(query)
    let conditions = [
      range.after.map { "\(idFieldName) > \(SOQLLiteral.text($0))" }
        ?? range.from.map { "\(idFieldName) >= \(SOQLLiteral.text($0))" },
      range.below.map { "\(idFieldName) < \(SOQLLiteral.text($0))" },
    ].compactMap(\.self)
    if !conditions.isEmpty {
      ranged.parenthesiseAlternatives()
      ranged.addWherePredicates(conditions.joined(separator: " and "))
    }
    ranged.replaceOrderBy(idFieldName)
    return ranged.soql
  }

  public func startFetch(
    _ range: SyncIdRange, in context: SyncContext
  ) async throws -> SyncPage<String> {
    try await SyncPage(.query(query(in: range), batchSize: maxBatchSize), in: context)
  }

  public func idBounds(in context: SyncContext) async throws -> SyncIdBounds? {
    var bounds = SOQLMutator(query)
    bounds.replaceSelectFields(
      "count(\(idFieldName)) total, min(\(idFieldName)) lowest, max(\(idFieldName)) highest, "
        + "max(\(modificationDateFieldName)) newest")
    bounds.replaceOrderBy("")
    let response = try await context.response(to: .query(bounds.soql))
    // Not every object has these functions, and not every proxy lets them through: then there are no ranges.
    guard response.isSuccess, let json = try? JSONSlice(parsing: response.body),
      let records = json[SyncKeys.records], records.count == 1, let result = records[0],
      let count = result["total"]?.int64, let lowest = result["lowest"]?.string,
      let highest = result["highest"]?.string,
      let newest = result["newest"]?.string.flatMap(SalesforceDate.parse)?.milliseconds, newest > 0
    else { return nil }
    return SyncIdBounds(
      count: Int(clamping: count), lowest: lowest, highest: highest, newestChange: newest,
      requestsLeft: Self.requestsLeft(response))
  }

  /// The values of the platform's header `Sforce-Limit-Info`, such as `api-usage=18/15000`.
  private static func requestsLeft(_ response: RestResponse) -> Int? {
    guard let name = HTTPField.Name("Sforce-Limit-Info"), let text = response.headers[name],
      let usage = text.firstMatch(of: /api-usage=(\d+)\/(\d+)/),
      let used = Int(usage.1), let allowed = Int(usage.2)
    else { return nil }
    return allowed - used
  }
}
