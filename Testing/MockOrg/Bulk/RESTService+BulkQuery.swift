import SalesforceSDKCommon

/// Bulk API 2.0: `/jobs/query`. The result is found when the job is made and kept as lines of CSV.
extension RESTService {
  func createQueryJob(_ request: OrgRequest) throws -> OrgResponse {
    let body = try request.object()
    let operation = body["operation"]?.string ?? ""
    guard operation == "query" || operation == "queryAll" else {
      throw ServerError(
        "INVALIDJOB", "InvalidJob : Unable to find the operation '\(operation)' for a job")
    }
    let query = try bulkQuery(body["query"]?.string ?? "", includeDeleted: operation == "queryAll")
    var job = BulkJob(
      id: org.jobs.nextID(prefix: "750"), kind: .query,
      userID: transaction.userID, apiVersion: transaction.apiVersion, created: transaction.now,
      operation: operation, object: query.object, changed: transaction.now)
    try setForm(of: &job, from: body)
    let paths = Self.columns(of: query.record)
    CSV.append(
      paths.map { $0.joined(separator: ".") }, to: &job.header, delimiter: job.delimiter.byte,
      lineEnd: job.lineEnd)
    for record in try records(of: query) {
      var line: [UInt8] = []
      CSV.append(
        paths.map { Self.text(at: $0, in: record) }, to: &line, delimiter: job.delimiter.byte,
        lineEnd: job.lineEnd)
      job.rows.append(line)
    }
    job.processedCount = job.rows.count
    job.state = .jobComplete
    org.jobs.update(job)
    // As with uploads, a job never ends within the request that starts it.
    job.state = .uploadComplete
    return response(job)
  }

  /// A query that both versions of the Bulk API take: records of one object, no lists inside them.
  func bulkQuery(_ text: String, includeDeleted: Bool) throws -> SOQLQuery {
    let query = try SOQLQuery(
      compiling: text, schema: transaction.schema,
      options: transaction.soqlOptions(includeDeleted: includeDeleted))
    guard case .records = query.kind else {
      throw ServerError(
        "FEATURENOTENABLED", "Aggregate Relationships not supported in Bulk Query")
    }
    try checkBulkMembers(of: query.record)
    return query
  }

  /// What stands in a file is plain values: no lists, and no objects but parents.
  private func checkBulkMembers(of shape: SOQLRecordShape) throws(ServerError) {
    for member in shape.members {
      switch member {
      case .children: throw ServerError("INVALIDBATCH", "Nested Query not supported in Bulk API")
      case .compound:
        throw ServerError(
          "FEATURENOTENABLED", "Selecting compound data not supported in Bulk Query")
      case .variants:
        throw ServerError("FEATURENOTENABLED", "TYPEOF is not supported in Bulk Query")
      case .parent(_, let parent): try checkBulkMembers(of: parent)
      case .field, .formatted: break
      }
    }
  }

  /// All records of a query.
  func records(of query: SOQLQuery) throws -> JSONElements {
    let bytes = try QueryRunner(transaction: transaction, cursors: QueryCursors())
      .firstPage(of: query, batchSize: .max)
    guard let records = try JSONSlice(parsing: bytes)["records"] else {
      throw ServerError(status: 500, "UNKNOWN_EXCEPTION", "The query has no result.")
    }
    return records.elements
  }

  /// The columns of a result, each by the way to it through the parents.
  static func columns(of shape: SOQLRecordShape) -> [[String]] {
    shape.members.flatMap { member -> [[String]] in
      if case .field(let key, _, _) = member { return [[key]] }
      if case .parent(let key, let parent) = member {
        return columns(of: parent).map { [key] + $0 }
      }
      return []
    }
  }

  /// The text of a value as a file shows it; a missing one is empty.
  static func text(at path: [String], in record: JSONSlice) -> String {
    var value = record
    for key in path {
      guard let inner = value[key] else { return "" }
      value = inner
    }
    return value.isNull ? "" : value.string ?? value.description
  }

  func queryJob(_ request: OrgRequest, _ job: BulkJob) throws -> OrgResponse {
    switch request.method {
    case "GET", "HEAD": return response(job)
    case "DELETE":
      org.jobs.remove(job.id)
      return .empty()
    case "PATCH":
      guard try request.object()["state"]?.string == "Aborted", job.state == .uploadComplete else {
        throw Self.wrongState(job)
      }
      var job = job
      job.state = .aborted
      org.jobs.update(job)
      return response(job)
    default:
      throw ServerError.methodNotAllowed(request.method, allowed: "DELETE,GET,HEAD,PATCH")
    }
  }

  /// Rows from a locator on; the locator of the rows behind them goes into a header.
  func queryResults(_ request: OrgRequest, _ job: BulkJob) throws -> OrgResponse {
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
  func queryResultPages(_ request: OrgRequest, _ job: BulkJob) throws -> OrgResponse {
    guard transaction.apiVersion >= 58 else { throw ServerError.notFound() }
    let start = request[query: "locator"].flatMap { Int($0, radix: 36) } ?? 0
    let address = "\(transaction.versionPath)/jobs/query/\(job.id)"
    let files = Array(stride(from: start, to: job.rows.count, by: Self.recordsPerFile).prefix(5))
    let next = start + files.count * Self.recordsPerFile
    let isLast = next >= job.rows.count
    return .json { writer in
      writer.beginObject()
      writer.key("resultPages")
      writer.beginArray()
      for file in files {
        writer.beginObject()
        writer.key("resultUrl")
        writer.string(
          "\(address)/results?locator=\(String(file, radix: 36))&maxRecords=\(Self.recordsPerFile)")
        writer.endObject()
      }
      writer.endArray()
      writer.key("nextRecordsUrl")
      if isLast {
        writer.null()
      } else {
        writer.string("\(address)/resultPages?locator=\(String(next, radix: 36))")
      }
      writer.key("done")
      writer.bool(isLast)
      writer.endObject()
    }
  }

  /// How many records a listed file has.
  private static let recordsPerFile = 10_000
}
