public import SalesforceSDKCommon
import SalesforceSDKCore

/// A sync up target that can fetch the server's versions of records, so that a sync up merges them.
///
/// With one that cannot, a sync up in mode ``SyncMergeMode/mergeFields`` passes over every record whose
/// modification date has changed, and leaves the merging to the next sync down.
public protocol RemoteRecordFetching: SyncUpTarget {
  /// Fetches what the server has of records.
  ///
  /// - Parameters:
  ///   - records: Records of one object type that exist on the server as far as is known here; at most
  ///     2,000.
  ///   - fields: The fields that are needed, the id field left out.
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
  /// The record does not exist any more, or is not visible.
  case gone
  /// The server did not say. The record is not sent.
  case unknown
}

extension RemoteRecord {
  /// Asks for records of one object type, 2,000 with each request.
  ///
  /// Where the server refuses the question, the records are unknown.
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

  /// Asks for one record by its address.
  ///
  /// - Throws: As ``SyncContext/response(to:)``; ``SyncError`` `unexpectedResponse` if it is not the
  ///   platform that says that there is no such record.
  public static func ofOne(
    _ record: SyncUpRecord, fields: [String], in context: SyncContext
  ) async throws -> RemoteRecord {
    let request = RestRequest.retrieve(
      object: record.objectType, id: record.id ?? "", fields: fields)
    let response = try await context.response(to: request)
    let json = try? JSONSlice(parsing: response.body)
    if response.status == 404 {
      // The page of something that stands before the platform must not remove an entry.
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
