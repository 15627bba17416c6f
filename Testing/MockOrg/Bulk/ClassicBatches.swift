import SalesforceSDKCommon

extension BulkRows {
  /// The records of a batch.
  func records(_ body: [UInt8], _ type: ClassicJob.ContentType) throws -> [JSONSlice] {
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
      let unknown = unknownColumns(header)
      if !unknown.isEmpty {
        throw ServerError(
          "InvalidBatch", "Field name not found : \(unknown.joined(separator: ","))")
      }
      return try rows.map { try record(header, $0) }
    case .xml:
      guard let root = XMLElement(parsing: body) else {
        throw ServerError("InvalidBatch", "Failed to parse XML")
      }
      return try root.all("sObject").map { element in
        let parents = element.children.filter { !$0.children.isEmpty }
        let fields = element.children.filter { $0.children.isEmpty && $0.name != "type" }
        var columns = fields.map(\.name)
        var row = fields.map { $0.attributes["nil"] == "true" ? "#N/A" : $0.text }
        for parent in parents {
          for key in parent["sObject"]?.children ?? [] where key.name != "type" {
            columns.append("\(parent.name).\(key.name)")
            row.append(key.text)
          }
        }
        return try record(columns, row)
      }
    }
  }
}

/// Runs the query of a batch and keeps its result in the form of the job.
struct ClassicQuery {
  let transaction: OrgTransaction
  let jobs: BulkJobs

  func run(_ batch: inout ClassicJob.Batch, of job: ClassicJob) throws {
    let query = try transaction.bulkQuery(
      String(decoding: batch.request, as: UTF8.self), includeDeleted: job.operation == "queryAll")
    let records = Array(try transaction.allRecords(of: query))
    let paths = query.record.columns
    var body: [UInt8] = []
    switch job.contentType {
    case .json:
      body = ResponseJSON.array(records) { .raw($0) }.bytes
    case .csv where records.isEmpty:
      body = Array("Records not found for this query".utf8)
    case .csv:
      CSV.append(paths.map { $0.joined(separator: ".") }, to: &body)
      for record in records {
        CSV.append(paths.map { record.text(at: $0) }, to: &body)
      }
    case .xml:
      let rows = records.map { record in
        let fields = paths.filter { $0.count == 1 }.map {
          XMLText.element($0[0], record.text(at: $0))
        }
        return
          "<records xsi:type=\"sObject\"><type>\(job.object)</type>\(fields.joined())</records>"
      }
      body = Array(
        ("<?xml version=\"1.0\" encoding=\"UTF-8\"?><queryResult xmlns=\"\(ClassicForm.namespace)\" "
          + "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">\(rows.joined())</queryResult>")
          .utf8)
    }
    batch.processed = records.count
    // A query without records has a result in CSV alone, which says so.
    guard job.contentType == .csv || !records.isEmpty else { return }
    batch.queryResults = [(jobs.nextID(prefix: "752"), body)]
  }
}
