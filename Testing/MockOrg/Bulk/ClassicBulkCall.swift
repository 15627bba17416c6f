import SalesforceSDKCommon

/// A request to the first Bulk API, and what its handler works with.
struct ClassicBulkCall {
  let service: ClassicBulkService
  let request: OrgRequest
  let values: PathValues
  /// The form of the response.
  let form: ClassicForm

  private var transaction: OrgTransaction { service.rest.transaction }
  private var jobs: BulkJobs { service.rest.org.jobs }

  private func job() throws(ServerError) -> ClassicJob {
    let id = values["job"]
    guard let job = jobs.classicJob(id), transaction.sees(jobOf: job.userID) else {
      throw ServerError("InvalidJob", "Unable to find job: \(id)")
    }
    return job
  }

  private func batch(of job: ClassicJob) throws(ServerError) -> ClassicJob.Batch {
    let text = values["batch"]
    guard let id = RecordID.normalized(text), let batch = job.batches.first(where: { $0.id == id })
    else { throw ServerError("InvalidBatch", "Unable to find batch: \(text)") }
    return batch
  }

  // MARK: Jobs

  func jobInfo() throws -> OrgResponse { form.jobInfo(try job()) }

  func createJob() throws -> OrgResponse {
    let given = try members()
    let operation = given["operation"] ?? ""
    let known = [
      "insert", "update", "upsert", "delete", "hardDelete", "hardDelete".lowercased(), "query",
      "queryAll",
    ]
    guard known.contains(operation) else {
      throw ServerError("InvalidJob", "Invalid operation: \(operation)")
    }
    guard let object = transaction.schema.object(named: given["object"] ?? "") else {
      throw ServerError(
        "InvalidJob", "The entity \(given["object"] ?? "") is not supported by the Bulk API.")
    }
    guard
      let contentType = ClassicJob.ContentType(rawValue: (given["contentType"] ?? "XML"))
    else { throw ServerError("InvalidJob", "Invalid content type") }
    let mode = given["concurrencyMode"] ?? "Parallel"
    var job = ClassicJob(
      id: jobs.nextID(prefix: "750"), userID: transaction.userID,
      apiVersion: transaction.apiVersion, created: transaction.now, changed: transaction.now,
      operation: operation, object: object.name, contentType: contentType,
      concurrencyMode: mode == "1" || mode == "Serial" ? "Serial" : "Parallel")
    if operation == "upsert" {
      job.externalIDField = given["externalIdFieldName"]
      _ = try BulkRows(
        transaction: transaction, object: object.name, operation: operation,
        externalIDField: job.externalIDField)
    }
    jobs.update(job)
    return form.jobInfo(job, status: 201)
  }

  func changeJob() throws -> OrgResponse {
    var job = try job()
    let state = try members()["state"] ?? ""
    guard state == "Closed" || state == "Aborted" else {
      throw ServerError("InvalidJobState", "Unable to set the state to '\(state)'")
    }
    guard job.state == "Open" else {
      throw ServerError("InvalidJobState", "The job is already \(job.state.lowercased())")
    }
    job.state = state
    job.changed = transaction.now
    jobs.update(job)
    return form.jobInfo(job)
  }

  /// The members of a `jobInfo` in either form.
  private func members() throws(ServerError) -> [String: String] {
    if let root = XMLElement(parsing: request.body) {
      return Dictionary(root.children.map { ($0.name, $0.text) }) { first, _ in first }
    }
    let body = try JSONSlice(parsingBody: request.body)
    return Dictionary(body.members.map { ($0.key, $0.value.string ?? $0.value.description) }) {
      first, _ in first
    }
  }

  // MARK: Batches

  func batchList() throws -> OrgResponse { form.batchInfos(of: try job()) }

  func batchInfo() throws -> OrgResponse {
    let job = try job()
    return form.batchInfo(try batch(of: job), of: job)
  }

  /// What the client sent.
  func batchRequest() throws -> OrgResponse {
    let job = try job()
    return OrgResponse(
      status: 200, body: try batch(of: job).request, contentType: job.contentType.mediaType)
  }

  func batchResult() throws -> OrgResponse {
    let job = try job()
    let batch = try batch(of: job)
    guard job.isQuery || batch.state != "Failed" else {
      throw ServerError("InvalidBatch", "Records not processed")
    }
    return job.isQuery
      ? ClassicForm.resultList(of: batch, job.contentType)
      : ClassicForm.results(of: batch, job.contentType)
  }

  /// One of the results of a query.
  func queryResult() throws -> OrgResponse {
    let job = try job()
    let id = values["result"]
    guard let result = try batch(of: job).queryResults.first(where: { $0.id == id })
    else { throw ServerError("InvalidBatch", "Result \(id) not found") }
    return OrgResponse(status: 200, body: result.body, contentType: job.contentType.mediaType)
  }

  func addBatch() throws -> OrgResponse {
    var job = try job()
    guard job.state == "Open" else {
      throw ServerError("InvalidJobState", "The job is not open for batches")
    }
    var batch = ClassicJob.Batch(
      id: jobs.nextID(prefix: "751"), created: transaction.now,
      request: request.body)
    do {
      if job.isQuery {
        try ClassicQuery(transaction: transaction, jobs: jobs).run(&batch, of: job)
      } else {
        let work = try BulkRows(
          transaction: transaction, object: job.object, operation: job.operation,
          externalIDField: job.externalIDField)
        let records = try work.records(request.body, job.contentType)
        guard records.count <= 10_000 else {
          throw ServerError("InvalidBatch", "Records exceeded the limit of 10000")
        }
        batch.results = try records.map { try work.apply($0) }
        batch.processed = records.count
      }
    } catch let error as ServerError {
      batch.state = "Failed"
      batch.stateMessage = "\(error.code) : \(error.message)"
    }
    job.changed = transaction.now
    job.batches.append(batch)
    jobs.update(job)
    return form.batchInfo(batch, of: job, state: "Queued", status: 201)
  }
}
