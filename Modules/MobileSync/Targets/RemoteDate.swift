public import SalesforceSDKCommon
import SalesforceSDKCore

/// What the server knows about a record's age.
public enum RemoteDate: Sendable, Equatable {
  /// The record was modified last at this time, in milliseconds since 1970.
  case modified(Int64)
  /// The record does not exist any more, or is not visible.
  case gone
  /// The server did not say. The record is not sent.
  case unknown
}

extension RemoteDate {
  /// Asks the collection resource for the dates of records of one object type, with one request per
  /// 2,000 records.
  ///
  /// A request that the server refuses leaves its records unknown.
  ///
  /// - Parameter field: The modification date field.
  /// - Throws: As ``SyncContext/json(for:)``.
  public static func inBulk(
    of records: [SyncUpRecord], field: String, in context: SyncContext
  ) async throws -> [RemoteDate] {
    var dates: [RemoteDate] = []
    for start in stride(from: 0, to: records.count, by: RestRequest.maxCollectionIds) {
      let slice = records[start..<min(start + RestRequest.maxCollectionIds, records.count)]
      let request = try RestRequest.collectionRetrieve(
        object: records[start].objectType, ids: slice.map { $0.id ?? "" }, fields: [field])
      let json: JSONSlice
      do {
        json = try await context.json(for: request)
      } catch let error as SyncError where error.isRefusalOfRequest {
        dates += slice.map { _ in .unknown }
        continue
      }
      guard json.kind == .array else {
        throw SyncContext.unexpectedForm(
          json, of: request, expected: "a list with one record per id")
      }
      var answers = json.elements.map { answer in
        answer.isNull ? RemoteDate.gone : RemoteDate(of: answer, field: field)
      }
      answers += Array(repeating: .unknown, count: max(slice.count - answers.count, 0))
      dates += answers.prefix(slice.count)
    }
    return dates
  }

  /// Asks for the date of one record by its address.
  ///
  /// - Parameter field: The modification date field.
  /// - Throws: As ``SyncContext/response(to:)``.
  public static func ofOne(
    _ record: SyncUpRecord, field: String, in context: SyncContext
  ) async throws -> RemoteDate {
    let response = try await context.response(
      to: .retrieve(object: record.objectType, id: record.id ?? "", fields: [field]))
    if response.status == 404 { return .gone }
    guard (200..<300).contains(response.status), let json = try? JSONSlice(parsing: response.body)
    else { return .unknown }
    return RemoteDate(of: json, field: field)
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
