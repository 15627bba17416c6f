public import MobileSync
public import SalesforceSDKCommon
import SalesforceSDKCore

/// Brings customers down.
///
/// JSON: `{"type": "custom", "iOSImpl": "CustomersDownTarget", "region": "North"}`, the region optional.
public struct CustomersDownTarget: SyncDownTarget, Equatable {
  // `custom` is what the platform's own SDKs expect of a third party's target; the implementation's name
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

  // The endpoint orders by date and then id, so an interrupted run goes on where it was.
  public var isSortedByModificationDate: Bool { true }

  /// What leads to the next page: where the last customer stood in that order.
  ///
  /// A place, not a customer: one that is changed or deleted while pages come stands elsewhere then, or
  /// nowhere, and would take with it what stood before. Those behind a place are the same ever after.
  public struct Cursor: Hashable, Sendable {
    let date: String
    let id: String
  }

  public func startFetch(
    since maxTimeStamp: Int64, in context: SyncContext
  ) async throws -> SyncPage<Cursor>? {
    // -1 and 0 ask for everything.
    try await page(
      maxTimeStamp > 0
        ? [RestQueryItem("since", SalesforceDate(milliseconds: maxTimeStamp).text)] : [],
      in: context)
  }

  public func continueFetch(
    _ cursor: Cursor, in context: SyncContext
  ) async throws -> SyncPage<Cursor>? {
    try await page(
      [RestQueryItem("afterDate", cursor.date), RestQueryItem("afterId", cursor.id)], in: context)
  }

  private func page(
    _ place: [RestQueryItem], in context: SyncContext
  ) async throws -> SyncPage<Cursor> {
    let request = CustomersEndpoint.get(query: place + regionQuery)
    let json = try await context.json(for: request)
    guard let customers = json["customers"], customers.kind == .array else {
      throw SyncContext.unexpectedForm(json, of: request, expected: "a page of customers")
    }
    var next: Cursor?
    if let date = json["next"]?["date"]?.string, let id = json["next"]?["id"]?.string {
      next = Cursor(date: date, id: id)
    }
    return SyncPage(
      records: Array(customers.elements), totalSize: json["total"]?.int64.map(Int.init(clamping:)),
      next: next)
  }

  private var regionQuery: [RestQueryItem] { region.map { [RestQueryItem("region", $0)] } ?? [] }

  /// The customers of the region: one that has left it is a ghost here.
  public func remoteIds(
    for localIds: [String], in context: SyncContext
  ) async throws -> Set<String>? {
    let request = CustomersEndpoint.get("/ids", query: regionQuery)
    let json = try await context.json(for: request)
    // A response that is no list must not pass for "nothing is left", and an id that cannot be read must
    // not pass for a customer that is gone.
    let ids = json.elements.compactMap(\.string)
    guard json.kind == .array, ids.count == Array(json.elements).count else {
      throw SyncContext.unexpectedForm(json, of: request, expected: "a list of ids")
    }
    return Set(ids)
  }
}
