import Foundation
import HTTPTypes
import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore

// The Bulk API 2.0: a job has ended when it is looked at for the first time.
extension InMemoryOrg.State {
  /// A job; of a query with its result, of a load with its file or its results.
  struct BulkJob: Sendable {
    let kind: String
    let object: String
    let operation: String
    let externalIdField: String
    let created: String
    var state: String
    var fields: [String] = []
    var records: [JSONObject] = []
    var upload = ""
    var results: [String: String] = [:]
    var failed = 0
  }

  /// Handles `/jobs/KIND`, `/jobs/KIND/ID` and `/jobs/KIND/ID/PART`.
  mutating func bulk(
    _ method: String, _ place: [String], _ request: InMemoryOrg.Request
  ) throws -> RestResponse {
    if place.count == 1, method == "POST" {
      return try create(place[0], JSONValue(parsing: request.body))
    }
    guard place.count > 1, var job = bulkJobs[place[1]], job.kind == place[0] else {
      return Self.bulkError(404, "NOT_FOUND", "The requested resource does not exist")
    }
    let id = place[1]
    switch (method, place.count, place.last ?? "") {
    case ("GET", 2, _):
      if job.state == "UploadComplete" { job.state = "JobComplete" }
      bulkJobs[id] = job
      return description(of: job, id)
    case ("DELETE", 2, _):
      bulkJobs[id] = nil
      return RestResponse(status: 204)
    case ("PATCH", 2, _):
      let state = try JSONValue(parsing: request.body)["state"]?.string ?? ""
      guard job.state == "Open" else {
        return Self.bulkError(400, "INVALIDJOBSTATE", "Transition is not allowed")
      }
      job.state = state
      if state == "UploadComplete" { work(on: &job) }
      bulkJobs[id] = job
      return description(of: job, id)
    case ("PUT", 3, "batches"):
      guard job.state == "Open", job.upload.isEmpty else {
        return Self.bulkError(400, "INVALIDJOBSTATE", "The job has its data already")
      }
      bulkJobs[id]?.upload = request.body
      return RestResponse(status: 201)
    case ("GET", 3, "results"): return results(of: job, request)
    case ("GET", 3, "resultPages"): return resultPages(of: job, id, request)
    case ("GET", 3, let part):
      return RestResponse(status: 200, body: Array((job.results[part] ?? "").utf8))
    default: return Self.bulkError(405, "METHOD_NOT_ALLOWED", "not here")
    }
  }

  private static func bulkError(_ status: Int, _ code: String, _ message: String) -> RestResponse {
    let error: JSONValue = [["errorCode": .string(code), "message": .string(message)]]
    return RestResponse(status: status, body: Array(error.text.utf8))
  }

  private mutating func create(_ kind: String, _ body: JSONValue) -> RestResponse {
    let query = InMemoryQuery(body["query"]?.string ?? "")
    lastNumber += 1
    let digits = String(lastNumber)
    let id = "750" + String(repeating: "0", count: 15 - digits.count) + digits
    var job = BulkJob(
      kind: kind, object: kind == "query" ? query.object : body["object"]?.string ?? "",
      operation: body["operation"]?.string ?? "",
      externalIdField: body["externalIdFieldName"]?.string ?? "",
      created: SalesforceDate(milliseconds: clock / 1_000 * 1_000).text,
      state: kind == "query" ? "UploadComplete" : "Open")
    if kind == "query" {
      job.fields = query.fields
      job.records = records(query.object, query)
    }
    bulkJobs[id] = job
    return description(of: job, id)
  }

  private func description(of job: BulkJob, _ id: String) -> RestResponse {
    var json: JSONObject = [
      "id": .string(id), "object": .string(job.object), "operation": .string(job.operation),
      "state": .string(job.state), "createdDate": .string(job.created),
    ]
    if job.state == "JobComplete" {
      let processed = job.records.count
      json["numberRecordsProcessed"] = .integer(Int64(processed))
      json["numberRecordsFailed"] = .integer(Int64(job.failed))
    }
    return RestResponse(status: 200, body: Array(JSONValue.object(json).text.utf8))
  }

  // MARK: Queries

