/// The first Bulk API, `/services/async/VERSION/job`: jobs of batches in JSON, CSV or XML.
///
/// A batch is processed when it arrives; its response still says `Queued`, as clients expect.
struct ClassicBulkService {
  typealias Handler = @Sendable (ClassicBulkCall) throws -> OrgResponse

  let rest: RESTService

  private static let routes = RouteTable<ClassicBulkService, Handler>([
    Route(path: ["job"], handlers: ["POST": { try $0.createJob() }]),
    Route(
      path: ["job", .value("job")],
      handlers: ["GET": { try $0.jobInfo() }, "POST": { try $0.changeJob() }]),
    Route(
      path: ["job", .value("job"), "batch"],
      handlers: ["GET": { try $0.batchList() }, "POST": { try $0.addBatch() }]),
    Route(
      path: ["job", .value("job"), "batch", .value("batch")],
      handlers: ["GET": { try $0.batchInfo() }]),
    Route(
      path: ["job", .value("job"), "batch", .value("batch"), "request"],
      handlers: ["GET": { try $0.batchRequest() }]),
    Route(
      path: ["job", .value("job"), "batch", .value("batch"), "result"],
      handlers: ["GET": { try $0.batchResult() }]),
    Route(
      path: ["job", .value("job"), "batch", .value("batch"), "result", .value("result")],
      handlers: ["GET": { try $0.queryResult() }]),
  ])

  /// Handles a request whose path begins behind the version.
  ///
  /// - Throws: Only what is no fault of the request.
  func respond(to request: OrgRequest, path: [String]) throws -> OrgResponse {
    let form = form(of: request, path)
    do {
      guard path.first == "job" else { throw ServerError.notFound() }
      guard let match = try? Self.routes.match(request.method, path, in: self) else {
        throw ServerError("InvalidUrl", "Destination URL not reset")
      }
      return try match.handler(
        ClassicBulkCall(service: self, request: request, values: match.values, form: form))
    } catch let error as ServerError {
      return form.failure(error)
    }
  }

  /// The form of the response to a request. Batches and results speak as their job does, JSON for JSON and
  /// XML for CSV too, whatever the request says of itself; jobs and errors as the request does.
  private func form(of request: OrgRequest, _ path: [String]) -> ClassicForm {
    if path.count > 2, let job = rest.org.jobs.classicJob(path[1]) {
      return job.contentType == .json ? .json : .xml
    }
    let type = (request.headers["content-type"] ?? "").lowercased()
    let accept = (request.headers["accept"] ?? "").lowercased()
    return type.contains("json") || accept.contains("json") ? .json : .xml
  }
}
