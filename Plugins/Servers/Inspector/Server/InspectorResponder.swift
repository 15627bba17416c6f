import HTTPTypes
import Hummingbird
import LocalServer
import NIOCore
import SalesforceSDKCommon

/// A responder that maps HTTP requests to the inspector's resources, behind the guards of a local
/// endpoint (HT-95).
struct InspectorResponder: HTTPResponder {
  typealias Context = BasicRequestContext

  let secrets: InspectorSecrets
  let files: PageFiles
  let resources: InspectorResources
  let idle: IdleWatch

  func respond(to request: Request, context: Context) async throws -> Response {
    guard request.head.namesOneHost,
      secrets.admits(
        host: request.head.authority, origin: request.headers[.origin],
        site: request.headers[.secFetchSite])
    else { return refusal(.forbidden) }
    let target = request.head.path ?? "/"
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let segments = parts[0].split(separator: "/", omittingEmptySubsequences: false)
    guard segments.count > 2, segments[0].isEmpty, secrets.isPage(segments[1]) else {
      return refusal(.forbidden)
    }
    guard segments[2] == "api" else {
      return file(segments.dropFirst(2).joined(separator: "/"), request.method)
    }
    guard secrets.isAuthorized(request.headers[.authorization]) else { return refusal(.forbidden) }
    idle.requestBegan()
    let reply = await reply(
      to: request, segments.dropFirst(3).map(String.init), query: parts.count > 1 ? parts[1] : "")
    switch reply {
    case .events(let stream):
      return response(.ok, type: "text/event-stream", body: events(stream, request))
    case .document(let status, let headers, let bytes):
      idle.requestEnded()
      var fields = HTTPFields()
      for (name, value) in headers {
        guard let name = HTTPField.Name(name) else { continue }
        fields[name] = value
      }
      return response(
        HTTPResponse.Status(code: status), type: "application/json; charset=utf-8", bytes, fields)
    }
  }

  // MARK: Files

  private func file(_ name: String, _ method: HTTPRequest.Method) -> Response {
    guard method == .get || method == .head else { return refusal(.methodNotAllowed) }
    guard let file = files[name] else { return refusal(.notFound) }
    return response(.ok, type: file.type, method == .head ? [] : file.bytes)
  }

  // MARK: Resources

  private func reply(
    to request: Request, _ segments: [String], query: Substring
  ) async -> InspectorReply {
    let method = request.method.rawValue
    let lastEventId = request.headers[.lastEventId].flatMap { Int($0) }
    let parameters = Parameters(query)
    let type = request.headers[.contentType]
    let call = { (body: RequestBody) in
      InspectorCall(
        method: method, segments: segments, parameters: parameters, lastEventId: lastEventId
      ) { try await read(body, type: type) }
    }
    guard InspectorResources.takesLong(segments) else {
      return await resources.reply(to: call(request.body))
    }
    do {
      // A client that closes the connection interrupts the work; afterwards it is of no more use.
      return try await request.body.consumeWithCancellationOnInboundClose { body in
        await resources.reply(to: call(body)).closingConnection
      }
    } catch {
      // The client is gone.
      return .document(status: 500, headers: [("Connection", "close")], bytes: [])
    }
  }

  /// Reads the body of a request as a JSON object.
  private func read(_ body: RequestBody, type: String?) async throws -> JSONObject {
    let type = type?.split(separator: ";").first.map { $0.lowercased() } ?? ""
    guard type.trimmed == "application/json" else {
      throw InspectorFailure("invalidRequest", "The body is not application/json.", status: 415)
    }
    let limit = resources.limits.requestBytes
    var bytes: [UInt8] = []
    for try await part in body {
      guard bytes.count + part.readableBytes <= limit else {
        throw InspectorFailure(
          "invalidRequest", "The body is longer than \(limit) bytes.", status: 413,
          // What is left of it is not read.
          headers: [("Connection", "close")])
      }
      bytes += part.readableBytesView
    }
    guard let object = try? JSONSlice(parsing: bytes).value.object else {
      throw InspectorFailure("invalidRequest", "The body is not a JSON object.")
    }
    return object
  }

  /// The body of an event stream: it ends when the client closes the connection or the inspector ends.
  private func events(_ stream: InspectorStream, _ request: Request) -> ResponseBody {
    let lease = StreamLease(stream: stream, idle: idle)
    return ResponseBody { writer in
      defer { lease.end() }
      try await request.body.consumeWithInboundCloseHandler { _ in
        while let bytes = await stream.next() { try await writer.write(ByteBuffer(bytes: bytes)) }
      } onInboundClosed: {
        stream.end()
      }
      try await writer.finish(nil)
    }
  }

  // MARK: Responses

  private func refusal(_ status: HTTPResponse.Status) -> Response {
    Response(status: status, headers: Self.headers, body: ResponseBody(byteBuffer: ByteBuffer()))
  }

  private func response(
    _ status: HTTPResponse.Status, type: String, _ bytes: [UInt8], _ fields: HTTPFields = [:]
  ) -> Response {
    response(status, type: type, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)), fields)
  }

  private func response(
    _ status: HTTPResponse.Status, type: String, body: ResponseBody, _ fields: HTTPFields = [:]
  ) -> Response {
    var headers = Self.headers
    headers[.contentType] = type
    for field in fields { headers[field.name] = field.value }
    return Response(status: status, headers: headers, body: body)
  }

  /// The header fields of each response.
  private static let headers: HTTPFields = [
    .contentSecurityPolicy:
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
      + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
      + "trusted-types 'none'",
    .crossOriginOpenerPolicy: "same-origin", .crossOriginResourcePolicy: "same-origin",
    .inspectorReferrerPolicy: "no-referrer", .xContentTypeOptions: "nosniff",
    .cacheControl: "no-store",
  ]
}

/// Ends a stream and its request once: after its last byte, or if the response is dropped unsent.
private final class StreamLease: Sendable {
  private let stream: InspectorStream
  private let idle: IdleWatch

  init(stream: InspectorStream, idle: IdleWatch) {
    self.stream = stream
    self.idle = idle
  }

  func end() { stream.end() }

  deinit {
    stream.end()
    idle.requestEnded()
  }
}

extension HTTPField.Name {
  private static func named(_ name: String) -> HTTPField.Name {
    guard let field = HTTPField.Name(name) else { preconditionFailure("a field name") }
    return field
  }

  fileprivate static let secFetchSite = named("Sec-Fetch-Site")
  fileprivate static let lastEventId = named("Last-Event-ID")
  fileprivate static let inspectorReferrerPolicy = named("Referrer-Policy")
  fileprivate static let crossOriginOpenerPolicy = named("Cross-Origin-Opener-Policy")
}
