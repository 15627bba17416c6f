import GRDB
import SalesforceSDKCommon

import struct Foundation.Date

/// Bulk API 2.0: `/jobs/ingest`. A job is worked through when its upload is said to be complete, so the
/// next look at it shows its end.
extension RESTService {
  /// Everything under `/jobs`.
  func jobs(_ request: OrgRequest, _ path: [String]) throws -> OrgResponse {
    switch (path.first, path.count) {
    case ("ingest", 1):
      if request.method == "POST" { return try createIngestJob(request) }
      try request.allow("GET,HEAD,POST")
      return jobList(.ingest, request)
    case ("ingest", 2): return try ingestJob(request, job(path[1], .ingest))
    case ("ingest", 3): return try ingestPart(request, job(path[1], .ingest), path[2])
    case ("query", 1):
      if request.method == "POST" { return try createQueryJob(request) }
      try request.allow("GET,HEAD,POST")
      return jobList(.query, request)
    case ("query", 2): return try queryJob(request, job(path[1], .query))
    case ("query", 3) where path[2] == "results":
      try request.allow("GET,HEAD")
      return try queryResults(request, job(path[1], .query))
    case ("query", 3) where path[2] == "resultPages":
      try request.allow("GET,HEAD")
      return try queryResultPages(request, job(path[1], .query))
    default: throw ServerError.notFound()
    }
  }

  private func job(_ id: String, _ kind: BulkJob.Kind) throws(ServerError) -> BulkJob {
    guard let job = org.jobs.job(id), job.kind == kind, transaction.sees(jobOf: job.userID) else {
      throw .notFound()
    }
    return job
  }

  // MARK: Jobs

  private func createIngestJob(_ request: OrgRequest) throws -> OrgResponse {
    if request.headers["content-type"]?.lowercased().hasPrefix("multipart/") == true {
      return try createFilledJob(request)
    }
    let job = try newIngestJob(request.object())
    org.jobs.update(job)
    return response(job)
  }

  /// A job whose file stands in the request that makes it.
  private func createFilledJob(_ request: OrgRequest) throws -> OrgResponse {
    let parts = try Multipart.parts(of: request)
    guard let description = parts.first(where: { $0.name == "job" }),
      let content = parts.first(where: { $0.name == "content" })
    else {
      throw ServerError("INVALIDJOB", "InvalidJob : The parts 'job' and 'content' are needed.")
    }
    var job = try newIngestJob(JSONSlice(parsingBody: description.body))
    job.upload = content.body
    try process(&job)
    org.jobs.update(job)
    job.state = .uploadComplete
    return response(job)
  }

  private func newIngestJob(_ body: JSONSlice) throws -> BulkJob {
    let operation = body["operation"]?.string ?? ""
    guard ["insert", "update", "upsert", "delete", "hardDelete"].contains(operation) else {
      throw ServerError(
        "INVALIDJOB", "InvalidJob : Unable to find the operation '\(operation)' for a job")
    }
    let object = body["object"]?.string ?? ""
    let rows = try BulkRows(
      transaction: transaction, object: object, operation: operation,
      externalIDField: body["externalIdFieldName"]?.string)
    let type = body["contentType"]?.string ?? "CSV"
    guard type == "CSV" else {
      throw ServerError("INVALIDJOB", "InvalidJob : \(type) is no content type of this API")
    }
    var job = BulkJob(
      id: org.jobs.nextID(prefix: "750"), kind: .ingest,
      userID: transaction.userID, apiVersion: transaction.apiVersion, created: transaction.now,
      operation: operation, object: rows.object.name, changed: transaction.now)
    job.externalIDField = rows.externalIDField?.name
    try setForm(of: &job, from: body)
    return job
  }

  /// Reads the delimiter and line end of a job's file.
  func setForm(of job: inout BulkJob, from body: JSONSlice) throws(ServerError) {
    if let name = body["columnDelimiter"]?.string {
      guard let delimiter = BulkDelimiter(rawValue: name) else {
        throw ServerError("INVALIDJOB", "InvalidJob : \(name) is no column delimiter")
      }
      job.delimiter = delimiter
    }
    job.hasCRLF = body["lineEnding"]?.string == "CRLF"
  }

  private func jobList(_ kind: BulkJob.Kind, _ request: OrgRequest) -> OrgResponse {
    let type = request[query: "jobType"]
    let jobs = org.jobs.jobs(kind).filter {
      (type == nil || $0.kind.rawValue == type) && transaction.sees(jobOf: $0.userID)
    }
    return .json { writer in
      writer.beginObject()
      writer.key("done")
      writer.bool(true)
      writer.key("nextRecordsUrl")
      writer.null()
      writer.key("records")
      writer.beginArray()
      for job in jobs { write(job, to: &writer) }
      writer.endArray()
      writer.endObject()
    }
  }

  private func ingestJob(_ request: OrgRequest, _ job: BulkJob) throws -> OrgResponse {
    var job = job
    switch request.method {
    case "GET", "HEAD": return response(job)
    case "DELETE":
      guard job.state != .open else { throw Self.wrongState(job) }
      org.jobs.remove(job.id)
      return .empty()
    case "PATCH":
      let state = try request.object()["state"]?.string ?? ""
      switch (state, job.state) {
      case ("UploadComplete", .open):
        try process(&job)
        org.jobs.update(job)
        // The work is done, but a job never ends within the request that starts it.
        job.state = .uploadComplete
        return response(job)
      case ("Aborted", .open):
        job.state = .aborted
        job.changed = transaction.now
        org.jobs.update(job)
        return response(job)
      case ("UploadComplete", _), ("Aborted", _): throw Self.wrongState(job)
      default:
        throw ServerError("INVALIDJOBSTATE", "Unable to set the job state to '\(state)'")
      }
    default:
      throw ServerError.methodNotAllowed(request.method, allowed: "DELETE,GET,HEAD,PATCH")
    }
  }

