public import MobileSync
public import SalesforceSDKCommon
import SalesforceSDKCore

/// Brings customers down.
///
/// JSON: `{"type": "custom", "iOSImpl": "CustomersDownTarget", "region": "North"}`, the region optional.
public struct CustomersDownTarget: SyncDownTarget, Equatable {
  // `custom` is what the platform's own SDKs expect of a stranger's target; the implementation's name
  // is what finds it.
  public static let kind = SyncTargetKind(
    .syncDown, typeName: "customers", implementationName: "CustomersDownTarget",
    writtenTypeName: "custom")

  /// Only customers of this region; nil for all.
  public let region: String?

  /// Makes a target.
  public init(region: String? = nil) {
    self.region = region
  }

  public init(configuration: JSONObject) throws {
    region = configuration.syncText("region")
  }

  public var configuration: JSONObject {
    region.map { ["region": .string($0)] } ?? [:]
  }

  // The endpoint orders by date, so an interrupted run goes on where it was.
  public var isSortedByModificationDate: Bool { true }

  /// What leads to the next page: the last customer's id, within the same question.
  public struct Cursor: Sendable {
    let since: Int64
    let after: String
  }

  public func startFetch(
    since maxTimeStamp: Int64, in context: SyncContext
  ) async throws -> SyncPage<Cursor>? {
    try await page(since: maxTimeStamp, after: nil, in: context)
  }

  public func continueFetch(
    _ cursor: Cursor, in context: SyncContext
  ) async throws -> SyncPage<Cursor>? {
    try await page(since: cursor.since, after: cursor.after, in: context)
  }

  private func page(
    since: Int64, after: String?, in context: SyncContext
  ) async throws -> SyncPage<Cursor> {
    var query: [RestQueryItem] = []
    if since > 0 { query.append(RestQueryItem("since", SalesforceDate(milliseconds: since).text)) }
    if let after { query.append(RestQueryItem("after", after)) }
    if let region { query.append(RestQueryItem("region", region)) }
    let request = CustomersEndpoint.get(query: query)
    let json = try await context.json(for: request)
    guard let customers = json["customers"], customers.kind == .array else {
      throw SyncContext.unexpectedForm(json, of: request, expected: "a page of customers")
    }
    return SyncPage(
      records: Array(customers.elements), totalSize: json["total"]?.int64.map(Int.init(clamping:)),
      next: json["after"]?.string.map { Cursor(since: since, after: $0) })
  }

  public func remoteIds(
    for localIds: [String], in context: SyncContext
  ) async throws -> Set<String>? {
    let request = CustomersEndpoint.get("/ids")
    let json = try await context.json(for: request)
    // An answer that is no list must not pass for "nothing is left".
    guard json.kind == .array else {
      throw SyncContext.unexpectedForm(json, of: request, expected: "a list of ids")
    }
    return Set(json.elements.compactMap(\.string))
  }
}
