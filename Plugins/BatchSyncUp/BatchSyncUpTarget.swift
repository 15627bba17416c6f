public import MobileSync
public import SalesforceSDKCommon
import SalesforceSDKCore

/// A target that uploads local changes in the order of the soup, up to 25 in one request of the platform's
/// composite resource.
///
/// JSON: `{"createFieldlist": […], "updateFieldlist": […], "externalIdFieldName": "…",
/// "maxBatchSize": 25}`, each key optional. 1,000 edited records cost 40 requests, 41 with conflict
/// detection: dates are fetched 2,000 at a time.
///
/// Unlike the collection target it keeps the order of records across creates, updates and deletes.
public struct BatchSyncUpTarget: RemoteRecordFetching, UnacknowledgedCreateFinding,
  ExternalIdFinding, Equatable
{
  public static let kind = SyncTargetKind(
    .syncUp, typeName: "batch", implementationName: "SFBatchSyncUpTarget",
    aliases: [
      "com.salesforce.androidsdk.mobilesync.target.BatchSyncUpTarget",
      "com.salesforce.androidsdk.smartsync.target.BatchSyncUpTarget",
    ],
    writtenTypeName: "rest")

  /// The maximum number of records that the server accepts in one request.
  public static let largestBatchSize = CompositeStep.maxPerRequest

  public let fields: SyncUpFields
  public let maxBatchSize: Int
  private let names: SyncFieldNames

  public var idFieldName: String { names.id }
  public var modificationDateFieldName: String { names.modificationDate }

  /// Creates a target.
  ///
  /// - Parameters:
  ///   - maxBatchSize: Records in a batch; values outside of 1 to 25 mean 25.
  ///   - idFieldName: Empty means `Id`.
  ///   - modificationDateFieldName: Empty means `LastModifiedDate`.
  public init(
    fields: SyncUpFields = SyncUpFields(), maxBatchSize: Int = largestBatchSize,
    idFieldName: String = "", modificationDateFieldName: String = ""
  ) {
    self.fields = fields
    self.maxBatchSize =
      (1...Self.largestBatchSize).contains(maxBatchSize) ? maxBatchSize : Self.largestBatchSize
    names = SyncFieldNames(id: idFieldName, modificationDate: modificationDateFieldName)
  }

  public init(configuration: JSONObject) throws {
    let names = SyncFieldNames(configuration: configuration)
    self.init(
      fields: try SyncUpFields(configuration: configuration),
      maxBatchSize: configuration["maxBatchSize"]?.int64.map(Int.init(clamping:))
        ?? Self.largestBatchSize,
      idFieldName: names.id, modificationDateFieldName: names.modificationDate)
  }

  public var configuration: JSONObject {
    var configuration: JSONObject = ["maxBatchSize": .integer(Int64(maxBatchSize))]
    fields.write(into: &configuration)
    return configuration
  }

  public func send(
    _ group: [SyncUpRecord], in context: SyncContext
  ) async throws -> [SyncUpOutcome] {
    let steps = group.map { CompositeStep(record: $0) }
    var outcomes = try await CompositeStep.send(steps, in: context)
    for (index, record) in group.enumerated()
    where record.action == .upsert && outcomes[index] == .succeeded(id: nil) {
      outcomes[index] = .succeeded(
        id: await record.idAfterUpsert(idFieldName: names.id, in: context))
    }
    return outcomes
  }

  public func remoteDates(
    of records: [SyncUpRecord], in context: SyncContext
  ) async throws -> [RemoteDate] {
    try await RemoteDate.inBulk(of: records, field: names.modificationDate, in: context)
  }

  public func remoteRecords(
    of records: [SyncUpRecord], fields: [String], in context: SyncContext
  ) async throws -> [RemoteRecord] {
    try await RemoteRecord.inBulk(of: records, fields: fields, in: context)
  }

  public func remoteRecords(
    byExternalIdOf records: [SyncUpRecord], fields: [String], in context: SyncContext
  ) async throws -> [RemoteRecord] {
    try await RemoteRecord.byExternalId(
      of: records, fields: fields, idFieldName: names.id, in: context)
  }

  public func candidates(
    for lost: [UnacknowledgedCreate], in context: SyncContext
  ) async throws -> [[String]] {
    try await UnacknowledgedCreateSearch.candidates(for: lost, idFieldName: names.id, in: context)
  }

  public func possibleRecords(
    for lost: [UnacknowledgedCreate], in context: SyncContext
  ) async throws -> [[UnacknowledgedCreateCandidate]?] {
    try await UnacknowledgedCreateSearch.possibleRecords(
      for: lost, idFieldName: names.id, in: context)
  }
}
