public import MobileSync
public import SalesforceSDKCommon
import SalesforceSDKCore

/// A target that uploads local changes one record at a time, each with a separate request.
///
/// JSON: `{"createFieldlist": […], "updateFieldlist": […], "externalIdFieldName": "…"}`, each key
/// optional. Use it for objects and servers that the platform's composite resources do not support. For
/// all others, the collection target needs one request for 200 records.
///
/// In mode `LEAVE_IF_CHANGED`, the target fetches a record's date first and sends the update with
/// the condition that this date is unchanged. If the record changes in between, the server refuses
/// the update, and it becomes a conflict.
public struct BasicSyncUpTarget: RemoteRecordFetching, UnacknowledgedCreateFinding,
  ExternalIdFinding, Equatable
{
  public static let kind = SyncTargetKind(
    .syncUp, typeName: "basic", implementationName: "SFSyncUpTarget",
    aliases: [
      "com.salesforce.androidsdk.mobilesync.target.SyncUpTarget",
      "com.salesforce.androidsdk.smartsync.target.SyncUpTarget",
    ],
    writtenTypeName: "rest")

  public let fields: SyncUpFields
  private let names: SyncFieldNames

  public var idFieldName: String { names.id }
  public var modificationDateFieldName: String { names.modificationDate }

  /// Creates a target.
  ///
  /// - Parameters:
  ///   - idFieldName: Empty means `Id`.
  ///   - modificationDateFieldName: Empty means `LastModifiedDate`.
  public init(
    fields: SyncUpFields = SyncUpFields(), idFieldName: String = "",
    modificationDateFieldName: String = ""
  ) {
    self.fields = fields
    names = SyncFieldNames(id: idFieldName, modificationDate: modificationDateFieldName)
  }

  public init(configuration: JSONObject) throws {
    fields = try SyncUpFields(configuration: configuration)
    names = SyncFieldNames(configuration: configuration)
  }

  public var configuration: JSONObject {
    var configuration = JSONObject()
    fields.write(into: &configuration)
    return configuration
  }

  public func send(
    _ group: [SyncUpRecord], in context: SyncContext
  ) async throws -> [SyncUpOutcome] {
    guard let record = group.first else { return [] }
    let request = record.request(unlessModifiedSince: baseDate(of: record, in: context))
    let response = try await context.response(to: request)
    let body = response.body.isEmpty ? nil : try? JSONSlice(parsing: response.body)
    // A response that makes the entry clean or removes it has to come from the platform, not from a
    // proxy before it.
    let isForeign =
      response.isSuccess ? body?.kind != .object : response.status == 404 && body == nil
    if isForeign, !response.body.isEmpty {
      throw SyncContext.unexpectedResponse(response, to: request, expected: "the platform's")
    }
    let outcome = SyncUpOutcome(
      status: response.status, body: body, error: body?.value, of: record.action)
    if record.action == .upsert, outcome == .succeeded(id: nil) {
      return [.succeeded(id: await record.idAfterUpsert(idFieldName: names.id, in: context))]
    }
    if case .gone(let error) = outcome, record.action == .update,
      context.mergeMode == .leaveIfChanged
    {
      // Of a record with a lookup that points nowhere the platform says the same.
      let date = try await RemoteDate.ofOne(record, field: names.modificationDate, in: context)
      return [date == .gone ? .outdated : .rejected(error)]
    }
    return [outcome]
  }

  /// The date of the version that the local record is based on, for modes that keep other users'
  /// changes.
  private func baseDate(of record: SyncUpRecord, in context: SyncContext) -> Int64? {
    guard context.mergeMode == .leaveIfChanged else { return nil }
    return record.record[names.modificationDate]?.string.flatMap(SalesforceDate.parse)?
      .milliseconds
  }

  public func remoteDates(
    of records: [SyncUpRecord], in context: SyncContext
  ) async throws -> [RemoteDate] {
    var dates: [RemoteDate] = []
    for record in records {
      dates.append(
        try await RemoteDate.ofOne(record, field: names.modificationDate, in: context))
    }
    return dates
  }

  public func remoteRecords(
    of records: [SyncUpRecord], fields: [String], in context: SyncContext
  ) async throws -> [RemoteRecord] {
    var found: [RemoteRecord] = []
    for record in records {
      found.append(try await RemoteRecord.ofOne(record, fields: fields, in: context))
    }
    return found
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
