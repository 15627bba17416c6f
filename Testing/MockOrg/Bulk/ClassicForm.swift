/// The two forms of the responses of the first Bulk API.
enum ClassicForm {
  case json, xml

  static let namespace = "http://www.force.com/2009/06/asyncapi/dataload"

  func failure(_ error: ServerError) -> OrgResponse {
    response(
      [("exceptionCode", .text(error.code)), ("exceptionMessage", .text(error.message))],
      root: "error", status: error.status)
  }

  func jobInfo(_ job: ClassicJob, status: Int = 200) -> OrgResponse {
    response(job.members, root: "jobInfo", status: status)
  }

  func batchInfo(
    _ batch: ClassicJob.Batch, of job: ClassicJob, state: String? = nil, status: Int = 200
  ) -> OrgResponse {
    response(job.members(of: batch, state: state), root: "batchInfo", status: status)
  }

  func batchInfos(of job: ClassicJob) -> OrgResponse {
    let batches = job.batches.map { job.members(of: $0) }
    switch self {
    case .json: return Self.json(["batchInfo": .array(batches) { Self.object($0) }])
    case .xml:
      let list = batches.map { "<batchInfo>\(Self.elements($0))</batchInfo>" }
      return Self.xml(
        "<batchInfoList xmlns=\"\(Self.namespace)\">\(list.joined())</batchInfoList>")
    }
  }

  private func response(
    _ members: [(key: String, value: ClassicValue)], root: String, status: Int
  ) -> OrgResponse {
    switch self {
    case .json: Self.json(Self.object(members), status: status)
    case .xml:
      Self.xml(
        "<\(root) xmlns=\"\(Self.namespace)\">\(Self.elements(members))</\(root)>",
        status: status)
    }
  }

  private static func elements(_ members: [(key: String, value: ClassicValue)]) -> String {
    members.compactMap { key, value in value.text.map { XMLText.element(key, $0) } }.joined()
  }

  private static func object(_ members: [(key: String, value: ClassicValue)]) -> ResponseJSON {
    .object(members.map { ($0.key, $0.value.json) })
  }

  /// This API names the type alone, without a character set.
  private static func json(_ value: ResponseJSON, status: Int = 200) -> OrgResponse {
    OrgResponse(status: status, body: value.bytes, contentType: "application/json")
  }

  private static func xml(_ content: String, status: Int = 200) -> OrgResponse {
    OrgResponse(
      status: status, body: Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\(content)".utf8),
      contentType: "application/xml")
  }

  // MARK: Results

  /// The ids of the results of a query.
  static func resultList(
    of batch: ClassicJob.Batch, _ type: ClassicJob.ContentType
  ) -> OrgResponse {
    if type == .json { return json(.strings(batch.queryResults.map(\.id))) }
    let ids = batch.queryResults.map { XMLText.element("result", $0.id) }.joined()
    return xml("<result-list xmlns=\"\(namespace)\">\(ids)</result-list>")
  }

  /// What became of the records of a batch, in the form in which they came.
  static func results(of batch: ClassicJob.Batch, _ type: ClassicJob.ContentType) -> OrgResponse {
    switch type {
    case .json:
      return json(.array(batch.results) { object($0) })
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
      return xml("<results xmlns=\"\(namespace)\">\(rows.joined())</results>")
    }
  }

  private static func object(_ result: RecordResult) -> ResponseJSON {
    var errors: [ResponseJSON] = []
    if let error = result.error {
      errors = [
        [
          "message": .string(error.message), "fields": .strings(error.fields ?? []),
          "statusCode": .string(error.code), "extendedErrorDetails": nil,
        ]
      ]
    }
    let isSuccess = result.error == nil
    return [
      "success": .bool(isSuccess), "created": .bool(result.created == true && isSuccess),
      "id": .string(orNull: isSuccess ? result.id : nil), "errors": .array(errors),
    ]
  }
}

extension ClassicJob.ContentType {
  /// The type of files of this kind.
  var mediaType: String {
    switch self {
    case .json: "application/json"
    case .csv: "text/csv"
    case .xml: "application/xml"
    }
  }
}
