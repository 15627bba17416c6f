import HTTPTypes
import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore
import Synchronization

/// The use of the Bulk API by the requests of this process.
///
/// A bulk target sends few records of a kind without a job, because that is faster. The user who gave `--bulk` should
/// know about it.
final class BulkUse: RestInterceptor {
  /// The counts of this process.
  static let shared = BulkUse()

  /// The numbers of created jobs and of records that were uploaded without one.
  struct Counts: Equatable {
    var jobs = 0
    var recordsWithoutJob = 0
  }

  private let state = Mutex(Counts())

  /// The counts so far.
  var counts: Counts { state.withLock { $0 } }

  func intercept(_ call: RestCall, next: Next) async throws -> RestResponse {
    let response = try await next(call)
    guard response.isSuccess else { return response }
    let isJob = Self.isJob(call.request)
    let records = Self.uploads(of: call.request)
    if isJob || records > 0 {
      state.withLock { counts in
        if isJob { counts.jobs += 1 }
        counts.recordsWithoutJob += records
      }
    }
    return response
  }

  private static func isJob(_ request: RestRequest) -> Bool {
    request.method == .post && ["/{v}/jobs/ingest", "/{v}/jobs/query"].contains(request.path)
  }

  /// The number of records that a request of the collection target writes; 0 for other requests.
  private static func uploads(of request: RestRequest) -> Int {
    let collections = "/composite/sobjects"
    guard request.path.contains(collections) else { return 0 }
    switch request.method {
    case .delete:
      return request.query.first { $0.name == "ids" }?.value.split(separator: ",").count ?? 0
    // A POST to a place below retrieves records.
    case .post where request.path.hasSuffix(collections), .patch:
      guard let body = request.body, let json = try? JSONSlice(parsing: body) else { return 0 }
      return json["records"].map { Array($0.elements).count } ?? 0
    default: return 0
    }
  }

  /// Whether a sync's target is one of the bulk targets.
  static func isBulk(_ target: JSONObject) -> Bool {
    target["type"]?.string == "bulk"
      || target.contains { ["BulkSyncUpTarget", "BulkSyncDownTarget"].contains($0.value.string) }
  }
}

extension BulkUse.Counts {
  /// `{"jobs", "recordsWithoutJob"}`.
  var document: JSONValue {
    ["jobs": .integer(Int64(jobs)), "recordsWithoutJob": .integer(Int64(recordsWithoutJob))]
  }

  /// The line for a user who expects jobs; nil if no record was uploaded without one.
  ///
  /// - Parameter target: The target of the sync.
  func line(for target: JSONObject) -> String? {
    guard recordsWithoutJob > 0 else { return nil }
    let least = target["leastRecords"]?.int64 ?? 0
    return
      "\(counted(recordsWithoutJob, "record")) uploaded without a bulk job: jobs pay off from \(least) records "
      + "of one object and action, and need values that CSV can hold"
  }
}
