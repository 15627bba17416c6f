import struct Foundation.Date

/// A job of the first Bulk API: batches that clients add until they close it.
struct ClassicJob: Sendable {
  enum ContentType: String, Sendable {
    case json = "JSON"
    case csv = "CSV"
    case xml = "XML"
  }

  struct Batch: Sendable {
    let id: String
    let created: Date
    var state = "Completed"
    var stateMessage: String?
    /// What the client sent.
    var request: [UInt8]
    var results: [RecordResult] = []
    /// The results of a query, by id, each as it is returned.
    var queryResults: [(id: String, body: [UInt8])] = []
    var processed = 0
    var failed: Int { results.count { $0.error != nil } }
  }

  let id: String
  let userID: String
  let apiVersion: Int
  let created: Date
  var changed: Date
  let operation: String
  let object: String
  var externalIDField: String?
  let contentType: ContentType
  let concurrencyMode: String
  /// `Open`, `Closed`, `Aborted`.
  var state = "Open"
  var batches: [Batch] = []

  var isQuery: Bool { operation == "query" || operation == "queryAll" }

  /// What a response says of the job, in order.
  var members: [(key: String, value: ClassicValue)] {
    var members: [(key: String, value: ClassicValue)] = [
      ("id", .text(id)), ("operation", .text(operation)), ("object", .text(object)),
      ("createdById", .text(userID)), ("createdDate", .text(DateText.dateTime(created))),
      ("systemModstamp", .text(DateText.dateTime(changed))), ("state", .text(state)),
    ]
    if let externalIDField { members.append(("externalIdFieldName", .text(externalIDField))) }
    members += [
      ("concurrencyMode", .text(concurrencyMode)), ("contentType", .text(contentType.rawValue)),
      ("numberBatchesQueued", .number(0)), ("numberBatchesInProgress", .number(0)),
      ("numberBatchesCompleted", .number(batches.count { $0.state == "Completed" })),
      ("numberBatchesFailed", .number(batches.count { $0.state == "Failed" })),
      ("numberBatchesTotal", .number(batches.count)),
      ("numberRecordsProcessed", .number(batches.reduce(0) { $0 + $1.processed })),
      ("numberRetries", .number(0)), ("apiVersion", .version(apiVersion)),
      ("numberRecordsFailed", .number(batches.reduce(0) { $0 + $1.failed })),
      ("totalProcessingTime", .number(0)), ("apiActiveProcessingTime", .number(0)),
      ("apexProcessingTime", .number(0)),
    ]
    return members
  }

  /// What a response says of a batch, in order.
  func members(of batch: Batch, state: String? = nil) -> [(key: String, value: ClassicValue)] {
    var members: [(key: String, value: ClassicValue)] = [
      ("id", .text(batch.id)), ("jobId", .text(id)), ("state", .text(state ?? batch.state)),
    ]
    members.append(("stateMessage", .optional(state == nil ? batch.stateMessage : nil)))
    let isQueued = state != nil
    members += [
      ("createdDate", .text(DateText.dateTime(batch.created))),
      ("systemModstamp", .text(DateText.dateTime(changed))),
      ("numberRecordsProcessed", .number(isQueued ? 0 : batch.processed)),
      ("numberRecordsFailed", .number(isQueued ? 0 : batch.failed)),
      ("totalProcessingTime", .number(0)), ("apiActiveProcessingTime", .number(0)),
      ("apexProcessingTime", .number(0)),
    ]
    return members
  }
}

/// A value in a response of the first Bulk API, which writes JSON or XML.
enum ClassicValue: Sendable {
  case text(String)
  /// Null in JSON, left out in XML.
  case optional(String?)
  case number(Int)
  /// A version of the API, `66.0`.
  case version(Int)

  var json: ResponseJSON {
    switch self {
    case .text(let text): .string(text)
    case .optional(let text): .string(orNull: text)
    case .number(let number): .integer(number)
    case .version(let number): .double(Double(number))
    }
  }

  /// The value in XML; nil where nothing is written.
  var text: String? {
    switch self {
    case .text(let text): text
    case .optional(let text): text
    case .number(let number): String(number)
    case .version(let number): "\(number).0"
    }
  }
}
