import SalesforceSDKCommon

/// `/composite/batch`: several requests that know nothing of each other.
struct BatchResource: Resource {
  private static let halted = ServerError(
    status: 412, "BATCH_PROCESSING_HALTED", "Batch processing halted per request")
  let call: RESTCall

  func perform() throws -> OrgResponse {
    let body = try request.object()
    guard let list = body["batchRequests"], list.kind == .array else {
      throw ServerError.jsonParser(
        "The property 'batchRequests' has to be an array at [line:1, column:1]")
    }
    let requests = Array(list.elements)
    try SubrequestRunner.checkCount(requests.count)
    let haltOnError = body["haltOnError"]?.bool ?? false
    // Each of them counts, unlike those of a composite request; the batch itself does not.
    org.script.count(requests.count - 1)
    var responses: [OrgResponse] = []
    var hasErrors = false
    for subrequest in requests {
      if haltOnError, hasErrors {
        responses.append(OrgResponse(Self.halted))
        continue
      }
      let response = try response(to: subrequest)
      if response.status >= 400 { hasErrors = true }
      responses.append(response)
    }
    return .json([
      "hasErrors": .bool(hasErrors),
      "results": try .array(responses) {
        ["statusCode": .integer($0.status), "result": try $0.json]
      },
    ])
  }

  private func response(to subrequest: JSONSlice) throws -> OrgResponse {
    do {
      return try SubrequestRunner(service: call.service).respond(
        to: OrgRequest(
          method: subrequest["method"]?.string ?? "GET", target: subrequest["url"]?.string ?? "",
          body: subrequest["richInput"].map { Array($0.utf8) } ?? []))
    } catch let error as ServerError {
      return OrgResponse(error)
    }
  }
}
