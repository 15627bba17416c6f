/// One call of a ``RestClient`` on its way through the interceptors.
public struct RestCall: Sendable {
  /// The request. Changes apply to the following interceptors and the server.
  public var request: RestRequest
  /// The account of the client; `nil` for a client without one, or before a login on demand.
  public let identity: UserAccountIdentity?
  /// The progress of the transfer; `nil` if nothing observes it.
  public internal(set) var progress: TransferProgress?
  /// The request as it is sent, with address and token; `nil` before the session has added them.
  var wire: TransportRequest?
  /// The rule for redirects of ``wire``.
  var redirects = RedirectRule()
  /// Whether a response with this status and these header fields is a redirect that will be followed, so that
  /// its body is of no use.
  var isFollowed: RedirectInterceptor.Condition?
  /// The part of the call that all its attempts share.
  let exchange: RestExchange

  /// Whether the response is delivered to a receiver while it arrives.
  public var isStream: Bool { exchange.receiver != nil }

  /// Creates a call, for tests of an interceptor.
  ///
  /// - Parameter identity: Default: none.
  public init(_ request: RestRequest, identity: UserAccountIdentity? = nil) {
    self.init(request, identity: identity, progress: nil, exchange: RestExchange())
  }

  init(
    _ request: RestRequest, identity: UserAccountIdentity?, progress: TransferProgress?,
    exchange: RestExchange
  ) {
    self.request = request
    self.identity = identity
    self.progress = progress
    self.exchange = exchange
  }
}

/// The description of the request.
extension RestCall: CustomStringConvertible, CustomDebugStringConvertible {
  public var description: String { "\(request)" }
  public var debugDescription: String { description }
}
