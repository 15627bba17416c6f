public import MobileSync
public import SalesforceSDKCommon
import SalesforceSDKCore

/// A target that uploads local changes, 200 in one request of the platform's collection resource. The default target.
///
/// JSON: `{"createFieldlist": […], "updateFieldlist": […], "externalIdFieldName": "…",
/// "maxBatchSize": 200}`, each key optional. 1,000 edited records cost 5 requests, 6 with conflict
/// detection.
///
/// A batch is split by action, in the order create, update, upsert, delete; the server processes
/// each record separately.
///
/// Before an unacknowledged create is sent again, the target searches the records that this user
/// has created since, for one that agrees in every sent field. An external id field is the stronger
/// protection, because the server itself then prevents a duplicate.
public struct CollectionSyncUpTarget: SyncUpTarget, Equatable {
  public static let kind = SyncTargetKind(
    .syncUp, typeName: "collection", implementationName: "SFCollectionSyncUpTarget",
    aliases: [
      "rest", "com.salesforce.androidsdk.mobilesync.target.CollectionSyncUpTarget",
      "com.salesforce.androidsdk.smartsync.target.CollectionSyncUpTarget",
    ],
    writtenTypeName: "rest")

  /// The maximum number of records that the server accepts in one request.
  public static let largestBatchSize = RestRequest.maxCollectionRecords
  /// The maximum number of object types that the server accepts in one request.
  static let maxTypesPerRequest = 10

  public let fields: SyncUpFields
  public let maxBatchSize: Int
  public let idFieldName: String
  public let modificationDateFieldName: String

  /// Creates a target.
  ///
  /// - Parameters:
  ///   - maxBatchSize: Records in a batch; values outside of 1 to 200 mean 200.
  ///   - idFieldName: Empty means `Id`.
  ///   - modificationDateFieldName: Empty means `LastModifiedDate`.
  public init(
    fields: SyncUpFields = SyncUpFields(), maxBatchSize: Int = largestBatchSize,
    idFieldName: String = SyncKeys.defaultIdField,
    modificationDateFieldName: String = SyncKeys.defaultModificationDateField
  ) {
    self.fields = fields
    self.maxBatchSize =
      (1...Self.largestBatchSize).contains(maxBatchSize) ? maxBatchSize : Self.largestBatchSize
    self.idFieldName = idFieldName.isEmpty ? SyncKeys.defaultIdField : idFieldName
    self.modificationDateFieldName =
      modificationDateFieldName.isEmpty
      ? SyncKeys.defaultModificationDateField : modificationDateFieldName
  }

  public init(configuration: JSONObject) throws {
    self.init(
      fields: try SyncUpFields(configuration: configuration),
      maxBatchSize: configuration["maxBatchSize"]?.int64.map(Int.init(clamping:))
        ?? Self.largestBatchSize,
      idFieldName: configuration.syncText("idFieldName") ?? "",
      modificationDateFieldName: configuration.syncText("modificationDateFieldName") ?? "")
  }

  public var configuration: JSONObject {
    var configuration: JSONObject = ["maxBatchSize": .integer(Int64(maxBatchSize))]
    fields.write(into: &configuration)
    return configuration
  }

  // MARK: Batches

  /// One group per request: by action, then by object type; an upsert names one type, the others up
  /// to ten.
  public func requests(for batch: [SyncUpRecord]) -> [[SyncUpRecord]] {
    let order: [(action: SyncUpAction, typesPerRequest: Int)] = [
      (.create, Self.maxTypesPerRequest), (.update, Self.maxTypesPerRequest), (.upsert, 1),
      (.delete, Self.maxTypesPerRequest),
    ]
    return order.flatMap { action, typesPerRequest in
      var types: [String] = []
      var byType: [String: [SyncUpRecord]] = [:]
      for record in batch where record.action == action {
        if byType[record.objectType] == nil { types.append(record.objectType) }
        byType[record.objectType, default: []].append(record)
      }
      return stride(from: 0, to: types.count, by: typesPerRequest).map { start in
        types[start..<min(start + typesPerRequest, types.count)].flatMap { byType[$0] ?? [] }
      }
    }
  }

  public func send(
    _ group: [SyncUpRecord], in context: SyncContext
  ) async throws -> [SyncUpOutcome] {
    guard let first = group.first else { return [] }
    let request = try CollectionRequest.make(first.action, first.objectType, group)
    let json = try await context.json(for: request)
    guard json.kind == .array else {
      throw SyncContext.unexpectedForm(
        json, of: request, expected: "a list with one result per record")
    }
    return zip(group, json.elements).map { record, result in
      CollectionResponse.outcome(result, of: record.action)
    }
  }

  public func remoteDates(
    of records: [SyncUpRecord], in context: SyncContext
  ) async throws -> [RemoteDate] {
    try await RemoteDate.inBulk(of: records, field: modificationDateFieldName, in: context)
  }
}

extension CollectionSyncUpTarget: UnacknowledgedCreateFinding {
  public func candidates(
    for lost: [UnacknowledgedCreate], in context: SyncContext
  ) async throws -> [[String]] {
    try await UnacknowledgedCreateSearch.candidates(
      for: lost, idFieldName: idFieldName, in: context)
  }

  public func possibleRecords(
    for lost: [UnacknowledgedCreate], in context: SyncContext
  ) async throws -> [[UnacknowledgedCreateCandidate]?] {
    try await UnacknowledgedCreateSearch.possibleRecords(
      for: lost, idFieldName: idFieldName, in: context)
  }
}
