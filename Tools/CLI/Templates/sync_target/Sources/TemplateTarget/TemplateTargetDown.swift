public import MobileSync
public import SalesforceSDKCommon
import SalesforceSDKCore

/// Downloads records from an endpoint in Apex, in the order of their modification dates and ids.
///
/// | request | response |
/// | --- | --- |
/// | `GET /services/apexrest/TemplateTarget?since=<date>` | `{"records": […], "total": n, "next": {"date": "…", "id": "…"} or null}` |
/// | `GET /services/apexrest/TemplateTarget?afterDate=<date>&afterId=<id>` | the same, behind this position |
/// | `GET /services/apexrest/TemplateTarget/ids` | `["001…"]`: the ids of all records |
///
/// JSON: `{"type": "custom", "iOSImpl": "TemplateTargetDown"}`.
public struct TemplateTargetDown: SyncDownTarget, Equatable {
  public static let kind = SyncTargetKind(
    .syncDown, typeName: "TemplateTarget", implementationName: "TemplateTargetDown",
    writtenTypeName: "custom")

  private static let path = "/services/apexrest/TemplateTarget"

  public init() {}

  public init(configuration: JSONObject) throws {}

  public var configuration: JSONObject { [:] }

  // An interrupted run resumes at the last date, since pages come in the order of dates.
  public var isSortedByModificationDate: Bool { true }

  /// Where a page ends: a position, not a record, since records change while pages are read.
  public struct Cursor: Hashable, Sendable {
    let date: String
    let id: String
  }

  public func startFetch(
    since maxTimeStamp: Int64, in context: SyncContext
  ) async throws -> SyncPage<Cursor>? {
    // -1 and 0 request everything.
    let since = maxTimeStamp > 0 ? SalesforceDate(milliseconds: maxTimeStamp).text : nil
    return try await page(since.map { [RestQueryItem("since", $0)] } ?? [], in: context)
  }

  public func continueFetch(
    _ cursor: Cursor, in context: SyncContext
  ) async throws -> SyncPage<Cursor>? {
    try await page(
      [RestQueryItem("afterDate", cursor.date), RestQueryItem("afterId", cursor.id)], in: context)
  }

  private func page(
    _ query: [RestQueryItem], in context: SyncContext
  ) async throws -> SyncPage<Cursor> {
    let request = RestRequest(path: Self.path, query: query)
    let json = try await context.json(for: request)
    // Any other form says nothing about the records: an error, and the next run requests them again.
    guard let records = json["records"], records.kind == .array else {
      throw SyncContext.unexpectedForm(json, of: request, expected: "a page of records")
    }
    var next: Cursor?
    if let date = json["next"]?["date"]?.string, let id = json["next"]?["id"]?.string {
      next = Cursor(date: date, id: id)
    }
    return SyncPage(
      records: Array(records.elements), totalSize: json["total"]?.int64.map(Int.init(clamping:)),
      next: next)
  }

  public func remoteIds(
    for localIds: [String], in context: SyncContext
  ) async throws -> Set<String>? {
    let request = RestRequest(path: Self.path + "/ids")
    let json = try await context.json(for: request)
    // An id that cannot be read must not count as a record that is gone.
    let ids = json.elements.compactMap(\.string)
    guard json.kind == .array, ids.count == Array(json.elements).count else {
      throw SyncContext.unexpectedForm(json, of: request, expected: "a list of ids")
    }
    return Set(ids)
  }
}
