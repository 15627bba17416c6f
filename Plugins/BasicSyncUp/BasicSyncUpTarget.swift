public import MobileSync
public import SalesforceSDKCommon
import SalesforceSDKCore

/// A target that uploads local changes one record at a time, each with a request of its own.
///
/// JSON: `{"createFieldlist": […], "updateFieldlist": […], "externalIdFieldName": "…"}`, each key
/// optional. Use it for objects and servers that the platform's composite resources do not support. For
/// all others, the collection target needs one request for 200 records.
///
/// In mode `LEAVE_IF_CHANGED` a record's date is fetched first, and the update itself names the
/// date that it builds on: if the record changes between the two, the update is refused as a conflict
/// instead of being overwritten.
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

  /// Makes a target.
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
    // What would make the row clean or gone has to be the platform's word, and not the page of something
    // that stands before it.
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
    return [outcome]
  }

  /// The date that the local record is built on, where others' changes are to be respected.
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
