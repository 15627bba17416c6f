import Synchronization

import struct Foundation.Date

/// A job of the Bulk API 2.0: many records in one file, or the result of one query.
struct BulkJob: Sendable {
  enum Kind: String, Sendable {
    case ingest = "V2Ingest"
    case query = "V2Query"
  }

  enum State: String, Sendable {
    case open = "Open"
    case uploadComplete = "UploadComplete"
    case jobComplete = "JobComplete"
    case aborted = "Aborted"
    case failed = "Failed"
  }

  let id: String
  let kind: Kind
  let userID: String
  let apiVersion: Int
  let created: Date
  /// `insert`, `update`, `upsert`, `delete`, `hardDelete`; `query`, `queryAll`.
  let operation: String
  let object: String
  var externalIDField: String?
  var delimiter = BulkDelimiter.comma
  var hasCRLF = false
  var state = State.open
  var changed: Date
  var errorMessage: String?
  /// The uploaded file; empty once it was worked through.
  var upload: [UInt8] = []
  /// The three result files of an ingest job, each with its header.
  var succeeded: [UInt8] = []
  var failed: [UInt8] = []
  var unprocessed: [UInt8] = []
  var processedCount = 0
  var failedCount = 0
  /// The rows of a query's result, each one line of CSV, behind the header.
  var header: [UInt8] = []
  var rows: [[UInt8]] = []

  var lineEnd: String { hasCRLF ? "\r\n" : "\n" }
}

/// What separates the columns of a file.
enum BulkDelimiter: String, Sendable {
  case backquote = "BACKQUOTE"
  case caret = "CARET"
  case comma = "COMMA"
  case pipe = "PIPE"
  case semicolon = "SEMICOLON"
  case tab = "TAB"

  var byte: UInt8 {
    switch self {
    case .backquote: UInt8(ascii: "`")
    case .caret: UInt8(ascii: "^")
    case .comma: UInt8(ascii: ",")
    case .pipe: UInt8(ascii: "|")
    case .semicolon: UInt8(ascii: ";")
    case .tab: UInt8(ascii: "\t")
    }
  }
}

/// The jobs of an org, of both versions of the Bulk API.
final class BulkJobs: Sendable {
  private struct State: Sendable {
    var jobs: [String: BulkJob] = [:]
    var classicJobs: [String: ClassicJob] = [:]
    /// The ids of all jobs in the order of their creation.
    var order: [String] = []
    var last: [String: Int] = [:]

    mutating func nextID(prefix: String) -> String {
      last[prefix, default: 0] += 1
      return RecordID.make(prefix: prefix, number: last[prefix] ?? 1)
    }
  }

  private let state = Mutex(State())

  /// A new id of a job (750), batch (751) or result (752).
  func nextID(prefix: String) -> String { state.withLock { $0.nextID(prefix: prefix) } }

  func job(_ id: String) -> BulkJob? {
    guard let id = RecordID.normalized(id) else { return nil }
    return state.withLock { $0.jobs[id] }
  }

  /// Keeps a job, in the place of the one with its id.
  func update(_ job: BulkJob) {
    state.withLock { state in
      if state.jobs.updateValue(job, forKey: job.id) == nil { state.order.append(job.id) }
    }
  }

  func classicJob(_ id: String) -> ClassicJob? {
    guard let id = RecordID.normalized(id) else { return nil }
    return state.withLock { $0.classicJobs[id] }
  }

  func update(_ job: ClassicJob) { state.withLock { $0.classicJobs[job.id] = job } }

  /// Forgets all jobs; ids go on.
  func removeAll() {
    state.withLock { state in
      state.jobs = [:]
      state.classicJobs = [:]
      state.order = []
    }
  }

  func remove(_ id: String) {
    state.withLock { state in
      state.jobs[id] = nil
      state.order.removeAll { $0 == id }
    }
  }

  /// The jobs of a kind, oldest first.
  func jobs(_ kind: BulkJob.Kind) -> [BulkJob] {
    state.withLock { state in
      state.order.compactMap { state.jobs[$0] }.filter { $0.kind == kind }
    }
  }

  /// How many jobs of a kind were made, for the limits.
  func count(_ kind: BulkJob.Kind) -> Int { jobs(kind).count }
}