  static func wrongState(_ job: BulkJob) -> ServerError {
    ServerError(
      "INVALIDJOBSTATE",
      "Transition from \(job.state.rawValue) is not allowed for the job \(job.id)")
  }

  private func ingestPart(
    _ request: OrgRequest, _ job: BulkJob, _ part: String
  ) throws -> OrgResponse {
    if part == "batches" {
      try request.allow("PUT")
      guard job.state == .open else { throw Self.wrongState(job) }
      guard job.upload.isEmpty else {
        throw ServerError("INVALIDJOBSTATE", "The job \(job.id) has its data already.")
      }
      var job = job
      job.upload = request.body
      job.changed = transaction.now
      org.jobs.update(job)
      return .empty(201)
    }
    try request.allow("GET,HEAD")
    let body: [UInt8]
    switch part.lowercased() {
    case "successfulresults": body = job.succeeded
    case "failedresults": body = job.failed
    case "unprocessedrecords": body = job.unprocessed
    default: throw ServerError.notFound()
    }
    return OrgResponse(status: 200, body: body, contentType: "text/csv")
  }

  // MARK: Work

  private func process(_ job: inout BulkJob) throws {
    defer {
      job.upload = []
      job.changed = transaction.now
    }
    let delimiter = job.delimiter.byte
    guard var rows = CSV.rows(job.upload, delimiter: delimiter), !rows.isEmpty else {
      job.state = job.upload.isEmpty ? .jobComplete : .failed
      if job.state == .failed { job.errorMessage = "InvalidBatch : The file is no valid CSV" }
      return
    }
    let header = rows.removeFirst()
    let work = try BulkRows(
      transaction: transaction, object: job.object, operation: job.operation,
      externalIDField: job.externalIDField)
    CSV.append(
      ["sf__Id", "sf__Created"] + header, to: &job.succeeded, delimiter: delimiter,
      lineEnd: job.lineEnd)
    CSV.append(
      ["sf__Id", "sf__Error"] + header, to: &job.failed, delimiter: delimiter,
      lineEnd: job.lineEnd)
    CSV.append(header, to: &job.unprocessed, delimiter: delimiter, lineEnd: job.lineEnd)
    let unknown = work.unknownColumns(header)
    guard unknown.isEmpty else {
      job.state = .failed
      job.errorMessage =
        "InvalidBatch : Field name not found : \(unknown.joined(separator: ","))"
      for row in rows {
        CSV.append(row, to: &job.unprocessed, delimiter: delimiter, lineEnd: job.lineEnd)
      }
      return
    }
    for row in rows {
      let result: RecordResult
      if row.count == header.count {
        result = try work.apply(work.record(header, row))
      } else {
        result = RecordResult(
          error: ServerError(
            "INVALID_CSV_LINE", "The row has \(row.count) values, the header \(header.count)"))
      }
      job.processedCount += 1
      if let error = result.error {
        job.failedCount += 1
        CSV.append(
          [result.id ?? "", error.bulkText] + row, to: &job.failed, delimiter: delimiter,
          lineEnd: job.lineEnd)
      } else {
        CSV.append(
          [result.id ?? "", result.created == true ? "true" : "false"] + row, to: &job.succeeded,
          delimiter: delimiter, lineEnd: job.lineEnd)
      }
    }
    job.state = .jobComplete
  }

  // MARK: Responses

  func response(_ job: BulkJob) -> OrgResponse { .json { write(job, to: &$0) } }

  func write(_ job: BulkJob, to writer: inout JSONWriter) {
    let isIngest = job.kind == .ingest
    writer.beginObject()
    for (key, value) in [
      ("id", job.id), ("operation", job.operation), ("object", job.object),
      ("createdById", job.userID), ("createdDate", DateText.dateTime(job.created)),
      ("systemModstamp", DateText.dateTime(job.changed)), ("state", job.state.rawValue),
      ("concurrencyMode", "Parallel"), ("contentType", "CSV"), ("jobType", job.kind.rawValue),
      ("lineEnding", job.hasCRLF ? "CRLF" : "LF"), ("columnDelimiter", job.delimiter.rawValue),
    ] {
      writer.key(key)
      writer.string(value)
    }
    writer.key("apiVersion")
    RecordJSON.write(Double(job.apiVersion).databaseValue, type: .double, to: &writer)
    if isIngest {
      writer.key("contentUrl")
      writer.string("services/data/v\(job.apiVersion).0/jobs/ingest/\(job.id)/batches")
      if let field = job.externalIDField {
        writer.key("externalIdFieldName")
        writer.string(field)
      }
    }
    if job.state != .open, job.state != .uploadComplete {
      for (key, value) in [
        ("retries", 0), ("totalProcessingTime", job.processedCount),
        ("numberRecordsProcessed", job.processedCount),
      ] {
        writer.key(key)
        writer.integer(value)
      }
      if isIngest {
        for (key, value) in [
          ("numberRecordsFailed", job.failedCount), ("apiActiveProcessingTime", job.processedCount),
          ("apexProcessingTime", 0),
        ] {
          writer.key(key)
          writer.integer(value)
        }
      }
      if let message = job.errorMessage {
        writer.key("errorMessage")
        writer.string(message)
      }
    }
    writer.endObject()
  }
}

extension JSONSlice {
  /// A part of a body as a JSON object.
  init(parsingBody body: [UInt8]) throws(ServerError) {
    do {
      self = try JSONSlice(parsing: body)
    } catch {
      throw .jsonParser(error.message)
    }
    guard kind == .object else {
      throw .jsonParser("The entity body has to be a JSON object at [line:1, column:1]")
    }
  }
}
