import SalesforceSDKCommon

/// Bulk API 2.0: `/jobs/ingest`. A job is worked through when its upload is said to be complete, so the
/// next look at it shows its end.
struct IngestJobResource: Resource {
  let call: RESTCall

  func list() -> OrgResponse { jobList(.ingest) }

  func create() throws -> OrgResponse {
    if request.headers["content-type"]?.lowercased().hasPrefix("multipart/") == true {
      return try createFilledJob()
    }
    let job = try newJob(request.object())
    org.jobs.update(job)
    return .json(job.json)
  }

  /// A job whose file stands in the request that makes it.
  private func createFilledJob() throws -> OrgResponse {
    let parts = try Multipart.parts(of: request)
    guard let description = parts.first(where: { $0.name == "job" }),
      let content = parts.first(where: { $0.name == "content" })
    else {
      throw ServerError("INVALIDJOB", "InvalidJob : The parts 'job' and 'content' are needed.")
    }
    var job = try newJob(JSONSlice(parsingBody: description.body))
    job.upload = content.body
    try process(&job)
    org.jobs.update(job)
    job.state = .uploadComplete
    return .json(job.json)
  }

  private func newJob(_ body: JSONSlice) throws -> BulkJob {
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
    try job.setForm(from: body)
    return job
  }

  func state() throws -> OrgResponse { .json(try job(.ingest).json) }

  /// Changes the state of a job: the upload is complete, or will not come.
  func change() throws -> OrgResponse {
    var job = try job(.ingest)
    let state = try request.object()["state"]?.string ?? ""
    switch (state, job.state) {
    case ("UploadComplete", .open):
      try process(&job)
      org.jobs.update(job)
      // The work is done, but a job never ends within the request that starts it.
      job.state = .uploadComplete
    case ("Aborted", .open):
      job.state = .aborted
      job.changed = transaction.now
      org.jobs.update(job)
    case ("UploadComplete", _), ("Aborted", _): throw job.wrongState
    default:
      throw ServerError("INVALIDJOBSTATE", "Unable to set the job state to '\(state)'")
    }
    return .json(job.json)
  }

  func delete() throws -> OrgResponse {
    let job = try job(.ingest)
    guard job.state != .open else { throw job.wrongState }
    org.jobs.remove(job.id)
    return .empty()
  }

  // MARK: Files

  func upload() throws -> OrgResponse {
    var job = try job(.ingest)
    guard job.state == .open else { throw job.wrongState }
    guard job.upload.isEmpty else {
      throw ServerError("INVALIDJOBSTATE", "The job \(job.id) has its data already.")
    }
    job.upload = request.body
    job.changed = transaction.now
    org.jobs.update(job)
    return .empty(201)
  }

  func successfulResults() throws -> OrgResponse { file(try job(.ingest).succeeded) }
  func failedResults() throws -> OrgResponse { file(try job(.ingest).failed) }
  func unprocessedRecords() throws -> OrgResponse { file(try job(.ingest).unprocessed) }

  private func file(_ bytes: [UInt8]) -> OrgResponse {
    OrgResponse(status: 200, body: bytes, contentType: "text/csv")
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
