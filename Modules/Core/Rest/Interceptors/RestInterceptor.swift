/// A step that every call of a ``RestClient`` passes on its way to the server and back.
///
/// The client's own steps are interceptors too. A call passes them in this order: measurement,
/// ``RestClient/Options/interceptors`` of the app, retries, the session with its token, redirects. So an
/// interceptor of the app runs once for each call, before the request has an address and a token; what it
/// changes passes the same checks as any request, and its token reaches no other server.
///
/// Responses, streams, uploads and downloads take the same way. A download is one call for each range that it
/// requests.
public protocol RestInterceptor: Sendable {
  /// Sends a call on to the following interceptors and the server, and returns the response.
  typealias Next = @Sendable (_ call: RestCall) async throws -> RestResponse

  /// Handles one call.
  ///
  /// An implementation changes the call and passes it to `next`, returns a response of its own without
  /// `next`, or throws. It may call `next` several times, except after the response of a stream was
  /// delivered to its receiver.
  ///
  /// - Returns: The response, with any status. After a stream was delivered it has no body; its status and its
  ///   header fields are the stream's. A response of its own to a call whose ``RestCall/isStream`` is true is
  ///   delivered as a stream.
  /// - Throws: Any error; the caller of the client gets it unchanged. `next` throws the errors of
  ///   ``RestClient/response(to:progress:)``, and the errors of a stream's receiver.
  func intercept(_ call: RestCall, next: Next) async throws -> RestResponse
}

/// The interceptors of a client in their order, and the transport at their end.
struct InterceptorChain: Sendable {
  let interceptors: [any RestInterceptor]
  /// Sends a call over the network.
  let last: RestInterceptor.Next

  /// Passes a call through all interceptors.
  func send(_ call: RestCall) async throws -> RestResponse { try await send(call, from: 0) }

  private func send(_ call: RestCall, from index: Int) async throws -> RestResponse {
    guard index < interceptors.count else { return try await last(call) }
    return try await interceptors[index].intercept(call) { call in
      try await send(call, from: index + 1)
    }
  }
}
