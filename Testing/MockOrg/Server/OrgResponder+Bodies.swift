import FieldforceGzip
import Hummingbird
import NIOCore

/// Reading the bodies of requests.
extension OrgResponder {
  /// What came of reading a body.
  enum Body {
    case whole([UInt8])
    /// It is longer than a client without a session may send, and was read without being kept; the
    /// response will be that there is no session.
    case discarded
    case refused(ServerError)
  }

  /// Reads a request's body, as it is and as it expands, up to a limit.
  ///
  /// - Parameter head: The request without its body.
  /// - Parameter taken: The bytes that were taken from the budget; the caller gives them back.
  func body(
    of request: Request, head: OrgRequest, isAuthenticated: Bool, taken: inout Int
  ) async throws -> Body {
    let limit = BodyLimits.limit(for: head, isAuthenticated: isAuthenticated)
    var bytes: [UInt8] = []
    var count = 0
    // A call of SOAP names its session inside.
    var needsSession = BodyLimits.isSOAP(head) && !isAuthenticated
    for try await chunk in request.body {
      count += chunk.readableBytes
      if count > limit {
        bytes = []
        // A client that sends without reading would never see the response: its body is read to the end.
        if count > BodyLimits.upload { return .refused(Self.tooLarge) }
        continue
      }
      guard budget.take(chunk.readableBytes) else { return .refused(Self.busy) }
      taken += chunk.readableBytes
      bytes.append(contentsOf: chunk.readableBytesView)
      if needsSession, bytes.count > BodyLimits.soapWithoutSession {
        guard org.hasSession(inEnvelope: bytes) else { return .refused(Self.tooLarge) }
        needsSession = false
      }
    }
    if count > limit {
      return !isAuthenticated && BodyLimits.isAuthenticationRequired(head)
        ? .discarded : .refused(Self.tooLarge)
    }
    guard let encoding = head.headers["content-encoding"]?.lowercased(), encoding != "identity"
    else { return .whole(bytes) }
    guard encoding == "gzip" || encoding == "deflate" else {
      return .refused(Self.unsupported(encoding))
    }
    let expanded = Gzip.expanded(bytes, limit: limit) { more in
      guard budget.take(more) else { return false }
      taken += more
      return true
    }
    guard let expanded else { return .refused(Self.unsupported(encoding)) }
    if needsSession, expanded.count > BodyLimits.soapWithoutSession,
      !org.hasSession(inEnvelope: expanded)
    {
      return .refused(Self.tooLarge)
    }
    return .whole(expanded)
  }

  private static let tooLarge = ServerError(
    status: 413, "REQUEST_TOO_LARGE", "The request is too large")

  private static let busy = ServerError(
    status: 503, "SERVER_UNAVAILABLE",
    "The mock org already holds the bodies of other large requests. Send the request again later.")

  private static func unsupported(_ encoding: String) -> ServerError {
    ServerError(
      status: 415, "UNSUPPORTED_MEDIA_TYPE",
      "The Content-Encoding \(encoding) is not supported or does not fit the body.")
  }
}
