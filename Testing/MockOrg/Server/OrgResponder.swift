import FieldforceGzip
import HTTPTypes
import Hummingbird
import LocalServer
import NIOCore
import SalesforceSDKCommon

/// A request's connection, which a fault may close.
struct OrgRequestContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  let channel: any Channel

  init(source: ApplicationRequestContextSource) {
    coreContext = CoreRequestContextStorage(source: source)
    channel = source.channel
  }
}

/// Turns HTTP into requests of the org and its responses into HTTP, with the faults between.
struct OrgResponder: HTTPResponder {
  /// The longest URI, and the longest URI with all headers.
  private static let maxHeadBytes = 16_384
  /// Smaller responses are sent as they are, as the platform sends them.
  private static let leastCompressed = 1024

  let org: MockOrg
  let budget = BodyBudget()

  func respond(to request: Request, context: OrgRequestContext) async throws -> Response {
    let exchange = Exchange(
      target: request.head.path ?? "/", channel: context.channel, start: ContinuousClock.now,
      acceptsGzip: org.options.compressesResponses
        && request.headers[.acceptEncoding]?.lowercased().contains("gzip") == true)
    var headers: [String: String] = [:]
    headers.reserveCapacity(request.headers.count)
    for field in request.headers { headers[field.name.canonicalName] = field.value }
    let authority = request.head.authority
    guard request.head.namesOneHost || !request.head.namesHost else {
      let error = ServerError(
        status: 400, "BAD_REQUEST", "The request has an empty Host header, or several. Send one.")
      return httpResponse(OrgResponse(error), method: request.method.rawValue, exchange)
    }
    let origin = RequestOrigin(options: org.options)
    if let refusal = origin.refusal(authority: authority, origin: headers["origin"]) {
      return httpResponse(OrgResponse(refusal), method: request.method.rawValue, exchange)
    }
    let scheme = headers["x-forwarded-proto"] == "https" ? "https" : "http"
    let circumstances = MockOrg.Circumstances(
      baseURL: org.options.instanceAddress ?? "\(scheme)://\(authority ?? "127.0.0.1")")
    var orgRequest = OrgRequest(
      method: request.method.rawValue, target: exchange.target, headers: headers)
    var taken = 0
    defer { budget.give(back: taken) }
    let isAuthenticated = org.admits(orgRequest, circumstances)
    let body = try await body(
      of: request, head: orgRequest, isAuthenticated: isAuthenticated, taken: &taken)
    switch body {
    case .whole(let bytes): orgRequest.body = bytes
    case .discarded: break
    case .refused(let error):
      return httpResponse(OrgResponse(error), method: orgRequest.method, exchange)
    }
    // Requests of tests and of the start page about the org are not requests of a client.
    if orgRequest.path.isEmpty || orgRequest.path.first == ControlService.root {
      return httpResponse(
        await org.respond(to: orgRequest, circumstances), method: orgRequest.method, exchange)
    }
    if let response = Self.tooLong(exchange.target, headers) {
      log(orgRequest, exchange, response, nil)
      return httpResponse(response, method: orgRequest.method, exchange)
    }
    guard let action = org.script.action(for: orgRequest, target: exchange.target) else {
      let response = await org.respond(to: orgRequest, circumstances)
      log(orgRequest, exchange, response, nil)
      return httpResponse(response, method: orgRequest.method, exchange)
    }
    return try await respond(orgRequest, exchange, circumstances, action)
  }

  /// The response to a request whose URI, alone or with its headers, is longer than the platform's servers
  /// take. They look at that before they look for a session.
  private static func tooLong(_ target: String, _ headers: [String: String]) -> OrgResponse? {
    func refusal(_ status: Int, _ reason: String) -> OrgResponse {
      OrgResponse(
        status: status,
        body: Array("<h1>Bad Message \(status)</h1><pre>reason: \(reason)</pre>".utf8),
        contentType: "text/html;charset=iso-8859-1")
    }
    if target.utf8.count > maxHeadBytes { return refusal(414, "URI Too Long") }
    let head = headers.reduce(target.utf8.count) {
      $0 + $1.key.utf8.count + $1.value.utf8.count + 4
    }
    return head > maxHeadBytes ? refusal(431, "Request Header Fields Too Large") : nil
  }

  /// A request on its way through.
  private struct Exchange {
    let target: String
    let channel: any Channel
    let start: ContinuousClock.Instant
    let acceptsGzip: Bool
  }

  // MARK: Faults

  private func respond(
    _ request: OrgRequest, _ exchange: Exchange, _ usual: MockOrg.Circumstances,
    _ action: MockOrgFault.Action
  ) async throws -> Response {
    var circumstances = usual
    switch action.kind {
    case .status(let status, let body, let headers):
      let response = OrgResponse(status: status, headers: headers, body: body)
      log(request, exchange, response, action)
      return httpResponse(response, method: request.method, exchange)
    case .lockRows:
      let response = Self.lockedRows(request)
      log(request, exchange, response, action)
      return httpResponse(response, method: request.method, exchange)
    case .dropBefore:
      log(request, exchange, nil, action)
      return try await dropped(exchange)
    case .delay(let duration, _): try await Task.sleep(for: duration)
    case .expireSessions: org.expireAccessTokens()
    case .refuseRefresh: org.revokeAllTokens()
    case .rotateRefresh: circumstances.rotatesRefreshToken = true
    case .shiftTime(let offset): circumstances.offset = offset
    case .dropAfter, .truncate, .trickle, .edit: break
    }
    var response = await org.respond(to: request, circumstances)
    switch action.kind {
    case .dropAfter:
      log(request, exchange, nil, action)
      return try await dropped(exchange)
    case .truncate(let bytes):
      log(request, exchange, response, action)
      return truncated(response, at: bytes, exchange)
    case .trickle(let bytes, let pause):
      log(request, exchange, response, action)
      return trickled(response, bytes, pause)
    case .edit(let edit): response.body = await edit(response.body)
    case .delay(_, let rate?):
      log(request, exchange, response, action)
      return slowed(response, method: request.method, exchange, rate)
    default: break
    }
    log(request, exchange, response, action)
    return httpResponse(response, method: request.method, exchange)
  }

