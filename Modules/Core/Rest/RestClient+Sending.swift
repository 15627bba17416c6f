import SalesforceSDKCommon
import Synchronization

extension RestClient {
  /// Passes a call through the chain and returns the response, whatever its status.
  func exchange(
    _ request: RestRequest, _ progress: TransferProgress?
  ) async throws -> RestResponse {
    try await chain.send(
      RestCall(request, identity: identity, progress: progress, exchange: RestExchange()))
  }

  /// Passes a call through the chain, and a successful response to `body` while it arrives.
  func stream<Result: Sendable>(
    _ request: RestRequest, _ progress: TransferProgress?,
    _ body: @escaping @Sendable (RestStream) async throws -> Result
  ) async throws -> Result {
    let received = Mutex<Result?>(nil)
    let exchange = RestExchange { stream in
      let result = try await body(stream)
      received.withLock { $0 = result }
    }
    let response = try await chain.send(
      RestCall(request, identity: identity, progress: progress, exchange: exchange))
    guard response.isSuccess else { throw RestError(response: response, to: request) }
    if let result = received.withLock({ $0 }) { return result }
    // An interceptor responded in place of the server.
    return try await body(
      RestStream(status: response.status, headers: response.headers, body: RestBody(response.body)))
  }
}

extension HTTPTransport {
  /// Sends a call as its interceptors left it, and delivers the successful response of a stream.
  ///
  /// - Throws: ``RestError``; the error of the receiver; `CancellationError`.
  func send(_ call: RestCall) async throws -> RestResponse {
    guard let wire = call.wire else {
      throw RestError(.invalidRequest, "\(call) has no address. Send it with a RestClient.")
    }
    let exchange = call.exchange
    guard !exchange.isDelivered else {
      throw RestError(
        .invalidRequest,
        "\(call) cannot be sent again: the receiver of its stream has the response. Let the interceptor return it."
      )
    }
    do {
      try wire.url.checkIsSecure()
      guard let receiver = exchange.receiver else { return try await send(wire) }
      return try await withStream(to: wire) { stream in
        guard (200...299).contains(stream.status) else {
          return try await RestResponse(refusal: stream, of: call)
        }
        return try await exchange.deliver(stream, to: receiver)
      }
    } catch let error as TransportError where !exchange.isDelivered {
      throw RestError(error)
    }
  }
}

extension RestResponse {
  /// Reads a response that is not delivered, since it is a refusal: as much of it as a refusal may have.
  fileprivate init(refusal stream: RestStream, of call: RestCall) async throws {
    let isFollowed = call.isFollowed?(stream.status, stream.headers) ?? false
    self.init(
      status: stream.status, headers: stream.headers,
      body: isFollowed ? [] : try await stream.body.prefix(upTo: 1 << 20))
  }
}
