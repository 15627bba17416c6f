public import SalesforceSDKCommon
import SalesforceSDKCore

/// The server's modification date of a record, or the reason why there is none.
public enum RemoteDate: Sendable, Equatable {
  /// The record was modified last at this time, in milliseconds since 1970.
  case modified(Int64)
  /// The record no longer exists, or is not visible.
  case gone
  /// The server did not return it. The record is not sent.
  case unknown
}

extension RemoteDate {
  /// Requests the dates of records of one object type from the collection resource, with one
  /// request per 2,000 records.
  ///
  /// If the server refuses a request, its records are unknown.
  ///
  /// - Parameter field: The modification date field.
  /// - Throws: As ``SyncContext/json(for:)``.
  public static func inBulk(
    of records: [SyncUpRecord], field: String, in context: SyncContext
  ) async throws -> [RemoteDate] {
    try await RemoteRecord.inBulk(of: records, fields: [field], in: context)
      .map { $0.date(field) }
  }

  /// Requests the date of one record by its URL.
  ///
  /// - Parameter field: The modification date field.
  /// - Throws: As ``SyncContext/response(to:)``.
  public static func ofOne(
    _ record: SyncUpRecord, field: String, in context: SyncContext
  ) async throws -> RemoteDate {
    try await RemoteRecord.ofOne(record, fields: [field], in: context).date(field)
  }

  /// The date in a record that the server sent.
  public init(of record: JSONSlice, field: String) {
    self =
      record[field]?.string.flatMap(SalesforceDate.parse).map { .modified($0.milliseconds) }
      ?? .unknown
  }
}

extension SyncError {
  /// Whether the server refused this one request, and not everything.
  public var isRefusalOfRequest: Bool {
    code == .server && ![401, 429, 503].contains(status)
  }
}