  private func results(of job: BulkJob, _ request: InMemoryOrg.Request) -> RestResponse {
    let size = request.query["maxRecords"].flatMap { Int($0) } ?? pageSize
    let start = request.query["locator"].flatMap { Int($0.dropFirst()) } ?? 0
    let end = min(start + min(size, pageSize), job.records.count)
    let rows = job.records[min(start, end)..<end].map { record in
      job.fields.map { Self.cell(record[$0] ?? .null) }.joined(separator: ",")
    }
    let text = ([job.fields.joined(separator: ",")] + rows).joined(separator: "\n") + "\n"
    var response = HTTPFields()
    let fields = [
      "Sforce-Locator": end < job.records.count ? "L\(end)" : "null",
      "Sforce-NumberOfRecords": String(rows.count),
    ]
    for (name, value) in fields {
      if let name = HTTPField.Name(name) { response[name] = value }
    }
    return RestResponse(status: 200, headers: response, body: Array(text.utf8))
  }

  /// Lists two files at a time.
  private func resultPages(
    of job: BulkJob, _ id: String, _ request: InMemoryOrg.Request
  ) -> RestResponse {
    let address = "/services/data/v66.0/jobs/query/\(id)"
    let start = request.query["locator"].flatMap { Int($0) } ?? 0
    let files = Array(stride(from: start, to: job.records.count, by: pageSize).prefix(2))
    let next = start + files.count * pageSize
    let isLast = next >= job.records.count
    let json: JSONValue = [
      "resultPages": .array(
        files.map { ["resultUrl": .string("\(address)/results?locator=L\($0)")] }),
      "nextRecordsUrl": isLast ? .null : .string("\(address)/resultPages?locator=\(next)"),
      "done": .bool(isLast),
    ]
    return RestResponse(status: 200, body: Array(json.text.utf8))
  }

  private static func cell(_ value: JSONValue) -> String {
    switch value {
    case .null: ""
    case .string(let text): "\"\(text.replacing("\"", with: "\"\""))\""
    default: value.text
    }
  }

  // MARK: Loads

  private mutating func work(on job: inout BulkJob) {
    var lines = Self.rows(job.upload)
    let header = lines.isEmpty ? [] : lines.removeFirst()
    var succeeded = [["sf__Id", "sf__Created"] + header]
    var failed = [["sf__Id", "sf__Error"] + header]
    for line in lines {
      var record: JSONObject = ["attributes": ["type": .string(job.object)]]
      for (name, text) in zip(header, line) where !text.isEmpty {
        record[name] = text == "#N/A" ? .null : .string(text)
      }
      let id = record["Id"]?.string ?? ""
      let result: JSONValue
      switch job.operation {
      case "insert": result = createChecked(job.object, record)
      case "update": result = updateChecked(job.object, id, record)
      case "upsert": result = upsertChecked(job.object, job.externalIdField, record)
      default: result = deleteChecked(id)
      }
      job.records.append(record)
      if result["success"]?.bool == true {
        succeeded.append([result["id"]?.string ?? id, "true"] + line)
      } else {
        let error = result["errors"]?[0]
        failed.append(
          [
            id,
            "\(error?["statusCode"]?.string ?? ""):\(error?["message"]?.string ?? ""):--",
          ] + line)
      }
    }
    job.failed = failed.count - 1
    for (name, rows) in [("successfulResults", succeeded), ("failedResults", failed)] {
      job.results[name] =
        rows.map { $0.map { Self.cell(.string($0)) }.joined(separator: ",") }
        .joined(separator: "\n")
    }
  }

  /// The rows of a file whose cells hold no line ends.
  private static func rows(_ text: String) -> [[String]] {
    text.split(separator: "\n").map { line in
      var cells = [""]
      var isQuoted = false
      var isDoubled = false
      for character in line {
        switch character {
        case "\"":
          // Of two quotes inside a quoted cell the second counts.
          if isDoubled { cells[cells.count - 1].append(character) }
          isDoubled = isQuoted && !isDoubled
          isQuoted.toggle()
        case "," where !isQuoted:
          cells.append("")
          isDoubled = false
        default:
          cells[cells.count - 1].append(character)
          isDoubled = false
        }
      }
      return cells
    }
  }
}
