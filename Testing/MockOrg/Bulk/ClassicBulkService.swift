import GRDB
import SalesforceSDKCommon

/// The first Bulk API, `/services/async/VERSION/job`: jobs of batches in JSON, CSV or XML.
///
/// A batch is processed when it arrives; its response still says `Queued`, as clients expect.
struct ClassicBulkService {
  let rest: RESTService

  private var transaction: OrgTransaction { rest.transaction }
  private var jobs: BulkJobs { rest.org.jobs }
  private static let xmlNamespace = "http://www.force.com/2009/06/asyncapi/dataload"

  /// Handles a request whose path begins behind the version.
  ///
  /// - Throws: Only what is no fault of the request.
  func respond(to request: OrgRequest, path: [String]) throws -> OrgResponse {
    let asksXML = wantsXML(request, path)
    do {
      return try route(request, path)
    } catch let error as ServerError {
      return Self.failure(error, isXML: asksXML)
    }
  }

  /// Whether the response to a request is XML. Batches and results speak as their job does, JSON for JSON and
  /// XML for CSV too, whatever the request says of itself; jobs and errors as the request does.
  private func wantsXML(_ request: OrgRequest, _ path: [String]) -> Bool {
    if path.count > 2, let job = jobs.classicJob(path[1]) { return job.contentType != .json }
    let type = (request.headers["content-type"] ?? "").lowercased()
    let accept = (request.headers["accept"] ?? "").lowercased()
    return !type.contains("json") && !accept.contains("json")
  }

  static func failure(_ error: ServerError, isXML: Bool) -> OrgResponse {
    let members: [(key: String, value: ClassicValue)] = [
      ("exceptionCode", .text(error.code)), ("exceptionMessage", .text(error.message)),
    ]
    return response(members, root: "error", isXML: isXML, status: error.status)
  }

  private static func response(
    _ members: [(key: String, value: ClassicValue)], root: String, isXML: Bool, status: Int = 200
  ) -> OrgResponse {
    guard isXML else { return json(status) { write(members, to: &$0) } }
    let inner = Self.elements(members)
    return xml("<\(root) xmlns=\"\(xmlNamespace)\">\(inner)</\(root)>", status: status)
  }

  private static func elements(_ members: [(key: String, value: ClassicValue)]) -> String {
    members.compactMap { key, value in value.text.map { XMLText.element(key, $0) } }.joined()
  }

  private static func write(
    _ members: [(key: String, value: ClassicValue)], to writer: inout JSONWriter
  ) {
    writer.beginObject()
    for (key, value) in members {
      writer.key(key)
      switch value {
      case .text(let text): writer.string(text)
      case .optional(let text): writer.string(orNull: text)
      case .number(let number): writer.integer(number)
      case .version(let number):
        RecordJSON.write(Double(number).databaseValue, type: .double, to: &writer)
      }
    }
    writer.endObject()
  }

  /// This API names the type alone, without a character set.
  private static func json(
    _ status: Int = 200, _ write: (inout JSONWriter) -> Void
  ) -> OrgResponse {
    var response = OrgResponse.json(status, write)
    response.contentType = "application/json"
    return response
  }

  private static func xml(_ content: String, status: Int = 200) -> OrgResponse {
    OrgResponse(
      status: status, body: Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\(content)".utf8),
      contentType: "application/xml")
  }

  // MARK: Routes

  private func route(_ request: OrgRequest, _ path: [String]) throws -> OrgResponse {
    guard path.first == "job" else { throw ServerError.notFound() }
    let isXML = wantsXML(request, path)
    switch (path.count, request.method) {
    case (1, "POST"): return try create(request, isXML: isXML)
    case (2, "GET"):
      return Self.response(try job(path[1]).members, root: "jobInfo", isXML: isXML)
    case (2, "POST"): return try change(request, job(path[1]), isXML: isXML)
    case (3, "POST") where path[2] == "batch":
      return try addBatch(request, job(path[1]), isXML: isXML)
    case (3, "GET") where path[2] == "batch":
      return batchList(try job(path[1]), isXML: isXML)
    case (4, "GET") where path[2] == "batch":
      let job = try job(path[1])
      return Self.response(
        job.members(of: try batch(path[3], of: job)), root: "batchInfo", isXML: isXML)
    case (5, "GET") where path[2] == "batch" && path[4] == "request":
      let job = try job(path[1])
      return OrgResponse(
        status: 200, body: try batch(path[3], of: job).request, contentType: Self.type(of: job))
    case (5, "GET") where path[2] == "batch" && path[4] == "result":
      let job = try job(path[1])
      return results(try batch(path[3], of: job), of: job)
    case (6, "GET") where path[2] == "batch" && path[4] == "result":
      let job = try job(path[1])
      guard let result = try batch(path[3], of: job).queryResults.first(where: { $0.id == path[5] })
      else { throw ServerError("InvalidBatch", "Result \(path[5]) not found") }
      return OrgResponse(status: 200, body: result.body, contentType: Self.type(of: job))
    default: throw ServerError("InvalidUrl", "Destination URL not reset")
    }
  }

