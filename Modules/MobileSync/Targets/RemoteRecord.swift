public import SalesforceSDKCommon
import SalesforceSDKCore

/// A sync up target that can fetch the server's versions of records, so that a sync up merges them.
///
/// Without this protocol, a sync up in mode ``SyncMergeMode/mergeFields`` skips every record whose
/// modification date has changed; the next sync down merges it.
public protocol RemoteRecordFetching: SyncUpTarget {
  /// Fetches the server's versions of records.
  ///
  /// - Parameters:
  ///   - records: Records of one object type that are assumed to exist on the server; at most
  ///     2,000.
  ///   - fields: The required fields, without the id field.
  /// - Returns: One result per record, in the same order.
  /// - Throws: As ``SyncUpTarget/send(_:in:)``.
  func remoteRecords(
    of records: [SyncUpRecord], fields: [String], in context: SyncContext
  ) async throws -> [RemoteRecord]
}

/// The server's version of a record, or the reason why there is none.
public enum RemoteRecord: Sendable {
  /// The record, with the fields that were requested.
  case record(JSONSlice)
  /// The record no longer exists, or is not visible.
  case gone
  /// The server did not return it. The record is not sent.
  case unknown
}

extension RemoteRecord {
  /// Requests records of one object type, 2,000 with each request.
  ///
  /// If the server refuses a request, its records are unknown.
  ///
  /// - Throws: As ``SyncContext/json(for:)``.
  public static func inBulk(
    of records: [SyncUpRecord], fields: [String], in context: SyncContext
  ) async throws -> [RemoteRecord] {
    var found: [RemoteRecord] = []
    for start in stride(from: 0, to: records.count, by: RestRequest.maxCollectionIds) {
      let slice = records[start..<min(start + RestRequest.maxCollectionIds, records.count)]
      let request = try RestRequest.collectionRetrieve(
        object: records[start].objectType, ids: slice.map { $0.id ?? "" }, fields: fields)
      let json: JSONSlice
      do {
        json = try await context.json(for: request)
      } catch let error as SyncError where error.isRefusalOfRequest {
        found += slice.map { _ in .unknown }
        continue
      }
      guard json.kind == .array else {
        throw SyncContext.unexpectedForm(
          json, of: request, expected: "a list with one record per id")
      }
      var results = json.elements.map { $0.isNull ? RemoteRecord.gone : .record($0) }
      results += Array(repeating: .unknown, count: max(slice.count - results.count, 0))
      found += results.prefix(slice.count)
    }
    return found
  }

  /// Requests one record by its URL.
  ///
  /// - Throws: As ``SyncContext/response(to:)``; ``SyncError`` `unexpectedResponse` if a response
  ///   without such a record does not come from the platform.
  public static func ofOne(
    _ record: SyncUpRecord, fields: [String], in context: SyncContext
  ) async throws -> RemoteRecord {
    let request = RestRequest.retrieve(
      object: record.objectType, id: record.id ?? "", fields: fields)
    let response = try await context.response(to: request)
    let json = try? JSONSlice(parsing: response.body)
    if response.status == 404 {
      // The page of a proxy before the platform must not remove an entry.
      guard response.body.isEmpty || json != nil else {
        throw SyncContext.unexpectedResponse(response, to: request, expected: "the platform's")
      }
      return .gone
    }
    guard response.isSuccess, let json, json.kind == .object else { return .unknown }
    return .record(json)
  }

  /// The date in the record.
  func date(_ field: String) -> RemoteDate {
    switch self {
    case .record(let record): RemoteDate(of: record, field: field)
    case .gone: .gone
    case .unknown: .unknown
    }
  }
}
