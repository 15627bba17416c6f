import BulkJobs
import CollectionSyncUp
import HTTPTypes
public import MobileSync
public import SalesforceSDKCommon
import SalesforceSDKCore

/// A target that uploads many local changes with ingest jobs of the Bulk API 2.0.
///
/// JSON: `{"type": "bulk", "createFieldlist": […], "updateFieldlist": […], "externalIdFieldName": "…",
/// "maxBatchSize": 10000, "leastRecords": 2000, "pollInterval": 1000}`, each key but the type optional.
///
/// Use it for 10,000 edits and more. 10,000 edited records cost one job of five requests, which the
/// server executes asynchronously. For fewer records, a `CollectionSyncUpTarget` with 200 records
/// per request is faster.
///
/// - A batch is divided by action and object type. Groups of fewer than ``leastRecords``, and
///   records with values that CSV cannot represent, are sent as with a `CollectionSyncUpTarget`.
/// - The outcome of each record comes from the job's files of successful, failed and unprocessed records.
/// - A job's id is stored before the server may start its work. After a kill or a lost response,
///   the next run looks the job up, waits for its end and finds the records that it created, before
///   it sends anything. It aborts a job whose upload was not completed. It searches for records
///   only if the server no longer has the job.
/// - The last job of a run is deleted when the next one is created. The server deletes it after a week.
/// - A stop waits until the job has ended.
public struct BulkSyncUpTarget: SyncUpTarget, Equatable {
  public static let kind = SyncTargetKind(
    .syncUp, typeName: "bulk", implementationName: "BulkSyncUpTarget", writtenTypeName: "custom")

  /// The default number of records per job.
  public static let defaultBatchSize = 10_000
  /// The maximum number of records per job, which limits memory.
  public static let largestBatchSize = 50_000
  /// The default minimum number of records for a job.
  public static let defaultLeastRecords = 2_000
  /// The default of the first pause between two requests for a job's state, in milliseconds.
  public static let defaultPollInterval = 1_000

  public let fields: SyncUpFields
  public let maxBatchSize: Int
  /// The minimum number of records of one kind for a job.
  public let leastRecords: Int
  /// The first pause between two requests for a job's state, in milliseconds; each further pause is
  /// 50% longer, up to 15 s.
  public let pollInterval: Int
  public let idFieldName: String
  public let modificationDateFieldName: String

  /// Creates a target.
  ///
  /// - Parameters:
  ///   - maxBatchSize: Records in a job; values outside of 1 to 50,000 mean ``defaultBatchSize``.
  ///   - leastRecords: Values below 1 mean ``defaultLeastRecords``.
  ///   - pollInterval: In milliseconds; values below 1 mean ``defaultPollInterval``.
  ///   - idFieldName: Empty means `Id`.
  ///   - modificationDateFieldName: Empty means `LastModifiedDate`.
  public init(
    fields: SyncUpFields = SyncUpFields(), maxBatchSize: Int = defaultBatchSize,
    leastRecords: Int = defaultLeastRecords, pollInterval: Int = defaultPollInterval,
    idFieldName: String = SyncKeys.defaultIdField,
    modificationDateFieldName: String = SyncKeys.defaultModificationDateField
  ) {
    self.fields = fields
    self.maxBatchSize =
      (1...Self.largestBatchSize).contains(maxBatchSize) ? maxBatchSize : Self.defaultBatchSize
    self.leastRecords = leastRecords > 0 ? leastRecords : Self.defaultLeastRecords
    self.pollInterval = pollInterval > 0 ? pollInterval : Self.defaultPollInterval
    let names = SyncFieldNames(id: idFieldName, modificationDate: modificationDateFieldName)
    self.idFieldName = names.id
    self.modificationDateFieldName = names.modificationDate
  }

  public init(configuration: JSONObject) throws {
    self.init(
      fields: try SyncUpFields(configuration: configuration),
      maxBatchSize: configuration.syncCount("maxBatchSize") ?? 0,
      leastRecords: configuration.syncCount("leastRecords") ?? 0,
      pollInterval: configuration.syncCount("pollInterval") ?? 0,
      idFieldName: configuration.syncText("idFieldName") ?? "",
      modificationDateFieldName: configuration.syncText("modificationDateFieldName") ?? "")
  }

  public var configuration: JSONObject {
    var configuration: JSONObject = [
      "maxBatchSize": .integer(Int64(maxBatchSize)), "leastRecords": .integer(Int64(leastRecords)),
      "pollInterval": .integer(Int64(pollInterval)),
    ]
    fields.write(into: &configuration)
    return configuration
  }

  /// The target for records without a job.
  private var collection: CollectionSyncUpTarget {
    CollectionSyncUpTarget(
      fields: fields, idFieldName: idFieldName,
      modificationDateFieldName: modificationDateFieldName)
  }

  // MARK: Groups

  /// The largest file of a job; the platform takes 100 MB.
  private static let largestFile = 24 << 20

