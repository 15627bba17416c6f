import HTTPTypes
import Hummingbird
import NIOCore

/// A request's connection, which a fault may close.
struct OrgRequestContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  let channel: any Channel

  init(source: ApplicationRequestContextSource) {
    coreContext = CoreRequestContextStorage(source: source)
    channel = source.channel
  }
}

/// Turns HTTP into requests of the org and its answers into HTTP, with the faults between.
struct OrgResponder: HTTPResponder {
  /// Bodies beyond this size are refused.
  private static let maxBodyBytes = 50 << 20

  let org: MockOrg

  func respond(to request: Request, context: OrgRequestContext) async throws -> Response {
    let target = request.head.path ?? "/"
    guard let buffer = try? await request.body.collect(upTo: Self.maxBodyBytes) else {
      return response(
        OrgAnswer(ServerError(status: 413, "REQUEST_TOO_LARGE", "The request is too large")),
        method: request.method.rawValue)
    }
    var headers: [String: String] = [:]
    for field in request.headers { headers[field.name.canonicalName] = field.value }
    let orgRequest = OrgRequest(
      method: request.method.rawValue, target: target, headers: headers,
      body: Array(buffer.readableBytesView))
    let scheme = headers["x-forwarded-proto"] == "https" ? "https" : "http"
    let authority = request.head.authority ?? headers["host"] ?? "127.0.0.1"
    let baseURL = "\(scheme)://\(authority)"
    let method = orgRequest.method
    guard let action = org.script.action(method: method, target: target) else {
      let answer = await org.answer(orgRequest, baseURL: baseURL)
      log(orgRequest, target, answer)
      return response(answer, method: method)
    }
    return try await respond(orgRequest, target, baseURL, action, context)
  }

  private func respond(
    _ request: OrgRequest, _ target: String, _ baseURL: String, _ action: MockOrgFault.Action,
    _ context: OrgRequestContext
  ) async throws -> Response {
    switch action.kind {
    case .status(let status, let body, let headers):
      let answer = OrgAnswer(status: status, headers: headers, body: body)
      log(request, target, answer)
      return response(answer, method: request.method)
    case .dropBefore:
      log(request, target, nil)
      return try await dropped(context)
    case .delay(let duration): try await Task.sleep(for: duration)
    case .expireSessions: org.expireAccessTokens()
    case .refuseRefresh: org.revokeAllTokens()
    case .dropAfter, .truncate, .edit: break
    }
    var answer = await org.answer(request, baseURL: baseURL)
    switch action.kind {
    case .dropAfter:
      log(request, target, nil)
      return try await dropped(context)
    case .truncate(let bytes):
      log(request, target, answer)
      return truncated(answer, at: bytes, context)
    case .edit(let edit): answer.body = edit(answer.body)
    default: break
    }
    log(request, target, answer)
    return response(answer, method: request.method)
  }

  /// Closes the connection; what is returned goes nowhere.
  private func dropped(_ context: OrgRequestContext) async throws -> Response {
    try await context.channel.close()
    return Response(status: .serviceUnavailable)
  }

  /// Announces a whole answer, writes its beginning and closes the connection.
  private func truncated(
    _ answer: OrgAnswer, at bytes: Int, _ context: OrgRequestContext
  ) -> Response {
    let part = ByteBuffer(bytes: answer.body.prefix(bytes))
    let channel = context.channel
    return Response(
      status: HTTPResponse.Status(code: answer.status), headers: fields(of: answer),
      body: ResponseBody(contentLength: answer.body.count) { writer in
        try await writer.write(part)
        try await channel.close()
        throw CancellationError()
      })
  }

  private func response(_ answer: OrgAnswer, method: String) -> Response {
    Response(
      status: HTTPResponse.Status(code: answer.status), headers: fields(of: answer),
      body: method == "HEAD" || answer.body.isEmpty
        ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
  }

  private func fields(of answer: OrgAnswer) -> HTTPFields {
    var fields = HTTPFields()
    for header in answer.headers {
      if let name = HTTPField.Name(header.name) {
        fields.append(HTTPField(name: name, value: header.value))
      }
    }
    if !answer.body.isEmpty { fields[.contentType] = answer.contentType }
    return fields
  }

  private func log(_ request: OrgRequest, _ target: String, _ answer: OrgAnswer?) {
    org.script.record(
      MockOrgRequestRecord(
        method: request.method, target: target, status: answer?.status,
        userAgent: request.headers["user-agent"], requestBytes: request.body.count,
        responseBytes: answer?.body.count ?? 0, date: org.options.clock.now))
  }
}