  private static func type(of job: ClassicJob) -> String {
    switch job.contentType {
    case .json: "application/json"
    case .csv: "text/csv"
    case .xml: "application/xml"
    }
  }

  private func job(_ id: String) throws(ServerError) -> ClassicJob {
    guard let job = jobs.classicJob(id), transaction.sees(jobOf: job.userID) else {
      throw ServerError("InvalidJob", "Unable to find job: \(id)")
    }
    return job
  }

  private func batch(_ id: String, of job: ClassicJob) throws(ServerError) -> ClassicJob.Batch {
    guard let id = RecordID.normalized(id), let batch = job.batches.first(where: { $0.id == id })
    else { throw ServerError("InvalidBatch", "Unable to find batch: \(id)") }
    return batch
  }

  // MARK: Jobs

  /// The members of a `jobInfo` in either form.
  private static func members(of request: OrgRequest) throws(ServerError) -> [String: String] {
    if let root = XMLElement(parsing: request.body) {
      return Dictionary(root.children.map { ($0.name, $0.text) }) { first, _ in first }
    }
    let body = try JSONSlice(parsingBody: request.body)
    return Dictionary(body.members.map { ($0.key, $0.value.string ?? $0.value.description) }) {
      first, _ in first
    }
  }

  private func create(_ request: OrgRequest, isXML: Bool) throws -> OrgResponse {
    let given = try Self.members(of: request)
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
    return Self.response(job.members, root: "jobInfo", isXML: isXML, status: 201)
  }

  private func change(_ request: OrgRequest, _ job: ClassicJob, isXML: Bool) throws -> OrgResponse {
    let state = try Self.members(of: request)["state"] ?? ""
    guard state == "Closed" || state == "Aborted" else {
      throw ServerError("InvalidJobState", "Unable to set the state to '\(state)'")
    }
    guard job.state == "Open" else {
      throw ServerError("InvalidJobState", "The job is already \(job.state.lowercased())")
    }
    var job = job
    job.state = state
    job.changed = transaction.now
    jobs.update(job)
    return Self.response(job.members, root: "jobInfo", isXML: isXML)
  }

  // MARK: Batches