  /// Returns one group for each job: the records of one action, object type and external id field,
  /// in the order create, update, upsert, delete. Groups of at most 200 other records follow.
  public func requests(for batch: [SyncUpRecord]) -> [[SyncUpRecord]] {
    var groups: [[SyncUpRecord]] = []
    var others: [SyncUpRecord] = []
    for action in [SyncUpAction.create, .update, .upsert, .delete] {
      var order: [BulkFile.Subject] = []
      var bySubject: [BulkFile.Subject: [SyncUpRecord]] = [:]
      for record in batch where record.action == action {
        guard BulkFile.canHold(record) else {
          others.append(record)
          continue
        }
        let subject = BulkFile.Subject(record)
        if bySubject[subject] == nil { order.append(subject) }
        bySubject[subject, default: []].append(record)
      }
      for subject in order {
        for group in Self.pieces(of: bySubject[subject] ?? []) {
          if group.count >= leastRecords { groups.append(group) } else { others += group }
        }
      }
    }
    let size = CollectionSyncUpTarget.largestBatchSize
    return groups
      + stride(from: 0, to: others.count, by: size).flatMap { start in
        collection.requests(for: Array(others[start..<min(start + size, others.count)]))
      }
  }

  /// Records in pieces that make a file each.
  private static func pieces(of records: [SyncUpRecord]) -> [[SyncUpRecord]] {
    var pieces: [[SyncUpRecord]] = []
    var bytes = largestFile
    for record in records {
      let size = record.record.utf8.count
      if bytes + size > largestFile {
        pieces.append([])
        bytes = 0
      }
      pieces[pieces.count - 1].append(record)
      bytes += size
    }
    return pieces
  }

  /// Whether a group of ``requests(for:)`` is one for a job.
  private func isForJob(_ group: [SyncUpRecord]) -> Bool {
    guard group.count >= leastRecords, let first = group.first.map(BulkFile.Subject.init) else {
      return false
    }
    return group.allSatisfy { BulkFile.Subject($0) == first && BulkFile.canHold($0) }
  }

  // MARK: Sending

  public func send(
    _ group: [SyncUpRecord], in context: SyncContext
  ) async throws -> [SyncUpOutcome] {
    guard isForJob(group) else { return try await collection.send(group, in: context) }
    let log = BulkJobLog(of: context)
    try await finishEarlierJobs(log, in: context)
    let file = BulkFile(group)
    let (job, _) = try await BulkJob.create(.ingest, file.jobDescription, in: context)
    try await log.add(job.id, file.subject, entryIds: group.map(\.entryId))
    try await upload(file, to: job.id, in: context)
    do {
      let ended = try await close(job.id, in: context)
      let results = try await BulkJobResults(of: ended, file.columns, in: context)
      try await log.markRead(job.id)
      return results.outcomes(of: file)
    } catch let error as SyncError where error.code == .server || error.code == .invalidRequest {
      // From here on a refused request says nothing about the records: the job may be at work.
      throw SyncError(
        .transport,
        "What became of the bulk job \(job.id) is not known (\(error.message)). Run the sync again: it looks the "
          + "job up.", body: error.body, cause: error)
    }
  }

  private func upload(_ file: BulkFile, to job: String, in context: SyncContext) async throws {
    var request = RestRequest(
      method: .put, path: BulkJob.path(.ingest, job, "batches"),
      headers: [.contentType: "text/csv"], body: file.bytes)
    // A job takes one upload.
    request.isRepeatable = false
    request.timeout = .seconds(600)
    let response = try await context.response(to: request)
    guard response.isSuccess else { throw SyncContext.serverError(response, request) }
  }

  /// Completes the upload, and waits for the end of the work.
  private func close(_ job: String, in context: SyncContext) async throws -> BulkJob {
    do {
      try await BulkJob.set(.uploadComplete, of: .ingest, job, in: context)
    } catch let error as SyncError where error.code != .closed {
      // The request or its response was lost. An open job has not changed records.
      let state = try await BulkJob.state(.ingest, job, in: context).state
      if state == .open {
        try await BulkJob.set(.uploadComplete, of: .ingest, job, in: context)
      }
    }
    return try await BulkJob.end(
      of: .ingest, job, BulkPause(first: pollInterval), in: context)
  }

  public func remoteDates(
    of records: [SyncUpRecord], in context: SyncContext
  ) async throws -> [RemoteDate] {
    try await awaitEarlierJobs(in: context)
    return try await collection.remoteDates(of: records, in: context)
  }
}

extension BulkSyncUpTarget: RemoteRecordFetching {
  public func remoteRecords(
    of records: [SyncUpRecord], fields: [String], in context: SyncContext
  ) async throws -> [RemoteRecord] {
    try await awaitEarlierJobs(in: context)
    return try await collection.remoteRecords(of: records, fields: fields, in: context)
  }
}

