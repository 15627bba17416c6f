import HTTPTypes
package import MobileSync
package import SalesforceSDKCommon
package import SalesforceSDKCore

/// A job of the Bulk API 2.0, as the server describes it.
package struct BulkJob: Sendable {
  /// Whether a job loads records or is a query.
  package enum Kind: String, Sendable {
    case ingest, query
  }

  /// The state of a job.
  package enum State: String, Sendable {
    case open = "Open"
    case uploadComplete = "UploadComplete"
    case inProgress = "InProgress"
    case jobComplete = "JobComplete"
    case aborted = "Aborted"
    case failed = "Failed"

    /// Whether the server has ended its work on the job.
    package var isEnd: Bool { self == .jobComplete || self == .aborted || self == .failed }
  }

  package let id: String
  package let state: State
  /// The object of its records, as the server spells it.
  package let object: String
  /// The time of its creation on the server, in milliseconds since 1970.
  package let created: Int64?
  /// The number of processed records.
  package let processed: Int?
  /// The number of rejected records.
  package let failed: Int?
  /// The reason of its failure.
  package let errorMessage: String?

  /// Reads the server's description.
  ///
  /// - Throws: ``SyncError`` `unexpectedResponse` if it is none.
  package init(_ json: JSONSlice, from request: RestRequest) throws(SyncError) {
    guard let id = json["id"]?.string, !id.isEmpty,
      let state = json["state"]?.string.flatMap(State.init(rawValue:))
    else {
      throw SyncContext.unexpectedForm(
        json, of: request, expected: "the description of a bulk job")
    }
    self.id = id
    self.state = state
    object = json["object"]?.string ?? ""
    created = json["createdDate"]?.string.flatMap(SalesforceDate.parse)?.milliseconds
    processed = json["numberRecordsProcessed"]?.int64.map(Int.init(clamping:))
    failed = json["numberRecordsFailed"]?.int64.map(Int.init(clamping:))
    errorMessage = json["errorMessage"]?.string
  }

  /// The address of jobs of a kind, or of one of them, or of a part of it.
  package static func path(_ kind: Kind, _ id: String? = nil, _ part: String? = nil) -> String {
    (["/{v}/jobs/\(kind.rawValue)"] + [id, part].compactMap(\.self).map(PercentEncoding.encode))
      .joined(separator: "/")
  }

  /// Creates a job.
  ///
  /// - Returns: The job with a time before the server began to work on it, in milliseconds since 1970.
  /// - Throws: As `SyncContext.json(for:)`.
  package static func create(
    _ kind: Kind, _ description: JSONObject, in context: SyncContext
  ) async throws -> (job: BulkJob, startedAfter: Int64?) {
    let request = RestRequest(
      method: .post, path: path(kind), headers: [.contentType: "application/json"],
      body: Array(JSONValue.object(description).text.utf8))
    let (json, startedAfter) = try await context.datedJSON(for: request)
    return (try BulkJob(json, from: request), startedAfter)
  }

  /// The current state of the job.
  ///
  /// - Throws: As `SyncContext.json(for:)`.
  package static func state(
    _ kind: Kind, _ id: String, in context: SyncContext
  ) async throws -> BulkJob {
    let request = RestRequest(path: path(kind, id))
    return try BulkJob(try await context.json(for: request), from: request)
  }

  /// Sets a job's state: `UploadComplete` starts the work on an ingest job, `Aborted` ends a job.
  ///
  /// - Throws: As `SyncContext.json(for:)`.
  @discardableResult
  package static func set(
    _ state: State, of kind: Kind, _ id: String, in context: SyncContext
  ) async throws -> BulkJob {
    let request = RestRequest(
      method: .patch, path: path(kind, id), headers: [.contentType: "application/json"],
      body: Array(#"{"state":"\#(state.rawValue)"}"#.utf8))
    return try BulkJob(try await context.json(for: request), from: request)
  }

  /// Deletes a job with its data. A job that stays after a failure is deleted by the server a week later.
  ///
  /// - Throws: The errors that end a run at once: a stop, a close or a cancellation.
  package static func delete(
    _ kind: Kind, _ id: String, in context: SyncContext
  ) async throws {
    do {
      _ = try await context.response(to: RestRequest(method: .delete, path: path(kind, id)))
    } catch is SyncError {}
  }

  /// Waits until the server has ended its work on a job.
  ///
  /// - Throws: As `SyncContext.json(for:)`.
  package static func end(
    of kind: Kind, _ id: String, _ pause: BulkPause, in context: SyncContext
  ) async throws -> BulkJob {
    var pause = pause
    while true {
      let job = try await state(kind, id, in: context)
      if job.state.isEnd || job.state == .open { return job }
      try await pause.wait(in: context)
    }
  }
}

/// The pauses between two looks at a job: each half as long again as the one before, up to the longest.
package struct BulkPause: Sendable {
  private var next: Duration
  private let longest: Duration
  /// A stop is noticed after this time at the latest.
  private static let slice = Duration.milliseconds(200)

  /// - Parameter first: In milliseconds.
  package init(first: Int) {
    next = .milliseconds(max(first, 1))
    longest = max(next, .seconds(15))
  }

  /// The length of the next pause.
  package mutating func advance() -> Duration {
    defer { next = min(next * 3 / 2, longest) }
    return next
  }

  /// Waits.
  ///
  /// - Throws: `CancellationError`, or what `SyncContext.checkStop()` throws.
  package mutating func wait(in context: SyncContext) async throws {
    var rest = advance()
    while rest > .zero {
      try context.checkStop()
      try await Task.sleep(for: min(rest, Self.slice))
      rest -= Self.slice
    }
    try context.checkStop()
  }
}