  /// The response to a client whose records another transaction holds.
  private static func lockedRows(_ request: OrgRequest) -> OrgResponse {
    let error = ServerError(
      "UNABLE_TO_LOCK_ROW",
      "unable to obtain exclusive access to this record or 1 records", fields: [])
    guard request.path.dropFirst(3).prefix(2) == ["composite", "sobjects"], request.method != "GET"
    else { return OrgResponse(error) }
    let count =
      request.method == "DELETE"
      ? (request[query: "ids"] ?? "").split(separator: ",").count
      : (try? request.json())?["records"]?.count ?? 0
    return .json(.array(0..<count) { _ in RecordResult(error: error).json })
  }

  /// Closes the connection; what is returned goes nowhere.
  private func dropped(_ exchange: Exchange) async throws -> Response {
    try await exchange.channel.close()
    return Response(status: .serviceUnavailable)
  }

  /// Announces a whole response, writes its beginning and closes the connection.
  private func truncated(
    _ response: OrgResponse, at bytes: Int, _ exchange: Exchange
  ) -> Response {
    let part = ByteBuffer(bytes: response.body.prefix(bytes))
    let channel = exchange.channel
    return Response(
      status: HTTPResponse.Status(code: response.status), headers: fields(of: response),
      body: ResponseBody(contentLength: response.body.count) { writer in
        try await writer.write(part)
        try await channel.close()
        throw CancellationError()
      })
  }

  /// Writes a response a few bytes at a time.
  private func trickled(_ response: OrgResponse, _ bytes: Int, _ pause: Duration) -> Response {
    let body = response.body
    return Response(
      status: HTTPResponse.Status(code: response.status), headers: fields(of: response),
      body: ResponseBody(contentLength: body.count) { writer in
        for start in stride(from: 0, to: body.count, by: bytes) {
          if start > 0 { try await Task.sleep(for: pause) }
          try await writer.write(ByteBuffer(bytes: body[start..<min(start + bytes, body.count)]))
        }
        try await writer.finish(nil)
      })
  }

  /// Writes a response as fast as a network of this rate lets it through.
  private func slowed(
    _ response: OrgResponse, method: String, _ exchange: Exchange, _ bytesPerSecond: Int
  ) -> Response {
    let (headers, body) = encoded(response, exchange)
    guard method != "HEAD", !body.isEmpty else {
      return Response(status: HTTPResponse.Status(code: response.status), headers: headers)
    }
    // Fifty pieces a second, so that a long response is not one burst.
    let piece = max(bytesPerSecond / 50, 1)
    return Response(
      status: HTTPResponse.Status(code: response.status), headers: headers,
      body: ResponseBody(contentLength: body.count) { writer in
        let start = ContinuousClock.now
        for offset in stride(from: 0, to: body.count, by: piece) {
          let end = min(offset + piece, body.count)
          try await Task.sleep(until: start + .seconds(Double(end) / Double(bytesPerSecond)))
          try await writer.write(ByteBuffer(bytes: body[offset..<end]))
        }
        try await writer.finish(nil)
      })
  }

  // MARK: Responses

  private func httpResponse(_ response: OrgResponse, method: String, _ exchange: Exchange)
    -> Response
  {
    let (headers, body) = encoded(response, exchange)
    return Response(
      status: HTTPResponse.Status(code: response.status), headers: headers,
      body: method == "HEAD" || body.isEmpty
        ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
  }

  /// The headers and the body as they are sent.
  private func encoded(
    _ response: OrgResponse, _ exchange: Exchange
  ) -> (headers: HTTPFields, body: [UInt8]) {
    var headers = fields(of: response)
    guard exchange.acceptsGzip, response.body.count >= Self.leastCompressed,
      let gzip = Gzip.compressed(response.body)
    else { return (headers, response.body) }
    headers[.contentEncoding] = "gzip"
    headers[.vary] = "Accept-Encoding"
    return (headers, gzip)
  }

  private func fields(of response: OrgResponse) -> HTTPFields {
    var fields = HTTPFields()
    for header in response.headers {
      if let name = HTTPField.Name(header.name) {
        fields.append(HTTPField(name: name, value: header.value))
      }
    }
    if !response.body.isEmpty { fields[.contentType] = response.contentType }
    return fields
  }

  private func log(
    _ request: OrgRequest, _ exchange: Exchange, _ response: OrgResponse?,
    _ action: MockOrgFault.Action?
  ) {
    org.script.record(
      request, target: exchange.target, status: response?.status,
      responseBytes: response?.body.count ?? 0, date: org.options.clock.now,
      duration: ContinuousClock.now - exchange.start, fault: action?.name)
  }
}