  private func addBatch(_ request: OrgRequest, _ job: ClassicJob, isXML: Bool) throws -> OrgResponse
  {
    guard job.state == "Open" else {
      throw ServerError("InvalidJobState", "The job is not open for batches")
    }
    var job = job
    var batch = ClassicJob.Batch(
      id: jobs.nextID(prefix: "751"), created: transaction.now,
      request: request.body)
    do {
      if job.isQuery {
        try runQuery(&batch, job)
      } else {
        let work = try BulkRows(
          transaction: transaction, object: job.object, operation: job.operation,
          externalIDField: job.externalIDField)
        let records = try Self.records(request.body, job.contentType, work)
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
    return Self.response(
      job.members(of: batch, state: "Queued"), root: "batchInfo", isXML: isXML, status: 201)
  }

  /// The records of a batch.
  private static func records(
    _ body: [UInt8], _ type: ClassicJob.ContentType, _ work: BulkRows
  ) throws -> [JSONSlice] {
    switch type {
    case .json:
      guard let list = try? JSONSlice(parsing: body), list.kind == .array else {
        throw ServerError("InvalidBatch", "Failed to parse JSON: an array of records is expected")
      }
      return Array(list.elements)
    case .csv:
      guard var rows = CSV.rows(body), !rows.isEmpty else {
        throw ServerError("InvalidBatch", "Failed to parse CSV")
      }
      let header = rows.removeFirst()
      let unknown = work.unknownColumns(header)
      if !unknown.isEmpty {
        throw ServerError(
          "InvalidBatch", "Field name not found : \(unknown.joined(separator: ","))")
      }
      return try rows.map { try work.record(header, $0) }
    case .xml:
      guard let root = XMLElement(parsing: body) else {
        throw ServerError("InvalidBatch", "Failed to parse XML")
      }
      return try root.all("sObject").map { record in
        let parents = record.children.filter { !$0.children.isEmpty }
        let fields = record.children.filter { $0.children.isEmpty && $0.name != "type" }
        var columns = fields.map(\.name)
        var row = fields.map { $0.attributes["nil"] == "true" ? "#N/A" : $0.text }
        for parent in parents {
          for key in parent["sObject"]?.children ?? [] where key.name != "type" {
            columns.append("\(parent.name).\(key.name)")
            row.append(key.text)
          }
        }
        return try work.record(columns, row)
      }
    }
  }

  private func runQuery(_ batch: inout ClassicJob.Batch, _ job: ClassicJob) throws {
    let query = try rest.bulkQuery(
      String(decoding: batch.request, as: UTF8.self), includeDeleted: job.operation == "queryAll")
    let records = Array(try rest.records(of: query))
    let paths = RESTService.columns(of: query.record)
    var body: [UInt8] = []
    switch job.contentType {
    case .json:
      var writer = JSONWriter()
      writer.beginArray()
      for record in records { writer.raw(record) }
      writer.endArray()
      body = writer.bytes
    case .csv where records.isEmpty:
      body = Array("Records not found for this query".utf8)
    case .csv:
      CSV.append(paths.map { $0.joined(separator: ".") }, to: &body)
      for record in records {
        CSV.append(paths.map { RESTService.text(at: $0, in: record) }, to: &body)
      }
    case .xml:
      let rows = records.map { record in
        let fields = paths.filter { $0.count == 1 }.map {
          XMLText.element($0[0], RESTService.text(at: $0, in: record))
        }
        return
          "<records xsi:type=\"sObject\"><type>\(job.object)</type>\(fields.joined())</records>"
      }
      body = Array(
        ("<?xml version=\"1.0\" encoding=\"UTF-8\"?><queryResult xmlns=\"\(Self.xmlNamespace)\" "
          + "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">\(rows.joined())</queryResult>")
          .utf8)
    }
    batch.processed = records.count
    batch.queryResults = [(jobs.nextID(prefix: "752"), body)]
  }

  private func batchList(_ job: ClassicJob, isXML: Bool) -> OrgResponse {
    guard isXML else {
      return Self.json { writer in
        writer.beginObject()
        writer.key("batchInfo")
        writer.beginArray()
        for batch in job.batches { Self.write(job.members(of: batch), to: &writer) }
        writer.endArray()
        writer.endObject()
      }
    }
    let list = job.batches.map { batch in
      "<batchInfo>\(Self.elements(job.members(of: batch)))</batchInfo>"
    }
    return Self.xml(
      "<batchInfoList xmlns=\"\(Self.xmlNamespace)\">\(list.joined())</batchInfoList>")
  }

  // MARK: Results

  private func results(_ batch: ClassicJob.Batch, of job: ClassicJob) -> OrgResponse {
    if job.isQuery {
      if job.contentType == .json { return Self.json { $0.strings(batch.queryResults.map(\.id)) } }
      let ids = batch.queryResults.map { XMLText.element("result", $0.id) }.joined()
      return Self.xml("<result-list xmlns=\"\(Self.xmlNamespace)\">\(ids)</result-list>")
    }
    switch job.contentType {
    case .json:
      return Self.json { writer in
        writer.beginArray()
        for result in batch.results { Self.write(result, to: &writer) }
        writer.endArray()
      }
    case .csv:
      var body: [UInt8] = []
      CSV.append(["Id", "Success", "Created", "Error"], to: &body)
      for result in batch.results {
        CSV.append(
          [
            result.id ?? "", result.error == nil ? "true" : "false",
            result.created == true && result.error == nil ? "true" : "false",
            result.error?.bulkText ?? "",
          ], to: &body)
      }
      return OrgResponse(status: 200, body: body, contentType: "text/csv")
    case .xml:
      let rows = batch.results.map { result in
        var inner = ""
        if let error = result.error {
          let fields = (error.fields ?? []).map { XMLText.element("fields", $0) }.joined()
          inner +=
            "<errors>\(fields)\(XMLText.element("message", error.message))"
            + "\(XMLText.element("statusCode", error.code))</errors>"
        }
        if let id = result.id, result.error == nil { inner += XMLText.element("id", id) }
        inner += XMLText.element("success", result.error == nil ? "true" : "false")
        inner += XMLText.element(
          "created", result.created == true && result.error == nil ? "true" : "false")
        return "<result>\(inner)</result>"
      }
      return Self.xml("<results xmlns=\"\(Self.xmlNamespace)\">\(rows.joined())</results>")
    }
  }

  private static func write(_ result: RecordResult, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("success")
    writer.bool(result.error == nil)
    writer.key("created")
    writer.bool(result.created == true && result.error == nil)
    writer.key("id")
    writer.string(orNull: result.error == nil ? result.id : nil)
    writer.key("errors")
    writer.beginArray()
    if let error = result.error {
      writer.beginObject()
      writer.key("message")
      writer.string(error.message)
      writer.key("fields")
      writer.strings(error.fields ?? [])
      writer.key("statusCode")
      writer.string(error.code)
      writer.key("extendedErrorDetails")
      writer.null()
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
  }
}
