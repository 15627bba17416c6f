import MobileSync
import SalesforceSDKCommon

/// The saved part of a job's result, for the next run.
///
/// ```json
/// { "job": "750…", "query": "select …", "since": -1, "completeUntil": 1700000000000, "locator": "MTAwMDA",
///   "rows": 2000, "read": 12000, "done": false }
/// ```
struct BulkPosition: Sendable, Equatable {
  let job: String
  /// The target's query, without the condition on the date.
  let query: String
  /// The watermark that the job was created with, in milliseconds since 1970.
  let since: Int64
  /// Up to when the result is complete, in milliseconds since 1970.
  let completeUntil: Int64
  /// The file that is read next; nil means the first.
  var locator: String?
  /// The number of its saved records.
  var rows = 0
  /// The number of saved records of all files.
  var read = 0
  /// Whether all are saved.
  var isDone = false

  /// The engine lowers the watermark of an interrupted sync by a millisecond each time. That of a job did not
  /// move, so the job has what is wanted.
  private static let tolerance: Int64 = 1_000

  init(job: String, query: String, since: Int64, completeUntil: Int64) {
    self.job = job
    self.query = query
    self.since = since
    self.completeUntil = completeUntil
  }

  /// Reads a checkpoint; nil if it is none of this target.
  init?(json: JSONObject) {
    guard let job = json["job"]?.string, let query = json["query"]?.string,
      let since = json["since"]?.int64, let completeUntil = json["completeUntil"]?.int64
    else { return nil }
    self.init(job: job, query: query, since: since, completeUntil: completeUntil)
    locator = json["locator"]?.string
    rows = max(json.syncCount("rows") ?? 0, 0)
    read = max(json.syncCount("read") ?? 0, 0)
    isDone = json["done"]?.bool ?? false
  }

  var json: JSONObject {
    [
      "job": .string(job), "query": .string(query), "since": .integer(since),
      "completeUntil": .integer(completeUntil), "locator": locator.map { .string($0) } ?? .null,
      "rows": .integer(Int64(rows)), "read": .integer(Int64(read)), "done": .bool(isDone),
    ]
  }

  /// Whether the job brings what a run of `target` needs.
  func fits(_ target: BulkSyncDownTarget, since maxTimeStamp: Int64) -> Bool {
    query == target.query && maxTimeStamp >= since - Self.tolerance
  }
}
