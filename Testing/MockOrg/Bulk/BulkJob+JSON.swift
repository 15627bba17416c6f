import SalesforceSDKCommon

/// What the resources of both kinds of jobs share.
extension Resource {
  /// The job that the path names, if the user may see it.
  func job(_ kind: BulkJob.Kind) throws(ServerError) -> BulkJob {
    guard let job = org.jobs.job(call["job"]), job.kind == kind,
      transaction.sees(jobOf: job.userID)
    else { throw .notFound() }
    return job
  }

  func jobList(_ kind: BulkJob.Kind) -> OrgResponse {
    let type = request[query: "jobType"]
    let jobs = org.jobs.jobs(kind).filter {
      (type == nil || $0.kind.rawValue == type) && transaction.sees(jobOf: $0.userID)
    }
    return .json(["done": true, "nextRecordsUrl": nil, "records": .array(jobs) { $0.json }])
  }
}

extension BulkJob {
  /// Reads the delimiter and line end of a job's file.
  mutating func setForm(from body: JSONSlice) throws(ServerError) {
    if let name = body["columnDelimiter"]?.string {
      guard let delimiter = BulkDelimiter(rawValue: name) else {
        throw ServerError("INVALIDJOB", "InvalidJob : \(name) is no column delimiter")
      }
      self.delimiter = delimiter
    }
    hasCRLF = body["lineEnding"]?.string == "CRLF"
  }

  var wrongState: ServerError {
    ServerError(
      "INVALIDJOBSTATE", "Transition from \(state.rawValue) is not allowed for the job \(id)")
  }

  /// The job as a response shows it: how much it has done once it has ended.
  var json: ResponseJSON {
    let isIngest = kind == .ingest
    var json: ResponseJSON = [
      "id": .string(id), "operation": .string(operation), "object": .string(object),
      "createdById": .string(userID), "createdDate": .string(DateText.dateTime(created)),
      "systemModstamp": .string(DateText.dateTime(changed)), "state": .string(state.rawValue),
      "concurrencyMode": "Parallel", "contentType": "CSV", "jobType": .string(kind.rawValue),
      "lineEnding": hasCRLF ? "CRLF" : "LF", "columnDelimiter": .string(delimiter.rawValue),
      "apiVersion": .double(Double(apiVersion)),
    ]
    if isIngest {
      json.append(["contentUrl": "services/data/v\(apiVersion).0/jobs/ingest/\(id)/batches"])
      if let externalIDField { json.append(["externalIdFieldName": .string(externalIDField)]) }
    }
    guard state != .open, state != .uploadComplete else { return json }
    json.append([
      "retries": 0, "totalProcessingTime": .integer(processedCount),
      "numberRecordsProcessed": .integer(processedCount),
    ])
    if isIngest {
      json.append([
        "numberRecordsFailed": .integer(failedCount),
        "apiActiveProcessingTime": .integer(processedCount), "apexProcessingTime": 0,
      ])
    }
    if let errorMessage { json.append(["errorMessage": .string(errorMessage)]) }
    return json
  }
}