extension BulkSyncUpTarget: ExternalIdFinding {
  public func remoteRecords(
    byExternalIdOf records: [SyncUpRecord], fields: [String], in context: SyncContext
  ) async throws -> [RemoteRecord] {
    try await awaitEarlierJobs(in: context)
    return try await collection.remoteRecords(
      byExternalIdOf: records, fields: fields, in: context)
  }
}

// MARK: Jobs of earlier runs

extension BulkSyncUpTarget: UnacknowledgedCreateFinding {
  public func candidates(
    for lost: [UnacknowledgedCreate], in context: SyncContext
  ) async throws -> [[String]] {
    try await possibleRecords(for: lost, in: context).map { found in
      (found ?? []).filter(\.agrees).map(\.id)
    }
  }

  public func possibleRecords(
    for lost: [UnacknowledgedCreate], in context: SyncContext
  ) async throws -> [[UnacknowledgedCreateCandidate]?] {
    var found: [Int: [UnacknowledgedCreateCandidate]] = [:]
    // A job may have created its records long after the response to its upload was lost.
    var isOpen: Set<Int> = []
    for job in try await BulkJobLog(of: context).jobs() where job.subject.action == .create {
      let indices = lost.indices.filter { index in
        found[index] == nil && job.entryIds.contains(lost[index].record.entryId)
          && BulkFile.Subject(lost[index].record) == job.subject
      }
      if indices.isEmpty { continue }
      switch try await end(of: job.id, in: context) {
      case .gone: isOpen.formUnion(indices)
      case .nothingDone: for index in indices { found[index] = [] }
      case .ended(let ended):
        let file = BulkFile(indices.map { lost[$0].record })
        let outcomes = try await BulkJobResults(of: ended, nil, in: context).outcomes(of: file)
        for (index, outcome) in zip(indices, outcomes) {
          switch outcome {
          case .succeeded(let id?):
            found[index] = [
              UnacknowledgedCreateCandidate(
                id: id, agrees: true, values: file.values(of: lost[index].record))
            ]
          case .rejected, .gone: found[index] = []
          case .succeeded(nil), .outdated, .unanswered: break
          }
        }
      }
    }
    let rest = lost.indices.filter { found[$0] == nil }
    if !rest.isEmpty {
      let searched = try await collection.possibleRecords(
        for: rest.map { isOpen.contains($0) ? lost[$0].withoutEnd : lost[$0] }, in: context)
      for (index, candidates) in zip(rest, searched) { found[index] = candidates }
    }
    return lost.indices.map { found[$0] }
  }

  /// The server's word about a job that has ended is final, and a job that was not completed is aborted.
  public func areOver(
    _ lost: [UnacknowledgedCreate], in context: SyncContext
  ) async throws -> [Bool] {
    var over = lost.map { _ in false }
    for job in try await BulkJobLog(of: context).jobs() where job.subject.action == .create {
      let indices = lost.indices.filter { index in
        job.entryIds.contains(lost[index].record.entryId)
          && BulkFile.Subject(lost[index].record) == job.subject
      }
      if indices.isEmpty { continue }
      if case .gone = try await end(of: job.id, in: context) { continue }
      for index in indices { over[index] = true }
    }
    return over
  }

  /// The state of an earlier job.
  private enum End {
    case ended(BulkJob)
    /// Its upload was not completed; it is aborted.
    case nothingDone
    /// The server no longer has it.
    case gone
  }

  /// Waits for the end of a job of an earlier run.
  private func end(of job: String, in context: SyncContext) async throws -> End {
    var pause = BulkPause(first: pollInterval)
    do {
      while true {
        let ended = try await BulkJob.end(of: .ingest, job, pause, in: context)
        if ended.state != .open { return .ended(ended) }
        do {
          try await BulkJob.set(.aborted, of: .ingest, job, in: context)
          return .nothingDone
        } catch let error as SyncError where error.isRefusalOfRequest {
          // The job was closed in between, or cannot be aborted yet.
          try await pause.wait(in: context)
        }
      }
    } catch let error as SyncError where error.code == .server && error.status == 404 {
      return .gone
    }
  }

  /// Waits until no job of an earlier run can still change records.
  private func awaitEarlierJobs(in context: SyncContext) async throws {
    for job in try await BulkJobLog(of: context).jobs() where !job.isRead {
      _ = try await end(of: job.id, in: context)
    }
  }

  /// Waits for the jobs of earlier runs, and deletes them: the run has found out by now what they did.
  private func finishEarlierJobs(_ log: BulkJobLog, in context: SyncContext) async throws {
    for job in try await log.jobs() {
      if !job.isRead { _ = try await end(of: job.id, in: context) }
      try await BulkJob.delete(.ingest, job.id, in: context)
      try await log.remove(job.id)
    }
  }
}

extension UnacknowledgedCreate {
  /// The same, which may have been created at any time since it was sent.
  fileprivate var withoutEnd: UnacknowledgedCreate {
    UnacknowledgedCreate(
      record: record, sentAfter: sentAfter, arrival: arrival.map { $0.lowerBound...Int64.max })
  }
}
