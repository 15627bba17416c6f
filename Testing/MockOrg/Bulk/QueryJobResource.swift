import SalesforceSDKCommon

/// Bulk API 2.0: `/jobs/query`. The result is found when the job is made and kept as lines of CSV.
struct QueryJobResource: Resource {
  /// How many records a listed file has.
  private static let recordsPerFile = 10_000
  let call: RESTCall

  func list() -> OrgResponse { jobList(.query) }

  func create() throws -> OrgResponse {
    let body = try request.object()
    let operation = body["operation"]?.string ?? ""
    guard operation == "query" || operation == "queryAll" else {
      throw ServerError(
        "INVALIDJOB", "InvalidJob : Unable to find the operation '\(operation)' for a job")
    }
    let query = try transaction.bulkQuery(
      body["query"]?.string ?? "", includeDeleted: operation == "queryAll")
    var job = BulkJob(
      id: org.jobs.nextID(prefix: "750"), kind: .query,
      userID: transaction.userID, apiVersion: transaction.apiVersion, created: transaction.now,
      operation: operation, object: query.object, changed: transaction.now)
    try job.setForm(from: body)
    let paths = query.record.columns
    CSV.append(
      paths.map { $0.joined(separator: ".") }, to: &job.header, delimiter: job.delimiter.byte,
      lineEnd: job.lineEnd)
    for record in try transaction.allRecords(of: query) {
      var line: [UInt8] = []
      CSV.append(
        paths.map { record.text(at: $0) }, to: &line, delimiter: job.delimiter.byte,
        lineEnd: job.lineEnd)
      job.rows.append(line)
    }
    job.processedCount = job.rows.count
    job.state = .jobComplete
    org.jobs.update(job)
    // As with uploads, a job never ends within the request that starts it.
    job.state = .uploadComplete
    return .json(job.json)
  }

  func state() throws -> OrgResponse { .json(try job(.query).json) }

  func abort() throws -> OrgResponse {
    var job = try job(.query)
    guard try request.object()["state"]?.string == "Aborted", job.state == .uploadComplete else {
      throw job.wrongState
    }
    job.state = .aborted
    org.jobs.update(job)
    return .json(job.json)
  }

  func delete() throws -> OrgResponse {
    org.jobs.remove(try job(.query).id)
    return .empty()
  }

  /// Rows from a locator on; the locator of the rows behind them goes into a header.
  func results() throws -> OrgResponse {
    let job = try job(.query)
    var start = 0
    if let locator = request[query: "locator"], locator != "null", !locator.isEmpty {
      guard let number = Int(locator, radix: 36), (0...job.rows.count).contains(number) else {
        throw ServerError("INVALIDLOCATOR", "The locator \(locator) is not one of this job.")
      }
      start = number
    }
    let limit = request[query: "maxRecords"].flatMap { Int($0) } ?? 250_000
    guard limit > 0 else {
      throw ServerError("INVALIDVALUE", "maxRecords has to be a positive number.")
    }
    let end = min(job.rows.count, start + min(limit, job.rows.count))
    var body = job.header
    for row in job.rows[start..<end] { body.append(contentsOf: row) }
    return OrgResponse(
      status: 200,
      headers: [
        ("Sforce-Locator", end < job.rows.count ? String(end, radix: 36) : "null"),
        ("Sforce-NumberOfRecords", String(end - start)),
      ], body: body, contentType: "text/csv; charset=UTF-8")
  }

  /// The addresses of five files at a time, which can be downloaded side by side.
  func resultPages() throws -> OrgResponse {
    let job = try job(.query)
    let start = request[query: "locator"].flatMap { Int($0, radix: 36) } ?? 0
    let address = url("jobs/query/\(job.id)")
    let files = Array(
      stride(from: start, to: job.rows.count, by: Self.recordsPerFile).prefix(5))
    let next = start + files.count * Self.recordsPerFile
    let isLast = next >= job.rows.count
    return .json([
      "resultPages": .array(files) { file in
        let locator = String(file, radix: 36)
        return [
          "resultUrl": "\(address)/results?locator=\(locator)&maxRecords=\(Self.recordsPerFile)"
        ]
      },
      "nextRecordsUrl": isLast
        ? .null : "\(address)/resultPages?locator=\(String(next, radix: 36))",
      "done": .bool(isLast),
    ])
  }
}
